package collection

import (
	"context"
	"sync/atomic"
	"time"

	"gleaner/internal/fetch"
	"gleaner/internal/guard"
	"gleaner/internal/record/store"
)

// lookAgain is the wait while other workers hold all remaining documents.
const lookAgain = 500 * time.Millisecond

// JudgeWaiting judges the documents that wait to be examined, several at a time, until
// none is left or a slice is over, and returns their number, and whether there may be more.
// Any number of workers may call it at once: each takes documents of its own, and waits for
// those that others hold on only where a harvest is named. It calls report with
// the number of documents judged so far.
func (c *Collection) JudgeWaiting(ctx context.Context, which store.Unexamined, report func(done int)) (n int, more bool, err error) {
	// Twice as many as can be read at a time: some wait for the database or
	// the disk while the others keep the processors busy.
	limit := 2 * cap(c.cores)
	var done atomic.Int64
	g, gctx := guard.WithContext(ctx)
	g.SetLimit(limit)
	mine := newHands(c)
	held := guard.Go(func() { mine.holdOn(gctx) })
	for began, had := time.Now(), time.Now(); gctx.Err() == nil && !more; {
		if len(mine.all()) > 0 { // they may be postponed and released
			had = time.Now()
		}
		var took []string
		var waiting int
		err := freeOwed(gctx, c)
		if err == nil {
			took, waiting, err = c.db.TakeNew(gctx, which, limit, mine.hold(), time.Since(had))
		}
		if err != nil {
			g.Go(func() error { return err })
			break
		}
		if len(took) == 0 {
			if waiting == 0 {
				break
			}
			// Our documents are finished soon, others' holds expire.
			_ = fetch.Wait(gctx, lookAgain)
		}
		mine.take(took...)
		for _, sha := range took {
			g.Go(func() error {
				switch _, err := mine.judge(gctx, Stored(sha), Once, true); {
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
		more = time.Since(began) >= c.slice
	}
	err = g.Wait()
	<-held
	if err != nil {
		// Released, so that the next worker need not wait.
		mine.free(ctx, false, mine.all()...)
	}
	return int(done.Load()), more, err
}
