package fetch

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"gleaner/internal/gleaner"
)

// The outcomes. Retryable reports which may be retried.
const (
	NotFound          gleaner.Outcome = "not-found"           // 404 and 410
	Forbidden         gleaner.Outcome = "forbidden"           // 401, 403, 451
	BadStatus         gleaner.Outcome = "terminal-bad-status" // any other 4xx, and what is no status
	ServerError       gleaner.Outcome = "server-error"        // 5xx but 503
	Busy              gleaner.Outcome = "busy"                // 429 and 503, with or without Retry-After
	RobotsDenied      gleaner.Outcome = "robots-denied"
	RobotsUnavailable gleaner.Outcome = "robots-unavailable" // robots.txt could not be read; nothing may be fetched until it can
	AddressDenied     gleaner.Outcome = "address-denied"     // resolved to an address that the operator did not allow
	Blacklisted       gleaner.Outcome = "blacklisted"        // the operator forbids requests to the host
	BadURL            gleaner.Outcome = "bad-url"
	DNSFailure        gleaner.Outcome = "dns-failure"
	ConnectFailure    gleaner.Outcome = "connect-failure"
	TLSFailure        gleaner.Outcome = "tls-failure"
	Timeout           gleaner.Outcome = "timeout"
	SlowBody          gleaner.Outcome = "slow-body"
	Truncated         gleaner.Outcome = "truncated" // closed before the promised length
	TooLarge          gleaner.Outcome = "body-too-large"
	Inflated          gleaner.Outcome = "inflation-limit"
	RedirectLoop      gleaner.Outcome = "redirect-loop"
	TooManyRedirects  gleaner.Outcome = "max-hops-exceeded"
	RedirectKnown     gleaner.Outcome = "redirect-known"    // Location was fetched already (Known), or is left for later since the caller stops
	RedirectOffHost   gleaner.Outcome = "redirect-off-host" // Location on another host: a link for that host's own queue
	BadAnswer         gleaner.Outcome = "protocol-error"
	EmptyBody         gleaner.Outcome = "empty-blob"
	Canceled          gleaner.Outcome = "canceled"
	Changed           gleaner.Outcome = "changed"     // the file has changed since a part of it was read
	Parked            gleaner.Outcome = "host-parked" // the host failed too often or asked for a long pause; nothing was sent
	Unwanted          gleaner.Outcome = "unwanted"    // the caller rejected the header; nothing of the body was read
	NoContact         gleaner.Outcome = "no-contact"  // no contact address is set; nothing was sent
)

// Terms hold for all requests of one caller, robots.txt and redirects included.
type Terms struct {
	Gate Gate  // grants the turns [Config.Gate]
	Tape *Tape // records requests and answers [nil: no recording]
}

// Request is a request for one URL.
type Request struct {
	Terms
	URL          string // canonical
	ETag         string // sent as If-None-Match
	LastModified string // sent as If-Modified-Since
	// FollowOffHost follows redirects to other hosts, each hop under its own host's turn
	// and robots.txt. It is for callers without a queue for them.
	FollowOffHost bool
	// Meanwhile reports, in the turn of a host and before anything is sent, whether another
	// caller has fetched a canonical URL or target of a redirect during the wait for the
	// turn. The URL is not requested then. nil: there is no other caller.
	Meanwhile func(canonical string) bool
	// Known reports whether the canonical target of a redirect was fetched already. It is
	// not requested then. nil: nothing was fetched.
	Known func(canonical string) bool
	// Unwanted returns why the body of an answer with status 200 is not wanted, by its
	// header and its promised length (-1: unknown). Nothing of the body is read then. nil
	// accepts all.
	Unwanted func(header http.Header, promised int64) error
	// Largest bounds the body, inflated, in bytes, below the limit of its kind; 0 does not.
	Largest int64
}

// Response is an answer read to its end. Body is inflated and never cut. A
// .gz file is no inflated body: it comes as it is.
type Response struct {
	URL       string   // after redirects, canonical
	Redirects []string // the URLs that redirected, in order
	Status    int
	Header    http.Header
	Body      []byte
	FetchedAt time.Time
	Elapsed   time.Duration // of the last hop: first byte asked to last byte read
	Bytes     int64         // bytes on the wire, all hops

	release func()
}

// Release releases Body and its share of Config.Memory. It may be called again, and on nil.
func (r *Response) Release() {
	if r != nil && r.release != nil {
		r.release()
	}
}

// Error is the error of a fetch without a body. It matches with errors.As.
type Error struct {
	Outcome    gleaner.Outcome
	URL        string // the hop that failed
	Status     int    // 0 without an answer
	Location   string // for RedirectOffHost and RedirectKnown
	RetryAfter time.Duration
	Bytes      int64 // received in vain
	Err        error
}

func (e *Error) Error() string {
	s := fmt.Sprintf("fetch %s: %s", e.URL, e.Outcome)
	if e.Status != 0 {
		s += fmt.Sprintf(" (status %d)", e.Status)
	}
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	return s
}

func (e *Error) Unwrap() error { return e.Err }

// Visit is the result of one request for its host, from which the pacing is computed.
type Visit struct {
	Status     int           // 0 without an answer
	Elapsed    time.Duration // from the request to the end of the answer
	RetryAfter time.Duration // as asked by the host; 0 if not
	Failed     bool          // no answer, or 429 or 5xx
	Void       bool          // it says nothing of the host: nothing was sent, or the answer was not awaited
	CrawlDelay time.Duration // of robots.txt, where this visit brought it: holds from now on
}

// Gate grants turns, which pace the requests of all workers. Every request, robots.txt and each
// redirect included, takes a turn of its host.
type Gate interface {
	// Turn blocks until one request may be sent to host and no other is in flight there.
	// done must be called when the answer has been read. crawlDelay is the Crawl-delay of
	// robots.txt, 0 for none. If the wait would be too long, the error is or wraps a
	// *ParkedError or another error with its RetryIn.
	Turn(ctx context.Context, host string, crawlDelay time.Duration) (done func(Visit), err error)
}

// RobotsCache keeps robots.txt between fetches, shared by all workers.
type RobotsCache interface {
	// LoadRobots returns a host's record. If the stored record is still the known one, it
	// returns that, without reading its body.
	LoadRobots(ctx context.Context, host string, known RobotsRecord) (RobotsRecord, bool, error)
	SaveRobots(ctx context.Context, host string, rec RobotsRecord) error
}

// RobotsRecord is the result of the last request for a host's robots.txt.
type RobotsRecord struct {
	Body      []byte          // at most 500 KiB; nil when there is none
	Status    int             // last status; 0 when unreachable
	Available bool            // false: could not be read, so nothing may be fetched until ExpiresAt
	Failures  int             // consecutive, for backoff
	Reason    gleaner.Outcome // why it is not available; "" if not known or available
	FetchedAt time.Time       //
	ExpiresAt time.Time       // at most 24 h after FetchedAt
}
