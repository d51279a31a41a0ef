package sampleweb

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"gleaner/internal/each"
	"gleaner/internal/gleaner"
)

// Scripted are homepages whose papers only a script shows: no link in their markup leads
// to one. Each site has papers of a pile.
type Scripted struct {
	pile  *Pile
	Sites []ScriptedSite
	files map[string]resource // by host and path
}

// ScriptedSite is one of them: where it is, and which papers lie there.
type ScriptedSite struct {
	Host   string
	Papers []gleaner.Paper
}

const (
	scriptedPapers = 3 // of each site
	scriptedDomain = ".scripted.example"
	// ScriptedFiles has the last paper of the sites that a data file fills.
	ScriptedFiles = "files" + scriptedDomain
)

// NewScripted lays out a site of each kind, and those of somebody who wants the reader to
// fail, which have no paper.
func NewScripted(seed uint64) *Scripted {
	s := &Scripted{pile: NewPile(seed), files: map[string]resource{}}
	call := func(of string) string { return "<div id=list></div><script>" + of + "</script>" }
	s.add("bib", call("bibtexify('publications.bib', 'list')"), "publications.bib", "text/plain", s.bib)
	s.add("attribute", `<bibtex src="my.bib"></bibtex>`, "my.bib", "application/x-bibtex", s.bib)
	s.add("json", call("fetch('data/papers.json').then(r => r.json()).then(show)"), "data/papers.json", "application/json", s.json)
	s.add("preload", `<link rel=preload as=fetch href="/works.json"><main></main>`, "works.json", "text/plain", s.json)
	all := url.QueryEscape("http://bibbase" + scriptedDomain + "/all.bib")
	s.add("bibbase", `<script src="https://bibbase.org/show?bib=`+all+`&jsonp=1"></script>`, "all.bib", "text/plain", s.bib)
	s.add("bundle", `<noscript>You need to enable JavaScript to run this app.</noscript><div id="root"></div>
		<script defer src="/static/vendor.js"></script><script defer src="/static/main.4f2a.js"></script>`, "static/main.4f2a.js", "application/javascript", s.bundle)
	s.inline("next", func(papers string) string {
		return `<div id="__next"></div><script id="__NEXT_DATA__" type="application/json">
			{"props":{"pageProps":{"title":"Home","papers":` + papers + `}},"page":"/"}</script>`
	})
	s.inline("linked", func(papers string) string {
		return `<script type="application/ld+json">
			{"@context":"https://schema.org","@type":"ItemList","itemListElement":` + papers + `}</script>`
	})
	s.inline("assigned", func(papers string) string {
		return `<div id="app"></div><script>window.__STATE__ = {"list":` + papers + `};</script>`
	})
	s.inline("pushed", func(papers string) string {
		quoted, _ := json.Marshal("5:" + papers)
		return `<script>self.__next_f.push([1,` + string(quoted) + `])</script>`
	})
	s.hostile()
	return s
}

// hostile adds sites that want their reader to fail. The last names addresses that nobody
// outside may ask.
func (s *Scripted) hostile() {
	wanted := s.pile.Paper(0).Title
	var many, inside strings.Builder
	for i := range 60_000 {
		fmt.Fprintf(&many, `{"title":"%s %d","pdf":"http://%s/%d.pdf"},`, wanted, i, VictimHost, i)
	}
	for _, a := range []string{
		"http://10.0.0.1/a.pdf", "http://169.254.169.254/latest/b.pdf", "http://[::1]/c.pdf", "file:///etc/passwd.pdf",
	} {
		fmt.Fprintf(&inside, `{"title":"%s","pdf":%q},`, wanted, a)
	}
	for kind, json := range map[string]string{
		"huge": "[" + many.String() + "{}]", "inside": "[" + inside.String() + "{}]",
		"deep": strings.Repeat(`{"a":[`, 500_000),
	} {
		s.Sites = append(s.Sites, ScriptedSite{Host: kind + scriptedDomain})
		s.page(kind+scriptedDomain, `<script type="application/json">`+json+`</script>`)
	}
}

