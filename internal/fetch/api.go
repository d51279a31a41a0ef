package fetch

import (
	"cmp"
	"errors"
	"io"
	"net/http"
	"time"

	"gleaner/internal/web/weburl"
)

// API sends requests to external APIs through the inner part of a Client's chain: each in a turn
// of its host, within limits. It does not check robots.txt, which is for crawlers, or addresses,
// which the operator configures. It follows no redirects.
type API struct {
	client http.Client
	limits Limits
	memory *Memory
}

// NewAPI returns an API over a transport (nil: http.DefaultTransport). The gate grants turns
// (nil: no request waits). Large answers take their share of memory (nil: no bound). longest
// bounds the time of an answer with its body, largest its bytes.
func NewAPI(way http.RoundTripper, gate Gate, memory *Memory, longest time.Duration, largest int64) *API {
	way = cmp.Or(way, http.DefaultTransport)
	chain := &turns{cfg: &Config{Gate: gate}, next: &limited{&decoded{&watched{&exit{way, way}}}}}
	return &API{
		client: http.Client{Transport: chain, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }},
		limits: Limits{Total: longest, Idle: longest, Grace: longest, MinRate: 1, PageBytes: largest, DocumentBytes: largest, MediaBytes: largest}.withDefaults(),
		memory: memory,
	}
}

// Call is one request to an API.
type Call struct {
	*http.Request
	Delay time.Duration // the least pause that the service asks for
	// Ready is called when the turn is granted; after an error nothing is sent [nil].
	Ready func() error
	// Use reads the answer before the turn ends. An error counts as a failure of the service
	// [nil].
	Use func(*Answer) error
}

// Answer is the answer of a service with any status. The caller must release it.
type Answer struct {
	Status     int
	Header     http.Header
	Body       []byte // decoded and complete
	RetryAfter time.Duration

	release func()
}

// Release releases Body and its share of the memory. It may be called again, and on nil.
func (a *Answer) Release() {
	if a != nil {
		a.release()
	}
}

// Failed reports whether the status is a failure of the service.
func (a *Answer) Failed() bool { return a.Status == http.StatusTooManyRequests || a.Status >= 500 }

// Do sends a request. An error is that of a function of the call, or an *Error, which holds only
// the host: the rest of an address may contain a key.
func (a *API) Do(c Call) (*Answer, error) {
	raw := c.URL.String()
	x := &exchange{target: &target{url: c.URL, raw: raw, host: weburl.Host(raw)}, limits: a.limits, memory: a.memory, clock: systemClock{}, everyStatus: true, crawlDelay: c.Delay}
	var notReady error
	if c.Ready != nil {
		x.ready = func() error { notReady = c.Ready(); return notReady }
	}
	r := c.Clone(x.in(c.Context()))
	r.Header.Set("Accept-Encoding", acceptEncoding)
	resp, err := a.client.Do(r)
	if notReady != nil {
		return nil, notReady
	}
	if err != nil {
		return nil, x.unaddressed(err)
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		x.failed = x.outcome != Canceled && !x.broken() // an unreadable answer is a failure
		x.giveBack()
		return nil, x.unaddressed(err)
	}
	out := &Answer{Status: x.status, Header: x.answer, Body: body, RetryAfter: x.retryAfter(), release: x.giveBack}
	if c.Use != nil {
		err = c.Use(out)
	}
	x.failed = err != nil || out.Failed()
	return out, err
}

// unaddressed returns the error without the address.
func (x *exchange) unaddressed(err error) *Error {
	var e *Error
	if !errors.As(err, &e) {
		// by net/http: the redirect has no address
		e = &Error{Outcome: BadAnswer, Status: x.status, Err: Unaddressed(err)}
	}
	e.URL = x.host
	return e
}
