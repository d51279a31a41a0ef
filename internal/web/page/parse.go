package page

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"gleaner/internal/web/weburl"
)

// ErrNotPage is returned by Parse for a body that is no text: a document, an
// image, an archive. What the header says of it does not matter.
var ErrNotPage = errors.New("page: not a page")

// The limits of what is kept of one page. What goes beyond is dropped and said
// in Page.Truncated.
const (
	MaxLinks    = 20000
	MaxText     = 256 << 10
	maxTitleOut = 300
	maxAnchor   = 300
	maxContext  = 500
	maxHeading  = 120
	maxHeadings = 50
	maxMeta     = 100
	maxMetaText = 4 << 10
	maxTagPath  = 300
	// maxBody is how much of a body is looked at, whatever the header calls it.
	maxBody = 10 << 20
	// maxAddress bounds one link's address, maxAddresses those of all links of a
	// page together: one base may lengthen every link.
	maxAddress   = 4 << 10
	maxAddresses = 4 << 20
)

// The names of what was cut, in Page.Truncated.
const (
	CutLinks = "links"
	CutText  = "text"
	CutBody  = "body"
)

// agent is the crawler's product token, in lower case. Robots directives that name another agent do
// not count; those that name none or this one do.
const agent = "gleaner"

// Parse understands an answer: HTML, XHTML or plain text, however broken. It
// fails with ErrNotPage, or with weburl's errors where pageURL is no web
// address; there is no HTML that it fails on. The body is not written to and
// not kept.
func Parse(pageURL string, header http.Header, body []byte) (*Page, error) {
	return ParseContext(context.Background(), pageURL, header, body)
}

// ParseContext is Parse for a caller that may be told to stop: then it fails
// with the context's cause.
func ParseContext(ctx context.Context, pageURL string, header http.Header, body []byte) (*Page, error) {
	canonical, err := weburl.Canonical("", pageURL)
	if err != nil {
		return nil, fmt.Errorf("page: %w", err)
	}
	if isBinary(body) {
		return nil, fmt.Errorf("%w: %s", ErrNotPage, canonical)
	}
	whole := body
	body = body[:min(len(body), maxBody)]
	text, charset := decode(header.Get("Content-Type"), body)
	p := &Page{URL: canonical, Base: canonical, Charset: charset, Meta: map[string]string{}}
	b := newBuilder(ctx, p, withoutControls(text))
	if len(whole) > len(body) {
		b.cut(CutBody)
	}
	if isPlainText(header.Get("Content-Type"), text) {
		b.plainText(text)
	} else {
		b.run()
	}
	b.finish(header)
	if ctx.Err() != nil {
		return nil, fmt.Errorf("page: %s: %w", canonical, context.Cause(ctx))
	}
	return p, nil
}

// isBinary knows the first bytes of what is certainly no page, and bytes that
// no text has.
func isBinary(body []byte) bool {
	head := body[:min(len(body), 1024)]
	for _, magic := range []string{"%PDF-", "%!PS", "\x1f\x8b", "PK\x03\x04", "\x89PNG", "GIF8", "\xff\xd8\xff", "\xd0\xcf\x11\xe0", "AT&TFORM", "\xf7\x02", "{\\rtf", "BZh", "\x1f\x9d", "\xfd7zXZ", "7z\xbc\xaf", "Rar!"} {
		if bytes.HasPrefix(head, []byte(magic)) {
			return true
		}
	}
	if looksUTF16(body) != "" {
		return false
	}
	return bytes.Count(head, []byte{0}) > len(head)/20
}

// isPlainText says whether a body is text without markup: the header says so,
// and no tag stands at its start.
func isPlainText(contentType string, text []byte) bool {
	if !strings.HasPrefix(strings.ToLower(strings.TrimSpace(contentType)), "text/plain") {
		return false
	}
	head := bytes.ToLower(bytes.TrimSpace(text[:min(len(text), 512)]))
	return !bytes.HasPrefix(head, []byte("<!doctype html")) && !bytes.HasPrefix(head, []byte("<html"))
}
