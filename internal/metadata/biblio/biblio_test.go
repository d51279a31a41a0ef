package biblio_test

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"io"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"gleaner/internal/each"
	"gleaner/internal/gleaner"
	"gleaner/internal/metadata/biblio"
)

func authors(names ...string) []gleaner.Author {
	return each.Of(names, func(n string) gleaner.Author { return gleaner.Author{Name: n} })
}

func entries(papers []gleaner.Paper) []biblio.Entry {
	return each.Of(papers, func(p gleaner.Paper) biblio.Entry { return biblio.Entry{Paper: p} })
}

// read reads a list whose every entry has a title.
func read(r io.Reader, f biblio.Format) ([]gleaner.Paper, error) {
	papers, wrong, err := biblio.Read(r, f)
	return papers, cmp.Or(err, wrong.Refusal(len(papers)))
}

func TestRead(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		format biblio.Format
		in     string
		want   []gleaner.Paper
	}{
		{"csv with a header in another order", biblio.CSV, "Year,Title,Authors\n2003,\"Sorting, again.\",\"Ada Lovelace; Charles Babbage\"\n",
			[]gleaner.Paper{{Year: 2003, Title: "Sorting, again", Authors: authors("Ada Lovelace", "Charles Babbage")}}},
		{"csv with BOM, semicolons and CRLF", biblio.CSV, "\ufeffTitle;Publication Year;DOI\r\nOn engines;1843;https://doi.org/10.1000/ABC\r\n;;\r\n",
			[]gleaner.Paper{{Title: "On engines", Year: 1843, DOI: "10.1000/abc"}}},
		{"csv of a German library", biblio.CSV, "Titel;Verfasser;Jahr\nOn engines;Ada Lovelace;1843\n", []gleaner.Paper{{Title: "On engines", Year: 1843, Authors: authors("Ada Lovelace")}}},
		{"csv of a French one", biblio.CSV, "Titre;Auteur(s);Année\nOn engines;Ada Lovelace;1843\n", []gleaner.Paper{{Title: "On engines", Year: 1843, Authors: authors("Ada Lovelace")}}},
		{"tab separated", biblio.CSV, "title\tyear\nOn engines\t1843-05-01\n", []gleaner.Paper{{Title: "On engines", Year: 1843}}},
		{"quoted line break", biblio.CSV, "title,year\n\"On\nengines\",1843\n", []gleaner.Paper{{Title: "On engines", Year: 1843}}},
		{"json lines", biblio.JSONL, `{"title":"On engines","year":"1843","authors":["Lovelace, Ada",{"name":"Charles Babbage","pid":"1/2"}]}` + "\n\n" + `{"id":"x","title":"B","year":1901,"url":"http://a/"}`,
			[]gleaner.Paper{
				{Title: "On engines", Year: 1843, Authors: []gleaner.Author{{Name: "Ada Lovelace"}, {Name: "Charles Babbage", PID: "1/2"}}},
				{Key: "x", Title: "B", Year: 1901, Links: []string{"http://a/"}}}},
		{"bibtex", biblio.BibTeX, bibSample, bibWant},
		{"ris", biblio.RIS, "TY  - JOUR\r\nID  - k1\r\nTI  - On the office\r\n  of engines\r\nAU  - Lovelace, Ada\r\nAU  - Babbage, Charles\r\nPY  - 1843/05//\r\nJO  - Memoirs\r\nSP  - 1\r\nEP  - 10\r\nDO  - 10.1000/X\r\nUR  - https://arxiv.org/abs/1609.01872v2\r\nER  - \r\n",
			[]gleaner.Paper{{Key: "k1", Title: "On the office of engines", Authors: authors("Ada Lovelace", "Charles Babbage"), Year: 1843, Venue: "Memoirs", Pages: "1-10", DOI: "10.1000/x", ArXiv: "1609.01872", Links: []string{"https://arxiv.org/abs/1609.01872v2"}}}},
		{"dois", biblio.DOI, "# mine\n10.1145/1.2\n doi:10.1000/ABC\r\nhttps://doi.org/10.1145/3.4\n", []gleaner.Paper{{DOI: "10.1145/1.2"}, {DOI: "10.1000/abc"}, {DOI: "10.1145/3.4"}}},
	}
	for _, tt := range tests {
		got, err := read(strings.NewReader(tt.in), tt.format)
		require.NoError(t, err, tt.name)
		assert.Equal(t, tt.want, got, tt.name)
	}
}

