package fetch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"gleaner/internal/gleaner"
	"gleaner/internal/web/weburl"
)

// sameShape is the number of URLs of one path and one set of parameters, of any value, in a chain
// of redirects. More are a loop with a counter.
const sameShape = 2

func isRedirect(status int) bool {
	switch status {
	case 301, 302, 303, 307, 308:
		return true
	default:
		return false
	}
}

// trail holds the addresses of a chain of redirects.
type trail struct {
	addresses map[string]bool
	shapes    map[string]int
}

func newTrail(u *url.URL) *trail {
	t := &trail{addresses: map[string]bool{}, shapes: map[string]int{}}
	t.addresses[u.String()] = true
	t.shapes[shape(u)]++
	return t
}

// add appends the next address, or returns an error for a loop.
func (t *trail) add(u *url.URL) error {
	if t.addresses[u.String()] {
		return errors.New("it leads back to where it came from")
	}
	s := shape(u)
	if t.shapes[s] >= sameShape {
		return errors.New("it leads to one page again and again, with other parameters")
	}
	t.addresses[u.String()] = true
	t.shapes[s]++
	return nil
}

// shape returns an address without scheme and values.
func shape(u *url.URL) string {
	return strings.ToLower(u.Host) + u.Path + "?" + strings.Join(slices.Sorted(maps.Keys(u.Query())), "&")
}

// redirector is the start of the chain. It rejects requests by name, and decides whether and
// where a redirect leads.
type redirector struct {
	next http.RoundTripper
	c    *Client
}

// RoundTrip implements http.RoundTripper. It sets the Location of a redirect to its address as
// this package reads it.
func (h *redirector) RoundTrip(r *http.Request) (*http.Response, error) {
	x := exchangeOf(r)
	t, err := h.c.target(r.URL)
	if err != nil {
		return nil, err
	}
	x.target = t
	resp, err := h.next.RoundTrip(r)
	if err != nil || !isRedirect(resp.StatusCode) {
		return resp, err
	}
	next, err := h.c.redirect(x)
	if err != nil {
		return nil, err // the body is closed
	}
	x.redirects, x.before = append(x.redirects, x.raw), x.before+x.wire
	resp.Header = maps.Clone(resp.Header)
	resp.Header.Set("Location", next.raw)
	return resp, nil
}

// followed prepares a request for a redirect before the http.Client sends it.
func followed(req *http.Request, via []*http.Request) error {
	last := via[len(via)-1]
	req.Header.Del("Referer")
	if last.Header.Get("If-Modified-Since") == "" || weburl.Key(req.URL.String()) != weburl.Key(last.URL.String()) {
		// The date belongs to the file behind an earlier redirect; the new one may be another,
		// older file. An ETag distinguishes them.
		req.Header.Del("If-Modified-Since")
	}
	return nil
}

// redirect returns the target of an answer, or the *Error that ends the chain of redirects.
func (c *Client) redirect(x *exchange) (*target, error) {
	fail := func(o gleaner.Outcome, location string, err error) (*target, error) {
		return nil, &Error{Outcome: o, URL: x.raw, Status: x.status, Location: location, Err: err}
	}
	location := x.answer.Get("Location")
	if most := urlBytes; len(location) > most {
		return fail(BadURL, "", fmt.Errorf("redirect to a URL of %d bytes, beyond the limit of %d", len(location), most))
	}
	u, err := resolve(x.url, location)
	if err != nil {
		outcome := BadAnswer
		if errors.Is(err, weburl.ErrNotWeb) {
			outcome = BadURL
		}
		return fail(outcome, location, fmt.Errorf("redirect to %q: %w", location, err))
	}
	next, err := c.target(u)
	if err != nil {
		return nil, err
	}
	if !x.FollowOffHost && next.host != x.host {
		return fail(RedirectOffHost, canonical(next.raw), nil)
	}
	if x.trail == nil {
		x.trail = newTrail(x.url)
	}
	if err := x.trail.add(u); err != nil {
		return fail(RedirectLoop, next.raw, fmt.Errorf("redirect to %s: %w", next.raw, err))
	}
	if len(x.trail.addresses) > maxRedirects+1 {
		return fail(TooManyRedirects, next.raw, fmt.Errorf("more than %d redirects", maxRedirects))
	}
	if to := canonical(next.raw); x.Known != nil && x.Known(to) {
		return fail(RedirectKnown, to, nil)
	}
	return next, nil
}

// unfollowed returns the error of a chain of redirects that ended because the caller stops. The
// caller requests the rest later, without repeating the chain.
func (x *exchange) unfollowed(ctx context.Context, e *Error) *Error {
	n := len(x.redirects)
	if e.Outcome != Canceled || n == 0 || x.Known == nil || x.raw == x.redirects[n-1] || !errors.Is(context.Cause(ctx), context.Canceled) {
		return e
	}
	return &Error{Outcome: RedirectKnown, URL: x.redirects[n-1], Location: canonical(x.raw), Bytes: x.before, Err: e}
}

// resolve reads a Location. It keeps the server's form with the session, since the canonical form
// could be the redirecting page. It makes the host canonical, since turns are per name of a host.
func resolve(base *url.URL, location string) (*url.URL, error) {
	if location == "" {
		return nil, errors.New("no Location")
	}
	next, err := base.Parse(location)
	if err != nil {
		s, err := weburl.Canonical(base.String(), location) // corrected as in browsers
		if err != nil {
			return nil, err
		}
		return url.Parse(s)
	}
	next.Fragment, next.RawFragment, next.User = "", "", nil
	if next.Scheme != "http" && next.Scheme != "https" {
		return nil, weburl.ErrNotWeb
	}
	next.Path = cmp.Or(next.Path, "/")
	// Go parses hosts that browsers reject ("//1.::"), but cannot request them.
	spelt, err := weburl.Canonical("", next.String())
	if err != nil {
		return nil, err
	}
	next.Host = weburl.Host(spelt)
	return next, nil
}
