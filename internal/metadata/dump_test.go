package metadata

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"gleaner/internal/gleaner"
	"gleaner/internal/lab/packtest"
)

const smallDump = `<?xml version="1.0" encoding="ISO-8859-1"?>
<!DOCTYPE dblp SYSTEM "dblp.dtd">
<dblp>
<www key="homepages/1/2" mdate="2020-01-01"><author>J&ouml;rg M&uuml;ller 0002</author><title>Home Page</title><url>http://cs.example.edu/~jm/</url><url>https://orcid.org/0000-0002-1825-0097</url></www>
<inproceedings key="conf/exa/A03" mdate="2020-01-01"><author>J&ouml;rg M&uuml;ller 0002</author><author>Ann Lee</author><title>Fast &own; <i>lists</i> &#955;.</title><pages>1-9</pages><year>2003</year><booktitle>EXA</booktitle><ee>https://doi.org/10.1000/A</ee><url>db/conf/exa/exa2003.html#A03</url></inproceedings>
<inproceedings key="conf/exampleother/B03"><author>Ann Lee</author><title>Other.</title><year>2003</year><url>db/conf/exampleother/x2003.html#B03</url></inproceedings>
<book key="books/x"><title>A book</title></book>
<proceedings key="conf/exa/2003"><editor>Ed Itor</editor><title>EXA 2003.</title><booktitle>EXA</booktitle><year>2003</year><url>db/conf/exa/exa2003.html</url></proceedings>
<inproceedings key="conf/exa/C05"><author>Ann Lee</author><title>Later.</title><year>2005</year><url>db/conf/exa/exa2005.html#C05</url></inproceedings>
<www key="homepages/l/AnnLee"><author>Ann Lee</author><author>Anna Lee</author><title>Home Page</title></www>
</dblp>
`

func writeDump(t testing.TB, body string, zipped bool) string {
	t.Helper()
	dir := t.TempDir()
	path := filepath.Join(dir, "dblp.xml")
	data := []byte(body)
	if zipped {
		path += ".gz"
		data = packtest.Gzip(body)
	}
	require.NoError(t, os.WriteFile(path, data, 0o600))
	const dtd = "<!ELEMENT dblp ANY>\n<!ENTITY own    \"&#8704;\" ><!-- for all -->\n"
	require.NoError(t, os.WriteFile(filepath.Join(dir, "dblp.dtd"), []byte(dtd), 0o600))
	return path
}

func TestDumpIsTheLastWay(t *testing.T) {
	t.Parallel()
	for _, zipped := range []bool{false, true} {
		cfg, _ := stubConfig(t, map[string][]reply{"http": {{status: 503}}})
		cfg.DumpPath = writeDump(t, smallDump, zipped)
		d := NewDBLP(cfg)
		v, err := d.ResolveVenue(t.Context(), "conf/exa")
		require.NoError(t, err)
		require.Equal(t, "EXA", v.Name)
		papers, err := d.List(t.Context(), v, single(2003), func(int, int) {})
		want := []gleaner.Paper{{Key: "conf/exa/A03", Venue: "conf/exa", Year: 2003, Title: "Fast ∀ lists λ", Pages: "1-9", DOI: "10.1000/a",
			Authors: []gleaner.Author{{PID: "1/2", Name: "Jörg Müller"}, {PID: "l/AnnLee", Name: "Ann Lee"}}, Links: []string{"https://doi.org/10.1000/A"}}}
		require.NoError(t, err)
		assert.Equal(t, want, papers)
		_, err = d.List(t.Context(), v, single(1990), func(int, int) {})
		assert.Equal(t, gleaner.YearsOf(2003, 2005), as[ErrNoVolume](t, err).Listed)
		_, err = d.List(t.Context(), gleaner.Venue{Key: "conf/none"}, single(2003), func(int, int) {})
		as[ErrUnknownVenue](t, err)
	}
}

func TestDumpPersons(t *testing.T) {
	t.Parallel()
	d, err := openDump(writeDump(t, smallDump, true))
	require.NoError(t, err)
	got, err := d.Persons(t.Context(), []string{"1/2", "l/AnnLee", "9/9"})
	want := map[string]gleaner.Person{
		"1/2":      {Author: gleaner.Author{PID: "1/2", Name: "Jörg Müller"}, URLs: []string{"http://cs.example.edu/~jm/"}, Profiles: map[string]string{"orcid": "https://orcid.org/0000-0002-1825-0097"}},
		"l/AnnLee": {Author: gleaner.Author{PID: "l/AnnLee", Name: "Ann Lee"}, Aliases: []string{"Anna Lee"}},
	}
	require.NoError(t, err)
	assert.Equal(t, want, got)
}

func TestPersonsWithoutPages(t *testing.T) {
	t.Parallel()
	cfg, s := stubConfig(t, map[string][]reply{"http": {{status: 503}}, "pid/7/7": one(personPage("7/7", "Cy Doe"))})
	cfg.DumpPath = writeDump(t, smallDump, true)
	d := NewDBLP(cfg)
	got, err := d.Persons(t.Context(), []string{"7/7", "1/2", "l/AnnLee", "9/9"})
	require.NoError(t, err)
	require.Len(t, got, 3)
	assert.Equal(t, []string{"Cy Doe", "Ann Lee"}, []string{got["7/7"].Author.Name, got["l/AnnLee"].Author.Name})
	assert.Equal(t, 0, s.count("AnnLee"))
	p, err := d.Person(t.Context(), "1/2")
	require.NoError(t, err)
	assert.Len(t, p.URLs, 1)
}

func TestBadDumps(t *testing.T) {
	t.Parallel()
	whole := writeDump(t, smallDump, true)
	cut, _ := os.ReadFile(whole)
	cutPath := filepath.Join(t.TempDir(), "cut.xml.gz")
	_ = os.WriteFile(cutPath, cut[:len(cut)/2], 0o600)
	for name, path := range map[string]string{
		"no </dblp>": writeDump(t, strings.Replace(smallDump, "</dblp>", "", 1), false),
		"cut record": writeDump(t, smallDump[:700], false),
		"cut gzip":   cutPath,
		"no file":    filepath.Join(t.TempDir(), "none.xml"),
		"too long":   writeDump(t, "<dblp><www "+strings.Repeat("x", maxRecord+10)+"></www></dblp>", false),
	} {
		d, err := openDump(path)
		require.NoError(t, err)
		_, err = d.venue(t.Context(), "conf/exa")
		assert.True(t, is[ErrBadAnswer](err) || is[ErrRefused](err), name)
	}
}

func TestDumpInLatin1(t *testing.T) {
	t.Parallel()
	d := &dump{}
	x, err := d.parse([]byte("<article key=\"journals/j/A\"><author>J\xf6rg</author><title>T.</title></article>"))
	require.NoError(t, err)
	assert.Equal(t, "Jörg", x.Authors[0].Name)
}
