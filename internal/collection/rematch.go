package collection

import (
	"context"
	"reflect"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"gleaner/internal/match"
	"gleaner/internal/store"
)

// matchAgain matches a document that was judged before.
func (c *Collection) matchAgain(ctx context.Context, sha string) (Judgement, error) {
	index, err := c.Wanted(ctx)
	if err != nil {
		return Judgement{}, err
	}
	r, err := c.db.Readable(ctx, sha)
	if err != nil {
		return Judgement{}, err
	}
	return c.rematch(ctx, index, r)
}

// Rematch matches every document with text against the papers wanted now. It is
// how a newly wanted paper is looked for among what the library found already.
func (c *Collection) Rematch(ctx context.Context, report func(done int)) (int, error) {
	c.wanted.forget()
	index, err := c.Wanted(ctx)
	if err != nil {
		return 0, err
	}
	var n atomic.Int64
	err = c.db.EachReadable(ctx, func(batch []store.Readable) error {
		g, ctx := errgroup.WithContext(ctx)
		g.SetLimit(cap(c.cores))
		for _, r := range batch {
			g.Go(func() error {
				_, err := c.rematch(ctx, index, r)
				if done := n.Add(1); done%100 == 0 {
					report(int(done))
				}
				return err
			})
		}
		return g.Wait()
	})
	return int(n.Load()), err
}

func (c *Collection) rematch(ctx context.Context, index *match.Index, r store.Readable) (Judgement, error) {
	var found []store.Found
	if r.FirstPages != "" {
		found = matches(index, r.Document, r.Places)
	}
	found = withWord(found, r.Matches)
	j := Judgement{State: r.State, Outcome: r.Outcome, Class: r.Class, Matched: found}
	if j.Found() && r.Removed == nil {
		j.State = "accepted"
	}
	if j.State == r.State && same(found, r.Matches) {
		return j, nil
	}
	if j.Found() && r.Removed != nil { // accepted once its file is here again
		return j, c.db.AskForFile(ctx, r.SHA256, found)
	}
	if len(found) > 0 && r.Detail == partly && r.Removed == nil {
		return c.Rejudge(ctx, r.SHA256) // the rest of its text counts now
	}
	return j, c.db.SaveMatches(ctx, r.SHA256, found, j.State == "accepted")
}

// same reports whether matches are those on record, where what a person settled
// stays though nothing leads to it any more.
func same(found, had []store.Found) bool {
	var left []store.Found
	at := 0
	for _, h := range had {
		if h.Settled != "" && (at >= len(found) || found[at].Paper != h.Paper) {
			continue
		}
		left = append(left, h)
		at++
	}
	if len(left) != len(found) {
		return false
	}
	for i := range found {
		a, b := found[i], left[i]
		// The score is kept in single precision.
		if a.Paper != b.Paper || a.Verdict != b.Verdict || float32(a.Score) != float32(b.Score) || a.Form != b.Form || !reflect.DeepEqual(a.Reasons, b.Reasons) {
			return false
		}
	}
	return true
}
