package evaluate

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"gleaner/internal/rank"
	"gleaner/internal/web/page"
)

// TestSimplePolicies crawl one site in the order that their names say.
func TestSimplePolicies(t *testing.T) {
	t.Parallel()
	g := &graph{pages: map[string]*page.Page{}, kinds: map[string]Kind{}}
	root := g.page("/", "Home")
	links := func(from *page.Page, paths ...string) {
		for _, p := range paths {
			if strings.HasSuffix(p, ".pdf") {
				g.document(from, p, "a file", listPath, "", Paper)
			} else {
				g.link(from, g.page(p, "p").URL, "a page", listPath, "")
			}
		}
	}
	links(root, "/a.html", "/x-slides.pdf", "/Teaching2/y.pdf", "/pub.html", "/talus.pdf")
	links(g.page("/a.html", ""), "/z.pdf", "/b.html")
	for name, want := range map[string]string{
		rank.BreadthFirst: " a.html x-slides.pdf Teaching2/y.pdf pub.html talus.pdf z.pdf b.html",
		DocumentsFirst:    " x-slides.pdf Teaching2/y.pdf talus.pdf a.html z.pdf pub.html b.html",
		rank.Zhuang:       " x-slides.pdf Teaching2/y.pdf talus.pdf a.html z.pdf pub.html b.html",
	} {
		c, runs, err := Compare("site", Setup{Site: g, Judge: g.Judge}, []string{name}, rank.Options{})
		require.NoError(t, err)
		require.Equal(t, name, c.Results[len(c.Results)-2].Strategy)
		var order []string
		for _, s := range runs[len(runs)-2].Steps {
			order = append(order, strings.TrimPrefix(s.URL, graphHost+"/"))
		}
		require.Equal(t, want, strings.Join(order, " "), name)
	}
	_, _, err := Compare("site", Setup{Site: g, Judge: g.Judge}, []string{"depth-first"}, rank.Options{})
	require.ErrorIs(t, err, rank.ErrUnknownStrategy)
	require.ErrorContains(t, err, DocumentsFirst)
}
