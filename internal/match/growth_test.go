package match_test

import (
	"fmt"
	"strings"
	"testing"

	"gleaner/internal/gleaner"
	"gleaner/internal/lab/growthtest"
	"gleaner/internal/match"
)

// The worst that a title, a list of authors and a text can be.
func TestMatchingGrowsNoFasterThanItsInput(t *testing.T) {
	ix := match.NewIndex([]gleaner.Paper{ramsey})
	repeat := func(s string) func(int) []byte {
		return func(n int) []byte { return []byte(strings.Repeat(s, n)) }
	}
	for name, in := range map[string]func(int) []byte{
		"signs of subtitles": repeat("-:- "), "words": repeat("ab cd "), "tags": repeat("<b "), "entities": repeat("&amp;"),
		"commands": repeat(`\\alpha`), "ligatures": repeat("ffi"), "a title": repeat(ramsey.Title + " "), "DOIs": repeat("10.1000/x "),
		"stamps": repeat("arXiv:2001.01234v1 "), "lines": repeat("\n\f"),
	} {
		t.Run(name, func(t *testing.T) {
			growthtest.Linear(t, 1<<10, in, func(b []byte) {
				s := string(b)
				match.Records(ramsey, gleaner.Paper{Title: s})
				match.Records(gleaner.Paper{Title: s}, gleaner.Paper{Title: s + "x"})
				ix.Record(gleaner.Paper{Title: s})
				lookAt(ix, s)
			})
		})
	}
	t.Run("authors", func(t *testing.T) {
		growthtest.Linear(t, 1<<10, repeat("x"), func(b []byte) {
			var as, bs []gleaner.Author
			for i := range b {
				as = append(as, gleaner.Author{Name: fmt.Sprint("Ada Bert King", i)})
				bs = append(bs, gleaner.Author{Name: fmt.Sprint("Ada Carl Queen", i)})
			}
			match.Records(gleaner.Paper{Title: ramsey.Title, Authors: as}, gleaner.Paper{Title: ramsey.Title, Authors: bs})
		})
	})
}
