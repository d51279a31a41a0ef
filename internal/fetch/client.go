package fetch

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"time"

	"gleaner/internal/robots"
	"gleaner/internal/weburl"
)

// Client fetches politely. It may be used by many goroutines at once; the Gate
// keeps those that want one host in a queue.
type Client struct {
	cfg    Config
	policy *addressPolicy
	proxy  proxyFunc
	engine engine
	header http.Header // sent with every request
	robots robotsKeeper
	close  func()
}

// New makes a Client. It asks nobody yet; a Config without Contact is no error
// before the first host that wants one (ErrContact).
func New(cfg Config) (*Client, error) {
	cfg, err := cfg.complete()
	if err != nil {
		return nil, err
	}
	proxy, err := newProxyFunc(cfg.Proxy)
	if err != nil {
		return nil, err
	}
	policy := &addressPolicy{allowLoopback: cfg.AllowLoopback, allowed: cfg.AllowPrivate, ports: cfg.Ports}
	direct, proxied, err := newTransports(cfg, &guard{policy: policy, hasContact: cfg.Contact != ""}, proxy)
	if err != nil {
		return nil, err
	}
	c := &Client{
		cfg: cfg, policy: policy, proxy: proxy,
		engine: newCollyEngine(&transport{direct: direct, proxied: proxied}),
		header: http.Header{
			"User-Agent":      {userAgent(cfg.Product, cfg.Version, cfg.Contact)},
			"Accept":          {"text/html,application/xhtml+xml,application/pdf,application/postscript;q=0.9,*/*;q=0.8"},
			"Accept-Encoding": {acceptEncoding},
		},
		close: func() { direct.CloseIdleConnections(); proxied.CloseIdleConnections() },
	}
	if from := fromHeader(cfg.Contact); from != "" {
		c.header.Set("From", from)
	}
	c.robots.hosts = map[string]*hostRobots{}
	return c, nil
}

// UserAgent is what the client calls itself.
func (c *Client) UserAgent() string { return c.header.Get("User-Agent") }

// Close drops the connections that are kept for later.
func (c *Client) Close() { c.close() }

// Fetch asks for one URL and follows its redirects. Every error is an *Error.
// An answer of 304 to a conditional request is a Response with that status and
// no body.
func (c *Client) Fetch(ctx context.Context, req Request) (*Response, error) {
	u, err := url.Parse(req.URL)
	if err != nil {
		return nil, &Error{Outcome: BadURL, URL: req.URL, Err: err}
	}
	header := c.header
	if req.ETag != "" || req.LastModified != "" {
		header = header.Clone()
		setIf(header, "If-None-Match", req.ETag)
		setIf(header, "If-Modified-Since", req.LastModified)
	}
	resp := &Response{}
	trail := newTrail(u)
	for {
		x, err := c.hop(ctx, u, header)
		if x != nil {
			resp.Bytes += x.wire
		}
		if err != nil {
			return nil, err
		}
		if !isRedirect(x.status) {
			return c.finish(resp, u, x, req)
		}
		next, err := c.redirect(trail, u, x, req.FollowOffHost)
		if err != nil {
			return nil, err
		}
		resp.Redirects = append(resp.Redirects, u.String())
		u = next
	}
}

func setIf(h http.Header, name, value string) {
	if value != "" {
		h.Set(name, value)
	}
}

// hop asks for one URL where robots.txt lets it.
func (c *Client) hop(ctx context.Context, u *url.URL, header http.Header) (*exchange, error) {
	if _, err := c.checkURL(u); err != nil {
		return nil, err
	}
	rules, err := c.rules(ctx, u)
	if err != nil {
		return nil, err
	}
	if ok, rule := rules.Allowed(c.cfg.Product, u.RequestURI()); !ok {
		return nil, &Error{Outcome: RobotsDenied, URL: u.String(), Err: fmt.Errorf("robots.txt: %s", rule)}
	}
	return c.visit(ctx, u, header, rules.CrawlDelay(c.cfg.Product), nil)
}

// checkURL checks what can be told by name, and tells whether a proxy is asked.
func (c *Client) checkURL(u *url.URL) (proxied bool, err error) {
	s := u.String()
	if len(s) > c.cfg.Limits.URLBytes {
		return false, &Error{Outcome: BadURL, URL: s[:c.cfg.Limits.URLBytes], Err: fmt.Errorf("longer than %d bytes", c.cfg.Limits.URLBytes)}
	}
	proxy, err := c.proxy(u)
	if err != nil {
		return false, &Error{Outcome: BadURL, URL: s, Err: err}
	}
	if err := c.policy.checkURL(u, proxy != nil); err != nil {
		outcome := BadURL
		var denied *AddressError
		if errors.As(err, &denied) {
			outcome = AddressDenied
		}
		return false, &Error{Outcome: outcome, URL: s, Err: err}
	}
	return proxy != nil, nil
}

