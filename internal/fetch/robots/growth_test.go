package robots

import (
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
		return []byte(growthtest.Numbered("useragent:a%s\n", n/2) + growthtest.Fill("allow:/\n", n/2))
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

func line(head, s string) func(int) []byte { return growthtest.Between(head, s, "") }

func halves(first, second string) func(int) []byte {
	return func(n int) []byte { return []byte(growthtest.Fill(first, n/2) + growthtest.Fill(second, n/2)) }
}

func all(head, format string) func(int) []byte {
	return func(n int) []byte { return []byte(head + growthtest.Numbered(format, n)) }
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
