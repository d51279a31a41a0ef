package collection

import (
	"context"
	"errors"
	"sync"
	"time"

	"gleaner/internal/match"
	"gleaner/internal/record/store"
)

// wanted caches the index of all wanted papers of all venues, and rebuilds it after changes.
// Checking for changes costs a query, so it does so at most every few seconds.
type wanted struct {
	db *store.DB

	mu      sync.Mutex
	index   *match.Index
	version int64
	asked   time.Time
}

const askAgain = 5 * time.Second

// get returns the index, and a version of the wanted papers that it includes. The record rejects
// verdicts of older versions.
func (w *wanted) get(ctx context.Context) (*match.Index, int64, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.index != nil && time.Since(w.asked) < askAgain {
		return w.index, w.version, nil
	}
	v, err := w.db.WantedVersion(ctx)
	if err != nil {
		return nil, 0, err
	}
	if w.index == nil || v != w.version {
		papers, err := w.db.Wanted(ctx)
		if err != nil {
			return nil, 0, err
		}
		w.index, w.version = match.NewIndex(papers), v
	}
	w.asked = time.Now()
	return w.index, w.version, nil
}

// forget makes the next get check the record.
func (w *wanted) forget() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.asked = time.Time{}
}

// Wanted returns the index of all papers wanted by harvests.
func (c *Collection) Wanted(ctx context.Context) (*match.Index, error) {
	index, _, err := c.wanted.get(ctx)
	return index, err
}

// untilFresh repeats reach until its verdict was made against the papers wanted at the time of
// the write, since a harvest may list papers meanwhile.
func (c *Collection) untilFresh(ctx context.Context, reach func() (Judgement, error)) (Judgement, error) {
	for {
		j, err := reach()
		if !errors.Is(err, store.ErrStale) || ctx.Err() != nil {
			return j, err
		}
		c.wanted.forget()
	}
}
