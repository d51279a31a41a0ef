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

	"gleaner/internal/fetch/robots"
	"gleaner/internal/web/weburl"
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
	names  localNames
	close  func()
}

// New makes a Client. It asks nobody yet; a Config without Contact is no error
// before the first host that wants one (errContact).
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

// Proxied says whether a page of a public host would be asked of a proxy.
func (c *Client) Proxied() bool {
	for _, scheme := range []string{"http", "https"} {
		if proxy, err := c.proxy(&url.URL{Scheme: scheme, Host: "www.example.org"}); err == nil && proxy != nil {
			return true
		}
	}
	return false
}

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
	t, err := c.target(u)
	if err != nil {
		return nil, err
	}
	t.fetched = req.Meanwhile
	resp := &Response{}
	var trail *trail
	for {
		x, err := c.hop(ctx, t, header)
		if err != nil {
			return nil, err
		}
		resp.Bytes += x.wire
		if !isRedirect(x.status) {
			return c.finish(resp, t, x, req)
		}
		if trail == nil {
			trail = newTrail(u)
		}
		next, err := c.redirect(trail, t, x, req)
		if err != nil {
			return nil, err
		}
		resp.Redirects = append(resp.Redirects, t.raw)
		if header.Get("If-Modified-Since") != "" && weburl.Key(next.raw) != weburl.Key(t.raw) {
			// The date is of what lay behind this redirect, which may be another
			// file by now, and an older one. An ETag tells them apart.
			header = header.Clone()
			header.Del("If-Modified-Since")
		}
		t = next
	}
}

func setIf(h http.Header, name, value string) {
	if value != "" {
		h.Set(name, value)
	}
}

// hop asks for one URL where robots.txt lets it.
func (c *Client) hop(ctx context.Context, t *target, header http.Header) (*exchange, error) {
	rules, rule, err := c.allowed(ctx, t)
	if err != nil {
		return nil, err
	}
	if rule != "" {
		return nil, &Error{Outcome: RobotsDenied, URL: t.raw, Err: fmt.Errorf("robots.txt: %s", rule)}
	}
	return c.visit(ctx, t, header, rules.CrawlDelay(), nil)
}

// target is a URL that may be asked for, as far as its name tells.
type target struct {
	url     *url.URL
	raw     string // the URL as text
	host    string // as pacing and robots.txt know it
	proxied bool
	fetched func() bool // whether another did so meanwhile; nil: there is no other
}

// target checks what can be told by name, and tells whether a proxy is asked.
func (c *Client) target(u *url.URL) (*target, error) {
	t := &target{url: u, raw: u.String()}
	if len(t.raw) > c.cfg.Limits.URLBytes {
		return nil, &Error{Outcome: BadURL, URL: t.raw[:c.cfg.Limits.URLBytes], Err: fmt.Errorf("longer than %d bytes", c.cfg.Limits.URLBytes)}
	}
	proxy, err := c.proxy(u)
	if err != nil {
		return nil, &Error{Outcome: BadURL, URL: t.raw, Err: err}
	}
	t.proxied = proxy != nil
	if err := c.policy.checkURL(u, t.proxied); err != nil {
		outcome := BadURL
		var denied *AddressError
		if errors.As(err, &denied) {
			outcome = AddressDenied
		}
		return nil, &Error{Outcome: outcome, URL: t.raw, Err: err}
	}
	t.host = weburl.Host(t.raw)
	return t, nil
}

