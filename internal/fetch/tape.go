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

// Tape takes down what is exchanged with hosts in a context that carries it: each
// request as it is sent, those for robots.txt and each hop of a redirect included,
// and what came in answer, as it came. A body is held in memory as long as it is
// small, else in a file of its own.
type Tape struct {
	dir  string
	mu   sync.Mutex
	done []*Exchanged
}

// NewTape makes a tape whose large bodies lie in files of a folder; "" is the
// system's for temporary files.
func NewTape(dir string) *Tape { return &Tape{dir: dir} }

// Take hands over the exchanges that have ended since the last time, in the order in
// which they did. Each is the caller's to close.
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

// The reasons for which the body of an answer is not whole, in the words of WARC's
// field WARC-Truncated.
const (
	CutLength      = "length"
	CutTime        = "time"
	CutDisconnect  = "disconnect"
	CutUnspecified = "unspecified"
)

// Exchanged is one request and what came of it.
type Exchanged struct {
	URL     string
	Via     string // the URL that redirected here; "" where none did
	At      time.Time
	Address netip.Addr      // of the server; not valid where a proxy or nobody was reached
	Request string          // head of the request
	Status  string          // of the answer: "200 OK"; "" where none came
	Header  http.Header     // of the answer, as it came but for the spelling of names
	Body    Spool           // as it came, without the chunks it came in
	Cut     string          // why Body is not whole; "" where it is
	Outcome gleaner.Outcome // what kept an answer from coming
	Err     error           // why Body could not be held: it is not what came
}

// Close lets go of the body.
func (e *Exchanged) Close() { e.Body.close() }

// Code is the status of the answer; 0 where none came.
func (e *Exchanged) Code() (code int) {
	_, _ = fmt.Sscanf(e.Status, "%d", &code)
	return code
}

// taped is the part of the chain next to its exit: what passes here is what passes
// over the wire.
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

// requestHead is the head of a request as it is sent.
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

// tapedBody is a body that is taken down as it is read.
type tapedBody struct {
	io.ReadCloser
	e     *Exchanged
	x     *exchange
	tape  *Tape
	left  int64 // bytes that are promised still; negative: not said
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

// cutFor says why no more of a body was read.
func (x *exchange) cutFor() string {
	switch x.outcome {
	case TooLarge, Inflated:
		return CutLength
	case Timeout, SlowBody:
		return CutTime
	case Truncated, BadAnswer:
		return CutDisconnect
	case "": // enough of it was read
		return CutLength
	}
	return CutUnspecified
}
