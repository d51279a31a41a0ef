package collection

import (
	"context"
	"errors"
	"maps"
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

// hands are the documents that one call of JudgeWaiting has taken and not finished.
type hands struct {
	mu   sync.Mutex
	full map[string]bool
}

func (h *hands) take(shas []string) {
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
			_ = c.db.HoldNew(ctx, shas, heldFor) // where the record is away the judgements say so
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
	var busy sync.WaitGroup
	mine := &hands{full: map[string]bool{}}
	held := guard.Go(func() { c.holdOn(gctx, mine) })
	for had := time.Now(); gctx.Err() == nil; {
		if len(mine.all()) > 0 { // which may be put off, and be free then
			had = time.Now()
		}
		took, err := c.db.TakeNew(gctx, which, limit, heldFor, time.Since(had))
		if err != nil {
			g.Go(func() error { return err })
			break
		}
		if len(took.Documents) == 0 {
			if took.Waiting == 0 {
				break
			}
			// Ours are done soon; others' after their time at the latest.
			_ = fetch.Wait(gctx, lookAgain)
			continue
		}
		mine.take(took.Documents)
		if took.Alone {
			busy.Wait()
		}
		for _, sha := range took.Documents {
			busy.Add(1)
			g.Go(func() error {
				defer busy.Done()
				switch _, err := c.Judge(gctx, Stored(sha), Once); {
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
		if took.Alone {
			busy.Wait()
		}
	}
	err := g.Wait()
	<-held
	if err != nil {
		// Whoever comes next need not wait for what this one leaves.
		err = errors.Join(err, c.free(ctx, mine.all()...))
	}
	return int(done.Load()), err
}

// free frees documents that were taken and not judged, also where ctx has ended.
func (c *Collection) free(ctx context.Context, shas ...string) error {
	later, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	return c.db.FreeNew(later, shas)
}
