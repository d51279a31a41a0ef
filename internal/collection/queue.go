package collection

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"gleaner/internal/store"
)

// lookAgain is how long to wait while all that is left is in others' hands.
const lookAgain = 500 * time.Millisecond

// heldFor is for how long a document belongs to the worker that took it: it waits
// for a processor at most as long as the slowest one takes, and then takes as long
// itself.
func (c *Collection) heldFor() time.Duration { return 2 * c.reader.Longest() }

// JudgeNew judges the documents of a site (0: of all) that wait to be examined,
// several at a time, until none is left. Any number of workers may do so at
// once: each takes documents of its own. report is told how many are done.
func (c *Collection) JudgeNew(ctx context.Context, siteID int, report func(done int)) (int, error) {
	return c.judgeNew(ctx, store.Unexamined{Site: siteID}, report)
}

// JudgeStalled is JudgeNew for documents on a harvest's sites over which a reader
// stalled before.
func (c *Collection) JudgeStalled(ctx context.Context, harvest string, report func(done int)) (int, error) {
	return c.judgeNew(ctx, store.Unexamined{Stalled: harvest}, report)
}

func (c *Collection) judgeNew(ctx context.Context, which store.Unexamined, report func(done int)) (int, error) {
	// Twice as many as can be read at a time: some wait for the database or
	// the disk while the others keep the processors busy.
	limit := 2 * cap(c.cores)
	var done atomic.Int64
	g, gctx := errgroup.WithContext(ctx)
	g.SetLimit(limit)
	var mine []string
	for gctx.Err() == nil {
		shas, waiting, err := c.db.TakeNew(gctx, which, limit, c.heldFor())
		if err != nil {
			g.Go(func() error { return err })
			break
		}
		if len(shas) == 0 {
			if waiting == 0 {
				break
			}
			// Ours are done soon; others' after their time at the latest.
			select {
			case <-gctx.Done():
			case <-time.After(lookAgain):
			}
			continue
		}
		mine = shas
		for _, sha := range shas {
			g.Go(func() error {
				_, err := c.Judge(gctx, sha)
				var broken *panicked
				if (errors.Is(err, ErrStalled) || errors.As(err, &broken)) && gctx.Err() == nil {
					c.log.WarnContext(gctx, "document is examined again later", "sha256", sha, "error", err)
					return nil
				}
				if err != nil {
					return err
				}
				report(int(done.Add(1)))
				return nil
			})
		}
	}
	err := g.Wait()
	if err != nil {
		// Whoever comes next need not wait for what this one leaves.
		later, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
		defer cancel()
		err = errors.Join(err, c.db.FreeNew(later, mine))
	}
	return int(done.Load()), err
}
