package fetch

import (
	"context"
	"sync"
)

// memoryRobotsBytes is the size in bytes of the files in a memoryRobots.
const memoryRobotsBytes = 64 << 20

// memoryRobots is a RobotsCache in memory for a number of hosts and 64 MiB of their files. It
// drops the oldest.
type memoryRobots struct {
	mu    sync.Mutex
	limit int
	recs  map[string]RobotsRecord
	order []string // as first saved
	bytes int      // of all bodies
}

// newMemoryRobots returns a cache for at most limit hosts.
func newMemoryRobots(limit int) *memoryRobots {
	return &memoryRobots{limit: max(limit, 1), recs: map[string]RobotsRecord{}}
}

func (m *memoryRobots) LoadRobots(_ context.Context, host string, _ RobotsRecord) (RobotsRecord, bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	rec, ok := m.recs[host]
	return rec, ok, nil
}

func (m *memoryRobots) SaveRobots(_ context.Context, host string, rec RobotsRecord) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	old, ok := m.recs[host]
	if !ok {
		m.order = append(m.order, host)
	}
	m.recs[host] = rec
	m.bytes += len(rec.Body) - len(old.Body)
	for len(m.order) > m.limit || len(m.order) > 1 && m.bytes > memoryRobotsBytes {
		m.bytes -= len(m.recs[m.order[0]].Body)
		delete(m.recs, m.order[0])
		m.order = m.order[1:]
	}
	return nil
}
