package fetch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"sync"
	"time"

	"gleaner/internal/fetch/robots"
	"gleaner/internal/gleaner"
	"gleaner/internal/web/weburl"
)

const (
	robotsRedirects = 5     // RFC 9309 section 2.3.1.2
	rememberedHosts = 8_192 // whose parsed rules are held in memory
	rememberedBytes = 32 << 20
)

// robotsKeeper holds what robots.txt files were read, one entry per host.
type robotsKeeper struct {
	mu    sync.Mutex
	hosts map[string]*hostRobots
	bytes int // of all parsed rules
}

// hostRobots is one host's. Whoever holds the slot may ask for the file; the
// others wait and then find it here.
type hostRobots struct {
	slot  chan struct{}
	mu    sync.Mutex
	rec   RobotsRecord // without its body
	rules *robots.Rules
	size  int // of the rules, as the keeper counted them
}

func (k *robotsKeeper) host(name string) *hostRobots {
	k.mu.Lock()
	defer k.mu.Unlock()
	h := k.hosts[name]
	if h == nil {
		k.forget(name, func() bool { return len(k.hosts) < rememberedHosts })
		h = &hostRobots{slot: make(chan struct{}, 1)}
		k.hosts[name] = h
	}
	return h
}

func (h *hostRobots) get(now time.Time) (RobotsRecord, *robots.Rules, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	// Unavailable rules are not taken from memory: a person who requests a retry clears them in
	// the cache that all processes share.
	return h.rec, h.rules, h.rec.Available && now.Before(h.rec.ExpiresAt)
}

// same reports whether two records are of one answer, so that it need not be
// parsed again.
func (r RobotsRecord) same(o RobotsRecord) bool {
	return r.FetchedAt.Equal(o.FetchedAt) && r.ExpiresAt.Equal(o.ExpiresAt) && r.Available == o.Available
}

// forget drops any hosts except one until enough returns true. The cache still has them.
func (k *robotsKeeper) forget(but string, enough func() bool) {
	for name, h := range k.hosts {
		if enough() {
			return
		}
		if name != but {
			k.bytes -= h.size
			delete(k.hosts, name)
		}
	}
}

// set stores the rules of a host, and drops others if all together are too large.
func (k *robotsKeeper) set(name string, h *hostRobots, rec RobotsRecord, rules *robots.Rules) {
	rec.Body = nil
	h.mu.Lock()
	h.rec, h.rules = rec, rules
	h.mu.Unlock()
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.hosts[name] != h {
		return // forgotten in the meantime
	}
	k.bytes += rules.Size() - h.size
	h.size = rules.Size()
	k.forget(name, func() bool { return k.bytes <= rememberedBytes })
}

// robotsReader reads robots.txt for one caller.
type robotsReader struct {
	*Client
	terms Terms
}

// rules returns the robots.txt of a host, from memory, from the cache or from the host. It
// returns an *Error while the file cannot be read.
func (c *Client) rules(ctx context.Context, host string, terms Terms) (*target, *robots.Rules, error) {
	t, err := c.target(&url.URL{Scheme: "http", Host: host, Path: "/"})
	if err != nil {
		return nil, nil, err
	}
	rules, err := robotsReader{c, terms}.rulesFrom(ctx, t, true)
	return t, rules, err
}

// CrawlDelay returns the pause between two requests in the robots.txt of a host, or 0. The error
// is an *Error if robots.txt is unavailable.
func (c *Client) CrawlDelay(ctx context.Context, host string, terms Terms) (time.Duration, error) {
	_, rules, err := c.rules(ctx, host, terms)
	if err != nil {
		return 0, err
	}
	return rules.CrawlDelay(), nil
}

// Sitemaps returns the absolute URLs of the sitemaps in the robots.txt of a host. The error is
// an *Error.
func (c *Client) Sitemaps(ctx context.Context, host string, terms Terms) ([]string, error) {
	t, rules, err := c.rules(ctx, host, terms)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, s := range rules.Sitemaps() {
		if abs, err := weburl.Canonical(t.raw, s); err == nil {
			out = append(out, abs)
		}
	}
	return out, nil
}

// allowed returns the rules of a URL's host, and the rule that forbids the URL, "" for none. It
// never forbids a URL by the rules in memory alone: people clear the cache, which workers
// share, to have robots.txt read anew.
func (c robotsReader) allowed(ctx context.Context, t *target) (rules *robots.Rules, rule string, err error) {
	for _, memory := range []bool{true, false} {
		if rules, err = c.rulesFrom(ctx, t, memory); err != nil {
			return nil, "", err
		}
		var ok bool
		if ok, rule = rules.Allowed(t.url.RequestURI()); ok {
			return rules, "", nil
		}
	}
	return rules, rule, nil
}

