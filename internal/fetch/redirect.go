package fetch

import (
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"gleaner/internal/weburl"
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
func (c *Client) redirect(t *trail, u *url.URL, x *exchange, offHost bool) (*url.URL, error) {
	fail := func(o Outcome, location string, err error) (*url.URL, error) {
		return nil, &Error{Outcome: o, URL: u.String(), Status: x.status, Location: location, Err: err}
	}
	location := x.answer.Get("Location")
	next, err := resolve(u, location)
	if err != nil {
		outcome := BadAnswer
		if errors.Is(err, weburl.ErrNotWeb) {
			outcome = BadURL
		}
		return fail(outcome, location, fmt.Errorf("redirect to %q: %w", location, err))
	}
	if _, err := c.checkURL(next); err != nil {
		return nil, err
	}
	if !offHost && !sameHost(u, next) {
		return fail(RedirectOffHost, canonical(next), nil)
	}
	if err := t.add(next); err != nil {
		return fail(RedirectLoop, next.String(), fmt.Errorf("redirect to %s: %w", next, err))
	}
	if len(t.addresses) > c.cfg.Limits.Redirects+1 {
		return fail(TooManyRedirects, next.String(), fmt.Errorf("more than %d redirects", c.cfg.Limits.Redirects))
	}
	return next, nil
}

// resolve reads a Location. It is asked for as the server wrote it, session and
// all: the canonical form could be the page that redirected here.
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
	return next, nil
}

// sameHost takes http and https of a host, on their own ports, for one.
func sameHost(a, b *url.URL) bool {
	return weburl.Host(a.String()) == weburl.Host(b.String())
}
