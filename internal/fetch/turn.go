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

// turns is the part of the chain that sends a request in a turn of its host, and reports the
// visit when the answer has been read. A request that perhaps never arrived is sent once
// more, in a turn of its own.
type turns struct {
	next http.RoundTripper
	cfg  *Config
}

// RoundTrip implements http.RoundTripper. The turn ends with the answer's body.
func (t *turns) RoundTrip(r *http.Request) (*http.Response, error) {
	x := exchangeOf(r)
	ctx, over := Revocable(r.Context())
	for again := false; ; again = true {
		g, err := t.take(ctx, x)
		if err == nil && x.ready != nil {
			if err = x.ready(); err != nil {
				g.end(Visit{Void: true})
			}
		}
		if err != nil {
			over(nil)
			return nil, err
		}
		held, resp, err := t.ask(ctx, r, g)
		if err != nil && x.stale() && !again && bodyless(r) {
			continue
		}
		if held.over = over; held.ended {
			over(nil)
		}
		return resp, err
	}
}

// ask sends a request to the address of its turn, and if that cannot be reached, to the next
// address of the host. The host has failed if none can be reached.
func (t *turns) ask(ctx context.Context, r *http.Request, g *granted) (*turn, *http.Response, error) {
	x := exchangeOf(r)
	for {
		x.again()
		sending, end := Linger(ctx, t.cfg.Linger)
		sending = context.WithValue(sending, addressKey{}, g.address)
		next := false
		held := &turn{x: x, end: end, done: func(v Visit) {
			if v.Failed && bodyless(r) && x.trace != nil && !x.trace.connected.Load() && len(g.others) > 0 {
				g.last(v)
				next = t.turnOfNext(ctx, x, g) == nil
			}
			if !next {
				g.end(v)
			}
		}}
		resp, err := held.send(t.next, r.WithContext(sending))
		if !next {
			return held, resp, err
		}
	}
}

// bodyless reports whether a request can be sent again as it is.
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
	defer func() { // also after a panic
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

// finish reports the visit to the gate.
func (t *turn) finish() {
	t.ended = true
	x := t.x
	v := Visit{Status: x.status, Elapsed: x.elapsed, CrawlDelay: x.learnt, RetryAfter: x.retryAfter()}
	noAnswer := x.outcome == BadAnswer && x.answer == nil // something came, but no header
	v.Failed = (noAnswer || x.failed || hostFailed(x.outcome) && !x.broken() || hostFailed(statusOutcome(x.status))) && !x.stale()
	v.Void = (x.answer == nil || x.broken()) && !v.Failed
	t.done(v)
	t.end()
}

// granted are the turns of a host and of what is paced with it.
type granted struct {
	dones   []func(Visit)
	address netip.Addr   // the one that may be dialled; not valid where any may
	others  []netip.Addr // of the host, that were not tried
}

// last ends the turn that was taken last.
func (g *granted) last(v Visit) {
	n := len(g.dones) - 1
	g.dones[n](v)
	g.dones = g.dones[:n]
}

// end ends the turns.
func (g *granted) end(v Visit) {
	for _, d := range slices.Backward(g.dones) {
		d(v)
	}
}

// take takes the turns of the host and of what is paced with it, always in the same order, so
// that nobody holds a wider turn while waiting for a narrower one. A name that is not found
// counts as a failure of the host.
func (t *turns) take(ctx context.Context, x *exchange) (*granted, error) {
	g := &granted{}
	if t.gate(x) == nil {
		return g, nil
	}
	keys := []string{x.host}
	if t.cfg.PaceBy&PaceByDomain != 0 {
		keys = append(keys, "domain:"+weburl.Domain(x.host))
	}
	for _, key := range keys {
		done, err := t.gate(x).Turn(ctx, key, x.crawlDelay)
		if err != nil {
			g.end(Visit{Void: true})
			return nil, turnError(x.raw, err)
		}
		g.dones = append(g.dones, done)
	}
	if t.cfg.PaceBy&PaceByAddress == 0 || x.proxied {
		return g, nil
	}
	var err error
	if g.others, err = addresses(ctx, t.cfg.Resolver, x.url.Hostname()); err != nil {
		o := connectOutcome(err, false)
		g.end(Visit{Failed: hostFailed(o), Void: !hostFailed(o)})
		return nil, &Error{Outcome: o, URL: x.raw, Err: err}
	}
	if err := t.turnOfNext(ctx, x, g); err != nil {
		g.end(Visit{Void: true})
		return nil, turnError(x.raw, err)
	}
	return g, nil
}

// turnOfNext takes the turn of the next address of a host that is not parked.
func (t *turns) turnOfNext(ctx context.Context, x *exchange, g *granted) error {
	err := errNoAddress
	for len(g.others) > 0 {
		g.address, g.others = g.others[0], g.others[1:]
		var done func(Visit)
		if done, err = t.gate(x).Turn(ctx, "address:"+g.address.String(), x.crawlDelay); err == nil {
			g.dones = append(g.dones, done)
			return nil
		}
		if ctx.Err() != nil {
			break
		}
	}
	return err
}

// gate returns the gate of the caller.
func (t *turns) gate(x *exchange) Gate {
	if x.Gate != nil {
		return x.Gate
	}
	return t.cfg.Gate
}

// turnError returns the error of a turn that was not granted; nothing was sent. An error of the
// gate with RetryIn is the host's, any other the gate's.
func turnError(u string, err error) error {
	if fe, ok := errors.AsType[*Error](err); ok {
		return fe
	}
	var parked interface{ RetryIn() time.Duration }
	if errors.As(err, &parked) {
		return &Error{Outcome: Parked, URL: u, RetryAfter: parked.RetryIn(), Err: err}
	}
	return &Error{Outcome: Canceled, URL: u, Err: err}
}

// addressKey is that of the address that alone may be dialled, in a request's context.
type addressKey struct{}

var errNoAddress = errors.New("no other address")

// maxAddresses is how many addresses of a host are tried: a name may have any number, of others.
const maxAddresses = 4

// addresses are the first and the last of a host, of either family, in an order that does not
// change from day to day.
func addresses(ctx context.Context, r *net.Resolver, host string) ([]netip.Addr, error) {
	ips, err := r.LookupNetIP(ctx, "ip", host)
	for i := range ips {
		ips[i] = ips[i].Unmap()
	}
	slices.SortFunc(ips, netip.Addr.Compare)
	if ips = slices.Compact(ips); len(ips) > maxAddresses {
		ips = slices.Delete(ips, maxAddresses/2, len(ips)-maxAddresses/2)
	}
	return ips, err
}
