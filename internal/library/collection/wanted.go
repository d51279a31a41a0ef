package collection

import (
	"context"
	"errors"
	"sync"
	"time"

	"gleaner/internal/match"
	"gleaner/internal/record/store"
)

// wanted keeps the index of all wanted papers of all venues, and makes it anew
// when the record's differ. Asking whether they do costs a query, so it is asked
// at most every few seconds.
type wanted struct {
	db *store.DB

	mu      sync.Mutex
	index   *match.Index
	version int64
	asked   time.Time
}

const askAgain = 5 * time.Second

// get returns the index and the version of what is wanted that it is at least as
// new as. The record refuses a verdict of an older version than its own.
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

// forget makes the next question look at the record at once.
func (w *wanted) forget() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.asked = time.Time{}
}

// Wanted is the index of every paper that some harvest wants.
func (c *Collection) Wanted(ctx context.Context) (*match.Index, error) {
	index, _, err := c.wanted.get(ctx)
	return index, err
}

// untilFresh repeats what reaches a verdict until it was reached against the
// papers wanted when it is written: a harvest may list its own meanwhile.
func (c *Collection) untilFresh(ctx context.Context, reach func() (Judgement, error)) (Judgement, error) {
	for {
		j, err := reach()
		if !errors.Is(err, store.ErrStale) || ctx.Err() != nil {
			return j, err
		}
		c.wanted.forget()
	}
}
