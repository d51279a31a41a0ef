package evaluate

import (
	"testing"

	"github.com/stretchr/testify/require"

	"gleaner/internal/rank"
)

// pagesTo is how many pages were read when a share of the papers was reached.
func pagesTo(r Run, papers int, share float64) int {
	pages, got := 0, 0
	for _, s := range r.Answered() {
		switch {
		case s.Kind == Paper:
			got++
		case !s.Document:
			pages++
		}
		if float64(got) >= share*float64(papers) {
			return pages
		}
	}
	return -1
}

// TestLargeConference: on a large site with papers at every depth, 85 % of them
// are there after a quarter of the pages (Zhuang et al., JCDL 2005, Figure 12:
// 33 %, breadth-first 50 %), and the tail is never behind breadth-first.
func TestLargeConference(t *testing.T) {
	t.Parallel()
	site := NewSynthetic(5000)
	setup := Setup{Site: site, Judge: site.Judge}
	c, runs, err := Compare("synthetic", setup, []string{rank.Zhuang, rank.Gleaner}, rank.Options{})
	require.NoError(t, err)
	bfs, gleaner := runs[0], runs[2]
	for _, r := range runs {
		require.Len(t, r.Goals(), c.Papers)
		t.Logf("%-8s pages to 85 %%: %d, to 95 %%: %d, to 100 %%: %d, of %d pages and %d papers", r.Strategy,
			pagesTo(r, c.Papers, .85), pagesTo(r, c.Papers, .95), pagesTo(r, c.Papers, 1), site.Pages(), c.Papers)
	}
	require.LessOrEqual(t, pagesTo(gleaner, c.Papers, .85), site.Pages()/4)
	for _, share := range Shares {
		require.LessOrEqual(t, pagesTo(gleaner, c.Papers, share), pagesTo(bfs, c.Papers, share), "to %.0f %%", 100*share)
	}
}