// visit takes a turn, sends one request and reports how the host bore it. A
// request that perhaps never arrived is sent once more, in a turn of its own.
// learn, if not nil, gets the answer before the turn ends, and may tell the host's
// Crawl-delay from it; then no more than a robots.txt is read.
func (c *Client) visit(ctx context.Context, u *url.URL, header http.Header, crawlDelay time.Duration, learn func(*exchange) time.Duration) (*exchange, error) {
	proxied, err := c.checkURL(u)
	if err != nil {
		return nil, err
	}
	for again := false; ; again = true {
		done, err := c.turn(ctx, u, proxied, crawlDelay)
		if err != nil {
			return nil, err
		}
		x := &exchange{url: u, header: header.Clone(), proxied: proxied, limits: c.cfg.Limits}
		if learn != nil {
			x.prefix = robots.MaxBytes + 1
		}
		c.send(ctx, x, learn, done)
		if x.stale() && !again {
			continue
		}
		if x.outcome != OK {
			e := &Error{Outcome: x.outcome, URL: u.String(), Status: x.status, Err: x.err}
			if x.answer != nil {
				e.RetryAfter = RetryAfter(x.answer, c.cfg.Clock.Now())
			}
			return x, e
		}
		return x, nil
	}
}

// send runs the exchange; done is called whatever happens.
func (c *Client) send(ctx context.Context, x *exchange, learn func(*exchange) time.Duration, done func(Visit)) {
	v := Visit{}
	defer func() { done(v) }()
	err := c.engine.do(ctx, x)
	if !x.sent {
		x.outcome, x.err = BadURL, err
		if cause := context.Cause(ctx); cause != nil {
			x.outcome, x.err = Canceled, cause
		}
	}
	v.Status, v.Elapsed = x.status, x.elapsed
	v.Failed = (hostFailed(x.outcome) || hostFailed(statusOutcome(x.status))) && !x.stale()
	if x.answer != nil {
		v.RetryAfter = RetryAfter(x.answer, c.cfg.Clock.Now())
	}
	if learn != nil && x.outcome == OK {
		v.CrawlDelay = learn(x)
	}
}

// turn takes the turns of the host and of what is paced with it, always in the
// same order: nobody holds a wider turn while waiting for a narrower one.
func (c *Client) turn(ctx context.Context, u *url.URL, proxied bool, crawlDelay time.Duration) (func(Visit), error) {
	host := weburl.Host(u.String())
	keys := []string{host}
	if c.cfg.PaceBy&PaceByDomain != 0 {
		keys = append(keys, "domain:"+weburl.Domain(host))
	}
	if c.cfg.PaceBy&PaceByAddress != 0 && !proxied {
		if ip, ok := lowestAddress(ctx, c.cfg.Resolver, u.Hostname()); ok {
			keys = append(keys, "address:"+ip.String())
		}
	}
	var dones []func(Visit)
	for _, key := range keys {
		done, err := c.cfg.Gate.Turn(ctx, key, crawlDelay)
		if err != nil {
			for _, d := range dones {
				d(Visit{})
			}
			return nil, turnError(u.String(), err)
		}
		dones = append(dones, done)
	}
	return func(v Visit) {
		for _, d := range slices.Backward(dones) {
			d(v)
		}
	}, nil
}

// turnError names why no turn was had; nothing was sent.
func turnError(u string, err error) error {
	var parked *ParkedError
	if errors.As(err, &parked) {
		return &Error{Outcome: Parked, URL: u, RetryAfter: parked.Wait, Err: err}
	}
	return &Error{Outcome: Canceled, URL: u, Err: err}
}

// lowestAddress stands for all addresses of a host, whichever comes first today.
func lowestAddress(ctx context.Context, r *net.Resolver, host string) (netip.Addr, bool) {
	ips, err := r.LookupNetIP(ctx, "ip", host)
	if err != nil || len(ips) == 0 {
		return netip.Addr{}, false
	}
	for i := range ips {
		ips[i] = ips[i].Unmap()
	}
	return slices.MinFunc(ips, netip.Addr.Compare), true
}

// finish turns the last answer of a chain into a Response or an Error.
func (c *Client) finish(resp *Response, u *url.URL, x *exchange, req Request) (*Response, error) {
	conditional := req.ETag != "" || req.LastModified != ""
	outcome := statusOutcome(x.status)
	if x.status == http.StatusNotModified && conditional {
		outcome = NotModified
	}
	if outcome == OK && len(x.body) == 0 {
		outcome = EmptyBody
	}
	if outcome != OK && outcome != NotModified {
		return nil, &Error{Outcome: outcome, URL: u.String(), Status: x.status, RetryAfter: RetryAfter(x.answer, c.cfg.Clock.Now())}
	}
	resp.URL = canonical(u)
	resp.Status, resp.Header, resp.Body = x.status, x.answer, x.body
	resp.FetchedAt, resp.Elapsed = c.cfg.Clock.Now(), x.elapsed
	return resp, nil
}

func canonical(u *url.URL) string {
	if s, err := weburl.Canonical("", u.String()); err == nil {
		return s
	}
	return u.String()
}
