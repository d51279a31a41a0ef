package crawl

import (
	"context"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"gleaner/internal/record/store"
)

// totals are the bytes that the crawls of each harvest have fetched. The cost of their sum
// grows with the number of sites, so slices share it: this process counts the bytes of its
// own crawls, and reads the sum from the record once in totalsLast.
type totals struct {
	mu       sync.Mutex
	harvests map[string]*total
}

type total struct {
	asked time.Time
	bytes atomic.Int64
}

// shares are the totals of the running harvests that want a site.
type shares []*total

const totalsLast = 30 * time.Second

// of returns the shares of a site.
func (t *totals) of(ctx context.Context, db *store.DB, siteID int) (shares, error) {
	ids, err := db.HarvestsUnderWay(ctx, siteID)
	if err != nil {
		return nil, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	var s shares
	for _, id := range ids {
		h := t.harvests[id]
		if h == nil {
			h = &total{}
		}
		if time.Since(h.asked) > totalsLast {
			bytes, err := db.HarvestBytes(ctx, id)
			if err != nil {
				return nil, err
			}
			h.asked = time.Now()
			h.bytes.Store(bytes)
		}
		t.harvests[id] = h
		s = append(s, h)
	}
	return s, nil
}

func (s shares) addBytes(bytes int64) {
	for _, h := range s {
		h.bytes.Add(bytes)
	}
}

// least returns the least of the totals, of the harvest with the most bytes left. It is 0 if
// no harvest is running.
func (s shares) least() int64 {
	if len(s) == 0 {
		return 0
	}
	least := int64(math.MaxInt64)
	for _, h := range s {
		least = min(least, h.bytes.Load())
	}
	return least
}
