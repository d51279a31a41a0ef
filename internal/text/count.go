package text

import "fmt"

// Count writes a number and what is counted: "1 paper", "2 papers".
func Count(n int, singular string) string {
	if n == 1 {
		return "1 " + singular
	}
	if stem, y := singular[:len(singular)-1], singular[len(singular)-1]; y == 'y' {
		return fmt.Sprintf("%d %sies", n, stem)
	}
	return fmt.Sprintf("%d %ss", n, singular)
}

// CountIs is Count with the verb: "1 paper is", "2 papers are".
func CountIs(n int, singular string) string {
	verb := " are"
	if n == 1 {
		verb = " is"
	}
	return Count(n, singular) + verb
}
