package collection

import (
	"context"
	"sync"
	"time"

	"gleaner/internal/match"
	"gleaner/internal/store"
)

// wanted keeps the index of all wanted papers of all venues, and makes it anew
// when the record's differ. Asking whether they do costs a query, so it is asked
// at most every few seconds.
type wanted struct {
	db *store.DB

	mu      sync.Mutex
	index   *match.Index
	version string
	asked   time.Time
}

const askAgain = 5 * time.Second

func (w *wanted) get(ctx context.Context) (*match.Index, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.index != nil && time.Since(w.asked) < askAgain {
		return w.index, nil
	}
	v, err := w.db.WantedVersion(ctx)
	if err != nil {
		return nil, err
	}
	if w.index == nil || v != w.version {
		papers, err := w.db.Wanted(ctx)
		if err != nil {
			return nil, err
		}
		w.index, w.version = match.NewIndex(papers), v
	}
	w.asked = time.Now()
	return w.index, nil
}

// forget makes the next question look at the record at once.
func (w *wanted) forget() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.asked = time.Time{}
}

// Wanted is the index of every paper that some harvest wants.
func (c *Collection) Wanted(ctx context.Context) (*match.Index, error) { return c.wanted.get(ctx) }
