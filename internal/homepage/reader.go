package homepage

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"gleaner/internal/fetch"
	"gleaner/internal/gleaner/evidence"
	"gleaner/internal/record/frontier"
	"gleaner/internal/web/page"
)

var (
	errTooMany = errors.New("the bound on fetches per author is reached")
	errNoPage  = errors.New("no page came back")
)

// reader fetches the pages of one search, and keeps them.
type reader struct {
	getter     Getter
	bound      int                   // of fetches
	fetches    int                   // so far
	requested  map[string]bool       // by AddressKey
	pages      map[string]*page.Page // by AddressKey, after redirects
	unanswered []evidence.Unanswered // pages and searches to be tried again
	unreadable string                // the page that was set aside, with the outcome
	recordErr  error                 // wraps ErrRecord: nothing can be decided
}

func newReader(cfg Config, s Subject) *reader {
	r := &reader{getter: cfg.Getter, bound: cfg.MaxFetches, unanswered: slices.Clone(s.Unanswered),
		requested: map[string]bool{}, pages: map[string]*page.Page{}}
	if s.Getter != nil {
		r.getter = s.Getter
	}
	return r
}

// get fetches a page and counts the request.
func (r *reader) get(ctx context.Context, u string) (*page.Page, string, error) {
	if r.fetches >= r.bound {
		return nil, "", errTooMany
	}
	r.fetches++
	r.requested[AddressKey(u)] = true
	pg, final, err := r.getter.Get(ctx, u)
	if err == nil && pg == nil {
		err = errNoPage
	}
	if errors.Is(err, ErrRecord) {
		r.recordErr = err
	}
	if fe := (*fetch.Error)(nil); errors.As(err, &fe) && (fe.Outcome == frontier.Panicked || fe.Outcome == frontier.Killed) {
		r.unreadable = fmt.Sprintf("%s: %s", fe.Outcome, u)
	}
	if un, ok := unansweredPage(u, err); ok {
		r.note(un)
	}
	final = cmp.Or(final, u)
	if err == nil {
		r.pages[AddressKey(final)] = pg
	}
	return pg, final, err
}

// cachedOrGet returns a page that was fetched before, or fetches it.
func (r *reader) cachedOrGet(ctx context.Context, u string) (*page.Page, string, error) {
	if pg := r.pages[AddressKey(u)]; pg != nil {
		return pg, u, nil
	}
	return r.get(ctx, u)
}

// once is cachedOrGet for an address that is not requested a second time. It returns nil if
// there is no page.
func (r *reader) once(ctx context.Context, u string) (*page.Page, string) {
	if r.pages[AddressKey(u)] == nil && r.requested[AddressKey(u)] {
		return nil, u
	}
	pg, final, err := r.cachedOrGet(ctx, u)
	if err != nil {
		return nil, u
	}
	return pg, final
}

// note adds what is to be tried again, once for each page or query.
func (r *reader) note(u evidence.Unanswered) {
	if !slices.ContainsFunc(r.unanswered, func(had evidence.Unanswered) bool { return had.What == u.What }) {
		r.unanswered = append(r.unanswered, u)
	}
}
