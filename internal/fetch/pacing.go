package fetch

import (
	"cmp"
	"math/rand/v2"
	"net/http"
	"time"
)

// Pacing says how long a host is left alone after each visit. The zero value of
// a field means its default, in brackets; WithDefaults fills them in.
type Pacing struct {
	// MinDelay and MaxDelay bound the ordinary pause between the end of an
	// answer and the next request [1 s, 30 s]. Within them it is Factor times
	// what the last answer took [5], as Heritrix does it: a slow server is a
	// busy one.
	MinDelay, MaxDelay time.Duration
	Factor             float64
	// MaxCrawlDelay bounds what a Crawl-delay is obeyed to [2 min].
	MaxCrawlDelay time.Duration
	// MaxRetryAfter bounds what a Retry-After is obeyed to [6 h].
	MaxRetryAfter time.Duration
	// BackoffBase doubles with each consecutive failure without Retry-After,
	// up to BackoffMax, and is drawn between its half and its whole [10 s, 30 min].
	BackoffBase, BackoffMax time.Duration
	// After ParkAfter consecutive failures the host is parked: nothing is asked
	// of it for ParkFor [5, 1 h].
	ParkAfter int
	ParkFor   time.Duration
	// MaxBlock is how long Gate.Turn may block; a longer wait is an error, so
	// that a worker does something else meanwhile [2 min].
	MaxBlock time.Duration
	// Unpaced drops the ordinary pause, for servers of one's own. Crawl-delay,
	// Retry-After, backoff and parking stay.
	Unpaced bool
	// Floor is the least pause whatever else is asked for, and Rest the least one
	// after a failure for which the host names no time itself [0, none].
	Floor, Rest time.Duration
	// Rand draws from [0, 1) for jitter [math/rand].
	Rand func() float64
	// SetBy is who set MinDelay [BySetting].
	SetBy string
}

// Who sets the pause between two requests to a host.
const (
	BySetting    = "default"      // the crawler's own least pause
	ByHarvest    = "--delay"      // those who want the host, or who asks for one page of it
	ByFloor      = "min-delay"    // the floor, where less was asked for
	ByCrawlDelay = "Crawl-delay"  // the host's robots.txt
	BySlowness   = "slow answers" // the host's last answer, which took long
)

// WithDefaults returns p with its zero fields filled in.
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

// With is the pacing of a host with a least pause of its own; 0 is none.
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

// Pause is the ordinary pause after a visit, counted from its end, and who set it.
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

// After returns how long the host is to be left alone, counted from the end of
// the visit (so two requests are never closer than that, from start to start
// either), how many visits in a row have failed now, and whether the host is
// parked. failures is their number before the visit.
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

// Asked is the pause that an answer asks for by Retry-After. The header is meant for
// refusals and redirects (RFC 9110 section 10.2.3): beside a page, or where there is
// none, it counts as a Crawl-delay, which is waited for within a slice.
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

// Backoff is the pause after so many failures in a row: exponential, drawn
// between its half and its whole, so that hosts behind one broken server do not
// come back at once.
func (p Pacing) Backoff(failures int) time.Duration {
	p = p.WithDefaults()
	d := p.BackoffBase
	for i := 1; i < failures && d < p.BackoffMax; i++ {
		d *= 2
	}
	d = min(d, p.BackoffMax)
	return d/2 + time.Duration(p.Rand()*float64(d/2))
}
