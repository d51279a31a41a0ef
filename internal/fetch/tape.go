package fetch

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"

	"gleaner/internal/gleaner"
)

// Tape records the exchanges with hosts in a context: each request as sent, with those for
// robots.txt and each hop of a redirect, and each answer as received. A small body is held in
// memory, others in files.
type Tape struct {
	dir  string
	mu   sync.Mutex
	done []*Exchanged
}

// NewTape returns a tape that stores large bodies in files of a folder; "" is the system's for
// temporary files.
func NewTape(dir string) *Tape { return &Tape{dir: dir} }

// Take returns the exchanges that ended since the last call, in the order in which they ended.
// The caller must close each.
func (t *Tape) Take() []*Exchanged {
	t.mu.Lock()
	defer t.mu.Unlock()
	done := t.done
	t.done = nil
	return done
}

func (t *Tape) add(e *Exchanged) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.done = append(t.done, e)
}

// Reasons for an incomplete body, as values of WARC-Truncated.
const (
	CutLength      = "length"
	CutTime        = "time"
	CutDisconnect  = "disconnect"
	CutUnspecified = "unspecified"
)

// Exchanged is one request and its result.
type Exchanged struct {
	URL     string
	Via     string // the URL that redirected here, or ""
	At      time.Time
	Address netip.Addr      // of the server; not valid for a proxy or without a connection
	Request string          // head of the request
	Status  string          // of the answer: "200 OK"; "" without one
	Header  http.Header     // of the answer, as received, with canonical names
	Body    Spool           // as received, without chunking
	Cut     string          // why Body is incomplete, or ""
	Outcome gleaner.Outcome // failure to get an answer
	Err     error           // failure to hold Body, which is then incomplete
}

// Close releases the body.
func (e *Exchanged) Close() { e.Body.close() }

// Code returns the status of the answer, or 0.
func (e *Exchanged) Code() (code int) {
	_, _ = fmt.Sscanf(e.Status, "%d", &code)
	return code
}

// taped is the part of the chain next to its exit: it sees the same bytes as the wire.
type taped struct{ next http.RoundTripper }

func (t *taped) RoundTrip(r *http.Request) (*http.Response, error) {
	x := exchangeOf(r)
	tape := x.Tape
	if tape == nil {
		return t.next.RoundTrip(r)
	}
	e := &Exchanged{URL: x.raw, At: x.clock.Now(), Request: requestHead(r), Body: Spool{dir: tape.dir}}
	if n := len(x.redirects); n > 0 {
		e.Via = x.redirects[n-1]
	}
	resp, err := t.next.RoundTrip(r)
	if !x.proxied {
		e.Address = x.trace.server()
	}
	if err != nil {
		e.Outcome = x.outcome
		tape.add(e)
		return nil, err
	}
	e.Status, e.Header = resp.Status, resp.Header
	if e.Status == "" || !strings.HasPrefix(e.Status, fmt.Sprint(resp.StatusCode)) {
		e.Status = fmt.Sprintf("%03d %s", resp.StatusCode, http.StatusText(resp.StatusCode))
	}
	resp.Body = &tapedBody{ReadCloser: resp.Body, e: e, x: x, tape: tape, left: resp.ContentLength}
	return resp, nil
}

// requestHead returns the head of a request as it is sent.
func requestHead(r *http.Request) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s HTTP/1.1\r\nHost: %s\r\n", r.Method, r.URL.RequestURI(), cmp.Or(r.Host, r.URL.Host))
	for _, name := range slices.Sorted(maps.Keys(r.Header)) {
		for _, v := range r.Header[name] {
			fmt.Fprintf(&b, "%s: %s\r\n", name, v)
		}
	}
	b.WriteString("\r\n")
	return b.String()
}

// tapedBody records a body as it is read.
type tapedBody struct {
	io.ReadCloser
	e     *Exchanged
	x     *exchange
	tape  *Tape
	left  int64 // promised bytes that are still unread; negative: unknown
	whole bool
	ended bool
}

func (b *tapedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if b.e.Err == nil {
		b.e.Err = b.e.Body.write(p[:n])
	}
	b.left -= int64(n)
	b.whole = b.whole || err == io.EOF
	return n, err
}

// Close ends the exchange.
func (b *tapedBody) Close() error {
	err := b.ReadCloser.Close()
	if !b.ended {
		b.ended = true
		if !b.whole && b.left != 0 {
			b.e.Cut = b.x.cutFor()
		}
		b.tape.add(b.e)
	}
	return err
}

// cutFor returns why the reading of a body ended.
func (x *exchange) cutFor() string {
	switch x.outcome {
	case TooLarge, Inflated:
		return CutLength
	case Timeout, SlowBody:
		return CutTime
	case Truncated, BadAnswer:
		return CutDisconnect
	case "": // the caller stopped reading
		return CutLength
	}
	return CutUnspecified
}
