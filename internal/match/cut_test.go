package match_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

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

// firstPage is a text with the paper whose it is.
type firstPage struct{ title, authors, text string }

func (f firstPage) paper() gleaner.Paper {
	return gleaner.Paper{Key: "k", Title: f.title, DOI: "10.1000/182.ada", Authors: by(strings.Split(f.authors, "; ")...)}
}

// firstPages are those in testdata: a line with the title, one with the authors, the text.
func firstPages(t testing.TB) (out []firstPage) {
	files, err := filepath.Glob(filepath.Join("testdata", "cut", "*.txt"))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		b, err := os.ReadFile(file)
		require.NoError(t, err)
		f := strings.SplitN(string(b), "\n", 3)
		out = append(out, firstPage{f[0], f[1], f[2]})
	}
	return out
}

// sound asks all that may be asked of a text, whether what is found agrees with itself,
// and how often it is sure of that.
func sound(t testing.TB, ix *match.Index, text string) (sure int) {
	t.Helper()
	for _, m := range ix.Document(match.Evidence{FirstPages: text}) {
		require.False(t, m.Verdict == match.Different || m.Form == "" || m.Paper.Key == "" || len(m.Reasons) == 0, "%+v of %q", m, text)
		if m.Verdict != match.Ambiguous {
			sure++
		}
	}
	l := ix.Likeness(text)
	require.True(t, l >= 0 && l <= 1, "likeness %v of %q", l, text)
	return sure
}

// TestFirstPagesCutAnywhere: first pages of many kinds, that begin and end at every byte.
func TestFirstPagesCutAnywhere(t *testing.T) {
	t.Parallel()
	for _, f := range firstPages(t) {
		ix := match.NewIndex([]gleaner.Paper{f.paper(), ramsey})
		require.Equal(t, 1, sound(t, ix, f.text), "%s", f.title)
		for cut := range len(f.text) {
			sound(t, ix, f.text[cut:])
			sound(t, ix, f.text[:cut])
			lookAt(ix, f.text[cut:min(len(f.text), cut+97)])
		}
	}
}

// TestRecordedTextsCutAnywhere: each tenth or fiftieth document of recorded sites, as
// poppler reads it, beside all papers that are wanted there: its beginning at every byte,
// the rest at some.
func TestRecordedTextsCutAnywhere(t *testing.T) {
	t.Parallel()
	for sites, c := range map[string]struct {
		truth string
		oneIn int
	}{"farm": {"truth", 10}, "atlas": {"atlas-truth", 50}} {
		ix := match.NewIndex(papersOf(wantedPapers(t, c.truth)))
		cuts, sure := 0, 0
		for n, s := range recordedTexts(t, sites) {
			step := 1
			for cut := n % 7; n%c.oneIn == 0 && cut < len(s.text); cut += step {
				if cut > 200 {
					step = 1 + len(s.text)/8
				}
				sure += sound(t, ix, s.text[cut:]) + sound(t, ix, s.text[:cut])
				cuts += 2
			}
		}
		t.Logf("%s: %d cuts, %d times sure of a paper", sites, cuts, sure)
		require.Positive(t, sure)
	}
}
