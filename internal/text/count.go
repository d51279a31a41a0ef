package text

import (
	"fmt"
	"strings"
)

// Count writes a number and what is counted: "1 paper", "2 papers".
func Count[N int | int64](n N, singular string) string {
	return fmt.Sprintf("%d %s", n, Noun(n, singular))
}

// Noun is the word for so many of a thing, without their number.
func Noun[N int | int64](n N, singular string) string {
	stem, y := strings.CutSuffix(singular, "y")
	switch {
	case n == 1:
		return singular
	case y && !strings.ContainsAny(stem[len(stem)-1:], "aeo"):
		return stem + "ies"
	case strings.HasSuffix(singular, "ch"):
		return singular + "es"
	}
	return singular + "s"
}

// CountIs is Count with the verb: "1 paper is", "2 papers are".
func CountIs(n int, singular string) string {
	verb := " are"
	if n == 1 {
		verb = " is"
	}
	return Count(n, singular) + verb
}
