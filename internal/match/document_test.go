package match_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"gleaner/internal/each"
	"gleaner/internal/gleaner"
	"gleaner/internal/match"
	"gleaner/internal/text"
)

var ramsey = gleaner.Paper{Key: "ramsey", Year: 2020, Title: "Efficient Off-diagonal Ramsey Numbers for Sparse Graphs",
	Authors: []gleaner.Author{{Name: "Ágnes Erdős"}, {Name: "Li Wu"}}, ArXiv: "2001.01234", DOI: "10.1000/ramsey"}

const prose = "\n\nAbstract\nWe study a question that has been open for a long time and answer it for all large graphs.\n" +
	"The answer follows from a lemma on colourings that may be of interest in itself, and from a careful count.\n\n" +
	"1 Introduction\nColourings of graphs have been studied since the work of Ramsey. In this paper we look at them again.\n" +
	"Let us fix some notation first. All graphs are finite and simple, and all colours are positive integers.\n" +
	"A graph is sparse when it has few edges, and dense when it has many; most graphs are neither of the two.\n"

func TestDocument(t *testing.T) {
	t.Parallel()
	book := gleaner.Paper{Key: "book", Year: 2020, Title: "Off-diagonal Book Ramsey Numbers", Authors: []gleaner.Author{{Name: "Jane Porter"}}}
	part2 := gleaner.Paper{Key: "part2", Year: 2021, Title: "Robust Parsing of Broken Files, Part II", Authors: []gleaner.Author{{Name: "Jane Porter"}}}
	short := gleaner.Paper{Key: "short", Title: "Kami", Authors: []gleaner.Author{{Name: "Joonwon Choi"}}}
	common := gleaner.Paper{Key: "common", Title: "Type Theory", Authors: []gleaner.Author{{Name: "Per Svensson"}}}
	sat := gleaner.Paper{Key: "sat", Title: "A Linear Lower Bound for 3-SAT on Grids", Authors: []gleaner.Author{{Name: "Jane Porter"}}}
	journal := gleaner.Paper{Key: "journal", Year: 2023, Title: ramsey.Title, Authors: ramsey.Authors}
	others := []gleaner.Paper{
		{Key: "o1", Title: "Streaming Joins over Noisy Sensor Tables", Authors: []gleaner.Author{{Name: "Karl Huber"}}},
		{Key: "o2", Title: "Querying Temporal Archives without an Index", Authors: []gleaner.Author{{Name: "Mia Sandoval"}}},
	}
	sub := gleaner.Paper{Key: "sub", Year: 2019, Title: "Gleaning the Dark Web: A Longitudinal Study of Hidden Markets", Authors: []gleaner.Author{{Name: "Jane Porter"}, {Name: "Karl Huber"}}}
	cut := gleaner.Paper{Key: "cut", Title: "We study a question that has been open for a long time and answer it for …", Authors: []gleaner.Author{{Name: "Jane Porter"}}}
	spanish := gleaner.Paper{Key: "spanish", Title: "Sums of squares in real rings", Authors: []gleaner.Author{{Name: "José F. Fernando Galván"}}}
	head := "Proceedings of Graphs 2020, pages 1–10\n\n"
	by := "Ágnes Erdős∗\nUniversity of Somewhere\nLi Wu\n"
	tests := []struct {
		name    string
		wanted  []gleaner.Paper
		ev      match.Evidence
		verdict match.Verdict // of the first; "different" for none
		form    string
	}{
		{"clean", nil, match.Evidence{FirstPages: head + ramsey.Title + "\n" + by + prose}, match.Exact, "paper"},
		{"capitals, small capitals, footnote mark", nil, match.Evidence{FirstPages: "E FFICIENT O FF - DIAGONAL R AMSEY N UMBERS FOR\nS PARSE G RAPHS∗\n" + by + prose}, match.Exact, "paper"},
		{"hyphenated over lines", nil, match.Evidence{FirstPages: "Efficient Off-diag-\nonal Ramsey Num-\nbers for Sparse Graphs1\n" + by + prose}, match.Exact, "paper"},
		{"ligatures lost", nil, match.Evidence{FirstPages: "Ecient O-diagonal Ramsey Numbers for Sparse Graphs\n" + by + prose}, match.Exact, "paper"},
		{"ligatures as signs, accents apart", nil, match.Evidence{FirstPages: "Eﬃcient Oﬀ-diagonal Ramsey Numbers for Sparse Graphs\nA´gnes Erd˝os\n" + prose}, match.Exact, "paper"},
		{"no spaces", nil, match.Evidence{FirstPages: strings.ReplaceAll(head+ramsey.Title+"\n"+by+prose, " ", "")}, match.Exact, "paper"},
		{"no spaces, no lines", nil, match.Evidence{FirstPages: strings.NewReplacer(" ", "", "\n", "").Replace(ramsey.Title + by + prose)}, match.Exact, "paper"},
		{"two letters misread", nil, match.Evidence{FirstPages: "Efficient Off-diagonal Rarnsey Nunbers for Sparse Graphs\n" + by + prose}, match.Strong, "paper"},
		{"an article more", nil, match.Evidence{FirstPages: "Efficient Off-diagonal Ramsey Numbers for the Sparse Graphs\n" + by + prose}, match.Strong, "paper"},
		{"authors illegible", nil, match.Evidence{FirstPages: ramsey.Title + "\n" + prose}, match.Ambiguous, "paper"},
		{"no author, at an author's homepage", nil, match.Evidence{
			FirstPages: ramsey.Title + "\n" + prose, Owners: "1/1\nname:li wu"}, match.Ambiguous, "paper"},
		{"an author below the first column, at an author's homepage", nil, match.Evidence{
			FirstPages: ramsey.Title + "\n" + strings.Repeat(prose, 20) + "\nLi Wu\n", Owners: "1/1\nname:li wu"}, match.Strong, "paper"},
		{"the same elsewhere", nil, match.Evidence{
			FirstPages: ramsey.Title + "\n" + strings.Repeat(prose, 20) + "\nLi Wu\n"}, match.Ambiguous, "paper"},
		{"authors illegible, at somebody else's", nil, match.Evidence{FirstPages: ramsey.Title + "\n" + prose, Owners: "1/1\nname:karl huber"}, match.Ambiguous, "paper"},
		{"by somebody else", nil, match.Evidence{FirstPages: ramsey.Title + "\nKarl Huber\nUniversity of Somewhere\n" + prose}, match.Ambiguous, "paper"},
		{"behind a cover page", nil, match.Evidence{FirstPages: "University of Somewhere\nTechnical Report 17\n2020\n\f" + ramsey.Title + "\n" + by + prose}, match.Exact, "paper"},
		{"stamped by arXiv", nil, match.Evidence{FirstPages: "arXiv:2001.01234v2 [math.CO] 6 Jan 2020\n\n" + ramsey.Title + "\n" + by + prose}, match.Exact, "preprint"},
		{"another title under its arXiv id", nil, match.Evidence{FirstPages: "arXiv:2001.01234v1 [math.CO] 6 Jan 2020\n\nRamsey numbers again\n" + by + prose}, match.Exact, "preprint"},
		{"another title, its DOI below", nil, match.Evidence{FirstPages: "Ramsey numbers again\n" + by + prose + "A preliminary version appeared as doi:10.1000/RAMSEY.\n"}, match.Ambiguous, "paper"},
		{"another title, its DOI, other authors", nil, match.Evidence{FirstPages: "Ramsey numbers again\nKarl Huber\n" + prose + strings.Repeat("More of the same.\n", 20) + "See doi:10.1000/RAMSEY.\n"}, match.Different, ""},
		{"a near title, its DOI", nil, match.Evidence{FirstPages: ramsey.Title + " again and again\n" + by + prose + "https://doi.org/10.1000/ramsey\n"}, match.Strong, "paper"},
		{"another title, the DOI of its landing page", nil, match.Evidence{FirstPages: "Ramsey numbers again\n" + by + prose, DOI: "10.1000/RAMSEY"}, match.Strong, "paper"},
		{"full version", nil, match.Evidence{FirstPages: ramsey.Title + "\n(full version)\n" + by + prose}, match.Exact, "extended"},
		{"slides", nil, match.Evidence{FirstPages: ramsey.Title + "\n" + by + "\fOutline\n• The question\n• The answer\n"}, match.Exact, "slides"},
		{"supplement", nil, match.Evidence{FirstPages: "Supplementary Material for\n" + ramsey.Title + "\n" + by + prose}, match.Exact, "supplement"},
		{"its landing page's title, pages illegible", nil, match.Evidence{MetaTitle: ramsey.Title}, match.Ambiguous, "paper"},

		{"with a remark", nil, match.Evidence{FirstPages: ramsey.Title + " (invited paper)\n" + by + prose}, match.Exact, "paper"},
		{"with a part more", nil, match.Evidence{FirstPages: ramsey.Title + " (Part II)\n" + by + prose}, match.Ambiguous, "paper"},
		{"without its subtitle", []gleaner.Paper{sub}, match.Evidence{FirstPages: "Gleaning the Dark Web\nJane Porter, Karl Huber\n" + prose}, match.Strong, "paper"},
		{"without its subtitle, one author missing", []gleaner.Paper{sub}, match.Evidence{FirstPages: "Gleaning the Dark Web\nJane Porter\n" + prose}, match.Ambiguous, "paper"},
		{"without its subtitle, by others", []gleaner.Paper{sub}, match.Evidence{FirstPages: "Gleaning the Dark Web\nMia Sandoval\n" + prose}, match.Different, ""},
		{"with a subtitle more", nil, match.Evidence{FirstPages: ramsey.Title + ":\nA Shorter Proof\n" + by + prose}, match.Strong, "paper"},
		{"lower-case authors on the next line", nil, match.Evidence{FirstPages: ramsey.Title + "\nágnes erdős, li wu\n" + prose}, match.Exact, "paper"},
		{"a surname that is a word of the abstract", []gleaner.Paper{{Key: "x", Title: "Sparse Sets", Authors: []gleaner.Author{{Name: "Mark Long"}}}}, match.Evidence{FirstPages: "Sparse Sets\nKarl Huber\n" + prose}, match.Different, ""},
		{"slides with an introduction", nil, match.Evidence{FirstPages: ramsey.Title + "\n" + by + "\fIntroduction\n• The question\n• The answer\n"}, match.Exact, "slides"},
		{"a poster by its name", nil, match.Evidence{FirstPages: ramsey.Title + "\n" + by + "Sparse graphs have few edges.\n", FileName: "ramsey_poster.pdf"}, match.Exact, "poster"},
		{"a thesis", nil, match.Evidence{FirstPages: ramsey.Title + "\nA dissertation submitted for the degree of Doctor\nby Ágnes Erdős\n2020\n"}, match.Exact, "thesis"},

		{"an inserted word", []gleaner.Paper{{Key: "r", Title: "Off-diagonal Ramsey Numbers", Authors: book.Authors}}, match.Evidence{FirstPages: book.Title + "\nJane Porter\n" + prose}, match.Different, ""},
		{"a removed word", []gleaner.Paper{book}, match.Evidence{FirstPages: "Off-diagonal Ramsey Numbers\nJane Porter\n" + prose}, match.Different, ""},
		{"another part", []gleaner.Paper{part2}, match.Evidence{FirstPages: "Robust Parsing of Broken Files, Part I\nJane Porter\n" + prose}, match.Different, ""},
		{"the same part", []gleaner.Paper{part2}, match.Evidence{FirstPages: "Robust Parsing of Broken Files, Part II\nJane Porter\n" + prose}, match.Exact, "paper"},
		{"another number", []gleaner.Paper{sat}, match.Evidence{FirstPages: "A Linear Lower Bound for 2-SAT on Grids\nJane Porter\n" + prose}, match.Different, ""},
		{"a stamp below it", nil, match.Evidence{FirstPages: "Efficient Off-diagonal Ramsey Numbers\n\nfor Sparse Graphs\narXiv:2009.09999v1 [math.CO] 12 Sep 2020\nKarl Huber and Li Wu\n" + prose}, match.Exact, "preprint"},
		{"by, in lower case, below it", nil, match.Evidence{FirstPages: ramsey.Title + "\nby\nKarl Huber (Somewhere)\nand Li Wu\n" + prose}, match.Exact, "paper"},
		{"a line that begins with by", nil, match.Evidence{FirstPages: ramsey.Title + "\nby means of entropy\n" + by + prose}, match.Ambiguous, "paper"},
		{"the name of a system before it", nil, match.Evidence{FirstPages: "RamSey: " + ramsey.Title + "\n" + by + prose}, match.Strong, "paper"},
		{"the name of a system before it, an author missing", nil, match.Evidence{FirstPages: "RamSey: " + ramsey.Title + "\nLi Wu\n" + prose}, match.Ambiguous, "paper"},
		{"a word before it", nil, match.Evidence{FirstPages: "Discussion: " + ramsey.Title + "\n" + by + prose}, match.Ambiguous, "paper"},
		{"words before it", nil, match.Evidence{FirstPages: "On the Theory of RamSey: " + ramsey.Title + "\n" + by + prose}, match.Ambiguous, "paper"},
		{"an appendix, on its line", nil, match.Evidence{FirstPages: "Appendix for " + ramsey.Title + "\n" + by + prose}, match.Strong, "supplement"},
		{"an appendix of nobody", nil, match.Evidence{
			FirstPages: "Appendix for\n" + ramsey.Title + "\n" + prose}, match.Ambiguous, "supplement"},
		{"an addendum", nil, match.Evidence{FirstPages: "ADDENDUM TO ”EFFICIENT OFF-DIAGONAL RAMSEY NUMBERS\nFOR SPARSE GRAPHS”\n" + by + prose}, match.Strong, "supplement"},
		{"lines cut short, linked with the title", nil, match.Evidence{FirstPages: "EFFICIENT OFF-DIAGONAL RAMSEY NUM\nFOR SPARSE GRA\n" + by + prose, Anchor: ramsey.Title}, match.Strong, "paper"},
		{"lines cut short, an author missing", nil, match.Evidence{FirstPages: "EFFICIENT OFF-DIAGONAL RAMSEY NUM\nFOR SPARSE GRA\nLi Wu\n" + prose, Anchor: ramsey.Title}, match.Ambiguous, "paper"},
		{"lines cut short, linked otherwise", nil, match.Evidence{FirstPages: "EFFICIENT OFF-DIAGONAL RAMSEY NUM\nFOR SPARSE GRA\n" + by + prose, Anchor: "pdf"}, match.Different, ""},
		{"linked with the title, another title at the top", nil, match.Evidence{FirstPages: "Colourings of Very Large Graphs Revisited\n" + by + prose, Anchor: ramsey.Title}, match.Ambiguous, "paper"},
		{"linked with one part's title, and the other", []gleaner.Paper{part2}, match.Evidence{FirstPages: "Robust Parsing of Broken Files, Part I\nJane Porter\n" + prose, Anchor: part2.Title}, match.Ambiguous, "paper"},
		{"without the second surname", []gleaner.Paper{spanish}, match.Evidence{FirstPages: "SUMS OF SQUARES IN REAL RINGS\nJOSÉ F. FERNANDO, JESÚS M. RUIZ\n" + prose}, match.Exact, "paper"},
		{"another second surname", []gleaner.Paper{spanish}, match.Evidence{FirstPages: "SUMS OF SQUARES IN REAL RINGS\nJOSÉ F. FERNANDO PÉREZ, JESÚS M. RUIZ\n" + prose}, match.Ambiguous, "paper"},

		{"a longer title, on the same line", []gleaner.Paper{book}, match.Evidence{FirstPages: "Off-diagonal Book Ramsey Numbers of Trees\nKarl Huber\n" + prose}, match.Different, ""},
		{"a longer title, on the next line", []gleaner.Paper{book}, match.Evidence{FirstPages: "Off-diagonal Book Ramsey Numbers\nof complete bipartite graphs\nKarl Huber\n" + prose}, match.Different, ""},
		{"a prefix to the title", []gleaner.Paper{book}, match.Evidence{FirstPages: "Non-Off-diagonal Book Ramsey Numbers\nKarl Huber\n" + prose}, match.Different, ""},
		{"a short title with its author", []gleaner.Paper{short}, match.Evidence{FirstPages: "Kami\nJoonwon Choi\n" + prose}, match.Exact, "paper"},
		{"a short title without", []gleaner.Paper{short}, match.Evidence{FirstPages: "Kami\nKarl Huber\n" + prose}, match.Different, ""},
		{"a common title of someone else", []gleaner.Paper{common}, match.Evidence{FirstPages: "Type Theory\nKarl Huber\n" + prose}, match.Different, ""},
		{"cited in the text", nil, match.Evidence{FirstPages: "Another Paper\nKarl Huber\n" + prose + "Erdős and Wu [3], in\nEfficient Off-diagonal Ramsey Numbers for Sparse Graphs\nshow the converse.\n"}, match.Different, ""},
		{"in a reference list", nil, match.Evidence{FirstPages: "Another Note\nKarl Huber\nNothing.\nReferences\n[1] Á. Erdős, L. Wu.\nEfficient Off-diagonal Ramsey Numbers for Sparse Graphs.\nGraphs 2020.\n"}, match.Different, ""},
		{"in a list of publications", nil, match.Evidence{FirstPages: "Ágnes Erdős\nSelected Publications\n" + ramsey.Title + "\nÁgnes Erdős, Li Wu\nGraphs 2020\nAnother one\nÁgnes Erdős\n"}, match.Different, ""},
		{"in a table of contents", append([]gleaner.Paper{ramsey}, others...), match.Evidence{FirstPages: "Graphs 2020\n" + ramsey.Title + "\nÁgnes Erdős, Li Wu 1\n" + others[0].Title + "\nKarl Huber 11\n" + others[1].Title + "\nMia Sandoval 25\n"}, match.Different, ""},
		{"in a preface", nil, match.Evidence{FirstPages: "Graphs 2020: Preface\nKarl Huber\n\nThe best paper award went to " + ramsey.Title + " by Ágnes Erdős and Li Wu. We thank all.\n"}, match.Different, ""},
		{"words of the abstract, cut short, for a title", []gleaner.Paper{cut}, match.Evidence{FirstPages: "Colourings\nJane Porter\n" + prose}, match.Different, ""},
		{"conference and journal version", []gleaner.Paper{journal, ramsey}, match.Evidence{FirstPages: ramsey.Title + "\n" + by + prose, Year: 2020}, match.Exact, "paper"},
		{"nothing", nil, match.Evidence{}, match.Different, ""},
	}
	for _, tt := range tests {
		wanted := tt.wanted
		if wanted == nil {
			wanted = []gleaner.Paper{ramsey}
		}
		ms := match.NewIndex(wanted).Document(tt.ev)
		if len(ms) == 0 {
			assert.Equal(t, tt.verdict, match.Different, "%s: nothing found", tt.name)
			continue
		}
		assert.Equal(t, tt.verdict, ms[0].Verdict, "%s: %q", tt.name, ms[0].Reasons)
		assert.Equal(t, tt.form, ms[0].Form, "%s: %q", tt.name, ms[0].Reasons)
		if tt.name == "conference and journal version" {
			assert.Len(t, ms, 2)
			assert.Equal(t, "ramsey", ms[0].Paper.Key, "the nearer year first")
		}
	}
}

