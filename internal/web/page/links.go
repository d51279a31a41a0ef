package page

import (
	"bytes"
	"cmp"
	"net/url"
	"strings"

	"golang.org/x/net/html/atom"
	"golang.org/x/text/encoding/htmlindex"

	"gleaner/internal/web/weburl"
)

// element takes what the present start tag says of links, meta data and walls.
func (b *builder) element() {
	switch b.scan.atom {
	case atom.A:
		b.anchor()
	case atom.Area:
		if l := b.link(b.scan.attr("href"), SourceArea); l != nil {
			l.alt = b.label("alt", "title")
			l.noFollow = hasToken(b.scan.attr("rel"), "nofollow")
		}
	case atom.Frame, atom.Iframe, atom.Embed:
		b.frame(b.scan.attr("src"))
		b.frame(b.scan.attr("data-src"))
	case atom.Object:
		b.frame(b.scan.attr("data"))
	case atom.Img:
		b.image()
	case atom.Base:
		if href := b.scan.attr("href"); len(href) > 0 && !b.baseSeen {
			if base, err := weburl.Canonical(b.page.URL, string(href)); err == nil {
				b.page.Base, b.baseSeen = base, true
			} // a base that is too long to be one is none
		}
	case atom.Html:
		if b.page.Lang == "" {
			b.page.Lang = strings.ToLower(cutText(b.label("lang", "xml:lang"), 35))
		}
	case atom.Meta:
		b.meta()
	case atom.Link:
		b.related(string(b.scan.attr("rel")), string(b.scan.attr("type")), string(b.scan.attr("href")), b.label("title"))
	case atom.Option:
		b.hint(b.scan.attr("value"))
	case atom.Form, atom.Input, atom.Div, atom.Script:
		b.signs.see(b)
	}
}

// link adds a link of the present place in the page; nil if it is none, or if
// there are too many.
func (b *builder) link(href []byte, source Source) *rawLink {
	href = bytes.TrimSpace(href)
	if len(href) == 0 || href[0] == '#' {
		return nil
	}
	if len(b.links) >= MaxLinks {
		b.cut(CutLinks)
		return nil
	}
	at := b.text.start()
	b.links = append(b.links, rawLink{
		href: href, source: source, path: b.tagPath(), heading: b.heading, anchor: span{at, at},
	})
	return &b.links[len(b.links)-1]
}

// cut notes that something of the page is left out.
func (b *builder) cut(what string) { b.page.Truncated = withCut(b.page.Truncated, what) }

// tagPath keeps the present tag path, and that of the tag itself where it is
// void. A long one keeps its end, which tells most.
func (b *builder) tagPath() span {
	full := len(b.path)
	if n := len(b.open); n == 0 || b.open[n-1].atom != b.scan.atom {
		b.lengthenPath()
	}
	p := b.path
	if len(p) > maxTagPath {
		p = p[len(p)-maxTagPath:]
		if i := bytes.IndexByte(p, ' '); i >= 0 {
			p = p[i+1:]
		}
	}
	if !bytes.Equal(b.paths[b.lastTag.from:b.lastTag.to], p) {
		b.lastTag = span{len(b.paths), len(b.paths) + len(p)}
		b.paths = append(b.paths, p...)
	}
	b.path = b.path[:full]
	return b.lastTag
}

// anchor takes <a href>; its text is read until it is closed.
func (b *builder) anchor() {
	href := b.scan.attr("href")
	if href == nil {
		href = b.scan.attr("xlink:href")
	}
	if hasScheme(href, "javascript:") {
		b.scriptHints(href)
		return
	}
	l := b.link(href, SourceAnchor)
	if l == nil {
		return
	}
	l.noFollow = hasToken(b.scan.attr("rel"), "nofollow")
	l.alt = b.label("title", "aria-label")
	b.current, b.curOpen = len(b.links)-1, len(b.open)
}

// closeLink ends the anchor text of the open link.
func (b *builder) closeLink() {
	if b.current < 0 {
		return
	}
	l := &b.links[b.current]
	l.anchor.to = max(len(b.text.buf), l.anchor.from)
	b.current = -1
}

