package crawl

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gleaner/internal/devstack/storetest"
	"gleaner/internal/fetch"
	"gleaner/internal/politeness"
)

// TestSlicesLookTogether: whoever asks within a moment is answered by one look for all,
// and who lost the host learns nothing else than that the lease was not renewed.
func TestSlicesLookTogether(t *testing.T) {
	t.Parallel()
	db := storetest.Open(t, 4)
	k := politeness.NewKeeper(db.Pool, fetch.Pacing{Unpaced: true}, "a")
	joined := make(chan struct{})
	all := &together{keeper: k, db: db, wait: func(time.Duration) { <-joined }}
	var wg sync.WaitGroup
	var renewed [12]bool
	for i := range renewed {
		l, err := k.Acquire(t.Context(), fmt.Sprintf("h%d.test", i))
		require.NoError(t, err)
		if i == 0 {
			storetest.Exec(t, db.Pool, `UPDATE sites SET token = token + 1 WHERE id = $1`, l.SiteID)
		}
		wg.Go(func() {
			var err error
			renewed[i], _, err = all.look(t.Context(), l, 0)
			if err != nil {
				t.Error(err)
			}
		})
	}
	require.Eventually(t, func() bool {
		all.mu.Lock()
		defer all.mu.Unlock()
		return all.next != nil && len(all.next.leases) == len(renewed)
	}, time.Minute, time.Millisecond)
	close(joined)
	wg.Wait()
	for i, is := range renewed {
		require.Equal(t, i > 0, is, "host %d", i)
	}
}
