package fetch

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"sync/atomic"
	"time"
)

const (
	// localLookup is the time limit of a lookup beside that of the proxy. After a resolver that
	// does not answer there are no lookups for localPause: many networks with a proxy have no
	// resolver.
	localLookup = 2 * time.Second
	localPause  = 5 * time.Minute
)

// localNames is the part of the chain that resolves names that go to a proxy. The proxy's own
// lookup cannot be checked, but a name that resolves here to a private address most likely does
// so there.
type localNames struct {
	next   http.RoundTripper
	c      *Client
	silent atomic.Int64 // no look-up before this time, in nanoseconds
}

func (l *localNames) RoundTrip(r *http.Request) (*http.Response, error) {
	x := exchangeOf(r)
	if err := l.check(r.Context(), l.c, x.target); err != nil {
		return nil, &Error{Outcome: AddressDenied, URL: x.raw, Err: err}
	}
	return l.next.RoundTrip(r)
}

// check returns an *AddressError for a name that resolves to a denied address. Without a resolver
// it rejects only names of private networks.
func (l *localNames) check(ctx context.Context, c *Client, t *target) error {
	if _, err := netip.ParseAddr(t.url.Hostname()); err == nil || !t.proxied {
		return nil // checked already, or when it is dialled
	}
	inside := insideName(t.url.Hostname())
	now := c.cfg.Clock.Now()
	if now.UnixNano() < l.silent.Load() && !inside {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, localLookup)
	defer cancel()
	ips, err := c.cfg.Resolver.LookupNetIP(ctx, "ip", t.url.Hostname())
	if dns, ok := errors.AsType[*net.DNSError](err); ok && !dns.IsNotFound {
		l.silent.Store(now.Add(localPause).UnixNano())
	}
	for _, ip := range ips {
		if err := c.policy.checkIP(ip); err != nil {
			return err
		}
	}
	if inside && len(ips) == 0 {
		return &AddressError{Address: t.url.Hostname(), Reason: "a name inside a network, which leads to no opened one here"}
	}
	return nil
}
