package page

import (
	"bytes"
	"cmp"
	"net/url"
	"path"
	"slices"
	"strings"

	"golang.org/x/net/html/atom"

	"gleaner/internal/web/weburl"
)

// Bounds of what is taken of the data of a page.
const (
	maxData      = 5000    // addresses of one page or file
	maxScripts   = 4 << 20 // bytes of one page's scripts that are read as data
	maxDataFiles = 8       // that one page names; one that names more has one for each paper
	maxBundles   = 3       // scripts of one page that are read
	maxNamed     = 200     // scripts of one page that its tags name
	// A page that has more links of its own than these does not leave them to a script.
	fewLinks, fewDocuments = 30, 2
	// emptyLinks and emptyText (bytes) are what a page may have that a bundle fills.
	emptyLinks, emptyText = 2, 500
)

// CutData is in Page.Truncated where data of the page was not read.
const CutData = "data"

// Datum is an address in data, with the title and all that is said of what it leads to.
type Datum struct{ Ref, Title, Said string }

// OfData makes a page of a file of data. Addresses in it are relative to base, the page
// whose script reads it.
func OfData(address, base string, data []Datum) *Page {
	p := &Page{URL: address, Base: cmp.Or(base, address)}
	if len(data) >= maxData {
		p.Truncated = []string{CutData}
	}
	p.addData(data, data)
	return p
}

// addData adds the links of data behind the others. files may name files of data; both may
// be the same.
func (p *Page) addData(data, files []Datum) {
	if len(data)+len(files) == 0 {
		return
	}
	met, size := map[string]int{p.URL: -1}, 0
	for i := len(p.Links) - 1; i >= 0; i-- {
		met[p.Links[i].URL] = i
	}
	links, documents := p.own()
	bare := links <= fewLinks && documents <= fewDocuments
	for _, d := range data {
		to, err := weburl.Canonical(p.Base, d.Ref)
		if err != nil || len(p.Links) >= MaxLinks || len(to) > maxAddress || size+len(to) > maxAddresses {
			continue
		}
		at, known := met[to]
		switch {
		case known && at >= 0 && p.Links[at].Source == SourceScript && d.Title != "":
			l := &p.Links[at]
			l.Source, l.Anchor, l.Context = SourceData, d.Title, d.Said
		case known || !weburl.IsDocumentName(to) && (!bare || d.Title == ""):
		case isDataFile(to):
		default:
			l := Link{URL: to, Anchor: d.Title, Context: d.Said, Position: len(p.Links), Source: SourceData}
			if d.Title == "" {
				l.Source = SourceScript
			}
			met[to], size = len(p.Links), size+len(to)
			p.Links = append(p.Links, l)
		}
	}
	p.addFiles(files, bare, met)
}

// addFiles adds the files of data that scripts read. A list in JSON is looked for only
// where the page itself has hardly any links.
func (p *Page) addFiles(files []Datum, bare bool, met map[string]int) {
	n := 0
	for _, d := range files {
		to, err := weburl.Canonical(p.Base, d.Ref)
		if _, known := met[to]; err != nil || known || len(to) > maxAddress || !isDataFile(to) || n == maxDataFiles {
			continue
		}
		if weburl.Extension(to) == "json" && (!bare || noList(to)) {
			continue
		}
		met[to] = len(p.Links)
		p.Links = append(p.Links, Link{URL: to, Position: len(p.Links), Source: SourceList})
		n++
	}
}

// own counts the links of a page that stand in its markup, and those of them to documents.
func (p *Page) own() (links, documents int) {
	for i := range p.Links {
		switch l := &p.Links[i]; {
		case l.Source == SourceScript || l.Source == SourceList || l.Source == SourceAlternate:
		case l.Source == SourceCitation || weburl.IsDocumentName(l.URL):
			documents++
		default:
			links++
		}
	}
	return links, documents
}

func isDataFile(canonical string) bool {
	ext := weburl.Extension(canonical)
	return ext == "bib" || ext == "json"
}

// noList knows files of JSON that have settings, words or an index for a search.
func noList(canonical string) bool {
	name := strings.ToLower(path.Base(canonical))
	return slices.ContainsFunc([]string{
		"manifest", "package", "config", "redirects", "search", "index.", "settings", "locale", "lang", "theme", "lottie",
	}, func(s string) bool { return strings.HasPrefix(name, s) || strings.HasSuffix(name, s+".json") })
}

// pageData gathers the data of a page that is read.
type pageData struct {
	works   []Datum  // in scripts
	files   []Datum  // of data that scripts may read
	scripts []string // beside the page
	named   []string // scripts that tags name, of other hosts and libraries, too
	bytes   int      // of scripts that were read so far
	json    bool     // the type of the present script
	root    bool     // an element is there for scripts to fill
}

