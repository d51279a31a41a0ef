package sampleweb

import (
	"fmt"
	"html"
	"strings"

	"golang.org/x/text/encoding/charmap"
)

// doc is an HTML page in the making.
type doc struct {
	strings.Builder
}

func newDoc(title string) *doc {
	d := &doc{}
	d.f("<!DOCTYPE html>\n<html><head><meta charset=\"utf-8\"><title>%s</title></head>\n<body>\n<h1>%s</h1>\n", esc(title), esc(title))
	return d
}

// bareDoc has a title but no heading, for templates of their own.
func bareDoc(title, head string) *doc {
	d := &doc{}
	d.f("<html><head><title>%s</title>%s</head>\n", esc(title), head)
	return d
}

func (d *doc) f(format string, args ...any) { fmt.Fprintf(d, format, args...) }

func (d *doc) p(text string) { d.f("<p>%s</p>\n", esc(text)) }

func (d *doc) link(href, text string) { d.f(`<a href="%s">%s</a>`, esc(href), esc(text)) }

func (d *doc) bytes() []byte {
	d.f("</body></html>\n")
	return []byte(d.String())
}

// latin1 is the page as windows-1252, without saying so in the page itself.
func (d *doc) latin1() []byte {
	out, err := charmap.Windows1252.NewEncoder().Bytes(d.bytes())
	if err != nil { // a letter of the vocabulary that the charset lacks
		panic("sampleweb: " + err.Error())
	}
	return out
}

func esc(s string) string { return html.EscapeString(s) }
