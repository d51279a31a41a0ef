package evaluate

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"gleaner/internal/rank"
)

// site is the log of a small crawl: the home page leads to publications (two
// papers) and to a blog (none).
func siteLog(host string) []Followed {
	at := func(p string) string { return "http://" + host + p }
	return []Followed{
		{URL: at("/")},
		{URL: at("/pubs"), Parent: at("/"), Anchor: "Publications"},
		{URL: at("/blog"), Parent: at("/"), Anchor: "My blog"},
		{URL: at("/1.pdf"), Parent: at("/pubs"), Anchor: "A paper", Document: true},
		{URL: at("/old"), Parent: at("/pubs"), Anchor: "Older years"},
		{URL: at("/2"), Parent: at("/blog"), Anchor: "A blog post"},
		{URL: at("/2.pdf"), Parent: at("/old"), Anchor: "Another paper", Document: true},
		{URL: at("/pubs"), Parent: at("/blog"), Anchor: "Publications"}, // met again: counts once
	}
}

func TestTrainLinks(t *testing.T) {
	t.Parallel()
	base, err := rank.DefaultLists()
	require.NoError(t, err)
	lists, report := TrainLinks(base, [][]Followed{siteLog("a.test"), siteLog("b.test")})
	require.Equal(t, 2, report.Trees)
	require.Equal(t, 4, report.Documents)
	require.ElementsMatch(t, []string{"publication", "older", "year"}, lists.High)
	for _, w := range report.Words {
		switch w.Word {
		case "publication": // one hop from the seed, the nearest paper two
			require.InDelta(t, 0.5, w.Weight, 1e-9)
			require.Equal(t, 2, w.Interesting)
		case "older": // two hops, its paper three
			require.InDelta(t, 2.0/3, w.Weight, 1e-9)
		case "blog":
			t.Fatal("a blog leads to no paper")
		}
	}
	require.Equal(t, base.StopDirectories, lists.StopDirectories)
	var b strings.Builder
	require.NoError(t, report.WriteText(&b))
	require.Contains(t, b.String(), "publication")
}

func TestTrainLinksOfNothing(t *testing.T) {
	t.Parallel()
	lists, report := TrainLinks(rank.Lists{High: []string{"pub"}}, nil)
	require.Empty(t, lists.High)
	require.Zero(t, report.Documents)
}
