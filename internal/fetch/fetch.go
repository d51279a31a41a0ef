package fetch

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"gleaner/internal/gleaner"
)

// The outcomes. Those that may be asked again later say so in Retryable.
const (
	NotFound          gleaner.Outcome = "not-found"           // 404 and 410
	Forbidden         gleaner.Outcome = "forbidden"           // 401, 403, 451
	BadStatus         gleaner.Outcome = "terminal-bad-status" // any other 4xx, and what is no status
	ServerError       gleaner.Outcome = "server-error"        // 5xx but 503
	Busy              gleaner.Outcome = "busy"                // 429 and 503, with or without Retry-After
	RobotsDenied      gleaner.Outcome = "robots-denied"
	RobotsUnavailable gleaner.Outcome = "robots-unavailable" // robots.txt could not be read: a no, asked again later
	AddressDenied     gleaner.Outcome = "address-denied"     // resolved to an address that the operator did not allow
	Blacklisted       gleaner.Outcome = "blacklisted"        // the operator does not let the host be asked
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
	RedirectKnown     gleaner.Outcome = "redirect-known"    // Location was fetched already, by the caller's word, or is for later, since the caller stops
	RedirectOffHost   gleaner.Outcome = "redirect-off-host" // Location on another host: a link for that host's own queue
	BadAnswer         gleaner.Outcome = "protocol-error"
	EmptyBody         gleaner.Outcome = "empty-blob"
	Canceled          gleaner.Outcome = "canceled"
	Changed           gleaner.Outcome = "changed"     // of a file of which a part was read: it is another by now
	Parked            gleaner.Outcome = "host-parked" // the host failed too often or asked for a long pause; nothing was sent
	Unwanted          gleaner.Outcome = "unwanted"    // by the caller's word on the header; nothing of the body was read
	NoContact         gleaner.Outcome = "no-contact"  // the operator has not said how to reach him; nothing was sent
)

// Terms are how the requests of one caller are made, robots.txt and redirects included.
type Terms struct {
	Gate Gate  // grants the turns [Config.Gate]
	Tape *Tape // records what is exchanged [nil: nothing does]
}

// Request asks for one URL.
type Request struct {
	Terms
	URL          string // canonical
	ETag         string // sent as If-None-Match
	LastModified string // sent as If-Modified-Since
	// FollowOffHost follows redirects to other hosts (each hop under its own
	// host's turn and robots.txt) where the caller has no queue to put them in.
	FollowOffHost bool
	// Meanwhile reports, in the turn of a host and before anything is sent, whether another
	// has fetched a canonical URL, be it where a redirect led, while that turn was
	// waited for; then it is not asked for again. nil: there is no other.
	Meanwhile func(canonical string) bool
	// Known reports whether the canonical URL that a redirect leads to was
	// fetched already; then it is not asked for again. nil knows nothing.
	Known func(canonical string) bool
	// Unwanted says by the header of an answer with status 200, and by how many
	// bytes it promises (-1: not said), why its body is not wanted; nothing of it is
	// read then. nil wants all.
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

// Release says that Body is no longer needed, so that its share of Config.Memory
// is another's. It may be called again, and on nil.
func (r *Response) Release() {
	if r != nil && r.release != nil {
		r.release()
	}
}

// Error is a fetch that brought no body. It matches with errors.As.
type Error struct {
	Outcome    gleaner.Outcome
	URL        string // the hop that failed
	Status     int    // 0 without an answer
	Location   string // for RedirectOffHost and RedirectKnown
	RetryAfter time.Duration
	Bytes      int64 // that came on the wire in vain
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

// Visit is what one request told about its host; pacing is computed from it.
type Visit struct {
	Status     int           // 0 without an answer
	Elapsed    time.Duration // from the request to the end of the answer
	RetryAfter time.Duration // as asked by the host; 0 if not
	Failed     bool          // no answer, or 429 or 5xx
	Void       bool          // nothing was learnt of the host: it was not asked, or not waited for
	CrawlDelay time.Duration // of robots.txt, where this visit brought it: holds from now on
}

// Gate grants turns. It is how a fetch obeys pacing across all workers: every
// request, robots.txt and each redirect included, takes a turn of its host.
type Gate interface {
	// Turn blocks until one request may be sent to host and no other is under
	// way there. done must be called when the answer has been read.
	// crawlDelay is what robots.txt asks, 0 if nothing. Where the wait would be
	// too long the error is, or wraps, a *ParkedError or one with its RetryIn.
	Turn(ctx context.Context, host string, crawlDelay time.Duration) (done func(Visit), err error)
}

// RobotsCache keeps robots.txt between fetches, shared by all workers.
type RobotsCache interface {
	// LoadRobots returns a host's record: the known one itself, whose body need not be
	// read, where that is still what is kept.
	LoadRobots(ctx context.Context, host string, known RobotsRecord) (RobotsRecord, bool, error)
	SaveRobots(ctx context.Context, host string, rec RobotsRecord) error
}

// RobotsRecord is what was learnt when a host's robots.txt was last asked for.
type RobotsRecord struct {
	Body      []byte          // at most 500 KiB; nil when there is none
	Status    int             // last status; 0 when unreachable
	Available bool            // false: could not be read, so nothing may be fetched until ExpiresAt
	Failures  int             // consecutive, for backoff
	Reason    gleaner.Outcome // why it is not available; "" if not known or available
	FetchedAt time.Time       //
	ExpiresAt time.Time       // at most 24 h after FetchedAt
}
