package fetch

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net/http"
	"net/http/httptrace"
	"sync/atomic"
	"time"
)

var (
	errHandshake = errors.New("TLS handshake failed")
	errTotal     = errors.New("the whole took too long")
	errIdle      = errors.New("no byte of the body for too long")
	errSlow      = errors.New("the body comes too slowly")
	errNoRequest = errors.New("a request outside of any exchange")
)

// exchange is one request and what came of it.
type exchange struct {
	*target
	header http.Header // shared by requests: never written to
	limits Limits
	memory *Memory
	// prefix, if not 0, asks for so many bytes of the body and no more.
	prefix int64

	sent    bool // the transport was reached at all
	watch   *watch
	status  int
	answer  http.Header
	body    []byte // inflated; of a wanted answer only
	release func() // what body holds of memory; nil for nothing
	wire    int64  // bytes of the body before inflating
	elapsed time.Duration
	outcome Outcome // of the exchange itself: OK whenever an answer was read
	err     error

	// The trace's callbacks may come late, from a dial that nobody waits for.
	connected, reused, answered, badTLS atomic.Bool
}

// transport is the RoundTripper under colly. It sends what the exchange in the
// request's context says and reads the answer to its end.
type transport struct {
	direct, proxied http.RoundTripper
}

// RoundTrip returns an answer without header and body: those are in the
// exchange.
func (t *transport) RoundTrip(r *http.Request) (*http.Response, error) {
	x, ok := r.Context().Value(exchangeKey{}).(*exchange)
	if !ok {
		return nil, errNoRequest
	}
	ctx, cancel := context.WithCancelCause(r.Context())
	defer cancel(nil)
	x.sent = true
	x.watch = newWatch(x.limits, cancel)
	defer x.watch.stop()
	x.outcome, x.err = t.send(ctx, r, x)
	x.elapsed = time.Since(x.watch.start)
	if x.err != nil {
		return nil, x.err
	}
	return &http.Response{
		StatusCode: x.status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header{}, Body: http.NoBody, Uncompressed: true, Request: r,
	}, nil
}

func (t *transport) send(ctx context.Context, r *http.Request, x *exchange) (Outcome, error) {
	way := t.direct
	if x.proxied {
		way = t.proxied
	}
	out := r.WithContext(httptrace.WithClientTrace(ctx, x.trace()))
	out.URL = x.url // as canonical as it came, not as colly rewrote it
	out.Body, out.TransferEncoding = noBody{}, asItIs
	resp, err := way.RoundTrip(out)
	if err != nil {
		return x.connectOutcome(ctx, err), err
	}
	defer func() { _ = resp.Body.Close() }()
	x.status, x.answer = resp.StatusCode, resp.Header
	b := newBody(ctx, resp, x.limits, x.watch)
	defer func() { x.wire = b.wire }()
	if statusOutcome(x.status) != OK {
		if x.answer.Get("Retry-After") == "" {
			b.drain()
		} // else what the host asks for is to be known at once, whatever it still sends
		return OK, nil
	}
	b.memory = x.memory
	x.body, err = b.read(x.prefix)
	if err != nil {
		b.giveBack()
		return b.outcome(err), err
	}
	x.release = b.release
	return OK, nil
}

func (x *exchange) trace() *httptrace.ClientTrace {
	return &httptrace.ClientTrace{
		GotConn:              func(i httptrace.GotConnInfo) { x.connected.Store(true); x.reused.Store(i.Reused) },
		GotFirstResponseByte: func() { x.answered.Store(true) },
		TLSHandshakeDone:     func(_ tls.ConnectionState, err error) { x.badTLS.Store(err != nil) },
	}
}

// connectOutcome names what kept an answer from coming.
func (x *exchange) connectOutcome(ctx context.Context, err error) Outcome {
	if cause := context.Cause(ctx); cause != nil {
		return causeOutcome(cause)
	}
	o := connectOutcome(err, x.answered.Load())
	if o == ConnectFailure && x.badTLS.Load() {
		return TLSFailure
	}
	return o
}

// causeOutcome names why a context was done.
func causeOutcome(cause error) Outcome {
	switch {
	case errors.Is(cause, errTotal):
		return Timeout
	case errors.Is(cause, errIdle), errors.Is(cause, errSlow):
		return SlowBody
	default:
		return Canceled
	}
}

// stale says that the request went out on a connection from before, which the
// server had perhaps closed in the meantime: it may never have seen it.
func (x *exchange) stale() bool {
	return x.outcome == ConnectFailure && x.reused.Load() && !x.answered.Load()
}

// noBody is an empty body that net/http does not know to be empty. A request
// that has one is never sent again by the transport itself, which would be a
// request without a turn. With asItIs there is no difference on the wire.
type noBody struct{}

func (noBody) Read([]byte) (int, error)         { return 0, io.EOF }
func (noBody) WriteTo(io.Writer) (int64, error) { return 0, nil } // else it is copied through a buffer of 32 KiB
func (noBody) Close() error                     { return nil }

// asItIs keeps net/http from waiting whether a body of unknown length has a
// first byte.
var asItIs = []string{"identity"}

// watch cancels an exchange that takes too long, as a whole or between two
// reads of the body.
type watch struct {
	limits Limits
	start  time.Time
	timer  *time.Timer
}

func newWatch(l Limits, cancel context.CancelCauseFunc) *watch {
	w := &watch{limits: l, start: time.Now()}
	w.timer = time.AfterFunc(l.Total, func() {
		if time.Since(w.start) >= l.Total {
			cancel(errTotal)
		} else {
			cancel(errIdle)
		}
	})
	return w
}

// reading is called before each read of the body.
func (w *watch) reading(now time.Time) {
	w.timer.Reset(min(w.limits.Idle, w.limits.Total-now.Sub(w.start)))
}

// pause is called when something else than the host is waited for; what that
// took is not the host's.
func (w *watch) pause() (resume func()) {
	from := time.Now()
	w.timer.Stop()
	return func() {
		w.start = w.start.Add(time.Since(from))
		w.reading(time.Now())
	}
}

func (w *watch) stop() { w.timer.Stop() }