// visit takes a turn, sends one request and reports how the host bore it. A
// request that perhaps never arrived is sent once more, in a turn of its own.
// learn, if not nil, gets the answer before the turn ends, and may tell the host's
// Crawl-delay from it; then no more than a robots.txt is read.
func (c *Client) visit(ctx context.Context, t *target, header http.Header, crawlDelay time.Duration, learn func(*exchange) time.Duration) (*exchange, error) {
	if why, err := c.cfg.Blocked(ctx, t.host); err != nil {
		return nil, &Error{Outcome: Canceled, URL: t.raw, Err: fmt.Errorf("blacklist: %w", err)}
	} else if why != "" {
		return nil, &Error{Outcome: Blacklisted, URL: t.raw, Err: errors.New(why)}
	}
	if err := c.names.check(ctx, c, t); err != nil {
		return nil, &Error{Outcome: AddressDenied, URL: t.raw, Err: err}
	}
	ctx, over := Revocable(ctx)
	defer over(nil)
	for again := false; ; again = true {
		done, err := c.turn(ctx, t, crawlDelay)
		if err != nil {
			return nil, err
		}
		if t.fetched != nil && t.fetched() {
			done(Visit{Void: true})
			return nil, &Error{Outcome: RedirectKnown, URL: t.raw, Location: canonical(t.raw)}
		}
		x := &exchange{target: t, header: header, limits: c.cfg.Limits, memory: c.cfg.Memory}
		if learn != nil {
			x.prefix = robots.MaxBytes + 1
		}
		sending, end := linger(ctx, c.cfg.Linger)
		c.send(sending, x, learn, done)
		end()
		if x.stale() && !again {
			continue
		}
		if x.outcome != OK {
			e := &Error{Outcome: x.outcome, URL: t.raw, Status: x.status, Bytes: x.wire, Err: x.err}
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
	noAnswer := x.outcome == BadAnswer && x.answer == nil // something came, but no header
	v.Failed = (noAnswer || hostFailed(x.outcome) || hostFailed(statusOutcome(x.status))) && !x.stale()
	if x.answer != nil {
		v.RetryAfter = RetryAfter(x.answer, c.cfg.Clock.Now())
	} else {
		v.Void = !v.Failed
	}
	if learn != nil && x.outcome == OK {
		v.CrawlDelay = learn(x)
	}
}

// turn takes the turns of the host and of what is paced with it, always in the
// same order: nobody holds a wider turn while waiting for a narrower one.
func (c *Client) turn(ctx context.Context, t *target, crawlDelay time.Duration) (func(Visit), error) {
	if c.cfg.PaceBy == PaceByHost {
		done, err := c.cfg.Gate.Turn(ctx, t.host, crawlDelay)
		if err != nil {
			return nil, turnError(t.raw, err)
		}
		return done, nil
	}
	keys := []string{t.host}
	if c.cfg.PaceBy&PaceByDomain != 0 {
		keys = append(keys, "domain:"+weburl.Domain(t.host))
	}
	if c.cfg.PaceBy&PaceByAddress != 0 && !t.proxied {
		if ip, ok := lowestAddress(ctx, c.cfg.Resolver, t.url.Hostname()); ok {
			keys = append(keys, "address:"+ip.String())
		}
	}
	var dones []func(Visit)
	for _, key := range keys {
		done, err := c.cfg.Gate.Turn(ctx, key, crawlDelay)
		if err != nil {
			for _, d := range dones {
				d(Visit{Void: true})
			}
			return nil, turnError(t.raw, err)
		}
		dones = append(dones, done)
	}
	return func(v Visit) {
		for _, d := range slices.Backward(dones) {
			d(v)
		}
	}, nil
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
func (c *Client) finish(resp *Response, t *target, x *exchange, req Request) (*Response, error) {
	conditional := req.ETag != "" || req.LastModified != ""
	outcome := statusOutcome(x.status)
	if x.status == http.StatusNotModified && conditional {
		outcome = NotModified
	}
	if outcome == OK && len(x.body) == 0 {
		outcome = EmptyBody
	}
	if outcome != OK && outcome != NotModified {
		return nil, &Error{Outcome: outcome, URL: t.raw, Status: x.status, RetryAfter: RetryAfter(x.answer, c.cfg.Clock.Now())}
	}
	resp.URL = req.URL
	if len(resp.Redirects) > 0 {
		resp.URL = canonical(t.raw)
	}
	resp.Status, resp.Header, resp.Body, resp.release = x.status, x.answer, x.body, x.release
	resp.FetchedAt, resp.Elapsed = c.cfg.Clock.Now(), x.elapsed
	return resp, nil
}

func canonical(raw string) string {
	if s, err := weburl.Canonical("", raw); err == nil {
		return s
	}
	return raw
}
