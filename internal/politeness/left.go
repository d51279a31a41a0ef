package politeness

import "sync"

// unreleased has the leases that this process could not release, since the database was
// unavailable. The process may take them again at once.
type unreleased struct {
	mu    sync.Mutex
	hosts map[string]unreleasedLease
	taken map[Lapsed]bool // leases of others that were taken since TookOver
}

type unreleasedLease struct {
	token       int64 // of the lease, which nobody else has taken while the row has it
	pacingState       // not written either
}

func (l *unreleased) put(host string, o unreleasedLease) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.hosts[host] = o
}

func (l *unreleased) get(host string) unreleasedLease {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.hosts[host]
}

// forget removes a host whose lease was taken since.
func (l *unreleased) forget(host string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.hosts, host)
}

func (l *unreleased) tookOver(lease Lapsed) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.taken[lease] = true
}