// script reads an inline script, unless the page's are too long. What has the type of
// JSON names no file that is read beside it, but for BibTeX.
func (d *pageData) script(src []byte) (whole bool) {
	if d.bytes += len(src); d.bytes > maxScripts || len(d.works) >= maxData {
		return false
	}
	works := ReadScript(src)
	d.works = append(d.works, works[:min(len(works), maxData-len(d.works))]...)
	for _, w := range works {
		if !d.json || !strings.Contains(w.Ref, ".json") {
			d.file(w.Ref)
		}
	}
	return true
}

// file notes an address that may name a file of data, directly or for BibBase.
func (d *pageData) file(ref string) {
	if len(d.files) >= maxData || len(ref) > maxAddress {
		return
	}
	if _, query, ok := strings.Cut(ref, "bibbase.org/show?"); ok {
		query, _, _ = strings.Cut(query, "#")
		values, err := url.ParseQuery(strings.ReplaceAll(query, ";", "&"))
		if ref = values.Get("bib"); err != nil || ref == "" {
			return
		}
	} else if !strings.Contains(ref, ".bib") && !strings.Contains(ref, ".json") {
		return
	}
	d.files = append(d.files, Datum{Ref: ref})
}

// see takes the files that attributes of a tag name: what a script is to read, not what a
// reader may click.
func (d *pageData) see(s *scanner) {
	switch s.atom {
	case atom.A, atom.Button:
		return
	case atom.Div, atom.Main:
		d.root = d.root || isAppRoot(s.attr("id"))
	case 0:
		d.root = d.root || isAppRoot(s.name)
	case atom.Script:
		d.json = bytes.Contains(s.attr("type"), []byte("json"))
		if src := s.attr("src"); d.name(src) && len(d.scripts) < 2*maxBundles {
			d.scripts = append(d.scripts, string(src))
		}
	case atom.Link:
		rel, href := s.attr("rel"), s.attr("href")
		module := hasToken(rel, "modulepreload")
		if module || hasToken(rel, "preload") || hasToken(rel, "prefetch") {
			if module || equalFold(s.attr("as"), "script") {
				d.name(href)
			}
			d.file(string(href))
		}
	}
	for _, a := range s.attrs {
		if equalFold(a.key, "src") || len(a.key) > 5 && equalFold(a.key[:5], "data-") {
			d.file(string(a.val))
		}
	}
}

// name notes an address that may be a script's, and reports whether it is one.
func (d *pageData) name(ref []byte) bool {
	if len(ref) == 0 || len(ref) >= maxAddress {
		return false
	}
	if len(d.named) < maxNamed && !slices.Contains(d.named, string(ref)) {
		d.named = append(d.named, string(ref))
	}
	return true
}

// isAppRoot knows the names of elements that a script's libraries fill.
func isAppRoot(name []byte) bool {
	switch strings.ToLower(string(name)) {
	case "root", "app", "__next", "__nuxt", "___gatsby", "react-root", "app-root", "q-app", "svelte":
		return true
	}
	return false
}

// add adds what scripts have and read to the links of the page, and the scripts
// themselves where the page is empty without them.
func (d *pageData) add(p *Page) {
	titled := slices.DeleteFunc(d.works, func(w Datum) bool { return w.Title == "" }) // which are hints
	links, documents := p.own()
	p.addData(titled, d.files)
	if !d.root || links > emptyLinks || documents > 0 || len(p.Text) > emptyText {
		return
	}
	p.Shell = len(titled) == 0 && !slices.ContainsFunc(p.Links, func(l Link) bool { return l.Source == SourceList })
	for _, ref := range d.named {
		if to, err := weburl.Canonical(p.Base, ref); err == nil && len(to) <= maxAddress {
			p.Scripts = append(p.Scripts, to)
		}
	}
	n := 0
	for _, src := range d.scripts {
		to, err := weburl.Canonical(p.Base, src)
		if err != nil || n == maxBundles || weburl.Host(to) != weburl.Host(p.URL) || isLibrary(to) {
			continue
		}
		n++
		p.Links = append(p.Links, Link{URL: to, Position: len(p.Links), Source: SourceList})
	}
}

// isLibrary knows scripts that are the same on any site.
func isLibrary(canonical string) bool {
	name := strings.ToLower(path.Base(canonical))
	ext := weburl.Extension(canonical)
	return ext != "js" && ext != "mjs" || slices.ContainsFunc([]string{
		"vendor", "polyfill", "runtime", "jquery", "bootstrap", "analytics", "gtag", "mathjax", "webpack", "framework", "react", "vue.",
	}, func(s string) bool { return strings.Contains(name, s) })
}
