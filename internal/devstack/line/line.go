// Package line passes TCP connections on to a server, and breaks them where a test or a
// chaos run asks for it.
package line

import (
	"net"
	"sync"
)

// Line is a way to a server.
type Line struct {
	listener net.Listener
	to       string

	mu     sync.Mutex
	cut    bool
	silent chan struct{} // closed when it is over; nil where all is passed on
	ends   []net.Conn
}

// New listens on the loopback interface, and passes on to an address.
func New(to string) (*Line, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	l := &Line{to: to, listener: listener}
	go l.serve()
	return l, nil
}

// Address is where the line begins.
func (l *Line) Address() string { return l.listener.Addr().String() }

// Close ends the line, and all connections.
func (l *Line) Close() {
	_ = l.listener.Close()
	l.Mend()
	l.Cut()
}

// Cut ends all connections, and those that come, without a word, as the death of
// the server does.
func (l *Line) Cut() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.cut = true
	for _, c := range l.ends {
		_ = c.Close()
	}
	l.ends = nil
}

// Hush passes nothing on and ends nothing, as where packets are lost.
func (l *Line) Hush() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.silent == nil {
		l.silent = make(chan struct{})
	}
}

// Mend ends what is wrong. What was sent into the silence arrives.
func (l *Line) Mend() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.cut = false
	if l.silent != nil {
		close(l.silent)
		l.silent = nil
	}
}

func (l *Line) serve() {
	for {
		in, err := l.listener.Accept()
		if err != nil {
			return // closed
		}
		go l.join(in)
	}
}

func (l *Line) join(in net.Conn) {
	out, err := net.Dial("tcp", l.to)
	l.mu.Lock()
	defer l.mu.Unlock()
	if err != nil || l.cut {
		_ = in.Close()
		if err == nil {
			_ = out.Close()
		}
		return
	}
	l.ends = append(l.ends, in, out)
	go l.pass(in, out)
	go l.pass(out, in)
}

func (l *Line) pass(from, to net.Conn) {
	defer func() { _ = to.Close() }()
	for part := make([]byte, 32<<10); ; {
		n, err := from.Read(part)
		l.mu.Lock()
		silent := l.silent
		l.mu.Unlock()
		if silent != nil {
			<-silent
		}
		if _, failed := to.Write(part[:n]); err != nil || failed != nil {
			return
		}
	}
}