const bibSample = `
% @article{old, title={Not this}}
@string{jal = "J. Algo" # "rithms"}
@comment{ anything { here } }
@Article{ada:43,
  title = {{On} the {\"O}ffice of \emph{Engines} -- G\"{o}del, Erd{\H o}s, na{\"\i}ve \& $\lambda$},
  author = "Lovelace, Ada and Charles Babbage and {Barnes and Noble} and Guti{\'e}rrez, Jr., Jos{\'e}",
  journal = jal, month = jan # "~1", year = 1843, pages = {1--10}, DOI = {10.1000/XYZ},
  eprint = {1609.01872v3}, archivePrefix={arXiv}, url = {http://a.example/x\_y}
}
@inproceedings(two, title = "A {"}quoted{"} one", year = "2001",)
`

var bibWant = []gleaner.Paper{
	{Key: "ada:43", Type: "article", Title: "On the Öffice of Engines – Gödel, Erdős, naïve & λ",
		Authors: authors("Ada Lovelace", "Charles Babbage", "Barnes and Noble", "José Gutiérrez Jr."),
		Venue:   "J. Algorithms", Year: 1843, Pages: "1-10", DOI: "10.1000/xyz", ArXiv: "1609.01872", Links: []string{"http://a.example/x_y"}},
	{Key: "two", Type: "inproceedings", Title: `A "quoted" one`, Year: 2001},
}

// TestEveryErrorOfAListIsNamed: who mends a list does it once.
func TestEveryErrorOfAListIsNamed(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		format biblio.Format
		in     string
		want   []string
	}{
		"csv":    {biblio.CSV, "title,year\nA,soon\nB,2001\nC,later\nD\n", []string{`line 2, column 3: "soon" is not a year`, `line 4, column 3: "later" is not a year`, "line 5: 1 fields"}},
		"jsonl":  {biblio.JSONL, "{\"title\":\"A\"}\nnonsense\n{\"title\":\"B\",\"year\":[]}\n", []string{"line 2, column", "line 3"}},
		"bibtex": {biblio.BibTeX, "@a{x, title={A}, year={5}}\n@a{y, title {B}}\n@a{z, title={C}, year={2001}}\n@a{w, title={D}\n", []string{`line 1: entry x: "5" is not a year`, "line 2, column", "line 4, column 1: the entry that begins here is not closed"}},
		"ris":    {biblio.RIS, "TY  - JOUR\nTI  - A\nPY  - soon\nER  - \nTY  - JOUR\nTI  - B\nTY  - JOUR\nTI  - C\n", []string{`line 3, column 7: "soon" is not a year`, "line 7, column 1: a new reference begins", "line 7, column 1: the reference that begins here has no closing"}},
		"doi":    {biblio.DOI, "# mine\n10.1145/1.2\nhttps://doi.org/10.1145/3.4\nten.11\n\n10.1145/5.6 and more\n", []string{`line 4, column 1: "ten.11" is not a DOI`, `line 6, column 1: "10.1145/5.6 and more" is not a DOI`}},
	} {
		_, err := read(strings.NewReader(tt.in), tt.format)
		var wrong biblio.SyntaxErrors
		require.ErrorAs(t, err, &wrong, name)
		require.Len(t, wrong, len(tt.want), "%s: %v", name, err)
		for i, want := range tt.want {
			require.ErrorContains(t, wrong[i], want, name)
		}
	}
	untitled := map[biblio.Format]string{
		biblio.CSV:    "title,year\nA,2001\n,\n,2002\nB,2003\n",
		biblio.BibTeX: "@a{x, title={A}}\n@a{y, year={2002}}\n@a{z, title={B}}",
		biblio.RIS:    "TY  - JOUR\nTI  - A\nER  - \nTY  - JOUR\nER  - \nTY  - JOUR\nTI  - B\nER  - \n",
	}
	for format, in := range untitled {
		papers, wrong, err := biblio.Read(strings.NewReader(in), format)
		require.NoError(t, cmp.Or(err, wrong.Refusal(len(papers))), format)
		require.Len(t, papers, 2, format)
		require.ErrorContains(t, wrong, ": entry 2 has neither a title nor a DOI", format)
	}
	_, err := read(strings.NewReader(strings.Repeat("{}\n", 1000)), biblio.JSONL)
	require.Equal(t, 51, len(strings.Split(err.Error(), "\n")), "nor entries without end")
	_, err = read(strings.NewReader(strings.Repeat("nonsense\n", 1000)), biblio.DOI)
	require.Equal(t, 51, len(strings.Split(err.Error(), "\n")), "not a thousand lines")
}

