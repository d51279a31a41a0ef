package match_test

import (
	"strings"
	"testing"

	"gleaner/internal/gleaner"
	"gleaner/internal/match"
)

// A text may begin or end anywhere within a title, its authors and what stands
// around them: a page that could not be read, a limit, a file that breaks off.
func TestTextsCutAnywhere(t *testing.T) {
	t.Parallel()
	for _, p := range []gleaner.Paper{
		{Key: "subtitle", Title: "Gleaning the Dark Web: A Longitudinal Study of Hidden Markets and of Those Who Keep Them in Business", Authors: []gleaner.Author{{Name: "Jane Porter"}}},
		{Key: "letters", Title: "Ærø, Þórr and Straße: Œuvres of ﬃ and λ – Ωμέγα", Authors: []gleaner.Author{{Name: "Ægir Ødegård"}}},
		ramsey,
	} {
		ix := match.NewIndex([]gleaner.Paper{p})
		page := "Proceedings 2020\n" + p.Title + "\n" + p.Authors[0].Name + "\n\f" + p.Title + ":\n" + p.Authors[0].Name + "\n"
		for cut := range page {
			lookAt(ix, page[cut:])
			lookAt(ix, page[:cut])
		}
		for cut := range p.Title {
			for _, part := range []string{p.Title[cut:], p.Title[:cut]} {
				lookAt(ix, part)
				match.Records(p, gleaner.Paper{Title: part})
				match.Records(gleaner.Paper{Title: part}, p)
			}
		}
	}
}

// A long title with ligatures is as long in the index as in the comparison.
func TestLongTitleWithLigatures(t *testing.T) {
	t.Parallel()
	p := gleaner.Paper{Key: "k", Title: strings.Repeat("Efficient flows fill offices and ", 16), Authors: []gleaner.Author{{Name: "Ada King"}}}
	misread := strings.TrimSuffix(p.Title, "offices and ") + "ovvices amd "
	lookAt(match.NewIndex([]gleaner.Paper{p}), misread+"\nAda King\n"+prose)
}

// Titles of nothing but ligatures have no skeleton.
func TestTitlesWithoutSkeleton(t *testing.T) {
	t.Parallel()
	for _, title := range []string{"Fi", "ff", "FFI", "fl fi"} {
		for _, other := range []string{"A", "Of", "The", "", "Fl", "A of"} {
			match.Records(gleaner.Paper{Title: title}, gleaner.Paper{Title: other})
			match.Records(gleaner.Paper{Title: other}, gleaner.Paper{Title: title})
			lookAt(match.NewIndex([]gleaner.Paper{{Title: title}, {Title: other}}), other)
		}
	}
}

// lookAt asks everything that may be asked of a text.
func lookAt(ix *match.Index, text string) {
	ix.Document(match.Evidence{FirstPages: text})
	ix.Document(match.Evidence{FirstPages: text, MetaTitle: text, Anchor: text, FileName: text})
	ix.Document(match.Evidence{MetaTitle: text})
	ix.Likeness(text)
	ix.Mentioned(text)
}
