package page_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"gleaner/internal/lab/growthtest"
	"gleaner/internal/web/page"
)

// scripts are ways in which programs write a list of papers, and what is read of them:
// "address | title | what is said of it".
var scripts = map[string]struct {
	src  string
	want []string
}{
	"an object": {
		`{"title":"On Crawls","year":2003,"pdf":"a.pdf"}`,
		[]string{"a.pdf | On Crawls | On Crawls. 2003"},
	},
	"a title behind": {`{"pdf":"a.pdf","title":"On Crawls"}`, []string{"a.pdf | On Crawls | On Crawls"}},
	"people": {
		`{"title":"On Crawls","authors":["A B","C D"],"url":"/p/1"}`,
		[]string{"/p/1 | On Crawls | On Crawls. A B, C D"},
	},
	"people with names": {
		`{"author":[{"name":"A B","@type":"Person"},{"given":"C","family":"D"}],"title":"On Crawls","file":"a.ps.gz"}`,
		[]string{"a.ps.gz | On Crawls | On Crawls. A B, C, D"},
	},
	"a citation's date": {
		`{"title":"On Crawls","issued":{"date-parts":[[2003,5]]},"URL":"https://x.org/a"}`,
		[]string{"https://x.org/a | On Crawls | On Crawls. 2003"},
	},
	"links with labels": {
		`{"title":"On Crawls","links":[{"name":"PDF","url":"a.pdf"},{"name":"Slides","url":"b.pdf"}]}`,
		[]string{"a.pdf | On Crawls | On Crawls", "b.pdf | On Crawls | On Crawls"},
	},
	"a rendered title": {
		`{"title":{"rendered":"On <i>Crawls</i> &amp; Co"},"link":"http://x.org/1"}`,
		[]string{"http://x.org/1 | On <i>Crawls</i> & Co | On <i>Crawls</i> & Co"},
	},
	"escapes": {
		`{"title":"\u00dcber \ud83d\ude00 Crawls","pdf":"http:\/\/x.org\/a.pdf"}`,
		[]string{"http://x.org/a.pdf | Über 😀 Crawls | Über 😀 Crawls"},
	},
	"JavaScript": {
		"var p = [{title: 'On Crawls', pdf: `a.pdf`}, // isn't\n {title: \"Off\\x20Crawls\", pdf: 'b.pdf'}];",
		[]string{"a.pdf | On Crawls | On Crawls", "b.pdf | Off Crawls | Off Crawls"},
	},
	"a regular one": {
		`x=y.replace(/["'[/]/g,""),p={title:"On Crawls",pdf:"a.pdf"};z=a/b`,
		[]string{"a.pdf | On Crawls | On Crawls"},
	},
	"a call": {
		`h("li",null,"On the Order of Crawls",h("a",{href:"a.pdf"},"PDF"))`,
		[]string{"a.pdf | On the Order of Crawls | On the Order of Crawls"},
	},
	"children": {
		`jsx("a",{href:"a.pdf",children:"On the Order of Crawls"})`,
		[]string{"a.pdf | On the Order of Crawls | On the Order of Crawls"},
	},
	"JSON in a string": {
		`JSON.parse('{"title":"On Crawls","pdf":"a.pdf"}')`,
		[]string{"a.pdf | On Crawls | On Crawls"},
	},
	"a string in a list": {`["a.pdf", "b.txt", "no address.pdf"]`, []string{"a.pdf |  | "}},
	"a title of many":    {`{"title":"My Homepage","files":["` + strings.Repeat(`a.pdf","`, 20) + `"]}`, nil},
	"a file of data":     {`fetch("pubs.bib"); load('papers.json')`, []string{"pubs.bib |  | ", "papers.json |  | "}},
	"nothing":            {`{"a":1,"url":"javascript:x","image":"a.png"}`, []string{}},
	"not closed":         {`{"title":"On Crawls","pdf":"a.pdf"`, []string{"a.pdf | On Crawls | On Crawls"}},
	"closed wrongly":     {`[{(]}{"title":"On Crawls","pdf":"a.pdf"}`, []string{"a.pdf | On Crawls | On Crawls"}},
}

