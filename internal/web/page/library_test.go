package page_test

import (
	"bytes"
	"strings"
	"testing"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"gleaner/internal/web/page"
	"gleaner/internal/web/weburl"
)

// addressIn is the attribute of each element that leads on.
var addressIn = map[atom.Atom]string{atom.A: "href", atom.Area: "href", atom.Frame: "src", atom.Iframe: "src", atom.Embed: "src", atom.Object: "data"}

// libraryLinks are a page's links as golang.org/x/net/html reads them.
func libraryLinks(tb testing.TB, url string, body []byte) map[string]bool {
	root, err := html.Parse(bytes.NewReader(body))
	if err != nil {
		tb.Fatal(err)
	}
	base := ""
	var refs []string
	for n := range root.Descendants() {
		for _, a := range n.Attr {
			switch {
			case n.DataAtom == atom.Base && a.Key == "href" && base == "":
				base, _ = weburl.Canonical(url, a.Val)
			case a.Key == addressIn[n.DataAtom] && !strings.HasPrefix(strings.TrimSpace(a.Val), "#"):
				refs = append(refs, a.Val)
			}
		}
	}
	if base == "" {
		base = url
	}
	links := map[string]bool{}
	for _, r := range refs {
		if u, err := weburl.Canonical(base, r); err == nil {
			links[u] = true
		}
	}
	return links
}

// TestScannerFindsWhatTheLibraryFinds counts the links and documents on recorded
// sites by the scanner and by golang.org/x/net/html: the figures of the package
// comment.
func TestScannerFindsWhatTheLibraryFinds(t *testing.T) {
	var links, theirLinks int
	documents, theirs := map[string]bool{}, map[string]bool{}
	for _, fp := range append(recordedPages(t, "farm"), recordedPages(t, "atlas")...) {
		p, err := page.Parse(fp.url, htmlHeader, fp.body)
		if err != nil {
			continue
		}
		found := map[string]bool{}
		for _, l := range p.Links {
			switch l.Source {
			case page.SourceAnchor, page.SourceArea, page.SourceFrame:
				found[l.URL] = true
			}
			if weburl.IsDocumentName(l.URL) {
				documents[l.URL] = true
			}
		}
		library := libraryLinks(t, p.URL, page.Decoded("text/html", fp.body))
		links, theirLinks = links+len(found), theirLinks+len(library)
		for u := range library {
			if weburl.IsDocumentName(u) {
				theirs[u] = true
				if !documents[u] {
					t.Errorf("%s is not found on %s", u, p.URL)
				}
			}
		}
	}
	t.Logf("links of pages: %d, by the library %d; documents: %d, by the library %d", links, theirLinks, len(documents), len(theirs))
}

func BenchmarkLibraryTokens(b *testing.B) {
	body := authorPage()
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		z := html.NewTokenizer(bytes.NewReader(body))
		for z.Next() != html.ErrorToken {
			_ = z.Token()
		}
	}
}
