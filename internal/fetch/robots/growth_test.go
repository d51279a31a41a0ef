package robots

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"gleaner/internal/lab/growthtest"
)

// worstFiles are made to be dear to read, each of about n bytes.
var worstFiles = map[string]func(n int) []byte{
	"one agent named again and again": halves("useragent:a\n", "allow:/\n"),
	"our own name again and again":    halves("useragent:gleaner\n", "allow:/\n"),
	"everybody again and again":       halves("useragent:*\n", "disallow:/\n"),
	"many agents": func(n int) []byte {
		return append(numbered("useragent:a%s\n", n/2), fill("allow:/\n", n/2)...)
	},
	"many rules":        all("user-agent: *\n", "disallow:/%s\n"),
	"many patterns":     all("user-agent: *\n", "disallow:/*%s$\n"),
	"many index pages":  all("user-agent: *\n", "allow:/%s/index.html\n"),
	"index of index":    line("user-agent: *\nallow:", "/index.html"),
	"asterisks":         line("user-agent: *\ndisallow:/", "*"),
	"asterisks between": line("user-agent: *\ndisallow:/", "*a"),
	"percent signs":     line("user-agent: *\ndisallow:/", "%zz"),
	"bytes to encode":   line("user-agent: *\ndisallow:/", "\xff"),
	"sitemaps":          all("", "sitemap:/%s\n"),
	"empty lines":       line("", "\n"),
	"colons":            line("", ":\n"),
	"NULs":              line("user-agent", "\x00"),
	"UTF-16":            line("\xff\xfe", "a\x00\n\x00"),
}

func fill(s string, n int) []byte { return bytes.Repeat([]byte(s), max(1, n/len(s))) }

func line(head, s string) func(int) []byte {
	return func(n int) []byte { return append([]byte(head), fill(s, n)...) }
}

func halves(first, second string) func(int) []byte {
	return func(n int) []byte { return append(fill(first, n/2), fill(second, n/2)...) }
}

func all(head, format string) func(int) []byte {
	return func(n int) []byte { return append([]byte(head), numbered(format, n)...) }
}

// numbered repeats a line with another word of letters each time.
func numbered(format string, n int) []byte {
	var b bytes.Buffer
	letters := strings.NewReplacer("0", "a", "1", "b", "2", "c", "3", "d", "4", "e", "5", "f", "6", "g", "7", "h", "8", "i", "9", "j")
	for i := 0; b.Len() < n; i++ {
		fmt.Fprintf(&b, format, letters.Replace(fmt.Sprint(i)))
	}
	return b.Bytes()
}

func TestReadingGrowsWithTheFile(t *testing.T) {
	path := "/" + strings.Repeat("a", 2000)
	growthtest.Each(t, 8<<10, worstFiles, func(_ *testing.T, b []byte) {
		rules := Parse(b, "gleaner")
		rules.Allowed(path)
		rules.CrawlDelay()
		rules.Sitemaps()
	})
}

// TestMatchingGrowsWithThePath matches paths made for the pattern.
func TestMatchingGrowsWithThePath(t *testing.T) {
	for _, pattern := range []string{"/*a*b", "/*aaaaaaaaab", "/*" + strings.Repeat("a*", 100) + "b$", "/*aaaaaaaab*aaaaaaaab"} {
		rules := Parse([]byte("user-agent: *\ndisallow: "+pattern), "gleaner")
		growthtest.Linear(t, 1<<10, line("/", "a"), func(b []byte) { rules.Allowed(string(b)) })
	}
}

// TestLargestFileIsSmall: what is kept of any file is a small multiple of what
// is read of it.
func TestLargestFileIsSmall(t *testing.T) {
	for name, worst := range worstFiles {
		assert.LessOrEqual(t, Parse(worst(MaxBytes), "gleaner").Size(), 40*MaxBytes, name)
	}
}

// TestRepeatedRulesCountOnce: what a line says again changes nothing.
func TestRepeatedRulesCountOnce(t *testing.T) {
	rules := Parse(worstFiles["our own name again and again"](MaxBytes), "gleaner")
	assert.Equal(t, 1, len(rules.group.list()))
}
