package collection

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"time"

	"gleaner/internal/document"
	"gleaner/internal/gleaner"
	"gleaner/internal/guard"
	"gleaner/internal/library/repository"
	"gleaner/internal/match"
	"gleaner/internal/record/frontier"
	"gleaner/internal/record/store"
)

// JudgeOtherwise judges the documents on a harvest's sites, and those linked from there,
// that were judged under another setting of the filter: those kept unread, where there is a
// filter now, and those rejected that it would accept. What was accepted stays. It begins
// after the document of a position, and calls report with that of where to go on.
func (c *Collection) JudgeOtherwise(ctx context.Context, harvest string, at Position, report func(Position)) error {
	most := 0.0
	if c.filter != nil {
		most = c.filter.Threshold()
	}
	all, err := c.db.JudgedOtherwise(ctx, harvest, c.filter != nil, most, at.Judged)
	if err != nil {
		return err
	}
	for some := range slices.Chunk(all, cap(c.cores)) {
		if err := c.judgeAgain(ctx, harvest, some); err != nil {
			return err
		}
		at.Judged = some[len(some)-1].ID
		report(at)
	}
	return nil
}

func (c *Collection) judgeAgain(ctx context.Context, harvest string, some []store.ToJudge) error {
	var done atomic.Int64
	err := guard.Several(ctx, cap(c.cores), len(some), func(ctx context.Context, i int) error {
		_, err := c.Judge(ctx, Stored(some[i].SHA256), Again)
		if staysAsItIs(ctx, err) {
			return nil
		}
		done.Add(1)
		return err
	})
	if err != nil || done.Load() == 0 {
		return err
	}
	return c.db.CountJudged(ctx, harvest, int(done.Load()))
}

// staysAsItIs reports whether a repeated judgement failed for the document itself, which keeps
// its earlier judgement.
func staysAsItIs(ctx context.Context, err error) bool {
	return errors.Is(err, store.ErrPruned) || errors.Is(err, repository.ErrNotFound) || Later(err) && ctx.Err() == nil
}

// matchAgain matches a judged document; wait is that of judgeWhen.
func (c *Collection) matchAgain(ctx context.Context, sha string, wait bool) (Judgement, error) {
	return c.untilFresh(ctx, func() (Judgement, error) {
		r, err := c.db.Readable(ctx, sha)
		if err != nil {
			return Judgement{}, err
		}
		r.Compared = 0 // its places may have changed
		j, err := c.rematch(ctx, r, wait)
		if err == nil {
			err = c.fresh(ctx)
		}
		return j, err
	})
}

// fresh returns ErrStale if papers were listed since the index was made. It is called if no write
// checked this: a harvest may have read the document before its new place.
func (c *Collection) fresh(ctx context.Context) error {
	_, had, err := c.wanted.get(ctx)
	if err != nil {
		return err
	}
	now, err := c.db.WantedVersion(ctx)
	if err == nil && now != had {
		return store.ErrStale
	}
	return err
}

// Position is the progress of MatchHeld.
type Position struct {
	Judged  int64 `json:"judged,omitempty"` // id of the last document judged by JudgeOtherwise
	Version int64 `json:"version"`          // version of the wanted papers at the start
	Fresh   int64 `json:"fresh,omitempty"`  // id of the last document never compared before
	After   int64 `json:"after"`            // id of the last document found by signs
	Done    int   `json:"done"`             // number of examined documents
	More    bool  `json:"more,omitempty"`
}

// sliceTime is the time after which MatchHeld and JudgeWaiting return so that other work of their
// queue can run.
const sliceTime = time.Minute

// errSliceOver ends a slice of MatchHeld.
var errSliceOver = errors.New("the slice is over")

// MatchHeld runs JudgeOtherwise and then Rematch for a slice from a position, and returns the
// next position. It calls report with each position.
func (c *Collection) MatchHeld(ctx context.Context, harvest string, at Position, report func(Position)) (Position, error) {
	slice, end := context.WithCancelCause(ctx)
	defer end(nil)
	began := time.Now()
	at.More = false
	reached := func(p Position) {
		at = p
		if report(p); time.Since(began) >= c.slice {
			end(errSliceOver)
		}
	}
	err := c.JudgeOtherwise(slice, harvest, at, reached)
	if err == nil {
		at.Done, err = c.Rematch(slice, at, reached)
	}
	if err != nil && ctx.Err() == nil && errors.Is(context.Cause(slice), errSliceOver) {
		at.More, err = true, nil
	}
	return at, err
}