func TestReadScript(t *testing.T) {
	t.Parallel()
	for name, tt := range scripts {
		got := []string{}
		for _, d := range page.ReadScript([]byte(tt.src)) {
			got = append(got, d.Ref+" | "+d.Title+" | "+d.Said)
		}
		if tt.want != nil {
			require.Equal(t, tt.want, got, name)
			continue
		}
		for _, g := range got {
			require.Contains(t, g, " |  | ", "%s: the title of a page is not that of each paper", name)
		}
	}
}

// TestLinksOfScripts: data of a page is for its links what is left out of its markup, and
// no more.
func TestLinksOfScripts(t *testing.T) {
	t.Parallel()
	state := `<script type="application/json">
		[{"title":"On Crawls","pdf":"a.pdf","url":"/p/1","data":"x.json"}]</script>`
	full := "<a href=x.pdf>x</a><a href=y.pdf>y</a><a href=z.pdf>z</a>"
	cite := `<button data-filename="/cite.bib">Cite</button><a href="one.bib">BibTeX</a>`
	root := `<div id=root></div>`
	bundle := `<script src="/js/main.js"></script><script src="http://cdn.org/react.js"></script>`
	noscript := "<noscript>You need to enable JavaScript to run this app.</noscript>"
	for name, tt := range map[string]struct {
		body string
		want []string
	}{
		"state":                       {state, []string{"data /a.pdf On Crawls", "data /p/1 On Crawls"}},
		"state of a page with papers": {full + state, []string{"data /a.pdf On Crawls"}},
		"state of what is linked":     {`<a href=a.pdf>The paper</a><a href=/p/1>Page</a>` + state, nil},
		"bibtex":                      {`<bibtex src=pubs.bib></bibtex>` + full, []string{"list /pubs.bib "}},
		"an entry for each paper":     {cite, nil},
		"json":                        {`<script>fetch("papers.json")</script>`, []string{"list /papers.json "}},
		"json of a page with papers":  {`<script>fetch("papers.json")</script>` + full, nil},
		"json that is no list": {
			`<script>fetch("manifest.json");fetch("/i/index.json")</script><link rel=preload href=config.json>`, nil},
		"bibbase": {
			`<iframe src="https://bibbase.org/show?bib=http%3A%2F%2Fwww.example.org%2Fall.bib&x=1"></iframe>`,
			[]string{"list /all.bib "}},
		"a bundle":                       {root + bundle, []string{"list /js/main.js "}},
		"a bundle that says so":          {noscript + root + bundle, []string{"list /js/main.js "}},
		"a bundle of no empty page":      {root + "<a href=1>1</a><a href=2>2</a><a href=3>3</a>" + bundle, nil},
		"a script of a page with no app": {bundle, nil},
		"many files": {"<script>" + numbered(`load("%s.bib");`, 400) + "</script>", []string{
			"list /a.bib ", "list /b.bib ", "list /c.bib ", "list /d.bib ",
			"list /e.bib ", "list /f.bib ", "list /g.bib ", "list /h.bib "}},
	} {
		p, err := page.Parse("http://www.example.org/", htmlHeader, []byte("<p>Ada"+tt.body))
		require.NoError(t, err)
		var got []string
		for _, l := range p.Links {
			if l.Source == page.SourceData || l.Source == page.SourceList {
				got = append(got, string(l.Source)+" "+strings.TrimPrefix(l.URL, "http://www.example.org")+" "+l.Anchor)
			}
		}
		require.Equal(t, tt.want, got, name)
		require.Empty(t, p.Wall, name)
	}
}

