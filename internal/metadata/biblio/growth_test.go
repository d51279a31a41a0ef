package biblio_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"gleaner/internal/gleaner"
	"gleaner/internal/lab/growthtest"
	"gleaner/internal/metadata/biblio"
)

// worst are the inputs that cost each reader most, by the number of bytes or so.
var worst = map[string]struct {
	format biblio.Format
	of     func(n int) string
}{
	"ris title that goes on": {biblio.RIS, func(n int) string { return "TY  - JOUR\nTI  - a\n" + strings.Repeat("b\n", n) + "ER  - \n" }},
	"ris authors":            {biblio.RIS, func(n int) string { return "TY  - JOUR\nTI  - a\n" + strings.Repeat("AU  - b, c\n", n) + "ER  - \n" }},
	"bibtex braces":          {biblio.BibTeX, func(n int) string { return "@a{k, title={" + strings.Repeat("{", n) + strings.Repeat("}", n) + "}}" }},
	"bibtex accents":         {biblio.BibTeX, func(n int) string { return "@a{k, title={" + strings.Repeat(`\'`, n) + "}}" }},
	"bibtex dashes":          {biblio.BibTeX, func(n int) string { return "@a{k, title={" + strings.Repeat("-", n) + "}}" }},
	"bibtex authors":         {biblio.BibTeX, func(n int) string { return "@a{k, title={x}, author={" + strings.Repeat("a and ", n) + "b}}" }},
	"bibtex joined values":   {biblio.BibTeX, func(n int) string { return "@a{k, title={x}" + strings.Repeat(` # "y"`, n) + "}" }},
	"bibtex strings in turn": {biblio.BibTeX, func(n int) string { return strings.Repeat(`@string{s = "a"}`, n) }},
	"bibtex fields":          {biblio.BibTeX, func(n int) string { return "@a{k" + strings.Repeat(",x={y}", n) + "}" }},
	"bibtex comments":        {biblio.BibTeX, func(n int) string { return strings.Repeat("%@", n) }},
	"csv quotes":             {biblio.CSV, func(n int) string { return "title\n\"" + strings.Repeat(`""`, n) + "\"\n" }},
	"csv columns":            {biblio.CSV, func(n int) string { return "title" + strings.Repeat(",x", n) + "\n" }},
	"csv authors":            {biblio.CSV, func(n int) string { return "title,authors\nx,\"" + strings.Repeat("a b, ", n) + "\"\n" }},
	"json authors":           {biblio.JSONL, func(n int) string { return `{"title":"a","authors":[` + strings.Repeat(`"b",`, n) + `"c"]}` }},
	"json nesting": {biblio.JSONL, func(n int) string {
		return `{"title":"a","authors":` + strings.Repeat("[", n) + strings.Repeat("]", n) + "}"
	}},
	"json lines":              {biblio.JSONL, func(n int) string { return strings.Repeat("{\"title\":\"a\"}\n", n) }},
	"text of nothing in csv":  {biblio.CSV, func(n int) string { return "title\n" + strings.Repeat("\n", n) }},
	"text of nothing in ris":  {biblio.RIS, func(n int) string { return strings.Repeat("\n", n) }},
	"text of nothing, bibtex": {biblio.BibTeX, func(n int) string { return strings.Repeat("x", n) }},
}

// No list makes reading or writing it cost more than its length.
func TestReadingGrowsWithTheInput(t *testing.T) {
	for name, w := range worst {
		t.Run(name, func(t *testing.T) {
			growthtest.Linear(t, 8<<10, func(n int) []byte { return []byte(w.of(n)) }, func(in []byte) {
				papers, _, _ := biblio.Read(bytes.NewReader(in), w.format)
				_ = biblio.Write(&bytes.Buffer{}, w.format, entries(papers))
			})
		})
	}
}

// Abbreviations that stand for each other double with each line: they are refused
// before they fill the memory.
func TestAbbreviationsOfAbbreviations(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	fmt.Fprintf(&b, "@string{s0 = \"%s\"}\n", strings.Repeat("x", 1<<10))
	for i := range 18 {
		fmt.Fprintf(&b, "@string{s%d = s%d # s%d}\n", i+1, i, i)
	}
	b.WriteString("@article{k, title = s18, year = 2003}\n")
	papers, err := read(strings.NewReader(b.String()), biblio.BibTeX)
	require.ErrorContains(t, err, "line 12")
	require.ErrorContains(t, err, "a value joined of more than 1048576 bytes")
	require.Empty(t, papers)
	b.Reset()
	b.WriteString("@string{acl = {Association for Computational Linguistics}}\n@string{anth = {https://aclanthology.org/}}\n")
	for i := range 80_000 {
		fmt.Fprintf(&b, "@article{k%d, title={A paper}, publisher=acl, url=anth # {P00-%d/}, year=2003, note={of a large anthology}}\n", i, i)
	}
	papers, err = read(strings.NewReader(b.String()), biblio.BibTeX)
	require.NoError(t, err, "they stand for less than the file has")
	require.Len(t, papers, 80_000)
	names := `@string{a="` + strings.Repeat("B and ", 1<<19/6) + "B and \"}\n"
	for _, field := range []string{"author", "url", "title"} {
		b.Reset()
		for i := range 10 {
			fmt.Fprintf(&b, "@article{k%d, title={x}, %s=a%s}\n", i, field, strings.Repeat("#a", i))
		}
		most := 0
		err = biblio.EachBibTeX(strings.NewReader(names+b.String()), func(p gleaner.Paper, _ map[string]string) error {
			most = max(most, len(p.Authors), len(p.Links))
			return nil
		})
		require.NoError(t, err)
		require.Less(t, most, 400_000, field)
	}
}