// TestADocumentIsOnePaper: where another wanted title stands further down, with its own
// authors, the document is the paper at the top alone.
func TestADocumentIsOnePaper(t *testing.T) {
	t.Parallel()
	other := gleaner.Paper{Key: "other", Title: "Querying Temporal Archives without an Index", Authors: []gleaner.Author{{Name: "Mia Sandoval"}}}
	both := ramsey.Title + "\nÁgnes Erdős\nLi Wu\n" + prose + "\n\f" + other.Title + "\nMia Sandoval\n" + prose
	ms := match.NewIndex([]gleaner.Paper{ramsey, other}).Document(match.Evidence{FirstPages: both})
	keys := each.Of(ms, func(m match.Match) string { return m.Paper.Key })
	assert.Equal(t, []string{"ramsey"}, keys)
}

// TestADocumentOfOneOfManyPapersOfOneTitle is told by its authors, by its year and by its DOI,
// whatever its key.
func TestADocumentOfOneOfManyPapersOfOneTitle(t *testing.T) {
	t.Parallel()
	own := func(i int) string { return fmt.Sprintf("Ada King%c%c", 'a'+i/26, 'a'+i%26) }
	none := func(int) string { return "" }
	one := func(int) string { return "Ada King" }
	for _, tt := range []struct {
		name, title string
		by          func(i int) string
		ev          match.Evidence // beside the title and the author
		want        match.Verdict
	}{
		{"authors", "Introduction", own, match.Evidence{}, match.Exact},
		{"authors, behind a cover page", "Guest Editors' Introduction", own,
			match.Evidence{FirstPages: "University of Somewhere\n\f"}, match.Exact},
		{"authors, of a title of a few letters", "Kami", own, match.Evidence{}, match.Exact},
		{"authors, linked with the title", "Robust Parsing of Broken Files", own,
			match.Evidence{FirstPages: "Files\n", Anchor: "Robust Parsing of Broken Files"}, match.Ambiguous},
		{"year", "Report of the Editors to the Members", one, match.Evidence{Year: 2039}, match.Exact},
		{"DOI", "Report of the Editors to the Members", none, match.Evidence{PageDOI: "10.1000/x39"}, match.Strong},
	} {
		var wanted []gleaner.Paper
		for i := range 40 {
			p := gleaner.Paper{Key: fmt.Sprint("k", 10+i), Title: tt.title, Year: 2000 + i, DOI: fmt.Sprint("10.1000/x", i)}
			if name := tt.by(i); name != "" {
				p.Authors = by(name)
			}
			wanted = append(wanted, p)
		}
		if tt.ev.Anchor == "" {
			tt.ev.FirstPages += tt.title + "\n"
		}
		tt.ev.FirstPages += tt.by(39) + "\n" + prose
		ms := match.NewIndex(wanted).Document(tt.ev)
		require.NotEmpty(t, ms, tt.name)
		assert.Equal(t, "k49", ms[0].Paper.Key, tt.name)
		assert.Equal(t, tt.want, ms[0].Verdict, "%s: %q", tt.name, ms[0].Reasons)
	}
}

