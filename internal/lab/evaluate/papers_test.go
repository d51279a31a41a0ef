package evaluate

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"gleaner/internal/rank"
	"gleaner/internal/web/page"
)

// TestZhuangAgain: a page with 120 papers and 40 slides is a page, and Nutch sees 100 of its links.
func TestZhuangAgain(t *testing.T) {
	t.Parallel()
	g := &graph{pages: map[string]*page.Page{}, kinds: map[string]Kind{}}
	root := g.page("/", "Home")
	for i := range 160 {
		kind := Paper
		if i >= 120 {
			kind = "slides"
		}
		g.document(root, fmt.Sprintf("/%d.pdf", i), "a file", listPath, "", kind)
	}
	rows, err := Zhuang([]Named{{"site", Setup{Site: g, Judge: g.Judge}}}, rank.Options{})
	require.NoError(t, err)
	var text strings.Builder
	require.NoError(t, WriteRows(&text, "zhuang", rows))
	require.Contains(t, text.String(), "site: 120 papers, 1 pages, to 50 and 85 %")
	require.Contains(t, text.String(), "bfs 100, 100; zhuang 100, 100; gleaner 100, 100 %")
	require.Contains(t, text.String(), "bfs 120, bfs by 100 links a page 100, gleaner 120, zhuang 120")
	require.Contains(t, text.String(), "bfs 25.0 %, gleaner 25.0 %, zhuang 25.0 %")
}
