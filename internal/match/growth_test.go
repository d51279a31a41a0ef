package match_test

import (
	"fmt"
	"slices"
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

// A document bears no more signs than it has letters, and no signs of a title take
// longer than the title.
func TestSignsGrowWithTheirText(t *testing.T) {
	repeat := func(s string) func(int) []byte {
		return func(n int) []byte { return []byte(strings.Repeat(s, n)) }
	}
	for name, in := range map[string]func(int) []byte{
		"words": repeat("ab cd "), "letters": repeat("abcd"), "digits": repeat("1234 "), "lines of digits": repeat("12\n34"), "short lines": repeat("a\n"),
		"pages": repeat("\f"), "ligatures": repeat("ffi"), "tags": repeat("<b "), "entities": repeat("&amp;"), "commands": repeat(`\\alpha`),
		"accents": repeat("a\u0301"), "signs": repeat("-:- "), "DOIs": repeat("10.1000/x "), "stamps": repeat("arXiv:2001.01234v1 "), "beginnings of DOIs": repeat("10."),
		"a title": repeat(ramsey.Title + " "), "broken UTF-8": repeat("\xe2\x82"),
	} {
		t.Run(name, func(t *testing.T) {
			growthtest.Linear(t, 1<<10, in, func(b []byte) {
				s := string(b)
				match.Signs(match.Evidence{FirstPages: s}, match.Evidence{FirstPages: s, MetaTitle: s, Anchor: s, ArXiv: s, DOI: s, URLDOI: s})
				match.SignsOf(gleaner.Paper{Title: s, DOI: s, ArXiv: s})
			})
		})
	}
	t.Run("names of one document", func(t *testing.T) {
		growthtest.Linear(t, 256, repeat("x"), func(b []byte) {
			all := make([]match.Evidence, len(b))
			for i := range all {
				all[i] = match.Evidence{FirstPages: prose, Anchor: fmt.Sprint(ramsey.Title, i)}
			}
			match.Signs(all...)
		})
	})
}

// FuzzSigns: whatever a document is found to be, it bears a sign of.
func FuzzSigns(f *testing.F) {
	for _, s := range []string{"ab cd ", "12\n34", "a\n", "\f", "ffi", "<b ", "&amp;", `\\alpha`, "a\u0301", "-:- ", "10.1000/x ", "arXiv:2001.01234v1 ", "\xe2\x82"} {
		f.Add(strings.Repeat(s, 20), strings.Repeat(s, 2))
	}
	f.Add(ramsey.Title+"\n\fLi Wu\n"+prose, "a")
	f.Fuzz(func(t *testing.T, text, name string) {
		ev := match.Evidence{FirstPages: text, MetaTitle: name, Anchor: name, ArXiv: name, DOI: name}
		signs := match.Signs(ev)
		if !slices.IsSorted(signs) || len(slices.Compact(slices.Clone(signs))) != len(signs) {
			t.Fatalf("not sorted, or twice: %v", signs)
		}
		match.SignsOf(gleaner.Paper{Title: text, DOI: name, ArXiv: name})
		if without, _ := missed(match.NewIndex([]gleaner.Paper{ramsey}), ev); len(without) > 0 {
			t.Fatalf("no sign of %q", without)
		}
	})
}
