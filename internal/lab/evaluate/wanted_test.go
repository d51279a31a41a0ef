package evaluate

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"gleaner/internal/each"
	"gleaner/internal/rank"
	"gleaner/internal/web/page"
)

// TestACrawlForSomePapers counts these alone, and looks out for their titles.
func TestACrawlForSomePapers(t *testing.T) {
	t.Parallel()
	g := &graph{pages: map[string]*page.Page{}, kinds: map[string]Kind{}}
	root := g.page("/", "Home")
	for name, title := range []string{"On the sparse grids of waffles", "A calculus of linear pancakes", "Harvesting the missing papers by patience"} {
		g.document(root, fmt.Sprintf("/%d.pdf", name), title, listPath, "", Paper)
	}
	papers, err := ReadWanted(strings.NewReader("Harvesting the Missing Papers by Patience\t" + graphHost + "/2.pdf http://elsewhere.example/3.pdf\n\n"))
	require.NoError(t, err)
	require.Len(t, papers, 1)
	c, _, err := Compare("site", Setup{Site: g, Judge: g.Judge}.For(papers), []string{rank.Gleaner}, rank.Options{})
	require.NoError(t, err)
	require.Equal(t, 1, c.Papers)
	require.Equal(t, []int{4, 2}, []int{c.Results[0].Reach[3].Requests, c.Results[1].Reach[3].Requests}, "the third document, and the first by its title")

	patience := g.page("/patience.html", "Harvesting the missing papers by patience")
	g.link(root, patience.URL, patience.Title, listPath, "")
	_, runs, err := Compare("site", Setup{Site: g, Judge: g.Judge}.For(papers), []string{rank.Gleaner}, rank.Options{})
	require.NoError(t, err)
	order := each.Of(runs[1].Steps, func(s Step) string { return strings.TrimPrefix(s.URL, graphHost) })
	require.Equal(t, []string{"/", "/2.pdf"}, order[:2])
	require.Equal(t, "/patience.html", order[len(order)-1], "the page of a paper that was found is like any other")

	_, err = ReadWanted(strings.NewReader("a title without addresses\n"))
	require.Error(t, err)
}
