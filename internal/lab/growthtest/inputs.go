package growthtest

import (
	"bytes"
	"fmt"
	"strings"
)

// Fill repeats a text to about n bytes, but once at least.
func Fill(s string, n int) string { return strings.Repeat(s, max(1, n/len(s))) }

// Between is an input of a text that is repeated between a head and a tail.
func Between(head, s, tail string) func(n int) []byte {
	return func(n int) []byte { return []byte(head + Fill(s, n) + tail) }
}

// Numbered repeats a text to n bytes, with another word of letters in it each time.
func Numbered(format string, n int) string {
	var b strings.Builder
	for i := 0; b.Len() < n; i++ {
		word := bytes.Map(func(digit rune) rune { return digit - '0' + 'a' }, fmt.Append(nil, i))
		fmt.Fprintf(&b, format, word)
	}
	return b.String()
}