func TestMalformedInputHasAPlace(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name         string
		format       biblio.Format
		in           string
		line, column int
	}{
		{"empty csv", biblio.CSV, "", 1, 0},
		{"csv without a title", biblio.CSV, "a,b\n1,2\n", 1, 1},
		{"csv row too long", biblio.CSV, "title,year\nx,2001\ny,2002,z\n", 3, 8},
		{"csv row too short", biblio.CSV, "title,year\nx\n", 2, 0},
		{"csv year", biblio.CSV, "title,year\nx,soon\n", 2, 3},
		{"csv stray quote", biblio.CSV, "title,year\nx \"y\" z,2001\n", 2, 3},
		{"csv binary", biblio.CSV, "title\nPK\x00\x01\n", 2, 0},
		{"csv latin-1", biblio.CSV, "title,year\nG\xf6del,1931\n", 2, 1},
		{"csv latin-1 header", biblio.CSV, "title,ann\xe9e\nx,2001\n", 1, 1},
		{"csl-json", biblio.JSONL, "\n[{\"title\":\"a\"},\n{\"title\":\"b\"}]\n", 2, 1},
		{"json cut", biblio.JSONL, "{\"title\":\"a\"}\n{\"title\":\n", 2, 9},
		{"json type", biblio.JSONL, "{\"title\":3}\n", 1, 10},
		{"json without anything", biblio.JSONL, "{}\n", 1, 1},
		{"json year", biblio.JSONL, "{\"title\":\"a\",\"year\":[1]}\n", 1, 1},
		{"bibtex unclosed value", biblio.BibTeX, "@article{a,\n title = {x,\n year = 2001\n}\n", 1, 1},
		{"bibtex no equals", biblio.BibTeX, "@article{a,\n title {x}\n}", 2, 8},
		{"bibtex no comma", biblio.BibTeX, "@article{a,\n title = {x}\n year = 3}", 3, 2},
		{"bibtex cut", biblio.BibTeX, "@article{a,\n title = {x},\n", 1, 1},
		{"bibtex no brace", biblio.BibTeX, "@article title", 1, 10},
		{"bibtex year", biblio.BibTeX, "\n@article{a, title={x}, year={20011}}", 2, 0},
		{"ris without type", biblio.RIS, "TI  - x\n", 1, 1},
		{"ris unclosed", biblio.RIS, "TY  - JOUR\nTI  - x\n", 1, 1},
		{"ris open twice", biblio.RIS, "TY  - JOUR\nTI  - x\nTY  - JOUR\n", 3, 1},
		{"ris no tag", biblio.RIS, "hello\n", 1, 1},
		{"csv row without title and doi", biblio.CSV, "title,year\n,\n,2002\n", 3, 1},
		{"json without title and doi", biblio.JSONL, "{\"key\":\"conf/x/1\"}\n", 1, 1},
		{"bibtex without title and doi", biblio.BibTeX, "\n@article{a, author={A B}, year={2001}}", 2, 1},
		{"ris without title and doi", biblio.RIS, "TY  - JOUR\nPY  - 2001\nER  - \n", 1, 1},
	}
	for _, tt := range tests {
		_, err := read(strings.NewReader(tt.in), tt.format)
		var se *biblio.SyntaxError
		require.ErrorAs(t, err, &se, tt.name)
		assert.Equal(t, [2]int{tt.line, tt.column}, [2]int{se.Line, se.Column}, "%s: %v", tt.name, err)
	}
}

