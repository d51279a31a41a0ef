package devtest

import (
	"net"
	"net/url"
	"sync"
	"testing"
)

// Line is the way to a test's database, with which things go wrong when the test
// says so.
type Line struct {
	listener net.Listener
	to       string

	mu     sync.Mutex
	cut    bool
	silent chan struct{} // closed when it is over; nil where all is passed on
	ends   []net.Conn
}

// Lay gives a DSN that leads to the database of dsn over a line.
func Lay(tb testing.TB, dsn string) (through string, l *Line) {
	tb.Helper()
	u, err := url.Parse(dsn)
	if err != nil {
		tb.Fatal(err)
	}
	l = &Line{to: u.Host}
	if l.listener, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = l.listener.Close(); l.Mend(); l.Cut() })
	go l.serve()
	u.Host = l.listener.Addr().String()
	return u.String(), l
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
