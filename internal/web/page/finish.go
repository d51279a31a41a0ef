package page

import (
	"net/http"
	"strings"
)

// finish turns what was gathered into the page.
func (b *builder) finish(header http.Header) {
	p := b.page
	b.headerLinks(header)
	b.robots.header(header)
	p.NoIndex, p.NoFollow = b.robots.noIndex, b.robots.noFollow
	for name, contents := range b.metas {
		p.Meta[name] = strings.Join(contents, "; ")
	}
	text := string(b.text.buf)
	b.resolve(text)
	p.Text = text
	if len(text) > MaxText {
		p.Text = cutText(text, MaxText)
		b.cut(CutText)
	}
	b.data.add(p)
	if p.Title == "" && len(p.Headings) > 0 {
		p.Title = p.Headings[0]
	}
	p.Wall = b.signs.wall(p, header)
	p.SoftMissing = p.Wall == NoWall && softMissing(p)
}
