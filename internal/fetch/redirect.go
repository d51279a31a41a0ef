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

// sameShape is how often a chain of redirects may come to one path with one set
// of parameters, whatever their values: more is a loop by way of a counter.
const sameShape = 2

func isRedirect(status int) bool {
	switch status {
	case 301, 302, 303, 307, 308:
		return true
	default:
		return false
	}
}

// trail is where a chain of redirects has been.
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

// add notes the next address, or says that it leads around.
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

// shape is an address without scheme and values.
func shape(u *url.URL) string {
	return strings.ToLower(u.Host) + u.Path + "?" + strings.Join(slices.Sorted(maps.Keys(u.Query())), "&")
}

// redirector is the begin of the chain: it lets a request through that may be asked
// for by its name, and of an answer that redirects it says where to, or why not.
type redirector struct {
	next http.RoundTripper
	c    *Client
}

// RoundTrip implements http.RoundTripper. The Location of an answer that redirects
// is where it leads as this package reads it.
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
		return nil, err // there is no body any more
	}
	x.redirects, x.before = append(x.redirects, x.raw), x.before+x.wire
	resp.Header = maps.Clone(resp.Header)
	resp.Header.Set("Location", next.raw)
	return resp, nil
}

// followed prepares a request that a redirect led to, for the http.Client that
// sends it.
func followed(req *http.Request, via []*http.Request) error {
	last := via[len(via)-1]
	req.Header.Del("Referer")
	if last.Header.Get("If-Modified-Since") == "" || weburl.Key(req.URL.String()) != weburl.Key(last.URL.String()) {
		// The date is of what lay behind this redirect, which may be another
		// file by now, and an older one. An ETag tells them apart.
		req.Header.Del("If-Modified-Since")
	}
	return nil
}

// redirect returns where an answer leads, or the *Error that ends the chain of
// redirects.
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

// unfollowed is the error of a chain of redirects that ended since the caller
// stops: the caller asks for the rest later, and for nothing of the chain again.
func (x *exchange) unfollowed(ctx context.Context, e *Error) *Error {
	n := len(x.redirects)
	if e.Outcome != Canceled || n == 0 || x.Known == nil || x.raw == x.redirects[n-1] || !errors.Is(context.Cause(ctx), context.Canceled) {
		return e
	}
	return &Error{Outcome: RedirectKnown, URL: x.redirects[n-1], Location: canonical(x.raw), Bytes: x.before, Err: e}
}

// resolve reads a Location. It is asked for as the server wrote it, session and
// all: the canonical form could be the page that redirected here. But its host gets
// its one spelling: by another it would have turns beside its own.
func resolve(base *url.URL, location string) (*url.URL, error) {
	if location == "" {
		return nil, errors.New("no Location")
	}
	next, err := base.Parse(location)
	if err != nil {
		s, err := weburl.Canonical(base.String(), location) // mended as browsers do
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
	// Go reads hosts that no browser does ("//1.::"), and cannot ask for them.
	spelt, err := weburl.Canonical("", next.String())
	if err != nil {
		return nil, err
	}
	next.Host = weburl.Host(spelt)
	return next, nil
}
