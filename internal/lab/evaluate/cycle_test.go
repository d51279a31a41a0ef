package evaluate

import (
	"testing"

	"github.com/stretchr/testify/require"

	"gleaner/internal/rank"
)

// TestCycle is the cycle that Zhuang et al. (JCDL 2005, §6) wished for: crawl
// breadth-first, learn the words of links from the log, crawl by them. Each site is
// crawled by zhuang without words, with those that ship and with those learnt on all other sites.
func TestCycle(t *testing.T) {
	t.Parallel()
	sites := recordedSites(t, recordings...)
	lists, err := rank.DefaultLists()
	require.NoError(t, err)
	logs := map[string][]rank.Followed{}
	for _, s := range sites {
		bfs, err := rank.New(rank.BreadthFirst, rank.Options{})
		require.NoError(t, err)
		run, err := Simulate(s.setup, bfs)
		require.NoError(t, err)
		logs[s.host] = Log(run)
	}
	none, shipped, learnt := savings{}, savings{}, savings{}
	empty := lists
	empty.High, empty.Medium = nil, nil
	for _, s := range sites {
		var others [][]rank.Followed
		for _, o := range sites {
			if o.host != s.host {
				others = append(others, logs[o.host])
			}
		}
		own, _ := rank.TrainLinks(lists, others)
		for _, by := range []struct {
			lists rank.Lists
			into  savings
		}{{empty, none}, {lists, shipped}, {own, learnt}} {
			c, _, err := Compare(s.host, s.setup, []string{rank.Zhuang}, rank.Options{Lists: &by.lists})
			require.NoError(t, err)
			by.into.add(c)
		}
	}
	t.Logf("no words: %s", none[rank.Zhuang])
	t.Logf("words that ship: %s", shipped[rank.Zhuang])
	t.Logf("words learnt on the other sites: %s", learnt[rank.Zhuang])
}
