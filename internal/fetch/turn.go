package fetch

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"time"

	"gleaner/internal/web/weburl"
)

// turns is the part of the chain that lets a request through when its host's turn
// has come, and reports how the host bore it when the answer has been read. A
// request that perhaps never arrived is sent once more, in a turn of its own.
type turns struct {
	next http.RoundTripper
	cfg  *Config
}

// RoundTrip implements http.RoundTripper. The turn ends with the answer's body.
func (t *turns) RoundTrip(r *http.Request) (*http.Response, error) {
	x := exchangeOf(r)
	ctx, over := Revocable(r.Context())
	for again := false; ; again = true {
		done, address, err := t.take(ctx, x)
		if err != nil {
			over(nil)
			return nil, err
		}
		if x.ready != nil {
			if err := x.ready(); err != nil {
				done(Visit{Void: true})
				over(nil)
				return nil, err
			}
		}
		x.again()
		sending, end := Linger(ctx, t.cfg.Linger)
		sending = context.WithValue(sending, addressKey{}, address)
		held := &turn{x: x, done: done, end: end}
		resp, err := held.send(t.next, r.WithContext(sending))
		if err != nil && x.stale() && !again && bodyless(r) {
			continue
		}
		if held.over = over; held.ended {
			over(nil)
		}
		return resp, err
	}
}

// bodyless says that a request can be sent again as it is.
func bodyless(r *http.Request) bool { return r.Body == nil || r.Body == http.NoBody }

// turn is the body of an answer, and holds the turn in which it is read.
type turn struct {
	io.ReadCloser
	x     *exchange
	done  func(Visit)
	end   func() // of the request's context
	over  func(error)
	ended bool
}

// send sends the request. The turn ends with it where there is no body to read.
func (t *turn) send(next http.RoundTripper, r *http.Request) (resp *http.Response, err error) {
	defer func() { // whatever happens
		if resp == nil || resp.Body == http.NoBody {
			t.finish()
			return
		}
		t.ReadCloser, resp.Body = resp.Body, t
	}()
	return next.RoundTrip(r)
}

// Close ends the turn.
func (t *turn) Close() error {
	err := t.ReadCloser.Close()
	if !t.ended {
		t.finish()
		t.over(nil)
	}
	return err
}

// finish reports how the host bore the request.
func (t *turn) finish() {
	t.ended = true
	x := t.x
	v := Visit{Status: x.status, Elapsed: x.elapsed, CrawlDelay: x.learnt, RetryAfter: x.retryAfter()}
	noAnswer := x.outcome == BadAnswer && x.answer == nil // something came, but no header
	v.Failed = (noAnswer || x.failed || hostFailed(x.outcome) || hostFailed(statusOutcome(x.status))) && !x.stale()
	v.Void = x.answer == nil && !v.Failed
	t.done(v)
	t.end()
}

// take takes the turns of the host and of what is paced with it, always in the
// same order: nobody holds a wider turn while waiting for a narrower one. The address is
// the one that may be dialled in it; not valid where any may.
func (t *turns) take(ctx context.Context, x *exchange) (_ func(Visit), address netip.Addr, err error) {
	gate := t.cfg.Gate
	if x.Gate != nil {
		gate = x.Gate
	}
	switch {
	case gate == nil:
		return func(Visit) {}, address, nil
	case t.cfg.PaceBy == PaceByHost:
		done, err := gate.Turn(ctx, x.host, x.crawlDelay)
		if err != nil {
			return nil, address, turnError(x.raw, err)
		}
		return done, address, nil
	}
	keys := []string{x.host}
	if t.cfg.PaceBy&PaceByDomain != 0 {
		keys = append(keys, "domain:"+weburl.Domain(x.host))
	}
	if t.cfg.PaceBy&PaceByAddress != 0 && !x.proxied {
		if address, err = lowestAddress(ctx, t.cfg.Resolver, x.url.Hostname()); err != nil {
			return nil, address, &Error{Outcome: connectOutcome(err, false), URL: x.raw, Err: err}
		}
		keys = append(keys, "address:"+address.String())
	}
	var dones []func(Visit)
	for _, key := range keys {
		done, err := gate.Turn(ctx, key, x.crawlDelay)
		if err != nil {
			for _, d := range dones {
				d(Visit{Void: true})
			}
			return nil, address, turnError(x.raw, err)
		}
		dones = append(dones, done)
	}
	return func(v Visit) {
		for _, d := range slices.Backward(dones) {
			d(v)
		}
	}, address, nil
}

// turnError names why no turn was had; nothing was sent. A gate's error that
// knows when to come back speaks of the host, any other of the gate.
func turnError(u string, err error) error {
	var parked interface{ RetryIn() time.Duration }
	if errors.As(err, &parked) {
		return &Error{Outcome: Parked, URL: u, RetryAfter: parked.RetryIn(), Err: err}
	}
	return &Error{Outcome: Canceled, URL: u, Err: err}
}

// addressKey is that of the address that alone may be dialled, in a request's context.
type addressKey struct{}

// lowestAddress stands for all addresses of a host, whichever comes first today.
func lowestAddress(ctx context.Context, r *net.Resolver, host string) (netip.Addr, error) {
	ips, err := r.LookupNetIP(ctx, "ip", host)
	if err != nil {
		return netip.Addr{}, err
	}
	for i := range ips {
		ips[i] = ips[i].Unmap()
	}
	return slices.MinFunc(ips, netip.Addr.Compare), nil
}
