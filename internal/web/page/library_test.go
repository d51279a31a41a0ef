package page_test

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"gleaner/internal/lab/realdata"
	"gleaner/internal/web/page"
	"gleaner/internal/web/weburl"
)

// addressIn is the attribute of each element that leads on.
var addressIn = map[atom.Atom]string{atom.A: "href", atom.Area: "href", atom.Frame: "src", atom.Iframe: "src", atom.Embed: "src", atom.Object: "data"}

// treeLinks are the links in the tree that golang.org/x/net/html makes of a page.
func treeLinks(tb testing.TB, url string, body []byte) map[string]bool {
	root, err := html.Parse(bytes.NewReader(body))
	require.NoError(tb, err)
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

// recordedPage is a page of a recorded site.
type recordedPage struct {
	url  string
	body []byte
}

// recordedPages reads all pages of the sites in a folder of recorded ones.
func recordedPages(tb testing.TB, folder string) (pages []recordedPage) {
	root := realdata.Path(tb, folder)
	require.NoError(tb, filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".html") && !strings.HasSuffix(path, ".htm") {
			return err
		}
		body, err := os.ReadFile(path)
		rel, _ := filepath.Rel(root, path)
		pages = append(pages, recordedPage{"http://" + filepath.ToSlash(rel), body})
		return err
	}))
	return pages
}

// TestPagesHaveTheLinksOfTheirTree compares the links of recorded pages as Parse finds them with
// those in the tree of golang.org/x/net/html: none to another page of its host is missing, and
// none to a document.
func TestPagesHaveTheLinksOfTheirTree(t *testing.T) {
	var links, inTrees int
	documents, theirs := map[string]bool{}, map[string]bool{}
	for _, fp := range append(recordedPages(t, "farm"), recordedPages(t, "atlas")...) {
		p, err := page.Parse(fp.url, htmlHeader, fp.body)
		if err != nil {
			require.ErrorIs(t, err, page.ErrNotPage, fp.url)
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
		inTree := treeLinks(t, p.URL, page.Decoded("text/html", fp.body))
		links, inTrees = links+len(found), inTrees+len(inTree)
		for u := range inTree {
			if weburl.Host(u) == weburl.Host(p.URL) && u != p.URL {
				assert.True(t, found[u], "%s links to %s", p.URL, u)
			}
			if weburl.IsDocumentName(u) {
				theirs[u] = true
				assert.True(t, documents[u], p.URL)
			}
		}
	}
	t.Logf("links: %d, in trees %d; documents: %d, in trees %d", links, inTrees, len(documents), len(theirs))
}
