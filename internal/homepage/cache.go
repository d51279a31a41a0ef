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

// Cache stores search answers and counts requests. Implementations are shared by all
// workers.
type Cache interface {
	// LoadSearch returns the stored answer to the query, if there is one.
	LoadSearch(ctx context.Context, provider, query string, n int) (evidence.Answer, bool, error)
	SaveSearch(ctx context.Context, provider, query string, n int, a evidence.Answer) error
	// Spend counts one request to provider in the period that begins at start. It returns
	// false, and counts nothing, if limit requests were counted before. Test and count are
	// one step, so two workers never exceed the limit.
	Spend(ctx context.Context, provider string, start time.Time, limit int) (bool, error)
	// Spent returns the count.
	Spent(ctx context.Context, provider string, start time.Time) (int, error)
}

// Budget bounds the requests to one provider, and the age of stored answers.
type Budget struct {
	Limit  int           // requests per period; 0: no limit
	Period time.Duration // 0: a month of 30 days
	MaxAge time.Duration // of a stored answer; 0: 30 days
	Now    func() time.Time
}

const month = 30 * 24 * time.Hour

// Cached returns a searcher that stores the answers of s and never exceeds its budget. A
// query repeated within MaxAge makes no request.
func Cached(s Searcher, c Cache, b Budget) *CachedSearcher {
	b.Period = cmp.Or(max(b.Period, 0), month)
	b.MaxAge = cmp.Or(max(b.MaxAge, 0), month)
	if b.Now == nil {
		b.Now = time.Now
	}
	return &CachedSearcher{inner: s, cache: c, budget: b}
}

// CachedSearcher is a Searcher with a cache and a budget.
type CachedSearcher struct {
	inner  Searcher
	cache  Cache
	budget Budget
}

// Name is the name of the inner searcher.
func (c *CachedSearcher) Name() string { return c.inner.Name() }

// Search answers from the cache, or makes a request if the budget allows it. If the
// budget is used up, it returns a stored answer of any age.
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
	case err != nil: // a partial answer is not stored, so that the query is repeated
		return rs, err
	}
	if err := c.cache.SaveSearch(ctx, c.Name(), query, n, evidence.Answer{Results: rs, At: now}); err != nil {
		return nil, fmt.Errorf("%w: search cache: %w", ErrRecord, err)
	}
	return rs, nil
}

// ask searches, and counts the request when its turn has come: a cancelled wait costs
// nothing. If the budget is used up, it does not wait for a turn.
func (c *CachedSearcher) ask(ctx context.Context, query string, n int, now time.Time) ([]evidence.Result, error) {
	start, limit := c.periodStart(now), cmp.Or(c.budget.Limit, math.MaxInt32)
	used := func() error {
		return &SearchError{Provider: c.Name(), RetryAfter: start.Add(c.budget.Period).Sub(now),
			Err: fmt.Errorf("%w: %d in %s", errBudget, c.budget.Limit, c.budget.Period)}
	}
	// Requests are counted also without a limit, to be shown to people.
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

// bill is the cost of a search, which covers up to pagesPaid requests.
type bill struct {
	pay  func() error
	paid bool
}

type billKey struct{}

// pay counts the search under way, once. It is called when the turn of its request has
// come.
func pay(ctx context.Context) error {
	b, ok := ctx.Value(billKey{}).(*bill)
	if !ok || b.paid {
		return nil
	}
	b.paid = true
	return b.pay()
}

// Usage returns how much of the budget of the present period is used, and when it ends.
func (c *CachedSearcher) Usage(ctx context.Context) (spent, limit int, until time.Time, err error) {
	start := c.periodStart(c.budget.Now())
	spent, err = c.cache.Spent(ctx, c.Name(), start)
	return spent, c.budget.Limit, start.Add(c.budget.Period), err
}

// Engines are the search engines of the settings, none or some.
type Engines []*CachedSearcher

// Searcher queries all of them (Merged); it is nil for none.
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
