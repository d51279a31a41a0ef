package text

import (
	"strings"
	"testing"

	"gleaner/internal/lab/growthtest"
)

// No title makes it cost more than its length to read what it says.
func TestPlainGrowsWithTheTitle(t *testing.T) {
	growthtest.Each(t, 1<<10, map[string]func(n int) string{
		"signs that open no tag": func(n int) string { return strings.Repeat("<", n) },
		"tags of many names":     func(n int) string { return strings.Repeat("<a b=c ", n) + ">" },
		"TeX":                    func(n int) string { return strings.Repeat(`\'{`, n) },
		"entities":               func(n int) string { return strings.Repeat("&amp;", n) },
	}, func(_ *testing.T, b []byte) { Normalise(string(b)) })
}
