package crawl

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gleaner/internal/devstack/storetest"
	"gleaner/internal/fetch"
	"gleaner/internal/politeness"
)

// TestACrawlGivesWayToWhoWaitsForOnePage, who else would wait for the end of the slice;
// and what another crawl waits for on its way ends nobody's slice.
func TestACrawlGivesWayToWhoWaitsForOnePage(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.cfg.TrapPages, w.cfg.SlicePages, w.cfg.SliceTime, w.cfg.MaxPages, w.cfg.DirPages, w.cfg.MaxDepth = 0, math.MaxInt, time.Hour, math.MaxInt, math.MaxInt, math.MaxInt
	s := endless(t)
	w.seed(t, s.host, "/", "/")
	c := w.crawler(w.client)
	other := politeness.NewKeeper(w.db.Pool, fetch.Pacing{Unpaced: true, MaxBlock: 100 * time.Millisecond}, "other")
	crossing, err := other.Acquire(t.Context(), "elsewhere.test")
	require.NoError(t, err)

	asked, ended := make(chan struct{}), make(chan Result, 1)
	begun := false
	go func() {
		r, err := c.Slice(t.Context(), s.host, func(p Progress) {
			if !begun && p.Requests > 0 {
				begun = true
				close(asked)
			}
		})
		if err != nil {
			t.Error(err)
		}
		ended <- r
	}()
	<-asked
	_, err = other.Under(crossing).Turn(t.Context(), s.host, 0)
	var busy *politeness.BusyError
	require.ErrorAs(t, err, &busy)
	said := storetest.Get[bool](t, w.db.Pool, `SELECT awaited_at > '-infinity' FROM sites WHERE host=$1`, s.host)
	require.False(t, said)
	done, err := other.Turn(t.Context(), s.host, 0)
	require.NoError(t, err)
	done(fetch.Visit{})
	r := <-ended
	require.Equal(t, Waiting, r.Ending, r.Reason)
	require.Positive(t, r.Wait)
	w.cfg.SlicePages = 5
	r = sliced(t, w.crawler(w.client), s.host)
	require.Equal(t, SliceFull, r.Ending, "it goes on, and nobody waits")
}
