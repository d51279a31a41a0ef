package fetch

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"sync"

	"gleaner/internal/gleaner"
	"gleaner/internal/web/weburl"
)

// Client is a polite HTTP client. It is safe for concurrent use; the Gate orders requests to one
// host.
type Client struct {
	cfg    Config
	policy *addressPolicy
	proxy  proxyFunc
	header http.Header // sent with every request
	robots robotsKeeper
	close  func()

	collectors sync.Pool         // of *collector
	chain      http.RoundTripper // below the collectors
	inTurn     http.RoundTripper // the chain after robotsCheck, which fetches robots.txt
}

// New returns a Client. It sends no request. A Config without Contact fails at the first host
// that needs one (errContact).
func New(cfg Config) (*Client, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	proxy, err := newProxyFunc(cfg.Proxy)
	if err != nil {
		return nil, err
	}
	policy := &addressPolicy{allowLoopback: cfg.AllowLoopback, allowed: cfg.AllowPrivate, ports: cfg.Ports}
	checked := guard{policy: policy, hasContact: cfg.Contact != ""}
	direct, proxied, err := newTransports(cfg, &checked, proxy)
	if err != nil {
		return nil, err
	}
	c := &Client{
		cfg: cfg, policy: policy, proxy: proxy,
		header: http.Header{
			"User-Agent":      {UserAgent(cfg.Contact)},
			"Accept":          {"text/html,application/xhtml+xml,application/pdf,application/postscript;q=0.9,*/*;q=0.8"},
			"Accept-Encoding": {acceptEncoding},
		},
		close: func() { direct.CloseIdleConnections(); proxied.CloseIdleConnections() },
	}
	if from := Email(cfg.Contact); from != "" {
		c.header.Set("From", from)
	}
	c.robots.hosts = map[string]*hostRobots{}
	// From the outermost inwards: redirects, robots.txt, the blacklist, names, a turn
	// of the host, limits, decoding, time, the tape, the guarded dial.
	answers := &limited{&decoded{&watched{&taped{&exit{direct, proxied}}}}}
	c.inTurn = &blacklist{cfg: &c.cfg, next: &localNames{c: c, next: &turns{cfg: &c.cfg, next: answers}}}
	c.chain = &redirector{c: c, next: &robotsCheck{c: c, next: c.inTurn}}
	c.collectors.New = newCollectors(&untouched{c.chain})
	return c, nil
}

// UserAgent returns the User-Agent header of the client.
func (c *Client) UserAgent() string { return c.header.Get("User-Agent") }

// Proxied reports whether requests to public hosts go to a proxy.
func (c *Client) Proxied() bool {
	return slices.ContainsFunc([]string{"http", "https"}, func(scheme string) bool {
		proxy, err := c.proxy(&url.URL{Scheme: scheme, Host: "www.example.org"})
		return err == nil && proxy != nil
	})
}

// Close closes idle connections.
func (c *Client) Close() { c.close() }

// Fetch requests one URL and follows its redirects. Every error is an *Error. An answer of 304 to
// a conditional request is a Response with that status and no body.
func (c *Client) Fetch(ctx context.Context, req Request) (*Response, error) {
	x := c.exchange()
	x.Request = req
	if req.ETag != "" || req.LastModified != "" {
		x.header = x.header.Clone()
		setIf(x.header, "If-None-Match", req.ETag)
		setIf(x.header, "If-Modified-Since", req.LastModified)
	}
	if req.Meanwhile != nil {
		x.ready = func() error {
			if u := canonical(x.raw); req.Meanwhile(u) {
				return &Error{Outcome: RedirectKnown, URL: x.raw, Location: u}
			}
			return nil
		}
	}
	var resp *Response
	defer func() {
		if resp == nil {
			x.giveBack()
		}
	}()
	body, err := c.get(x.in(ctx), x)
	if err != nil {
		return nil, x.unfollowed(ctx, asError(ctx, req.URL, err))
	}
	resp, err = c.finish(x, body)
	return resp, err
}

// exchange returns an empty exchange for a request of this client.
func (c *Client) exchange() *exchange {
	return &exchange{header: c.header, limits: c.cfg.Limits, memory: c.cfg.Memory, clock: c.cfg.Clock}
}

// asError returns an error as an *Error. Errors that are none come from invalid URLs, before the
// chain.
func asError(ctx context.Context, u string, err error) *Error {
	var e *Error
	switch cause := context.Cause(ctx); {
	case errors.As(err, &e):
		return e
	case cause != nil:
		return &Error{Outcome: Canceled, URL: u, Err: cause}
	default:
		return &Error{Outcome: BadURL, URL: u, Err: err}
	}
}

func setIf(h http.Header, name, value string) {
	if value != "" {
		h.Set(name, value)
	}
}

// target is a URL that passed the checks by name.
type target struct {
	url     *url.URL
	raw     string // the URL as text
	host    string // for pacing and robots.txt
	proxied bool
}

// target checks a URL by name, and decides whether it goes to a proxy.
func (c *Client) target(u *url.URL) (*target, error) {
	t := &target{url: u, raw: u.String()}
	if len(t.raw) > urlBytes {
		return nil, &Error{Outcome: BadURL, URL: t.raw[:urlBytes], Err: fmt.Errorf("longer than %d bytes", urlBytes)}
	}
	proxy, err := c.proxy(u)
	if err != nil {
		return nil, &Error{Outcome: BadURL, URL: t.raw, Err: err}
	}
	t.proxied = proxy != nil
	if err := c.policy.checkURL(u, t.proxied); err != nil {
		outcome := BadURL
		if _, ok := errors.AsType[*AddressError](err); ok {
			outcome = AddressDenied
		}
		return nil, &Error{Outcome: outcome, URL: t.raw, Err: err}
	}
	t.host = weburl.Host(t.raw)
	return t, nil
}

// finish returns the last answer as a Response or an Error.
func (c *Client) finish(x *exchange, body []byte) (*Response, error) {
	outcome := statusOutcome(x.status)
	if x.status == http.StatusNotModified && (x.ETag != "" || x.LastModified != "") {
		outcome = gleaner.NotModified
	}
	if outcome == gleaner.OK && len(body) == 0 {
		outcome = EmptyBody
	}
	if outcome != gleaner.OK && outcome != gleaner.NotModified {
		return nil, &Error{Outcome: outcome, URL: x.raw, Status: x.status, RetryAfter: x.retryAfter()}
	}
	resp := &Response{URL: x.URL, Redirects: x.redirects, Status: x.status, Header: x.answer, Body: body, FetchedAt: c.cfg.Clock.Now(), Elapsed: x.elapsed, Bytes: x.before + x.wire, release: x.release}
	if len(resp.Redirects) > 0 {
		resp.URL = canonical(x.raw)
	}
	if outcome == gleaner.NotModified {
		resp.Body = nil
	}
	return resp, nil
}

func canonical(raw string) string {
	if s, err := weburl.Canonical("", raw); err == nil {
		return s
	}
	return raw
}