func TestWriteReadsBack(t *testing.T) {
	t.Parallel()
	papers := []gleaner.Paper{
		{Key: "conf/x/a1", Venue: "conf/x", Year: 2003, Title: `Sorting {n} items in 50% of $n\log n$ — "fast" & easy, #1`, Authors: authors("Ada King Lovelace", "Sammy Davis Jr.", "Émile Zola", "Andreas van Cranenburgh", "Jan de Vries Jr."), DOI: "10.1000/x_y", ArXiv: "1609.01872", Pages: "1-10", Links: []string{"http://a.example/x_y?a=1&b=%20"}},
		{Key: "journals/y/b2", Venue: "journals/y", Year: 2004, Title: "λ-graphs; a survey, again"},
	}
	for _, f := range []biblio.Format{biblio.CSV, biblio.JSONL, biblio.BibTeX, biblio.RIS} {
		var b bytes.Buffer
		require.NoError(t, biblio.Write(&b, f, entries(papers)))
		assert.Equal(t, f == biblio.BibTeX || f == biblio.RIS, strings.Contains(b.String(), "van Cranenburgh, Andreas"), f)
		got, err := read(&b, f)
		require.NoError(t, err)
		want := slices.Clone(papers)
		switch f {
		case biblio.RIS: // it has no field for an arXiv id
			want[0].ArXiv = ""
		case biblio.BibTeX:
			want[0].Type, want[1].Type = "inproceedings", "article"
		}
		assert.Equal(t, want, got, f)
	}
	for kind, want := range map[string]string{"article": "JOUR", "conference": "CONF", "book": "BOOK", "": "GEN"} {
		var b bytes.Buffer
		require.NoError(t, biblio.Write(&b, biblio.RIS, entries([]gleaner.Paper{{Title: "A Paper", Type: kind}})))
		require.Contains(t, b.String(), "TY  - "+want+"\r\n", kind)
	}
	require.ErrorIs(t, biblio.Write(&bytes.Buffer{}, "xml", nil), biblio.ErrFormat)
}

// What catalogues say must not run in a spreadsheet, nor end a BibTeX field, and
// reads back as it was.
func TestExportsOfHostileText(t *testing.T) {
	t.Parallel()
	var papers []gleaner.Paper
	for _, s := range []string{`=HYPERLINK("http://evil/","x")`, "+1", "-1+1", "@SUM(A1)", " =1+1", "'=1", "''=1", "＝1", `a } b`, `a { b`, `\}{`, "a^b", "it's", "'plain"} {
		papers = append(papers, gleaner.Paper{Key: "k", Title: "T " + s, Venue: "conf/x", Pages: "1}", DOI: `10.1000/a}\b`, ArXiv: "1609.01872"},
			gleaner.Paper{Key: "k", Title: s, Venue: "conf/x"})
	}
	for _, f := range []biblio.Format{biblio.CSV, biblio.BibTeX} {
		var b bytes.Buffer
		require.NoError(t, biblio.Write(&b, f, entries(papers)))
		text := b.String()
		if f == biblio.BibTeX {
			assert.Equal(t, strings.Count(text, "{"), strings.Count(text, "}"), "BibTeX balances escaped braces, too")
		} else {
			rows, err := csv.NewReader(strings.NewReader(text)).ReadAll()
			require.NoError(t, err)
			for _, cell := range slices.Concat(rows...) {
				assert.NotRegexp(t, `^\s*[=+@＝-]`, cell)
			}
		}
		got, err := read(strings.NewReader(text), f)
		require.NoError(t, err)
		require.Len(t, got, len(papers))
		for i := range got {
			assert.Equal(t, strings.Join(strings.Fields(papers[i].Title), " "), got[i].Title, f)
		}
	}
}