func (s *Scripted) page(host, body string) {
	d := newDoc("Homepage")
	d.f("<p><a href=\"cv.html\">Vita</a></p>%s", body)
	s.files[host+"/"] = resource{kind: "text/html", body: d.bytes}
}

// add makes a site whose homepage has a body, and beside it a file of data.
func (s *Scripted) add(kind, body, name, media string, write func([]scriptedPaper) string) {
	host := kind + scriptedDomain
	s.page(host, body)
	data := []byte(write(s.papers(host, ScriptedFiles)))
	s.files[host+"/"+name] = resource{kind: media, body: func() []byte { return data }}
}

// inline makes a site whose homepage has its papers in a script.
func (s *Scripted) inline(kind string, body func(papers string) string) {
	host := kind + scriptedDomain
	papers := s.papers(host, ScriptedFiles)
	if kind == "next" { // a page for each paper, at an address that says nothing
		for i := range papers {
			path, at := fmt.Sprintf("/work/%d", i), papers[i].at
			papers[i].at = path
			d := newDoc(papers[i].Title)
			d.f(`<base href="/">`)
			d.link(at, "PDF")
			s.files[host+path] = resource{kind: "text/html", body: d.bytes}
		}
	}
	s.page(host, body(s.json(papers)))
}

type scriptedPaper struct {
	gleaner.Paper
	at string
}

// papers makes a site and its papers, of which the last may lie on another host.
func (s *Scripted) papers(host, last string) (all []scriptedPaper) {
	site := ScriptedSite{Host: host}
	defer func() { s.Sites = append(s.Sites, site) }()
	for i := range scriptedPapers {
		n := 1 + scriptedPapers*len(s.Sites) + i
		path := fmt.Sprintf("/files/%d.pdf", n)
		ref := path[i%2:]
		if i == scriptedPapers-1 {
			host, ref = last, "http://"+last+path
		}
		s.files[host+path] = resource{kind: "application/pdf", body: func() []byte { return s.pile.File(n, AsPDF) }}
		p := s.pile.Paper(n)
		site.Papers = append(site.Papers, p)
		all = append(all, scriptedPaper{p, ref})
	}
	return all
}

func (p scriptedPaper) names() []string {
	return each.Of(p.Authors, func(a gleaner.Author) string { return a.Name })
}

func (s *Scripted) bib(papers []scriptedPaper) string {
	var b strings.Builder
	for i, p := range papers {
		field := []string{"url", "pdf", "bdsk-url-1"}[i%3]
		fmt.Fprintf(&b, "@inproceedings{p%d,\n  author = {%s},\n  title = {{%s}},\n  year = %d,\n  %s = {%s}\n}\n\n",
			i, strings.Join(p.names(), " and "), p.Title, p.Year, field, p.at)
	}
	return b.String()
}

func (s *Scripted) json(papers []scriptedPaper) string {
	out, _ := json.Marshal(each.Of(papers, func(p scriptedPaper) any { // of strings and numbers
		return map[string]any{"title": p.Title, "authors": p.names(), "year": p.Year, "links": []any{map[string]any{"name": "PDF", "url": p.at}}}
	}))
	return string(out)
}

// bundle is a script as builders of pages write it: one line, with quotes in regular
// expressions.
func (s *Scripted) bundle(papers []scriptedPaper) string {
	var b strings.Builder
	b.WriteString(`!function(e){"use strict";var t=function(e){return e.replace(/["'/]/g,"")},n=[`)
	for _, p := range papers[1:] {
		fmt.Fprintf(&b, `{title:%q,year:%d,pdf:%q},`, p.Title, p.Year, p.at)
	}
	fmt.Fprintf(&b,
		`];e.render((0,r.jsxs)("li",{children:[%q,(0,r.jsx)("a",{href:%q,children:"PDF"})]}))}(window);`, papers[0].Title, papers[0].at)
	return b.String()
}

// ServeHTTP answers for all of the sites by the host's name, as a proxy does.
func (s *Scripted) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	f, ok := s.files[hostOf(r)+cmp.Or(r.URL.Path, "/")]
	if !ok {
		http.NotFound(rw, r)
		return
	}
	send(rw, r, f.kind, f.body())
}
