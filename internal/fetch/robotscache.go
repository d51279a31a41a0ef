package fetch

import (
	"context"
	"sync"
)

// MemoryRobots is a RobotsCache in memory that keeps the records of so many
// hosts, dropping the oldest.
type MemoryRobots struct {
	mu    sync.Mutex
	limit int
	recs  map[string]RobotsRecord
	order []string // as first saved
}

// NewMemoryRobots makes a cache for at most limit hosts.
func NewMemoryRobots(limit int) *MemoryRobots {
	return &MemoryRobots{limit: max(limit, 1), recs: map[string]RobotsRecord{}}
}

// LoadRobots implements RobotsCache.
func (m *MemoryRobots) LoadRobots(_ context.Context, host string) (RobotsRecord, bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	rec, ok := m.recs[host]
	return rec, ok, nil
}

// SaveRobots implements RobotsCache.
func (m *MemoryRobots) SaveRobots(_ context.Context, host string, rec RobotsRecord) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, ok := m.recs[host]; !ok {
		if len(m.order) >= m.limit {
			delete(m.recs, m.order[0])
			m.order = m.order[1:]
		}
		m.order = append(m.order, host)
	}
	m.recs[host] = rec
	return nil
}