// rulesFrom returns the robots.txt of a URL's host, with or without those in memory. It never
// uses a failure in memory.
func (c robotsReader) rulesFrom(ctx context.Context, t *target, memory bool) (*robots.Rules, error) {
	h := c.robots.host(t.host)
	if _, rules, fresh := h.get(c.cfg.Clock.Now()); fresh && memory {
		return rules, nil
	}
	select {
	case h.slot <- struct{}{}:
	case <-ctx.Done():
		return nil, &Error{Outcome: Canceled, URL: t.raw, Err: context.Cause(ctx)}
	}
	defer func() { <-h.slot }()
	now := c.cfg.Clock.Now()
	known, rules, fresh := h.get(now)
	if fresh && memory {
		return rules, nil
	}
	if !fresh {
		known = RobotsRecord{} // its body may be needed
	}
	old, found, err := c.cfg.Robots.LoadRobots(ctx, t.host, known)
	if err != nil {
		return nil, &Error{Outcome: Canceled, URL: t.raw, Err: fmt.Errorf("robots cache: %w", err)}
	}
	if !found || !now.Before(old.ExpiresAt) {
		if old, err = c.askRobots(ctx, t, old, c.checkTarget); err != nil {
			return nil, err
		}
		if err := c.saveRobots(ctx, t.host, old); err != nil {
			// so that it is not fetched at each attempt
			c.robots.set(t.host, h, old, robots.Parse(old.Body, product))
			return nil, &Error{Outcome: Canceled, URL: t.raw, Err: fmt.Errorf("robots cache: %w", err)}
		}
	}
	if rec, rules, _ := h.get(c.cfg.Clock.Now()); rules != nil && rec.same(old) {
		return rules, c.robotsError(t, old)
	}
	rules = robots.Parse(old.Body, product)
	c.robots.set(t.host, h, old, rules)
	return rules, c.robotsError(t, old)
}

// saveTime bounds the time of saving a record.
const saveTime = 5 * time.Second

// saveRobots saves the record of a host, also if the caller was cancelled meanwhile, so that
// the request is not repeated.
func (c *Client) saveRobots(ctx context.Context, host string, rec RobotsRecord) error {
	saving, end := context.WithTimeout(context.WithoutCancel(ctx), saveTime)
	defer end()
	return c.cfg.Robots.SaveRobots(saving, host, rec)
}

// robotsError returns the error of a record that is not available.
func (c *Client) robotsError(t *target, rec RobotsRecord) error {
	if rec.Available {
		return nil
	}
	outcome := RobotsUnavailable
	switch rec.Reason {
	case DNSFailure, ConnectFailure, TLSFailure:
		outcome = rec.Reason // the host itself could not be reached
	}
	why := "robots.txt could not be read"
	if rec.Reason != "" {
		why += ": " + string(rec.Reason)
	}
	return &Error{
		Outcome: outcome, URL: t.raw, Status: rec.Status,
		RetryAfter: max(rec.ExpiresAt.Sub(c.cfg.Clock.Now()), 0), Err: errors.New(why),
	}
}

// askRobots fetches robots.txt and returns the record of the result. An error means that
// nothing is known of the host, and nothing must be stored. check is called for a page of
// another host to which robots.txt redirects.
func (c robotsReader) askRobots(ctx context.Context, page *target, old RobotsRecord, check func(context.Context, *target) error) (RobotsRecord, error) {
	x, body, err := c.robotsAnswer(ctx, page, robots.Parse(old.Body, product).CrawlDelay(), check)
	now := c.cfg.Clock.Now()
	rec := RobotsRecord{FetchedAt: now, ExpiresAt: now.Add(robotsAge)}
	if e, ok := errors.AsType[*Error](err); ok {
		switch e.Outcome {
		case Canceled, Parked, NoContact:
			return rec, e
		case AddressDenied, BadURL, Blacklisted:
			if weburl.Host(e.URL) == page.host {
				return rec, e
			} // else robots.txt redirects to an address that is not allowed
		}
		rec.Status, rec.Reason = e.Status, e.Outcome
		if x != nil && e.Outcome == ConnectFailure && x.trace.connected.Load() {
			rec.Reason = BadAnswer // the host is there, but does not answer
		}
	} else {
		rec.Status = x.status
		outcome := statusOutcome(x.status)
		switch {
		case outcome == gleaner.OK, outcome == EmptyBody:
			rec.Body, rec.Available = robots.Trim(body), true
		case x.status >= 400 && x.status < 500 && x.status != http.StatusTooManyRequests:
			rec.Available = true // RFC 9309 section 2.3.1.3: there is none
		default:
			rec.Reason = outcome
		}
	}
	if !rec.Available {
		rec.Failures = old.Failures + 1
		wait := c.cfg.Pacing.Backoff(rec.Failures)
		if x != nil && x.answer != nil {
			wait = max(wait, min(RetryAfter(x.answer, now), c.cfg.Pacing.MaxRetryAfter))
		}
		rec.ExpiresAt = now.Add(min(wait, 24*time.Hour))
	}
	return rec, nil
}

