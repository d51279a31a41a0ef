package match_test

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"gleaner/internal/gleaner"
	"gleaner/internal/lab/growthtest"
	"gleaner/internal/match"
)

func repeat(s string) func(int) []byte {
	return func(n int) []byte { return []byte(strings.Repeat(s, n)) }
}

// The worst that a title, a list of authors and a text can be.
func TestMatchingGrowsNoFasterThanItsInput(t *testing.T) {
	ix := match.NewIndex([]gleaner.Paper{ramsey})
	growthtest.Each(t, 1<<10, map[string]func(int) []byte{
		"signs of subtitles": repeat("-:- "), "words": repeat("ab cd "), "tags": repeat("<b "), "entities": repeat("&amp;"),
		"commands": repeat(`\\alpha`), "ligatures": repeat("ffi"), "a title": repeat(ramsey.Title + " "), "DOIs": repeat("10.1000/x "),
		"stamps": repeat("arXiv:2001.01234v1 "), "lines": repeat("\n\f"),
	}, func(_ *testing.T, b []byte) {
		s := string(b)
		match.Records(ramsey, gleaner.Paper{Title: s})
		match.Records(gleaner.Paper{Title: s}, gleaner.Paper{Title: s + "x"})
		ix.Record(gleaner.Paper{Title: s})
		lookAt(ix, s)
	})
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

// However alike the papers of a venue and those of a library are, finding which are
// held costs no more than they are many.
func TestHeldGrowsWithTheLists(t *testing.T) {
	by := func(i int) []gleaner.Author { return []gleaner.Author{{Name: fmt.Sprint("Ada King", i)}} }
	for name, paper := range map[string]func(i int) gleaner.Paper{
		"one title":            func(int) gleaner.Paper { return gleaner.Paper{Title: ramsey.Title, Year: 2003} },
		"one title, by others": func(i int) gleaner.Paper { return gleaner.Paper{Title: ramsey.Title, Year: 2003, Authors: by(i)} },
		"one title, in others": func(i int) gleaner.Paper { return gleaner.Paper{Title: ramsey.Title, Year: 1000 + i, Authors: by(0)} },
		"one short title":      func(i int) gleaner.Paper { return gleaner.Paper{Title: "Preface", Year: 2003, Authors: by(i)} },
		"short titles alike": func(i int) gleaner.Paper {
			return gleaner.Paper{Title: "Pre" + strings.Repeat("-", i) + "face", Year: 2003}
		},
		"one DOI": func(i int) gleaner.Paper {
			return gleaner.Paper{Title: fmt.Sprintf("%x", sha256.Sum256([]byte{byte(i), byte(i >> 8)})), DOI: "10.1000/a"}
		},
	} {
		t.Run(name, func(t *testing.T) {
			n := 64 // beyond what a record is compared with
			if name == "short titles alike" {
				n = 32 // each title is longer than the one before
			}
			growthtest.Linear(t, n, repeat("x"), func(b []byte) {
				wanted, holdings := make([]gleaner.Paper, len(b)), make([]gleaner.Paper, len(b))
				for i := range b {
					wanted[i], holdings[i] = paper(i), paper(i)
					wanted[i].Key, holdings[i].Key = fmt.Sprint("w", i), fmt.Sprint("h", i)
				}
				match.Held(wanted, holdings)
			})
		})
	}
}

// However many wanted papers have one title, or titles alike, asking what a text says of
// them costs the same.
func TestTextsCostNoMoreForManyPapersOfOneTitle(t *testing.T) {
	const title = "Guest Editors' Introduction"
	text := strings.Repeat(title+" ", 18)
	for name, titled := range map[string]func(i int) string{
		"one title":       func(int) string { return title },
		"one short title": func(int) string { return "Preface" },
		"titles alike":    func(i int) string { return fmt.Sprint(title, " ", i) },
		"one letter":      func(i int) string { return fmt.Sprint("Aaaaaaaaaaaaaaaaaaaaaa ", i) },
	} {
		t.Run(name, func(t *testing.T) {
			indexes := map[int]*match.Index{}
			input := func(n int) []byte {
				papers := make([]gleaner.Paper, n)
				for i := range papers {
					papers[i] = gleaner.Paper{Key: fmt.Sprint(i), Title: titled(i)}
				}
				indexes[n] = match.NewIndex(papers)
				return make([]byte, n)
			}
			growthtest.Linear(t, 256, input, func(b []byte) {
				ix := indexes[len(b)]
				for range len(b) / 256 {
					for _, text := range []string{text, titled(0), strings.Repeat("a", 600)} {
						ix.Likeness(text)
						ix.Mentioned(text)
						ix.Document(match.Evidence{FirstPages: text, Anchor: text})
						ix.Titled(text)
					}
				}
			})
		})
	}
}

// TestHeldOfOneTitle: of many papers of one title each is held by its own record.
func TestHeldOfOneTitle(t *testing.T) {
	t.Parallel()
	var wanted, holdings []gleaner.Paper
	for i := range 600 {
		p := gleaner.Paper{Key: fmt.Sprint("w", i), Title: "Guest Editors' Introduction", Year: 1980 + i%30, Authors: []gleaner.Author{{Name: fmt.Sprintf("Ada King%c%c", 'a'+i/26, 'a'+i%26)}}}
		wanted = append(wanted, p)
		if p.Key = fmt.Sprint("h", i); i%2 == 0 {
			holdings = append(holdings, p)
		}
	}
	held := match.Held(wanted, holdings)
	for i := range wanted {
		require.Equal(t, []string{fmt.Sprint("h", i), ""}[i%2], held[wanted[i].Key].Held.Key)
	}
}

// A document bears no more signs than it has letters, and no signs of a title take
// longer than the title.
func TestSignsGrowWithTheirText(t *testing.T) {
	growthtest.Each(t, 1<<10, map[string]func(int) []byte{
		"words": repeat("ab cd "), "letters": repeat("abcd"), "digits": repeat("1234 "), "lines of digits": repeat("12\n34"), "short lines": repeat("a\n"),
		"pages": repeat("\f"), "ligatures": repeat("ffi"), "tags": repeat("<b "), "entities": repeat("&amp;"), "commands": repeat(`\\alpha`),
		"accents": repeat("a\u0301"), "signs": repeat("-:- "), "DOIs": repeat("10.1000/x "), "stamps": repeat("arXiv:2001.01234v1 "), "beginnings of DOIs": repeat("10."),
		"a title": repeat(ramsey.Title + " "), "broken UTF-8": repeat("\xe2\x82"),
	}, func(_ *testing.T, b []byte) {
		s := string(b)
		match.Signs(match.Evidence{FirstPages: s}, match.Evidence{FirstPages: s, MetaTitle: s, Anchor: s, ArXiv: s, DOI: s, URLDOI: s})
		match.SignsOf(gleaner.Paper{Title: s, DOI: s, ArXiv: s})
	})
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
		require.True(t, slices.IsSorted(signs), "not sorted, or twice")
		require.Len(t, slices.Compact(slices.Clone(signs)), len(signs), "not sorted, or twice")
		match.SignsOf(gleaner.Paper{Title: text, DOI: name, ArXiv: name})
		without, _ := missed(match.NewIndex([]gleaner.Paper{ramsey}), ev)
		require.Empty(t, without, "no sign")
	})
}
