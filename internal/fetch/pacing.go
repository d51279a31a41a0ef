package fetch

import (
	"cmp"
	"math/rand/v2"
	"net/http"
	"time"
)

// Pacing computes the pause of a host after each visit. A zero field means its default, in
// brackets; WithDefaults sets it.
type Pacing struct {
	// MinDelay and MaxDelay bound the ordinary pause between the end of an answer and the next
	// request [1 s, 30 s]. Within them it is Factor times the duration of the last answer [5], as
	// in Heritrix: a slow server is a busy one.
	MinDelay, MaxDelay time.Duration
	Factor             float64
	// MaxCrawlDelay bounds the Crawl-delay [2 min].
	MaxCrawlDelay time.Duration
	// MaxRetryAfter bounds the Retry-After [6 h].
	MaxRetryAfter time.Duration
	// BackoffBase doubles with each consecutive failure without Retry-After, up to BackoffMax.
	// The pause is random between half and all of it [10 s, 30 min].
	BackoffBase, BackoffMax time.Duration
	// After ParkAfter consecutive failures the host is parked: it gets no requests for ParkFor
	// [5, 1 h].
	ParkAfter int
	ParkFor   time.Duration
	// MaxBlock bounds the wait of Gate.Turn. A longer wait is an error, so that a worker can do
	// other work [2 min].
	MaxBlock time.Duration
	// Unpaced removes the ordinary pause, for the operator's own servers. Crawl-delay,
	// Retry-After, backoff and parking remain.
	Unpaced bool
	// Floor is the least pause in all cases, and Rest the least pause after a failure without
	// Retry-After [0, none].
	Floor, Rest time.Duration
	// Rand draws from [0, 1) for jitter [math/rand].
	Rand func() float64
	// SetBy is the origin of MinDelay [BySetting].
	SetBy string
}

// Origins of the pause between two requests to a host.
const (
	BySetting    = "default"      // the default least pause
	ByHarvest    = "--delay"      // a harvest's request, or that for a single page
	ByFloor      = "min-delay"    // Floor, if a shorter pause was requested
	ByCrawlDelay = "Crawl-delay"  // the host's robots.txt
	BySlowness   = "slow answers" // the duration of the host's last answer
)

// WithDefaults returns p with its zero fields set to their defaults.
func (p Pacing) WithDefaults() Pacing {
	p.MinDelay = cmp.Or(p.MinDelay, time.Second)
	p.MaxDelay = cmp.Or(p.MaxDelay, max(30*time.Second, p.MinDelay))
	p.MaxCrawlDelay = cmp.Or(p.MaxCrawlDelay, 2*time.Minute)
	p.MaxRetryAfter = cmp.Or(p.MaxRetryAfter, 6*time.Hour)
	p.BackoffBase = cmp.Or(p.BackoffBase, 10*time.Second)
	p.BackoffMax = cmp.Or(p.BackoffMax, 30*time.Minute)
	p.ParkFor = cmp.Or(p.ParkFor, time.Hour)
	p.MaxBlock = cmp.Or(p.MaxBlock, 2*time.Minute)
	p.Factor = cmp.Or(p.Factor, 5)
	p.ParkAfter = cmp.Or(p.ParkAfter, 5)
	if p.Rand == nil {
		p.Rand = rand.Float64
	}
	p.SetBy = cmp.Or(p.SetBy, BySetting)
	return p
}

// With returns the pacing with a least pause for one host; 0 is none.
func (p Pacing) With(delay time.Duration) Pacing {
	if delay != p.MinDelay {
		p.SetBy = ByHarvest
	}
	if delay < p.Floor {
		delay, p.SetBy = p.Floor, ByFloor
	}
	p.MinDelay, p.MaxDelay, p.Unpaced = delay, max(p.MaxDelay, delay), delay <= 0
	return p
}

// Pause returns the ordinary pause from the end of a visit, and its origin.
func (p Pacing) Pause(v Visit, crawlDelay time.Duration) (pause time.Duration, by string) {
	p = p.WithDefaults()
	by = p.SetBy
	if !p.Unpaced {
		pause = p.MinDelay
		if slow := min(time.Duration(p.Factor*float64(v.Elapsed)), p.MaxDelay); slow > pause {
			pause, by = slow, BySlowness
		}
	}
	if asked := min(max(crawlDelay, v.CrawlDelay), p.MaxCrawlDelay); asked > pause {
		pause, by = asked, ByCrawlDelay
	}
	return pause, by
}

// After returns the pause of the host from the end of the visit (which also bounds the distance
// from start to start), the number of consecutive failures, and whether the host is parked.
// failures is their number before the visit.
func (p Pacing) After(v Visit, failures int, crawlDelay time.Duration) (wait time.Duration, failuresNow int, parked bool) {
	p = p.WithDefaults()
	wait, _ = p.Pause(v, crawlDelay)
	asked := p.Asked(v)
	if v.Void {
		return wait, failures, false
	}
	if !v.Failed {
		return max(wait, asked), 0, false
	}
	failures++
	if v.RetryAfter > 0 {
		wait = max(wait, asked)
	} else {
		wait = max(wait, p.Rest, p.Backoff(failures))
	}
	if failures >= p.ParkAfter {
		return max(wait, p.ParkFor), failures, true
	}
	return wait, failures, false
}

// Asked returns the Retry-After of a refusal or redirect, for which the header is meant (RFC 9110
// section 10.2.3). With a page, or with a missing one, it counts as a Crawl-delay, which is
// waited for within a slice.
func (p Pacing) Asked(v Visit) time.Duration {
	p = p.WithDefaults()
	most := p.MaxRetryAfter
	switch {
	case v.Failed:
	case v.Status < 300, v.Status == http.StatusNotModified, statusOutcome(v.Status) == NotFound:
		most = min(most, p.MaxCrawlDelay)
	}
	return min(max(v.RetryAfter, 0), most)
}

// Backoff returns the pause after consecutive failures: exponential, and random between its half
// and its whole, so that hosts of one broken server are not retried at once.
func (p Pacing) Backoff(failures int) time.Duration {
	p = p.WithDefaults()
	d := p.BackoffBase
	for i := 1; i < failures && d < p.BackoffMax; i++ {
		d *= 2
	}
	d = min(d, p.BackoffMax)
	return d/2 + time.Duration(p.Rand()*float64(d/2))
}
