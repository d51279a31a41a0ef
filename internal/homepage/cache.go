package homepage

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"gleaner/internal/each"
	"gleaner/internal/gleaner/evidence"
)

// Cache keeps search answers and counts what was asked. Implementations are
// shared by all workers.
type Cache interface {
	// LoadSearch returns the answer kept for the query, if there is one.
	LoadSearch(ctx context.Context, provider, query string, n int) (evidence.Answer, bool, error)
	SaveSearch(ctx context.Context, provider, query string, n int, a evidence.Answer) error
	// Spend counts one request of provider in the period that begins at start,
	// unless limit of them were counted already; then it returns false. The
	// test and the count are one step, so two workers never pass the limit.
	Spend(ctx context.Context, provider string, start time.Time, limit int) (bool, error)
	// Spent is what Spend counted.
	Spent(ctx context.Context, provider string, start time.Time) (int, error)
}

// Budget says how much may be asked of one provider, and how long an answer
// stays good.
type Budget struct {
	Limit  int           // requests per period; 0: no limit
	Period time.Duration // 0: a month of 30 days
	MaxAge time.Duration // of a kept answer; 0: 30 days
	Now    func() time.Time
}

const month = 30 * 24 * time.Hour

// Cached keeps the answers of s and never passes its budget. A query that is
// asked again within MaxAge costs nothing.
func Cached(s Searcher, c Cache, b Budget) *CachedSearcher {
	b.Period = cmp.Or(max(b.Period, 0), month)
	b.MaxAge = cmp.Or(max(b.MaxAge, 0), month)
	if b.Now == nil {
		b.Now = time.Now
	}
	return &CachedSearcher{inner: s, cache: c, budget: b}
}

// CachedSearcher is a Searcher with a memory and a budget.
type CachedSearcher struct {
	inner  Searcher
	cache  Cache
	budget Budget
}

// Name is the name of the searcher within.
func (c *CachedSearcher) Name() string { return c.inner.Name() }

// Search answers from the cache, or asks when the budget allows it. An answer
// that is too old is better than none: it is given when the budget is used up.
func (c *CachedSearcher) Search(ctx context.Context, query string, n int) ([]evidence.Result, error) {
	now := c.budget.Now()
	kept, ok, err := c.cache.LoadSearch(ctx, c.Name(), query, n)
	if err != nil {
		return nil, fmt.Errorf("%w: search cache: %w", ErrRecord, err)
	}
	if ok && now.Sub(kept.At) < c.budget.MaxAge {
		return kept.Results, nil
	}
	rs, err := c.ask(ctx, query, n, now)
	switch {
	case errors.Is(err, errBudget) && ok:
		return kept.Results, nil
	case err != nil && len(rs) == 0 && ok:
		return kept.Results, err
	case err != nil: // a part of an answer is not kept: the whole is asked for again
		return rs, err
	}
	if err := c.cache.SaveSearch(ctx, c.Name(), query, n, evidence.Answer{Results: rs, At: now}); err != nil {
		return nil, fmt.Errorf("%w: search cache: %w", ErrRecord, err)
	}
	return rs, nil
}

// ask searches, and pays for it when the turn has come: a wait that is given up
// costs nothing. Where nothing is left to pay with, no turn is waited for.
func (c *CachedSearcher) ask(ctx context.Context, query string, n int, now time.Time) ([]evidence.Result, error) {
	start, limit := c.periodStart(now), cmp.Or(c.budget.Limit, math.MaxInt32)
	used := func() error {
		return &SearchError{Provider: c.Name(), RetryAfter: start.Add(c.budget.Period).Sub(now),
			Err: fmt.Errorf("%w: %d in %s", errBudget, c.budget.Limit, c.budget.Period)}
	}
	// What is asked is counted without a limit, too: a person wants to see it.
	spend := func() error {
		granted, err := c.cache.Spend(ctx, c.Name(), start, limit)
		switch {
		case err != nil:
			return fmt.Errorf("%w: search budget: %w", ErrRecord, err)
		case !granted:
			return used()
		}
		return nil
	}
	spent, err := c.cache.Spent(ctx, c.Name(), start)
	switch {
	case err != nil:
		return nil, fmt.Errorf("%w: search budget: %w", ErrRecord, err)
	case spent >= limit:
		return nil, used()
	}
	return c.inner.Search(context.WithValue(ctx, billKey{}, &bill{pay: spend}), query, n)
}

// bill is what a search costs, of up to pagesPaid requests.
type bill struct {
	pay  func() error
	paid bool
}

type billKey struct{}

// pay pays for the search under way, once. Who sends a request calls it when its
// turn has come.
func pay(ctx context.Context) error {
	b, ok := ctx.Value(billKey{}).(*bill)
	if !ok || b.paid {
		return nil
	}
	b.paid = true
	return b.pay()
}

// Usage says how much of the budget of the present period is used.
func (c *CachedSearcher) Usage(ctx context.Context) (spent, limit int, until time.Time, err error) {
	start := c.periodStart(c.budget.Now())
	spent, err = c.cache.Spent(ctx, c.Name(), start)
	return spent, c.budget.Limit, start.Add(c.budget.Period), err
}

// Engines are the search engines of the settings, none or some.
type Engines []*CachedSearcher

// Searcher asks all of them (Merged); nil for none.
func (e Engines) Searcher() Searcher {
	if len(e) == 0 {
		return nil
	}
	all := each.Of(e, func(s *CachedSearcher) Searcher { return s })
	return Merged(all...)
}

func (c *CachedSearcher) periodStart(now time.Time) time.Time {
	return now.UTC().Truncate(c.budget.Period)
}
