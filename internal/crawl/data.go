package crawl

import (
	"bytes"
	"errors"
	"mime"
	"path"
	"strconv"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"

	"gleaner/internal/document"
	"gleaner/internal/gleaner"
	"gleaner/internal/metadata/biblio"
	"gleaner/internal/web/page"
	"gleaner/internal/web/weburl"
)

// Kinds of data that are read as a page of links.
const (
	bibTeX = "bib"
	script = "json" // JSON or JavaScript
)

// isIgnored reports whether a link has the name of a type that leads to no paper, and no
// script reads it.
func isIgnored(l *page.Link) bool {
	return l.Source != page.SourceList && weburl.IsIgnoredType(l.URL)
}

// data returns the kind of data of an answer, "" for a page, by its media type and else by
// its name. An HTML answer with such a name is a page, unless its content is BibTeX.
func (a *Answer) data() string {
	media, _, _ := mime.ParseMediaType(a.Header.Get("Content-Type"))
	name := weburl.Extension(a.URL)
	switch media {
	case "text/html", "application/xhtml+xml":
		name = ""
	case "application/x-bibtex", "text/x-bibtex", "application/x-bibtex-text-file":
		return bibTeX
	case "application/json", "application/ld+json", "text/json", "text/javascript",
		"application/javascript", "application/x-javascript":
		return script
	}
	switch name {
	case "bib":
		return bibTeX
	case "json", "js", "mjs":
		return script
	}
	if document.Sniff(path.Base(a.URL), media, a.Body) == document.BibTeX {
		return bibTeX
	}
	return ""
}

// readData reads data as a page: each entry with a title is a link.
func (a *Answer) readData(kind string) *page.Page {
	base := a.Parent
	switch weburl.Extension(base) {
	case "js", "mjs", "json":
		base, _ = weburl.Canonical(base, "/") // the page with the script is not known here
	}
	body, read := a.Body[:min(len(a.Body), maxDataBody)], page.ReadScript
	if kind == bibTeX {
		read = readBibTeX
	}
	p := page.OfData(a.URL, base, read(body))
	if len(a.Body) > len(body) {
		p.Truncated = append(p.Truncated, page.CutBody)
	}
	return p
}

// maxDataBody bounds the part of a data file that is read, in bytes.
const maxDataBody = 10 << 20

// maxBibLinks bounds the addresses of one BibTeX file.
const maxBibLinks = 5000

var errEnough = errors.New("crawl: enough entries")

// readBibTeX returns the addresses of a file's entries.
func readBibTeX(body []byte) (all []page.Datum) {
	if !utf8.Valid(body) {
		body, _ = charmap.Windows1252.NewDecoder().Bytes(body)
	}
	_ = biblio.EachBibTeX(bytes.NewReader(body), func(p gleaner.Paper, fields map[string]string) error {
		refs := addresses(p, fields)
		if len(all)+len(refs) > maxBibLinks {
			return errEnough
		}
		people := gleaner.Names(p.Authors[:min(len(p.Authors), 20)])
		year := ""
		if p.Year > 0 {
			year = strconv.Itoa(p.Year)
		}
		d := page.Described(p.Title, strings.Join(people, ", "), year)
		for _, d.Ref = range refs {
			all = append(all, d)
		}
		return nil
	})
	return all
}

// unquoted removes the TeX escapes of an address.
var unquoted = strings.NewReplacer(`\url`, "", "{", "", "}", "", `\_`, "_", `\%`, "%", `\&`, "&", `\~`, "~", `\:`, ":")

// addresses returns the addresses in the fields of an entry.
func addresses(p gleaner.Paper, fields map[string]string) []string {
	refs := p.Links[:min(len(p.Links), 4)]
	for _, name := range []string{"pdf", "ps", "postscript", "link", "ee", "eprint", "bdsk-url-1", "bdsk-url-2"} {
		v := strings.TrimSpace(unquoted.Replace(fields[name]))
		if v != "" && !strings.ContainsAny(v, " \n") && (name != "eprint" || strings.Contains(v, "://")) {
			refs = append(refs, v)
		}
	}
	// "words:papers/a.pdf:PDF", as reference managers write it
	for v := range strings.SplitSeq(strings.ReplaceAll(unquoted.Replace(fields["file"]), ";", ":"), ":") {
		if weburl.IsDocumentName("http://h/"+v) && len(refs) < 16 {
			refs = append(refs, v)
		}
	}
	if p.ArXiv != "" {
		refs = append(refs, "https://arxiv.org/abs/"+p.ArXiv)
	}
	return refs
}