// TestNamedScripts: those that tags name are kept of a page that scripts fill, and of each
// page as many as any that people make has.
func TestNamedScripts(t *testing.T) {
	t.Parallel()
	const root = "<div id=root></div>"
	for body, want := range map[string][]string{
		root + `<base href=/b/><script src=a.js></script><script src="http://cdn.org/react.js"></script>`: {
			"http://www.example.org/b/a.js", "http://cdn.org/react.js"},
		root + `<link rel=modulepreload href=a.js><link rel="preload" as=script href=/b.js><link rel=next href=c.js>`: {
			"http://www.example.org/a.js", "http://www.example.org/b.js"},
		root + strings.Repeat(`<link rel=preload as=script href=a.js>`, 200) + numbered(`<link rel=preload as=image href=%s.png>`, 4000) +
			`<script src=b.js></script>`: {"http://www.example.org/a.js", "http://www.example.org/b.js"},
		root + "<base href='/" + strings.Repeat("a", 4<<10) + "/'><script src=a.js></script>": nil,
		"<script src=a.js></script>": nil,
	} {
		p, err := page.Parse("http://www.example.org/", htmlHeader, []byte(body))
		require.NoError(t, err)
		require.Equal(t, want, p.Scripts, body)
	}
	for _, tag := range []string{"<link rel=modulepreload href=%s>", "<script src=%s></script>"} {
		p := parseWorst(t, htmlHeader, []byte(root+numbered(tag, 1<<20)))
		require.Len(t, p.Scripts, 200, tag)
	}
}

// worstScripts are made to be dear to read.
var worstScripts = map[string]func(n int) []byte{
	"nested lists":        between("", "[", ""),
	"nested objects":      between("", `{"a":`, ""),
	"closed":              between("", "}", ""),
	"closed otherwise":    between("", "({]", ""),
	"quotes":              between("", `"`, ""),
	"quotes in turn":      between("", `"'`+"`", ""),
	"escapes":             between(`"`, `\"`, ""),
	"escapes by line":     between("", "'\\'\\'\n", ""),
	"escaped letters":     between(`"`, `\ud83d\u`, `"`),
	"slashes":             between("", "/", ""),
	"comments":            between("", "/*", ""),
	"lines of comments":   between("", "//\n", ""),
	"regular expressions": between("", "=/[", ""),
	"ends of them":        between("", "=/a/", ""),
	"keys":                between("{", `"a":`, ""),
	"spaces":              between("{", `"a" `, "  "),
	"titles":              between("{", `"title":"A title of three words",`, "}"),
	"addresses":           between("{", `"url":"/a",`, "}"),
	"people":              between(`{"authors":[`, `"A B",`, "]}"),
	"works":               between("[", `{"title":"A title","url":"/a"},`, "]"),
	"untitled":            between("[", `{"url":"/a"},`, "]"),
	"works in works":      between("", `{"title":"A title","url":"/a","a":`, ""),
	"strings of strings":  between("", `"{\"a\":\"{\\\"\"`, ""),
	"phrases":             between("[", `"a title of words",`, "]"),
	"a long string":       between(`{"title":"`, "a b &amp; ", `"}`),
	"files":               between("", `"a.json" `, ""),
	"words":               between("", "a", ""),
	"colons":              between("", "a:", ""),
	"a long address":      between(`{"title":"A title","url":"/`, "a/../", `"}`),
}

func TestReadingScriptsGrowsWithThem(t *testing.T) {
	growthtest.Each(t, 8<<10, worstScripts, func(t *testing.T, b []byte) {
		page.OfData(here, here, page.ReadScript(b))
		parseWorst(t, htmlHeader, []byte("<div id=root><script>"+string(b)+"</script>"))
	})
}

func FuzzReadScript(f *testing.F) {
	for _, s := range scripts {
		f.Add([]byte(s.src))
	}
	for _, worst := range worstScripts {
		f.Add(worst(256))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		p := page.OfData(here, here, page.ReadScript(src))
		require.LessOrEqual(t, len(p.Links), len(src))
		checkLinks(t, p)
	})
}
