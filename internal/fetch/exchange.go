package fetch

import (
	"context"
	"net/http"
	"time"

	"gleaner/internal/gleaner"
)

// exchange is the state of a fetch in the context of its requests, and the result of the last
// one.
type exchange struct {
	Request
	header http.Header // shared by requests, read-only
	limits Limits
	memory *Memory
	clock  Clock
	// prefix, if not 0, is the number of bytes of the body to read.
	prefix int64
	// everyStatus reads the body of an answer of any status.
	everyStatus bool
	// stored requests the stored file or a part of it, without decoding.
	stored bool
	// ready, if not nil, is called when a turn is granted; after an error nothing is sent.
	ready func() error

	trail     *trail   // addresses of the redirects
	redirects []string // the URLs that redirected
	before    int64    // bytes on the wire of all requests but the last

	*target                  // of the last request
	crawlDelay time.Duration // of its host's robots.txt
	learnt     time.Duration // Crawl-delay of the robots.txt in its answer

	trace  *trace
	watch  *watch
	status int
	answer http.Header // as it came
	wire   int64       // bytes of the body before inflating
	most   int64       // limit in bytes of a packed body, on the wire and between decoders; 0: not known yet
	cut    *Error      // why the body ended before its end
	// refused is set if, by its header, the answer is too large or unwanted.
	refused *Error
	elapsed time.Duration
	outcome gleaner.Outcome // failure to read the answer
	failed  bool            // the answer is a failure of the host
	release func()          // releases the memory of the body; nil for none
	held    int64           // the size up to which memory is held for the body
	waited  bool            // for memory, so long that the host may have given up
}

type exchangeKey struct{}

// exchangeOf returns the exchange of a request.
func exchangeOf(r *http.Request) *exchange {
	return r.Context().Value(exchangeKey{}).(*exchange)
}

// in returns a context with the exchange.
func (x *exchange) in(ctx context.Context) context.Context {
	return context.WithValue(ctx, exchangeKey{}, x)
}

// again clears the result of the last request.
func (x *exchange) again() {
	x.trace, x.watch, x.status, x.answer, x.wire, x.most, x.cut, x.refused, x.elapsed, x.outcome, x.failed = nil, nil, 0, nil, 0, 0, nil, nil, 0, "", false
	x.waited = false
}

// fail returns the error of a request with this outcome.
func (x *exchange) fail(o gleaner.Outcome, err error) *Error {
	x.outcome = o
	return &Error{Outcome: o, URL: x.raw, Status: x.status, Bytes: x.wire, RetryAfter: x.retryAfter(), Err: err}
}

// statusOutcome returns the outcome of the answer's status.
func (x *exchange) statusOutcome() gleaner.Outcome {
	if x.stored && x.status == http.StatusPartialContent {
		return gleaner.OK
	}
	return statusOutcome(x.status)
}

// unwanted returns an error if the caller does not want the body.
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

// longWait is the time for which an unread body has no effect on its connection.
const longWait = time.Second

// broken reports whether the body was cut off after a wait for memory, which tells nothing about
// the host.
func (x *exchange) broken() bool { return x.waited && hostFailed(x.outcome) }

// await waits for memory. The wait does not count as the host's time.
func (x *exchange) await(ctx context.Context, take func() (func(), error)) (release func(), err error) {
	resume := x.watch.pause()
	if release, err = take(); err != nil {
		x.cut = x.fail(causeOutcome(context.Cause(ctx)), err)
		return nil, x.cut
	}
	x.waited = resume() > longWait || x.waited
	return release, nil
}

// giveBack releases the memory of an unused body.
func (x *exchange) giveBack() {
	if x.release != nil {
		x.release()
	}
}

// retryAfter returns the Retry-After of the answer.
func (x *exchange) retryAfter() time.Duration { return RetryAfter(x.answer, x.clock.Now()) }

// stale reports whether the request was sent on a kept connection, which the server may have
// closed before it read the request.
func (x *exchange) stale() bool {
	return x.outcome == ConnectFailure && x.trace.reused.Load() && !x.trace.answered.Load()
}
