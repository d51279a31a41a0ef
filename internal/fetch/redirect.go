package fetch

import (
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

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

// redirect returns where an answer leads, or the *Error that ends the chain.
func (c *Client) redirect(trail *trail, t *target, x *exchange, req Request) (*target, error) {
	fail := func(o Outcome, location string, err error) (*target, error) {
		return nil, &Error{Outcome: o, URL: t.raw, Status: x.status, Location: location, Err: err}
	}
	location := x.answer.Get("Location")
	if most := c.cfg.Limits.URLBytes; len(location) > most {
		return fail(BadURL, "", fmt.Errorf("redirect to a URL of %d bytes, beyond the limit of %d", len(location), most))
	}
	u, err := resolve(t.url, location)
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
	if !req.FollowOffHost && next.host != t.host {
		return fail(RedirectOffHost, canonical(next.raw), nil)
	}
	if err := trail.add(u); err != nil {
		return fail(RedirectLoop, next.raw, fmt.Errorf("redirect to %s: %w", next.raw, err))
	}
	if len(trail.addresses) > c.cfg.Limits.Redirects+1 {
		return fail(TooManyRedirects, next.raw, fmt.Errorf("more than %d redirects", c.cfg.Limits.Redirects))
	}
	if to := canonical(next.raw); req.Known != nil && req.Known(to) {
		return fail(RedirectKnown, to, nil)
	}
	return next, nil
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
	if next.Path == "" {
		next.Path = "/"
	}
	// Go reads hosts that no browser does ("//1.::"), and cannot ask for them.
	spelt, err := weburl.Canonical("", next.String())
	if err != nil {
		return nil, err
	}
	next.Host = weburl.Host(spelt)
	return next, nil
}