// checkTarget returns an error if another host's robots.txt forbids a page to which a
// robots.txt redirects. It takes the rules from the cache or fetches them, but follows no
// redirect to a third host. It does not wait for another fetch of the same rules, which may
// wait for this one.
func (c robotsReader) checkTarget(ctx context.Context, t *target) error {
	rec, found, err := c.cfg.Robots.LoadRobots(ctx, t.host, RobotsRecord{})
	if err == nil && (!found || !c.cfg.Clock.Now().Before(rec.ExpiresAt)) {
		rec, err = c.askRobots(ctx, t, rec, denyTarget)
		if err == nil {
			err = c.saveRobots(ctx, t.host, rec)
		}
	}
	var e *Error
	switch {
	case errors.As(err, &e):
		return e
	case err != nil:
		return &Error{Outcome: Canceled, URL: t.raw, Err: fmt.Errorf("robots cache: %w", err)}
	}
	if err := c.robotsError(t, rec); err != nil {
		return err
	}
	if ok, rule := robots.Parse(rec.Body, product).Allowed(t.url.RequestURI()); !ok {
		return &Error{Outcome: RobotsDenied, URL: t.raw, Err: fmt.Errorf("robots.txt: %s", rule)}
	}
	return nil
}

func denyTarget(_ context.Context, t *target) error {
	return &Error{Outcome: RobotsDenied, URL: t.raw, Err: errors.New("a third host's page is no robots.txt")}
}

// robotsAnswer requests /robots.txt and follows up to five redirects, to any host. Each request
// takes a turn of its host.
func (c robotsReader) robotsAnswer(ctx context.Context, page *target, crawlDelay time.Duration, check func(context.Context, *target) error) (*exchange, []byte, error) {
	u := &url.URL{Scheme: page.url.Scheme, Host: page.url.Host, Path: "/robots.txt"}
	for hops := 0; ; hops++ {
		t, err := c.target(u)
		if err != nil {
			return nil, nil, err
		}
		if t.host != page.host {
			crawlDelay = 0 // known of the page's host only
			if u.Path != "/robots.txt" {
				if err := check(ctx, t); err != nil {
					return nil, nil, err
				}
			}
		}
		x, body, err := c.askForRobots(ctx, t, crawlDelay, t.host == page.host)
		if err != nil || !isRedirect(x.status) {
			return x, body, err
		}
		next, err := resolve(u, x.answer.Get("Location"))
		if err != nil || hops == robotsRedirects {
			return x, nil, &Error{Outcome: TooManyRedirects, URL: t.raw, Status: x.status, Err: err}
		}
		u = next
	}
}

// askForRobots sends one request for a robots.txt down the chain, and reads no more than the
// part that counts. If it is the host's own, its Crawl-delay holds from this turn on.
func (c robotsReader) askForRobots(ctx context.Context, t *target, crawlDelay time.Duration, own bool) (*exchange, []byte, error) {
	x := c.exchange()
	x.Terms = c.terms
	x.target, x.crawlDelay, x.prefix = t, crawlDelay, robots.MaxBytes+1
	r, err := http.NewRequestWithContext(x.in(ctx), http.MethodGet, t.raw, nil)
	if err != nil {
		return x, nil, asError(ctx, t.raw, err)
	}
	r.Header = x.header
	resp, err := c.inTurn.RoundTrip(r)
	if err != nil {
		return x, nil, asError(ctx, t.raw, err)
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return x, nil, asError(ctx, t.raw, err)
	}
	if own && statusOutcome(x.status) == gleaner.OK {
		x.learnt = robots.Parse(body, product).CrawlDelay()
	}
	return x, body, nil
}