// image gives the open link the words that stand for the image.
func (b *builder) image() {
	if b.current < 0 {
		return
	}
	if alt := b.label("alt", "title"); alt != "" {
		b.links[b.current].alt = alt
	}
}

// frame takes what is shown inside the page.
func (b *builder) frame(src []byte) {
	b.signs.address(src)
	if l := b.link(src, SourceFrame); l != nil {
		l.alt = b.label("title", "name")
	}
}

// label is the first of some attributes that has text.
func (b *builder) label(keys ...string) string {
	for _, k := range keys {
		if v := b.scan.attr(k); len(v) > 0 {
			if s := cutText(plainWords(string(v)), maxAnchor); s != "" {
				return s
			}
		}
	}
	return ""
}

// plainWords folds the spaces of a decoded attribute and drops its controls,
// which character references can bring in.
func plainWords(s string) string {
	return strings.Join(strings.Fields(string(withoutControls([]byte(s)))), " ")
}

// hasScheme says whether a reference starts with a scheme, whatever its case.
func hasScheme(href []byte, scheme string) bool {
	href = bytes.TrimLeft(href, " \t\r\n")
	return len(href) >= len(scheme) && equalFold(href[:len(scheme)], scheme)
}

// hasToken says whether a list of words has one.
func hasToken(list []byte, word string) bool {
	for f := range bytes.FieldsFuncSeq(list, func(r rune) bool { return r == ' ' || r == ',' || r == '\t' || r == '\n' || r == '\r' }) {
		if equalFold(f, word) {
			return true
		}
	}
	return false
}

// resolve turns the raw links into the page's. Those that are no web addresses
// fall away.
func (b *builder) resolve(text string) {
	paths := string(b.paths)
	out := make([]Link, 0, len(b.links))
	addresses := 0 // bytes
	for i := range b.links {
		if i%tokensBetween == 0 && b.ctx.Err() != nil {
			break
		}
		l := &b.links[i]
		ref := l.ref
		if l.href != nil {
			ref = string(l.href)
		}
		target, err := weburl.Canonical(b.page.Base, b.encodeQuery(ref))
		if err != nil {
			continue
		}
		if addresses += len(target); addresses > maxAddresses {
			b.cut(CutLinks)
			break
		}
		if len(target) > maxAddress {
			b.cut(CutLinks)
			continue
		}
		anchor := cmp.Or(cutText(part(text, l.anchor), maxAnchor), l.alt)
		out = append(out, Link{
			URL: target, Anchor: anchor, Context: cutText(part(text, l.context), maxContext),
			Heading: cutText(part(text, l.heading), maxHeading), TagPath: part(paths, l.path),
			Position: len(out), Source: l.source, NoFollow: l.noFollow,
		})
	}
	b.page.Links = out
}

// part is a span of s without spaces at its ends.
func part(s string, at span) string {
	to := min(at.to, len(s))
	if at.from >= to {
		return ""
	}
	return strings.TrimSpace(s[at.from:to])
}

// encodeQuery writes the query of a reference in the page's own character set,
// as browsers do (URL Standard, section 5.2): old servers expect it.
func (b *builder) encodeQuery(ref string) string {
	if b.page.Charset == utf8Name || isASCII([]byte(ref)) {
		return ref
	}
	path, query, ok := strings.Cut(ref, "?")
	if !ok || strings.HasPrefix(b.page.Charset, "utf-16") {
		return ref
	}
	query, _, _ = strings.Cut(query, "#")
	enc, err := htmlindex.Get(b.page.Charset)
	if err != nil {
		return ref
	}
	raw, err := enc.NewEncoder().String(query)
	if err != nil {
		return ref
	}
	var out strings.Builder
	out.WriteString(path + "?")
	for i := 0; i < len(raw); i++ {
		if raw[i] < 0x80 {
			out.WriteByte(raw[i])
			continue
		}
		out.WriteString(url.QueryEscape(raw[i : i+1]))
	}
	return out.String()
}
