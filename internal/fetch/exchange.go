package fetch

import (
	"context"
	"net/http"
	"time"

	"gleaner/internal/gleaner"
)

// exchange is what a fetch carries through the chain, in the context of its
// requests, and what came of the last of them.
type exchange struct {
	Request
	header http.Header // shared by requests: never written to
	limits Limits
	memory *Memory
	clock  Clock
	// prefix, if not 0, asks for so many bytes of the body and no more.
	prefix int64
	// everyStatus asks for the body of an answer whatever its status.
	everyStatus bool
	// stored asks for the file as it lies there, or a part of it: no coding is undone.
	stored bool
	// ready, if not nil, is asked when a turn is had: with an error nothing is sent.
	ready func() error

	trail     *trail   // where redirects have led
	redirects []string // the URLs that redirected
	before    int64    // bytes on the wire of all requests but the last

	*target                  // of the last request
	crawlDelay time.Duration // of its host's robots.txt
	learnt     time.Duration // the Crawl-delay of the robots.txt that it brought

	trace  *trace
	watch  *watch
	status int
	answer http.Header // as it came
	wire   int64       // bytes of the body before inflating
	most   int64       // bytes that a packed body may have, on the wire and between decoders; 0: not known yet
	cut    *Error      // why the body ended before its end
	// refused is set where the answer's header promises more than its kind may be, or
	// what the caller does not want.
	refused *Error
	elapsed time.Duration
	outcome gleaner.Outcome // what kept the answer from being read
	failed  bool            // what was read says that the host is in trouble
	release func()          // what the body holds of memory; nil for nothing
	held    int64           // the size up to which memory is held for the body
	waited  bool            // for memory, so long that the host may have given up
}

type exchangeKey struct{}

// exchangeOf is the exchange that a request belongs to.
func exchangeOf(r *http.Request) *exchange {
	return r.Context().Value(exchangeKey{}).(*exchange)
}

// in puts the exchange into a context.
func (x *exchange) in(ctx context.Context) context.Context {
	return context.WithValue(ctx, exchangeKey{}, x)
}

// again forgets the last request.
func (x *exchange) again() {
	x.trace, x.watch, x.status, x.answer, x.wire, x.most, x.cut, x.refused, x.elapsed, x.outcome, x.failed = nil, nil, 0, nil, 0, 0, nil, nil, 0, "", false
	x.waited = false
}

// fail names why the answer cannot be had.
func (x *exchange) fail(o gleaner.Outcome, err error) *Error {
	x.outcome = o
	return &Error{Outcome: o, URL: x.raw, Status: x.status, Bytes: x.wire, RetryAfter: x.retryAfter(), Err: err}
}

// statusOutcome names the answer by its status.
func (x *exchange) statusOutcome() gleaner.Outcome {
	if x.stored && x.status == http.StatusPartialContent {
		return gleaner.OK
	}
	return statusOutcome(x.status)
}

// unwanted asks the caller whether the body is wanted.
func (x *exchange) unwanted(resp *http.Response, coded bool) error {
	if x.Unwanted == nil || resp.StatusCode != http.StatusOK {
		return nil
	}
	promised := resp.ContentLength
	if coded {
		promised = -1
	}
	return x.Unwanted(resp.Header, promised)
}

// longWait is how long a body may not be read without an effect on its connection.
const longWait = time.Second

// broken says that the body was cut off after a wait for memory: what the host would have
// sent is not known.
func (x *exchange) broken() bool { return x.waited && hostFailed(x.outcome) }

// await waits for memory, which is not the host's fault.
func (x *exchange) await(ctx context.Context, take func() (func(), error)) (release func(), err error) {
	resume := x.watch.pause()
	if release, err = take(); err != nil {
		x.cut = x.fail(causeOutcome(context.Cause(ctx)), err)
		return nil, x.cut
	}
	x.waited = resume() > longWait || x.waited
	return release, nil
}

// giveBack releases what is held for a body that nobody gets.
func (x *exchange) giveBack() {
	if x.release != nil {
		x.release()
	}
}

// retryAfter is the pause that the host asks for.
func (x *exchange) retryAfter() time.Duration { return RetryAfter(x.answer, x.clock.Now()) }

// stale says that the request went out on a connection from before, which the
// server had perhaps closed in the meantime: it may never have seen it.
func (x *exchange) stale() bool {
	return x.outcome == ConnectFailure && x.trace.reused.Load() && !x.trace.answered.Load()
}