// TestNamesOfFilesWithSigns reach JabRef whole: a colon or a semicolon of a path ends no
// part of its link.
func TestNamesOfFilesWithSigns(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	require.NoError(t, biblio.Write(&b, biblio.BibTeX, []biblio.Entry{{Paper: gleaner.Paper{Key: "k", Title: "T"}, File: `a:b;c\d.pdf`}}))
	require.Contains(t, b.String(), `{:a\:b\;c\\d.pdf:PDF}`)
}

// TestListsAreNoCommands: what a terminal would obey is in no list that somebody looks
// at there.
func TestListsAreNoCommands(t *testing.T) {
	t.Parallel()
	const bad = "A\x1b]0;owned\a \u009b31mtitle\x00\x7f"
	p := gleaner.Paper{Key: bad, Title: bad, Year: 2003, Venue: bad, Authors: authors(bad), DOI: bad, Pages: bad, Links: []string{bad}}
	for _, f := range []biblio.Format{biblio.CSV, biblio.BibTeX, biblio.RIS} {
		var b bytes.Buffer
		require.NoError(t, biblio.Write(&b, f, []biblio.Entry{{Paper: p, File: bad}}))
		require.Contains(t, b.String(), "title", f)
		for _, r := range b.String() {
			require.False(t, unicode.IsControl(r) && r != '\n' && r != '\r', "%s: %q", f, b.String())
		}
	}
	require.Equal(t, "'=1", biblio.Cell("\x01=1"))
}

func TestDetect(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, head string
		want       biblio.Format
	}{
		{"a.bib", "", biblio.BibTeX}, {"a.JSONL", "", biblio.JSONL}, {"a.csv", "", biblio.CSV}, {"a.ris", "", biblio.RIS},
		{"-", `{"title":`, biblio.JSONL}, {"x.txt", "TY  - JOUR\n", biblio.RIS}, {"x", "% refs\n@book{", biblio.BibTeX},
		{"x", "\ufeffYear;Title\n", biblio.CSV}, {"x", "[{", biblio.JSONL}, {"x", "hello", ""}, {"x", "", ""},
	} {
		assert.Equal(t, tt.want, biblio.Detect(tt.name, []byte(tt.head)), "%s %q", tt.name, tt.head)
	}
	_, err := biblio.ParseFormat("xls")
	assert.ErrorIs(t, err, biblio.ErrFormat)
}

// FuzzRead: whatever comes in, Read ends with papers or a typed error, and what
// it read can be written and read again.
func FuzzRead(f *testing.F) {
	f.Add("title,year\na,2001\n", uint8(0))
	f.Add("{\"title\":\"a\"}\n", uint8(1))
	f.Add(bibSample, uint8(2))
	f.Add("TY  - JOUR\nTI  - x\nER  - \n", uint8(3))
	formats := []biblio.Format{biblio.CSV, biblio.JSONL, biblio.BibTeX, biblio.RIS}
	for _, w := range worst {
		f.Add(w.of(20), uint8(slices.Index(formats, w.format)))
	}
	f.Fuzz(func(t *testing.T, in string, which uint8) {
		format := formats[int(which)%len(formats)]
		papers, err := read(strings.NewReader(in), format)
		if err != nil {
			var se *biblio.SyntaxError
			require.ErrorAs(t, err, &se, "untyped error")
			require.GreaterOrEqual(t, se.Line, 1, "no place in")
			require.GreaterOrEqual(t, se.Column, 0, "no place in")
			return
		}
		var b bytes.Buffer
		require.NoError(t, biblio.Write(&b, format, entries(papers)))
		if format == biblio.JSONL { // the others drop what they cannot hold
			again, err := read(&b, format)
			require.NoError(t, err)
			require.Len(t, again, len(papers))
		}
	})
}

// TestBlankRows: rows of blanks alone, as spreadsheets leave them, are passed over, however
// many fields they have.
func TestBlankRows(t *testing.T) {
	t.Parallel()
	papers, err := read(strings.NewReader("title,year,doi\nA Paper,2003,\n , ,\t\n,,\n,\n\"  \"\n , , , \nAnother,2004,\n"), biblio.CSV)
	require.NoError(t, err)
	require.Len(t, papers, 2)
}
