package homepage

import (
	"context"
	"sync"
	"time"

	"gleaner/internal/gleaner/evidence"
)

// memoryCache is a Cache that lasts as long as the process.
type memoryCache struct {
	mu      sync.Mutex
	answers map[[3]any]evidence.Answer // by provider, query and number of results
	spent   map[[2]any]int             // by provider and start
}

// newMemoryCache returns an empty cache, safe for concurrent use.
func newMemoryCache() *memoryCache {
	return &memoryCache{answers: map[[3]any]evidence.Answer{}, spent: map[[2]any]int{}}
}

func (m *memoryCache) LoadSearch(_ context.Context, provider, query string, n int) (evidence.Answer, bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	a, ok := m.answers[[3]any{provider, query, n}]
	return a, ok, nil
}

func (m *memoryCache) SaveSearch(_ context.Context, provider, query string, n int, a evidence.Answer) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.answers[[3]any{provider, query, n}] = a
	return nil
}

func (m *memoryCache) Spend(_ context.Context, provider string, start time.Time, limit int) (bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	k := [2]any{provider, start.Unix()}
	if m.spent[k] >= limit {
		return false, nil
	}
	m.spent[k]++
	return true, nil
}

func (m *memoryCache) Spent(_ context.Context, provider string, start time.Time) (int, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.spent[[2]any{provider, start.Unix()}], nil
}
