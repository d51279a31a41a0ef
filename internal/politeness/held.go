package politeness

import (
	"sync"
	"time"
)

// held has the hosts whose leases this process has or asks for. What the record
// says is this process's and is not held here was not given back, and may be
// taken at once.
type held struct {
	mu    sync.Mutex
	hosts map[string]stand
}

type stand struct {
	leases int
	rest   time.Time // when the host may be asked, where the record was not told
}

// enter notes that a host's lease is asked for. own reports whether nobody else
// in this process has it or asks for it.
func (h *held) enter(host string) (own bool, rest time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	s := h.hosts[host]
	s.leases++
	h.hosts[host] = s
	return s.leases == 1, s.rest
}

// leave notes that a lease is over or was not had.
func (h *held) leave(host string, rest time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	s := h.hosts[host]
	s.leases--
	s.rest = rest
	if s.leases <= 0 && !s.rest.After(time.Now()) {
		delete(h.hosts, host)
		return
	}
	h.hosts[host] = s
}
