package fetch

import (
	"context"
	"crypto/tls"
	"io"
	"net/http"
	"net/http/httptrace"
	"net/netip"
	"sync/atomic"

	"gleaner/internal/gleaner"
)

// exit is the end of the chain. It sends a request, directly through the guarded dial or to a
// proxy, and returns the outcome of a failure.
type exit struct {
	direct, proxied http.RoundTripper
}

func (e *exit) RoundTrip(r *http.Request) (*http.Response, error) {
	x := exchangeOf(r)
	way := e.direct
	if x.proxied {
		way = e.proxied
	}
	x.trace = &trace{}
	out := r.WithContext(httptrace.WithClientTrace(r.Context(), x.trace.hooks()))
	if bodyless(out) {
		out.Body, out.TransferEncoding = noBody{}, asItIs
	}
	resp, err := way.RoundTrip(out)
	if err != nil {
		return nil, x.fail(x.trace.outcome(r.Context(), err), err)
	}
	x.status, x.answer = resp.StatusCode, resp.Header
	return resp, nil
}

// trace holds events of a request's connection. Its hooks may be called late, by an abandoned
// dial.
type trace struct {
	connected, reused, answered, badTLS atomic.Bool

	address atomic.Pointer[string] // of the server or proxy
}

// server returns the address of the server or proxy; not valid without a connection.
func (t *trace) server() netip.Addr {
	said := t.address.Load()
	if said == nil {
		return netip.Addr{}
	}
	at, _ := netip.ParseAddrPort(*said)
	return at.Addr().Unmap().WithZone("")
}

func (t *trace) hooks() *httptrace.ClientTrace {
	return &httptrace.ClientTrace{
		GotConn: func(i httptrace.GotConnInfo) {
			t.connected.Store(true)
			t.reused.Store(i.Reused)
			at := i.Conn.RemoteAddr().String()
			t.address.Store(&at)
		},
		GotFirstResponseByte: func() { t.answered.Store(true) },
		TLSHandshakeDone:     func(_ tls.ConnectionState, err error) { t.badTLS.Store(err != nil) },
	}
}

// outcome returns the outcome of a request without an answer.
func (t *trace) outcome(ctx context.Context, err error) gleaner.Outcome {
	if cause := context.Cause(ctx); cause != nil {
		return causeOutcome(cause)
	}
	o := connectOutcome(err, t.answered.Load())
	if o == ConnectFailure && t.badTLS.Load() {
		return TLSFailure
	}
	return o
}

// noBody is an empty body of unknown length for net/http. The transport never repeats a request
// with such a body, which would be a request without a turn. With asItIs the bytes on the wire
// are the same.
type noBody struct{}

func (noBody) Read([]byte) (int, error)         { return 0, io.EOF }
func (noBody) WriteTo(io.Writer) (int64, error) { return 0, nil } // avoids a buffer of 32 KiB
func (noBody) Close() error                     { return nil }

// asItIs keeps net/http from waiting for the first byte of a body of unknown length.
var asItIs = []string{"identity"}
