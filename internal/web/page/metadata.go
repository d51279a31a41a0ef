package page

import (
	"net/http"
	"strings"

	"gleaner/internal/web/weburl"
)

// documentMeta are the names under which a landing page says where its document
// is: Highwire Press (which Google Scholar reads), Digital Commons, EPrints,
// Wolters Kluwer.
var documentMeta = map[string]bool{
	"citation_pdf_url": true, "bepress_citation_pdf_url": true, "wkhealth_pdf_url": true,
	"eprints.document_url": true, "citation_fulltext_pdf_url": true, "citation_ps_url": true,
	"citation_fulltext_html_url": true, "citation_full_html_url": true,
}

// identifierMeta may do so: Dublin Core, where the value is a document's
// address.
var identifierMeta = map[string]bool{
	"dc.identifier": true, "dc.identifier.uri": true, "dc.identifier.fulltext": true, "dcterms.identifier": true,
	"dc.relation": true, "dcterms.relation": true, "dc.relation.haspart": true, "dc.source": true, "dcterms.hasformat": true,
}

// meta takes a <meta> tag.
func (b *builder) meta() {
	name := b.label("name", "property", "itemprop")
	content := string(b.scan.attr("content"))
	if equiv := b.label("http-equiv"); equiv != "" {
		if strings.EqualFold(equiv, "refresh") {
			b.refresh(content)
		}
		if name == "" && strings.EqualFold(equiv, "x-robots-tag") {
			b.robots.add(content)
		}
	}
	name = strings.ToLower(name)
	if name == "" || content == "" {
		return
	}
	b.keepMeta(name, content)
	switch {
	case name == "robots" || name == agent:
		b.robots.add(content)
	case documentMeta[name], identifierMeta[name] && weburl.IsDocumentName(content) && strings.Contains(content, "://"):
		b.textLink(content, SourceCitation)
	}
}

// keepMeta keeps a name's content. What is named repeatedly (citation_author)
// is joined by "; ".
func (b *builder) keepMeta(name, content string) {
	content = cutText(plainWords(content), maxMetaText)
	_, ok := b.metas[name]
	if !ok && (len(b.metas) >= maxMeta || len(name) > 100) || ok && b.metaSize[name]+len(content) >= maxMetaText {
		return
	}
	if b.metas == nil {
		b.metas, b.metaSize = map[string][]string{}, map[string]int{}
	}
	b.metas[name] = append(b.metas[name], content)
	b.metaSize[name] += len(content) + len("; ")
}

// textLink adds a link whose reference is decoded already.
func (b *builder) textLink(ref string, source Source) *rawLink {
	ref = strings.TrimSpace(ref)
	l := b.link([]byte(ref), source)
	if l != nil {
		l.href, l.ref = nil, ref
	}
	return l
}

// refresh takes "5; url=next.html", which is also a header.
func (b *builder) refresh(content string) {
	_, rest, ok := strings.Cut(strings.Replace(content, ",", ";", 1), ";")
	if !ok {
		return
	}
	rest = strings.TrimSpace(rest)
	if len(rest) > 3 && strings.EqualFold(rest[:3], "url") {
		if after, ok := strings.CutPrefix(strings.TrimSpace(rest[3:]), "="); ok {
			rest = strings.TrimSpace(after)
		}
	}
	if rest != "" && (rest[0] == '"' || rest[0] == '\'') {
		rest, _, _ = strings.Cut(rest[1:], rest[:1])
	}
	b.textLink(rest, SourceRefresh)
}

// related takes a typed link of the page or of the Link header.
func (b *builder) related(rel, mediaType, href, title string) {
	rel, mediaType = strings.ToLower(rel), strings.ToLower(strings.TrimSpace(mediaType))
	source := Source("")
	for r := range strings.FieldsSeq(rel) {
		switch r {
		case "canonical", "next", "prev", "previous", "alternate", "contents", "index", "item":
			source = SourceAlternate
		case "stylesheet", "icon", "preload", "preconnect":
			return
		}
	}
	switch mediaType {
	case "application/pdf", "application/postscript", "application/x-pdf", "image/vnd.djvu":
		if source != "" || strings.Contains(rel, "fulltext") || rel == "" {
			source = SourceCitation
		}
	case "", "text/html", "application/xhtml+xml", "text/plain":
	default: // feeds, search descriptions, JSON
		return
	}
	if source == "" {
		return
	}
	if l := b.textLink(href, source); l != nil {
		l.alt = title
	}
}

// headerLinks takes the Link and Refresh headers (RFC 8288, section 3).
func (b *builder) headerLinks(h http.Header) {
	if r := h.Get("Refresh"); r != "" {
		b.refresh(r)
	}
	for _, line := range h.Values("Link") {
		_, line, more := strings.Cut(line, "<")
		for more {
			var href, params string
			if href, line, more = strings.Cut(line, ">"); !more {
				break
			}
			params, line, more = strings.Cut(line, "<")
			b.related(headerParam(params, "rel"), headerParam(params, "type"), href, "")
		}
	}
}

// headerParam reads one parameter of a header's value.
func headerParam(params, name string) string {
	for p := range strings.SplitSeq(params, ";") {
		k, v, ok := strings.Cut(strings.Trim(p, ", \t"), "=")
		if ok && strings.EqualFold(strings.TrimSpace(k), name) {
			return strings.Trim(strings.TrimSpace(v), `"`)
		}
	}
	return ""
}

// robotsRules are what a page says to robots.
type robotsRules struct{ noIndex, noFollow bool }

// add takes the words of one directive; the strictest of all count.
func (r *robotsRules) add(content string) {
	for w := range strings.FieldsFuncSeq(strings.ToLower(content), func(c rune) bool { return c == ',' || c == ' ' || c == ';' }) {
		switch w {
		case "noindex":
			r.noIndex = true
		case "nofollow":
			r.noFollow = true
		case "none":
			r.noIndex, r.noFollow = true, true
		}
	}
}

// header takes the X-Robots-Tag headers: "noindex", "otherbot: noindex,
// nofollow". A name counts until the next one on its line.
func (r *robotsRules) header(h http.Header) {
	for _, line := range h.Values("X-Robots-Tag") {
		applies := true
		for d := range strings.SplitSeq(strings.ToLower(line), ",") {
			name, value, named := strings.Cut(d, ":")
			name = strings.TrimSpace(name)
			if named && !isRobotsRule(name) {
				applies = name == "*" || name == agent
				d = value
			}
			if applies {
				r.add(d)
			}
		}
	}
}

// isRobotsRule knows the rules that have a value, and so a colon, themselves.
func isRobotsRule(name string) bool {
	switch name {
	case "unavailable_after", "max-snippet", "max-image-preview", "max-video-preview":
		return true
	}
	return false
}
