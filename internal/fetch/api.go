package fetch

import (
	"cmp"
	"errors"
	"io"
	"net/http"
	"time"

	"gleaner/internal/web/weburl"
)

// API asks outside services by their interfaces for programs, over the chain by
// which a Client asks hosts: each request in a turn of its host, within limits. Two
// parts it leaves out: robots.txt, which is for crawlers, and the check of
// addresses, which the operator gives. It follows no redirect.
type API struct {
	client http.Client
	limits Limits
	memory *Memory
}

// NewAPI makes an API over a transport (nil: http.DefaultTransport). The gate grants turns
// (nil: no request waits). Large answers wait for memory (nil: no bound). longest bounds
// the time of an answer with its body, largest its bytes.
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
	// Ready is asked when the turn has come; with an error nothing is sent [nil].
	Ready func() error
	// Use reads the answer before the turn ends: with an error the service counts
	// as one in trouble [nil].
	Use func(*Answer) error
}

// Answer is what a service said, whatever its status. Who has one releases it.
type Answer struct {
	Status     int
	Header     http.Header
	Body       []byte // inflated, and never cut
	RetryAfter time.Duration

	release func()
}

// Release says that Body is no longer needed, so that its share of the memory is
// another's. It may be called again, and on nil.
func (a *Answer) Release() {
	if a != nil {
		a.release()
	}
}

// Failed says that the service is in trouble.
func (a *Answer) Failed() bool { return a.Status == http.StatusTooManyRequests || a.Status >= 500 }

// Do sends a request. An error is one of the call's own functions, or an *Error,
// which names the host alone: in the rest of an address may stand a key.
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
		x.failed = x.outcome != Canceled && !x.broken() // what cannot be read is of no use
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

// unaddressed is why there is no answer, without the address.
func (x *exchange) unaddressed(err error) *Error {
	var e *Error
	if !errors.As(err, &e) {
		e = &Error{Outcome: BadAnswer, Status: x.status, Err: Unaddressed(err)} // net/http's: it leads to no address
	}
	e.URL = x.host
	return e
}
