package homepage

import (
	"context"
	"errors"
	"slices"
	"sort"
	"strings"
	"sync"

	"gleaner/internal/page"

	"golang.org/x/sync/errgroup"
	"golang.org/x/sync/singleflight"
)

// FindAll decides for many authors, at most parallel at a time, in two passes:
// the first as if none of them were known, the second for those without a
// homepage, with the homepages of their co-authors from the complete first, and
// without the pages that went to somebody else. After each, no page is left to two authors (ResolveConflicts). Decisions come in the
// order of the subjects and do not depend on the order of work.
//
// Searches that failed are in the decisions; the error joins ErrSearchUnavailable
// where any author has none for that reason, or is that of ctx.
func (f *Finder) FindAll(ctx context.Context, subjects []Subject, parallel int) ([]Decision, error) {
	decisions := make([]Decision, len(subjects))
	all := make([]int, len(subjects))
	for i := range all {
		all[i] = i
	}
	unavailable, err := f.pass(ctx, subjects, decisions, all, parallel)
	if err != nil {
		return decisions, err
	}
	ResolveConflicts(decisions)
	second, again := SecondPass(subjects, decisions)
	late, err := f.pass(ctx, second, decisions, again, parallel)
	if err != nil {
		return decisions, err
	}
	ResolveConflicts(decisions)
	return decisions, errors.Join(unavailable, late)
}

// pass runs Find for the subjects of the given indices.
func (f *Finder) pass(ctx context.Context, subjects []Subject, decisions []Decision, which []int, parallel int) (unavailable, err error) {
	g, gctx := errgroup.WithContext(ctx)
	g.SetLimit(max(1, parallel))
	var mu sync.Mutex
	for _, i := range which {
		g.Go(func() error {
			d, err := f.Find(gctx, subjects[i])
			if err != nil && !errors.Is(err, ErrSearchUnavailable) {
				return err
			}
			mu.Lock()
			defer mu.Unlock()
			d.Searches += decisions[i].Searches
			d.Fetches += decisions[i].Fetches
			decisions[i] = d
			if err != nil {
				unavailable = err
			}
			return nil
		})
	}
	return unavailable, g.Wait()
}

// SecondPass returns the subjects with what a complete first pass (with its
// conflicts resolved) tells about them: their co-authors' homepages, and the
// pages that went to others. The indices are of those worth another try.
func SecondPass(subjects []Subject, decisions []Decision) (second []Subject, again []int) {
	found := map[string]string{}
	for _, d := range decisions {
		if best := d.Best(); best != "" {
			found[d.Author.ID()] = best
		}
	}
	second = slices.Clone(subjects)
	for i := range second {
		pages := slices.Clone(second[i].CoAuthorHomepages)
		for _, a := range coAuthors(second[i]) {
			if u := found[a.ID()]; u != "" && !slices.Contains(pages, u) {
				pages = append(pages, u)
			}
		}
		second[i].Taken = slices.Clone(second[i].Taken)
		for _, c := range decisions[i].Candidates {
			if strings.HasPrefix(c.Rule, ruleGiven) {
				second[i].Taken = append(second[i].Taken, c.URL)
			}
		}
		if len(decisions[i].Homepages) == 0 && (len(pages) > len(second[i].CoAuthorHomepages) || len(second[i].Taken) > 0) {
			again = append(again, i)
		}
		second[i].CoAuthorHomepages = pages
	}
	return second, again
}

// ResolveConflicts leaves a page that several authors were given to the one
// who is best vouched for (then the highest score, then the smallest id). It changes the decisions in place and is a pure function of them.
func ResolveConflicts(decisions []Decision) {
	type claim struct {
		decision  int
		candidate Candidate
	}
	claims := map[string][]claim{}
	for i, d := range decisions {
		for _, c := range d.Homepages {
			k := addressKey(c.URL)
			claims[k] = append(claims[k], claim{i, c})
		}
	}
	for key, cs := range claims {
		if len(cs) < 2 {
			continue
		}
		sort.Slice(cs, func(i, j int) bool {
			a, b := cs[i].candidate, cs[j].candidate
			if a.Features[fVouched] != b.Features[fVouched] {
				return a.Features[fVouched] > b.Features[fVouched]
			}
			if a.Score != b.Score {
				return a.Score > b.Score
			}
			return decisions[cs[i].decision].Author.ID() < decisions[cs[j].decision].Author.ID()
		})
		winner := decisions[cs[0].decision].Author
		for _, c := range cs[1:] {
			if decisions[c.decision].Author.ID() != winner.ID() {
				decisions[c.decision].yieldTo(winner.Name, key)
			}
		}
	}
}

// yieldTo gives up a page to another author.
func (d *Decision) yieldTo(winner, key string) {
	d.Homepages = slices.DeleteFunc(d.Homepages, func(c Candidate) bool { return addressKey(c.URL) == key })
	for i := range d.Candidates {
		if c := &d.Candidates[i]; c.Kept && addressKey(c.URL) == key {
			c.Kept, c.Priority, c.Rule = false, "", ruleGiven+" "+winner+", with more evidence"
		}
	}
	if len(d.Homepages) == 0 {
		d.NotFound = GivenToAnother
	}
}

// Memo is a Getter that asks for each address once, also when several authors
// want it at the same time. It keeps at most limit pages.
func Memo(g Getter, limit int) Getter {
	return &memo{inner: g, limit: limit, kept: map[string]memoPage{}}
}

type memo struct {
	inner  Getter
	limit  int
	flight singleflight.Group
	mu     sync.Mutex
	kept   map[string]memoPage
}

type memoPage struct {
	page  *page.Page
	final string
	err   error
}

// Get implements Getter.
func (m *memo) Get(ctx context.Context, u string) (*page.Page, string, error) {
	m.mu.Lock()
	p, ok := m.kept[u]
	m.mu.Unlock()
	if ok {
		return p.page, p.final, p.err
	}
	v, _, _ := m.flight.Do(u, func() (any, error) {
		pg, final, err := m.inner.Get(ctx, u)
		got := memoPage{pg, final, err}
		m.mu.Lock()
		defer m.mu.Unlock()
		if ctx.Err() == nil && len(m.kept) < m.limit {
			m.kept[u] = got
		}
		return got, nil
	})
	got := v.(memoPage)
	return got.page, got.final, got.err
}