func TestLikeness(t *testing.T) {
	t.Parallel()
	ix := match.NewIndex([]gleaner.Paper{ramsey, {Key: "s", Title: "Kami"}})
	for _, tt := range []struct {
		text   string
		lo, hi float64
	}{
		{ramsey.Title, 1, 1},
		{"Á. Erdős, L. Wu: efficient off-diagonal ramsey numbers for sparse graphs. Graphs 2020 [pdf]", 1, 1},
		{"Efficient off-diagonal Ramsey numbers on sparse graph", 0.8, 0.99},
		{"Teaching and office hours", 0, 0},
		{"Graphs", 0, 0},
		{"Kami", 0.5, 0.5},
		{"", 0, 0},
		{strings.Repeat("x", 5000), 0, 0},
	} {
		got := ix.Likeness(tt.text)
		assert.True(t, tt.lo <= got && got <= tt.hi, "%.60q: %.2f, want %.2f–%.2f", tt.text, got, tt.lo, tt.hi)
	}
	assert.Zero(t, match.NewIndex(nil).Likeness(ramsey.Title))
	assert.Empty(t, match.NewIndex(nil).Document(match.Evidence{FirstPages: ramsey.Title}))
}

func TestNormalise(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"":                                       "",
		"The e-mail’s “Title”.":                  "theemailstitle",
		`Erd&#337;s&ndash;R&eacute;nyi`:          "erdosrenyi",
		`G{\"o}del, {\O}re \& \emph{Na\"{\i}ve}`: "godeloreandnaive",
		`$\lambda$-calculus, λ-calculus`:         "lambdacalculuslambdacalculus",
		"H<sub>2</sub>O and a<b and c>d":         "h2oandabandcd",
		"ﬁnite eﬃcient x² Straße Łódź":           "finiteefficientx2strasselodz",
		"日本語の 論文":                                "日本語の論文",
		`trailing \`:                             "trailing",
	} {
		assert.Equal(t, want, text.Normalise(in), in)
	}
}

func TestRecordsAndHeld(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		a, b gleaner.Paper
		want match.Verdict
	}{
		{"case, accents, order of names", gleaner.Paper{Title: "On Erdős Sets", Year: 2001, Authors: by("Ada King", "José Gómez")}, gleaner.Paper{Title: "ON ERDOS SETS.", Year: 2001, Authors: by("King, Ada", "Gomez, J.")}, match.Exact},
		{"a word more", gleaner.Paper{Title: "Off-diagonal Ramsey numbers", Year: 2001, Authors: by("Ada King")}, gleaner.Paper{Title: "Off-diagonal book Ramsey numbers", Year: 2001, Authors: by("Ada King")}, match.Different},
		{"another part", gleaner.Paper{Title: "Parsing broken files I", Year: 2001, Authors: by("Ada King")}, gleaner.Paper{Title: "Parsing broken files II", Year: 2001, Authors: by("Ada King")}, match.Different},
		{"another year in the title", gleaner.Paper{Title: "Report of the 2003 workshop", Authors: by("Ada King")}, gleaner.Paper{Title: "Report of the 2004 workshop", Authors: by("Ada King")}, match.Different},
		{"nobody in common", gleaner.Paper{Title: "Morbid obesity and its treatment", Year: 2001, Authors: by("Ada King")}, gleaner.Paper{Title: "Morbid obesity and its treatment", Year: 2001, Authors: by("Karl Huber")}, match.Different},
		{"without a subtitle", gleaner.Paper{Title: "Gleaning the web: a focused crawler", Year: 2001, Authors: by("Ada King")}, gleaner.Paper{Title: "Gleaning the Web", Year: 2002, Authors: by("Ada King")}, match.Strong},
		{"an answer to it", gleaner.Paper{Title: "Gleaning the web: a rejoinder", Year: 2001, Authors: by("Ada King")}, gleaner.Paper{Title: "Gleaning the Web", Year: 2002, Authors: by("Ada King")}, match.Different},
		{"one DOI", gleaner.Paper{Title: "A title", DOI: "10.1000/X"}, gleaner.Paper{Title: "A title", DOI: "10.1000/x"}, match.Exact},
		{"title and year of a list", gleaner.Paper{Title: "Gleaning the dark web twice", Year: 2001, Authors: by("Ada King")}, gleaner.Paper{Title: "Gleaning the dark web twice", Year: 2001}, match.Strong},
		{"short title of a list", gleaner.Paper{Title: "Editorial", Year: 2001, Authors: by("Ada King")}, gleaner.Paper{Title: "Editorial", Year: 2005}, match.Different},
		{"empty", gleaner.Paper{}, gleaner.Paper{}, match.Different},
	} {
		got, _, why := match.Records(tt.a, tt.b)
		assert.Equal(t, tt.want, got, "%s: %q", tt.name, why)
		back, _, _ := match.Records(tt.b, tt.a)
		assert.Equal(t, got, back, "%s, the other way round", tt.name)
	}
	wanted := []gleaner.Paper{{Key: "k1", Title: "Gleaning the dark web twice", Year: 2001, Authors: by("Ada King")}, {Key: "k2", Title: "Gleaning the dark web thrice", Year: 2001, Authors: by("Ada King")}, {Key: "k3", Title: "Kami", Year: 2002}}
	held := match.Held(wanted, []gleaner.Paper{{Title: "Gleaning the Dark Web Twice."}, {Title: "KAMI", Year: 2002}, {Title: "Unrelated"}, {Title: "Gleaning the dark web thrice", Year: 1998}})
	assert.Contains(t, held, "k1")
	assert.Contains(t, held, "k3")
	assert.NotContains(t, held, "k2", "a bare title of three years before")
	assert.NotEmpty(t, held["k1"].Why)
}

// FuzzDocument: no text and no title brings the matcher down, and what it says
// of itself is consistent.
func FuzzDocument(f *testing.F) {
	f.Add(ramsey.Title, "Li Wu", ramsey.Title+"\n\fLi Wu\n"+prose, "")
	f.Add("Kami", "", "Kami\n\nKami", "Kami")
	f.Add("A: B…", "é", "\xff\xfe\f\f\n10.1000/x arXiv:2001.01234 [", "10.1000/x")
	f.Add("Gleaning the Dark Web: A Longitudinal Study of Hidden Markets", "Jane Porter", "Study of Hidden Markets\nJane Porter\n"+prose, "Hidden Markets")
	f.Add("Fi", "Fl", "A", "Of")
	f.Add(strings.Repeat("Efficient flows fill offices and ", 16), "Ada King", strings.Repeat("Efficient flows fill ovvices amd ", 16)+"\nAda King\n", "a – b")
	for _, p := range firstPages(f) {
		f.Add(p.title, p.authors, p.text, p.title[:len(p.title)/2])
	}
	f.Fuzz(func(t *testing.T, title, author, text, meta string) {
		p := gleaner.Paper{Key: "k", Title: title, Authors: []gleaner.Author{{Name: author}}, DOI: "10.1000/x", ArXiv: "2001.01234"}
		ix := match.NewIndex([]gleaner.Paper{p, ramsey})
		for _, m := range ix.Document(match.Evidence{FirstPages: text, MetaTitle: meta, Anchor: meta}) {
			require.NotEqual(t, match.Different, m.Verdict)
			require.NotEmpty(t, m.Form)
		}
		l := ix.Likeness(text)
		require.True(t, l >= 0 && l <= 1, l)
		a, _, _ := match.Records(p, gleaner.Paper{Title: text, Authors: p.Authors})
		b, _, _ := match.Records(gleaner.Paper{Title: text, Authors: p.Authors}, p)
		if (a == match.Different) != (b == match.Different) {
			t.Logf("not symmetric: %q %q: %s %s", title, text, a, b)
		}
	})
}
