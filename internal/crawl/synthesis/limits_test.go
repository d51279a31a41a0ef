package synthesis_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gleaner/internal/crawl"
	. "gleaner/internal/crawl/synthesis"
	"gleaner/internal/devstack/devtest"
	"gleaner/internal/devstack/storetest"
	"gleaner/internal/record/collections"
)

// TestPagesOfAllRuns: the limit of requests is for all runs and all slices of a
// collection's crawl together, and none goes beyond it.
func TestPagesOfAllRuns(t *testing.T) {
	t.Parallel()
	web := &smallWeb{pages: map[string]string{"a.example/": primes, "b.example/": verses}}
	for i := range 12 {
		host := fmt.Sprintf("h%d.example/", i)
		web.pages[host] = primes + " " + host
		web.pages["a.example/"] += " link>" + host
	}
	s := newShop(t, web)
	run := func(limit int) (asked int) {
		s.opens(t, "some", twoTopics, func(a *Request) { a.MaxPages = limit })
		before := len(s.web.asked())
		var g sync.WaitGroup
		for range 4 {
			g.Go(func() {
				for {
					r, err := New(s.tools).Slice(t.Context(), "some", func(crawl.Progress) {})
					if err != nil || r.Ending != crawl.SliceFull && r.Ending != crawl.Waiting {
						return
					}
				}
			})
		}
		g.Wait()
		require.NoError(t, s.record.End(t.Context(), "some", 0, collections.Ended, ""))
		return len(s.web.asked()) - before
	}
	require.Equal(t, 6, run(6))
	require.Zero(t, run(6), "they were made")
	require.Equal(t, 4, run(10))
	require.Equal(t, 10, devtest.Must(s.record.Get(t.Context(), "some"))(t).Requests)
}

// TestTimeOfAllRuns: a crawl ends when it has taken as long as it may, with the runs before.
func TestTimeOfAllRuns(t *testing.T) {
	t.Parallel()
	s := newShop(t, &smallWeb{pages: map[string]string{"a.example/": primes + " more>a.example/more", "a.example/more": primes, "b.example/": verses}})
	s.tools.Config.SlicePages = 100
	hours := func(begun string) crawl.Ending {
		storetest.Exec(t, s.db.Pool, `UPDATE collections SET started_at=now()-$1::interval WHERE name='some'`, begun)
		r := devtest.Must(New(s.tools).Slice(t.Context(), "some", func(crawl.Progress) {}))(t)
		require.NoError(t, s.record.End(t.Context(), "some", 0, collections.Ended, string(r.Ending)))
		return r.Ending
	}
	ask := func(limit time.Duration) func(*Request) { return func(a *Request) { a.MaxTime = limit } }
	s.opens(t, "some", twoTopics, ask(2*time.Hour))
	require.Equal(t, crawl.TimeLimit, hours("121 minutes"))
	require.Empty(t, s.web.asked()[2:], "but the pages of the centroids")
	s.opens(t, "some", twoTopics, ask(4*time.Hour))
	require.Equal(t, crawl.TimeLimit, hours("120 minutes"), "with the two hours of the run before")
	s.opens(t, "some", twoTopics, ask(5*time.Hour))
	require.Equal(t, Exhausted, hours("30 minutes"))
	s.opens(t, "some", twoTopics, ask(0))
	require.Equal(t, Exhausted, hours("100 days"), "there is no limit")
}
