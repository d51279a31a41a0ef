package politeness

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gleaner/internal/devstack/storetest"
)

// TestCrawlsOfAPairTakeTurns: of two crawls of one server, of its name with "www." and without,
// the one that waits asks again after half a minute, and has the next slice.
func TestCrawlsOfAPairTakeTurns(t *testing.T) {
	t.Parallel()
	db := open(t)
	one, two := NewKeeper(db.Pool, unpaced, "a"), NewKeeper(db.Pool, unpaced, "b")
	const bare, www = "lab.test", "www.lab.test"
	crawl := func(k *Keeper, host string) (*Lease, time.Duration) {
		l, err := k.AcquireWithin(t.Context(), host, 100*time.Millisecond)
		if err == nil {
			return l, 0
		}
		var busy *BusyError
		require.ErrorAs(t, err, &busy)
		return nil, busy.Wait
	}
	holder, _ := crawl(one, bare)
	require.NotNil(t, holder)
	for _, next := range []struct {
		waits, holds       *Keeper
		waiting, holdsHost string
	}{{two, one, www, bare}, {one, two, bare, www}, {two, one, www, bare}} {
		_, wait := crawl(next.waits, next.waiting)
		require.Equal(t, pairWait, wait)
		require.NoError(t, holder.Release(t.Context()))
		l, wait := crawl(next.holds, next.holdsHost)
		require.Nil(t, l, "the one that waits is passed over")
		require.Equal(t, giveWay, wait)
		single := acquire(t, next.holds, next.holdsHost) // for a single page
		require.NoError(t, single.Release(t.Context()))
		holder, _ = crawl(next.waits, next.waiting)
		require.NotNil(t, holder)
	}
	_, wait := crawl(one, bare)
	require.Equal(t, pairWait, wait)
	require.NoError(t, holder.Release(t.Context()))
	storetest.Exec(t, db.Pool, `UPDATE sites SET waits_until = now() - interval '1s' WHERE host = 'lab.test'`)
	holder, _ = crawl(two, www)
	require.NotNil(t, holder, "nobody waits for ever for one that is no more")
	require.NoError(t, holder.Release(t.Context()))

	const longer = `UPDATE sites SET waits_until = now() + interval '1 min' - length(host) * interval '1s'`
	storetest.Exec(t, db.Pool, longer) // www.lab.test
	l, _ := crawl(one, bare)
	require.Nil(t, l)
	l, _ = crawl(two, www)
	require.NotNil(t, l, "of two that wait, who waits longer")
}
