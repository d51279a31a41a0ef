package collection

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"gleaner/internal/fetch"
	"gleaner/internal/gleaner"
	"gleaner/internal/guard"
	"gleaner/internal/record/frontier"
	"gleaner/internal/record/store"
)

// heldFor is how long a worker holds a document without renewal, and so how long others wait
// after its death.
const heldFor = 10 * time.Second

// everybody is greater than the number of documents that a process judges concurrently.
const everybody = 1 << 30

// errAlone is returned for a document over which a process died, or that would be judged beside
// one. JudgeWaiting judges it.
var errAlone = errors.New("it is judged alone later, since a process died over it, or over the document judged now")

// hands holds the documents that a caller has taken and not finished.
type hands struct {
	*Collection
	by   int64    // the holder in the record
	full sync.Map // the documents
}

func newHands(c *Collection) *hands { return &hands{Collection: c, by: rand.Int64()} }

func (h *hands) hold() store.Hold { return store.Hold{By: h.by, For: heldFor} }

func (h *hands) take(shas ...string) {
	for _, sha := range shas {
		h.full.Store(sha, true)
	}
}

func (h *hands) done(sha string) { h.full.Delete(sha) }

func (h *hands) all() (shas []string) {
	h.full.Range(func(sha, _ any) bool { shas = append(shas, sha.(string)); return true })
	return shas
}

// holdOn renews the holds until ctx ends.
func (h *hands) holdOn(ctx context.Context) {
	fetch.Every(ctx, heldFor/4, func() bool {
		if shas := h.all(); len(shas) > 0 {
			_ = h.db.HoldOn(ctx, shas, h.hold()) // judgements return the error of the record
		}
		return true
	})
}

// free releases documents that were taken or only held, even if ctx has ended. If the record
// is away, those that were taken are released later; others are held for a few seconds more.
func (h *hands) free(ctx context.Context, taken bool, shas ...string) {
	later, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	if h.db.Free(later, shas, h.by, taken) != nil && taken {
		for _, sha := range shas {
			h.owed.Store(sha, h.by)
		}
	}
}

// freeOwed frees what could not be freed while the record was away: nobody died over it.
func freeOwed(ctx context.Context, c *Collection) (err error) {
	c.owed.Range(func(sha, by any) bool {
		if err = c.db.Free(ctx, []string{sha.(string)}, by.(int64), true); err == nil {
			c.owed.CompareAndDelete(sha, by)
		}
		return err == nil
	})
	return err
}

// judgeWhen is Judge that waits until the document may be judged, or returns errAlone. A caller
// that holds memory must not wait, since others wait for memory.
func (c *Collection) judgeWhen(ctx context.Context, doc Document, mode Mode, wait bool) (Judgement, error) {
	mine := newHands(c)
	holding, end := context.WithCancel(ctx)
	held := guard.Go(func() { mine.holdOn(holding) })
	defer func() { end(); <-held }()
	return mine.judge(ctx, doc, mode, wait)
}

// judge is judgeWhen for a caller with holdOn.
func (h *hands) judge(ctx context.Context, doc Document, mode Mode, wait bool) (j Judgement, err error) {
	d, leave, err := h.begin(ctx, doc.SHA256, mode == Again, wait)
	if err != nil {
		return j, err
	}
	defer leave()
	if d.Mine {
		h.take(d.SHA256)
		defer func() {
			if err != nil && !(Later(err) && d.State == gleaner.DocumentNew) { // postponed and released
				h.free(ctx, true, d.SHA256)
			}
			h.done(d.SHA256)
		}()
	}
	killed := Judgement{State: gleaner.DocumentFailed, Outcome: string(frontier.Killed)}
	switch {
	case d.Suspect:
		return j, errAlone
	case mode == Again && d.Removed != nil:
		return j, fmt.Errorf("%s: %w", d.SHA256, store.ErrPruned)
	case mode == Again:
	case d.Mine && d.Deaths >= frontier.MaxDeaths:
		const why = "the process that judged it ended, each time"
		return killed, h.db.SaveFailure(ctx, d.SHA256, killed.Outcome, why, true)
	case d.State == killed.State && d.Outcome == killed.Outcome:
		return killed, nil
	case d.State == gleaner.DocumentAccepted && (h.filter == nil || d.Outcome != unread),
		d.State == gleaner.DocumentRejected && h.filter != nil:
		leave() // it may be judged again
		return h.matchAgain(ctx, d.SHA256, wait)
	}
	return h.examine(ctx, d.Document, d.Places, func(at store.Location) (opened, func(), error) {
		o, release, err := h.content(ctx, doc, at)
		o.quick = mode == Quick
		return o, release, err
	})
}

// begin takes a document for judgement. One over which a process died is judged alone, so that it
// cannot cause deaths of others, and only then gets a death counted. Without wait it returns such
// a document as a suspect.
func (h *hands) begin(ctx context.Context, sha string, again, wait bool) (d store.Taken, leave func(), err error) {
	if err := freeOwed(ctx, h.Collection); err != nil {
		return d, nil, err
	}
	for _, share := range []int64{1, everybody} {
		if !wait && !h.judging.TryAcquire(share) {
			return d, nil, errAlone
		} else if wait {
			err = h.judging.Acquire(ctx, share)
		}
		if err != nil {
			return d, nil, err
		}
		leave = sync.OnceFunc(func() { h.judging.Release(share) })
		d, err = h.db.Take(ctx, sha, h.hold(), again, share == everybody)
		if err == nil && (!d.Suspect || !wait) {
			return d, leave, nil
		}
		leave()
		if err != nil {
			break
		}
	}
	return d, nil, err
}