// Rematch matches the documents with text against the papers wanted now, from a
// position on. It is how a newly wanted paper is looked for among what the library
// found already. Those alone are read that bear a sign of a paper which is wanted,
// or changed, or is wanted no more since all were compared last; that are matched
// with such a paper; or that were never compared. It returns how many they were.
// report is told where another attempt may go on.
func (c *Collection) Rematch(ctx context.Context, at Position, report func(Position)) (done int, err error) {
	c.wanted.forget()
	if at.Version == 0 {
		if at.Version, err = c.db.WantedVersion(ctx); err != nil {
			return at.Done, err
		}
	}
	compare := func(last *int64) func([]store.Readable) error {
		return func(batch []store.Readable) error {
			if err := c.rematchAll(ctx, batch); err != nil {
				return err
			}
			*last, at.Done = batch[len(batch)-1].ID, at.Done+len(batch)
			report(at)
			return nil
		}
	}
	if err := c.db.EachUncompared(ctx, at.Fresh, compare(&at.Fresh)); err != nil {
		return at.Done, err
	}
	asked, err := c.asked(ctx)
	if err != nil {
		return at.Done, err
	}
	if err := c.db.EachSuspect(ctx, asked, at.After, compare(&at.After)); err != nil {
		return at.Done, err
	}
	return at.Done, c.db.ForgetChanges(ctx, at.Version)
}

func (c *Collection) rematchAll(ctx context.Context, batch []store.Readable) error {
	g, ctx := guard.WithContext(ctx)
	g.SetLimit(cap(c.cores))
	for _, r := range batch {
		g.Go(func() error {
			_, err := c.rematch(ctx, r, true)
			if errors.Is(err, store.ErrStale) {
				c.wanted.forget()
				_, err = c.matchAgain(ctx, r.SHA256, true)
			}
			return err
		})
	}
	return g.Wait()
}

// A sign of a title that more documents bear is asked for only where the title has
// not so many rarer ones: half of all documents have an introduction.
const (
	commonSign = 20
	rarerSigns = 3
)

// asked returns the signs by which documents for changed papers are found.
func (c *Collection) asked(ctx context.Context) ([]int32, error) {
	papers, err := c.db.ChangedPapers(ctx)
	if err != nil || len(papers) == 0 {
		return nil, err
	}
	common, err := c.db.CommonSigns(ctx, commonSign)
	if err != nil {
		return nil, err
	}
	var all []int32
	for _, p := range papers {
		ids, title := match.SignsOf(p)
		slices.SortStableFunc(title, func(a, b int32) int { return cmp.Compare(common[a], common[b]) })
		for i, s := range title {
			if i < rarerSigns || common[s] == 0 {
				ids = append(ids, s)
			}
		}
		all = append(all, ids...)
	}
	slices.Sort(all)
	return slices.Compact(all), nil
}

func (c *Collection) rematch(ctx context.Context, r store.Readable, wait bool) (Judgement, error) {
	index, version, err := c.wanted.get(ctx)
	if err != nil {
		return Judgement{}, err
	}
	var found []store.Found
	var marks []int32
	if r.FirstPages != "" {
		err := guard.Logged(ctx, c.log, r.SHA256, func() error {
			if found = matches(index, r.Document, r.Places); r.Compared == 0 {
				marks = signs(r.Document, r.Places)
			}
			return nil
		})
		if err != nil {
			found = r.Matches // unchanged: one document must not block the others
		}
	}
	found = withWord(found, r.Matches)
	j := Judgement{State: r.State, Outcome: r.Outcome, Class: r.Class, Matched: found}
	if j.Found() && r.Removed == nil {
		j.State = gleaner.DocumentAccepted
		if j.Outcome == string(document.OtherDiscipline) {
			j.Outcome = string(document.OK)
		}
	}
	if j.State != r.State || !same(found, r.Matches) {
		if len(found) > 0 && r.Detail == partly && r.Removed == nil && r.Deaths < frontier.MaxDeaths {
			whole, err := c.judgeWhen(ctx, Stored(r.SHA256), Again, wait) // now with the rest of its text
			if !staysAsItIs(ctx, err) {
				return whole, err
			}
			c.log.WarnContext(ctx, "document is matched by its first pages, since the rest cannot be read",
				"sha256", r.SHA256, "error", err)
		}
		if err := c.db.SaveMatches(ctx, r.SHA256, found, j.Found(), version); err != nil {
			return j, err
		}
	}
	if r.FirstPages == "" || r.Compared != 0 {
		return j, nil
	}
	return j, c.db.SaveCompared(ctx, r.SHA256, marks, version)
}

// same reports whether matches are those on record, where what a person settled
// stays though nothing leads to it any more.
func same(found, had []store.Found) bool {
	left := slices.DeleteFunc(slices.Clone(had), func(h store.Found) bool {
		return h.Settled != "" && !slices.ContainsFunc(found, func(f store.Found) bool { return f.Paper == h.Paper })
	})
	return slices.EqualFunc(found, left, func(a, b store.Found) bool {
		// The score is stored in single precision.
		return a.Paper == b.Paper && a.Verdict == b.Verdict && float32(a.Score) == float32(b.Score) && a.Form == b.Form && slices.Equal(a.Reasons, b.Reasons)
	})
}
