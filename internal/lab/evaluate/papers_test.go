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
	g.link(root, "http://elsewhere.example/away.pdf", "Away", listPath, "")
	table := strings.NewReplacer(" ", "\t", "HOST", graphHost)
	papers, err := ReadPublished(strings.NewReader(table.Replace(`key venue year title authors urls
- conf 1998 held - HOST/0.pdf
- conf 1998 b - HOST/1.pdf
- conf 1998 c - http://elsewhere.example/away.pdf
- conf 1999 held - http://nowhere.example/0.pdf
- conf 1999 e - HOST/130.pdf`)), map[string]bool{"held": true})
	require.NoError(t, err)
	sites := []Named{{"site", Setup{Site: g, Judge: g.Judge}}}
	rows, err := Zhuang(Library{Sites: sites, Papers: papers}, rank.Options{})
	require.NoError(t, err)
	var text strings.Builder
	require.NoError(t, WriteRows(&text, "zhuang", rows))
	require.Contains(t, text.String(), "site: 120 papers, 1 pages, to 50, 85, 100 %")
	require.Contains(t, text.String(), "bfs 100, 100, 100; zhuang 100, 100, 100; gleaner 100, 100, 100 %")
	require.Contains(t, text.String(), "bfs 120, bfs by 100 links a page 100, gleaner 120, zhuang 120")
	require.Regexp(t, "Fig. 13.*, bfs .* paper 100.0 % of 22", text.String())
	require.Regexp(t, "Fig. 6-9, conf: .* 40.0 %, 33.3 %, 60.0 % of 5 papers", text.String())
	require.Regexp(t, "by year .* 1998: 66.7, 50.0, 66.7 of 3 papers; 1999: 0.0, 0.0, 50.0 of 2 ", text.String())
	require.Contains(t, text.String(), "judged no paper 33.3, linked nowhere 33.3, one link outside 33.3 % of 3")
}

// TestWhitelistsAgain: a crawl from the pages that led to papers asks for no page beside them.
func TestWhitelistsAgain(t *testing.T) {
	t.Parallel()
	g := &graph{pages: map[string]*page.Page{}, kinds: map[string]Kind{}}
	root, papers, talks := g.page("/", "Home"), g.page("/papers.html", "Papers"), g.page("/talks.html", "Talks")
	g.link(root, papers.URL, "Papers", listPath, "")
	g.link(root, talks.URL, "Talks", listPath, "")
	for i := range 40 {
		g.document(papers, fmt.Sprintf("/%d.pdf", i), "a file", listPath, "", Paper)
		g.document(talks, fmt.Sprintf("/talk%d.pdf", i), "a file", listPath, "", "slides")
	}
	whole, err := BreadthFirst(Setup{Site: g, Judge: g.Judge})
	require.NoError(t, err)
	urls, n := goodParents(whole)
	require.Equal(t, []string{papers.URL}, urls)
	black, _ := yielded("blacklist", []Run{whole})
	require.Equal(t, 40-n, black.Good)

	rows, err := Whitelists([]Named{{"site", Setup{Site: g, Judge: g.Judge}}})
	require.NoError(t, err)
	require.Contains(t, rows[0].Ours, fmt.Sprintf("(Q 83, F 83, N %d, G %d, P 2, P_G 1)", black.New, black.Good))
	require.Contains(t, rows[1].Ours, fmt.Sprintf("100.00 %%, 100.00 %%, %.2f %%", 100*float64(black.Good)/41))
	require.Contains(t, rows[1].Ours, fmt.Sprintf("(Q 41, F 41, N %d, G %d, P 1, P_G 1)", black.Good, black.Good))
}
