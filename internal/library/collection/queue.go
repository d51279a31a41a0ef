package collection

import (
	"context"
	"errors"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"gleaner/internal/fetch"
	"gleaner/internal/guard"
	"gleaner/internal/record/store"
)

// lookAgain is how long to wait while all that is left is in others' hands.
const lookAgain = 500 * time.Millisecond

// heldFor is for how long a document belongs to the worker that took it, unless it
// holds it on: so long the others wait for what one that died had taken.
const heldFor = 10 * time.Second

// hands are the documents that a caller has taken and not finished.
type hands struct {
	by   int64 // whose they are in the record
	mu   sync.Mutex
	full map[string]bool
}

func newHands() *hands { return &hands{by: rand.Int64(), full: map[string]bool{}} }

func (h *hands) take(shas ...string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, sha := range shas {
		h.full[sha] = true
	}
}

func (h *hands) done(sha string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.full, sha)
}

func (h *hands) all() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Collect(maps.Keys(h.full))
}

// holdOn holds what is in hand until ctx ends.
func (c *Collection) holdOn(ctx context.Context, mine *hands) {
	fetch.Every(ctx, heldFor/4, func() bool {
		if shas := mine.all(); len(shas) > 0 {
			_ = c.db.HoldOn(ctx, shas, store.Hold{By: mine.by, For: heldFor}) // where the record is away the judgements say so
		}
		return true
	})
}

// JudgeWaiting judges the documents that wait to be examined, several at a time, until
// none is left, and returns their number. Any number of workers may call it at once: each
// takes documents of its own, and waits for those that others hold on only where a site or
// a harvest is named. It calls report with the number of documents judged so far.
func (c *Collection) JudgeWaiting(ctx context.Context, which store.Unexamined, report func(done int)) (int, error) {
	// Twice as many as can be read at a time: some wait for the database or
	// the disk while the others keep the processors busy.
	limit := 2 * cap(c.cores)
	var done atomic.Int64
	g, gctx := guard.WithContext(ctx)
	g.SetLimit(limit)
	mine := newHands()
	held := guard.Go(func() { c.holdOn(gctx, mine) })
	for had := time.Now(); gctx.Err() == nil; {
		if len(mine.all()) > 0 { // which may be put off, and be free then
			had = time.Now()
		}
		took, waiting, err := c.db.TakeNew(gctx, which, limit, store.Hold{By: mine.by, For: heldFor}, time.Since(had))
		if err != nil {
			g.Go(func() error { return err })
			break
		}
		if len(took) == 0 {
			if waiting == 0 {
				break
			}
			// Ours are done soon; others' after their time at the latest.
			_ = fetch.Wait(gctx, lookAgain)
			continue
		}
		mine.take(took...)
		for _, sha := range took {
			g.Go(func() error {
				switch _, err := c.judgeHeld(gctx, Stored(sha), Once, true, mine); {
				case err == nil:
					report(int(done.Add(1)))
				case Later(err) && gctx.Err() == nil:
					c.log.WarnContext(gctx, "document is examined again later", "sha256", sha, "error", err)
				default:
					return err
				}
				mine.done(sha)
				return nil
			})
		}
	}
	err := g.Wait()
	<-held
	if err != nil {
		// Whoever comes next need not wait for what this one leaves.
		err = errors.Join(err, c.free(ctx, mine.by, false, mine.all()...))
	}
	return int(done.Load()), err
}

// free frees documents that were taken, or are only held, also where ctx has ended.
func (c *Collection) free(ctx context.Context, by int64, taken bool, shas ...string) error {
	later, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	return c.db.Free(later, shas, by, taken)
}
