package crawl

import (
	"context"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"gleaner/internal/record/store"
)

// totals are the bytes that the crawls of each harvest have brought. To add them up costs as
// much as the harvest has sites, so no slice does it alone: this process counts what its own
// crawls bring, and asks the record for what others brought once in totalsLast.
type totals struct {
	mu       sync.Mutex
	harvests map[string]*total
}

type total struct {
	asked time.Time
	bytes atomic.Int64
}

// shares are the totals of the harvests under way that want a site.
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

func (s shares) brings(bytes int64) {
	for _, h := range s {
		h.bytes.Add(bytes)
	}
}

// least is the least of the totals: the harvest that may bring most counts. It is 0 where none
// is under way.
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
