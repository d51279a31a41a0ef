//go:build linux

package chaos

import (
	"io"
	"net"
	"sync"
	"sync/atomic"
)

// relay passes connections on to a server, so that they can be cut without
// harm to the server itself.
type relay struct {
	listener net.Listener
	target   string
	down     atomic.Bool

	mu    sync.Mutex
	conns map[net.Conn]bool
}

func newRelay(target string) (*relay, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	r := &relay{listener: l, target: target, conns: map[net.Conn]bool{}}
	go r.accept()
	return r, nil
}

func (r *relay) address() string { return r.listener.Addr().String() }

func (r *relay) accept() {
	for {
		in, err := r.listener.Accept()
		if err != nil {
			return // closed
		}
		go r.pass(in)
	}
}

func (r *relay) pass(in net.Conn) {
	defer func() { _ = in.Close() }()
	if r.down.Load() {
		return
	}
	out, err := net.Dial("tcp", r.target)
	if err != nil {
		return
	}
	defer func() { _ = out.Close() }()
	r.mu.Lock()
	r.conns[in], r.conns[out] = true, true
	r.mu.Unlock()
	done := make(chan struct{}, 2)
	go func() { _, _ = io.Copy(out, in); done <- struct{}{} }()
	go func() { _, _ = io.Copy(in, out); done <- struct{}{} }()
	<-done
	r.mu.Lock()
	delete(r.conns, in)
	delete(r.conns, out)
	r.mu.Unlock()
}

// cut drops all connections; further ones are refused until mended.
func (r *relay) cut() {
	r.down.Store(true)
	r.mu.Lock()
	defer r.mu.Unlock()
	for c := range r.conns {
		_ = c.Close()
	}
}

func (r *relay) mend() { r.down.Store(false) }

func (r *relay) close() {
	_ = r.listener.Close()
	r.cut()
}
