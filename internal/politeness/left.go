package politeness

import "sync"

// left has the leases that this process could not release, since the database was
// unavailable. The process may take them again at once.
type left struct {
	mu    sync.Mutex
	hosts map[string]leftover
	taken map[Lapsed]bool // leases of others that were taken since TookOver
}

type leftover struct {
	token int64 // of the lease, which nobody else has taken while the row has it
	told        // not written either
}

func (l *left) put(host string, o leftover) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.hosts[host] = o
}

func (l *left) get(host string) leftover {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.hosts[host]
}

// forget removes a host whose lease was taken since.
func (l *left) forget(host string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.hosts, host)
}

func (l *left) tookOver(lease Lapsed) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.taken[lease] = true
}
