package homepage

import (
	"context"
	"sync"

	"golang.org/x/sync/singleflight"

	"gleaner/internal/web/page"
)

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
