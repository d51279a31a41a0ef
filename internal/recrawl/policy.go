package recrawl

import "time"

// Policy holds the intervals and by how much they change.
type Policy struct {
	First     time.Duration // of a page after its first visit
	Document  time.Duration // of a document after its first visit: they rarely change
	Missing   time.Duration // of a URL that was not found, the first time
	Min, Max  time.Duration // bounds of a page's and a site's interval; a document's are four times as wide
	Longer    float64       // factor where nothing changed
	Shorter   float64       // factor where something changed
	Gained    float64       // factor where new documents were linked
	RetryBase time.Duration // after a crawl that did not reach its end; doubles with each in a row
	RetryMax  time.Duration
	// Revisit says that every so many recrawls of a site its to-be-avoided
	// directories are asked too, so that a wrong verdict heals; 0 is never.
	Revisit int
}

// Defaults is Nutch's schedule with bounds for homepages, which change a few
// times a year.
func Defaults() Policy {
	return Policy{First: 14 * day, Document: 90 * day, Missing: 30 * day, Min: day, Max: 90 * day, Longer: 1.4, Shorter: 0.8, Gained: 0.5,
		RetryBase: time.Hour, RetryMax: 30 * day, Revisit: 5}
}

const day = 24 * time.Hour

// Event is what a visit told of a URL.
type Event int

// The events of a visit.
const (
	Unchanged Event = iota // 304, or the same bytes as before
	Changed
	Gained    // a page that links to documents that were not known
	NotFound  // 404 and the like: it may come, or come back
	Failing   // no answer, tried often enough for now
	Permanent // forbidden by robots.txt, gone, of a kind that is not wanted
	TooSoon   // as it was, but asked by hand long before it was due
)

// After is what an event says when it comes so long after the last visit: that
// nothing changed within a small part of the interval says nothing about it.
func (e Event) After(since, interval time.Duration) Event {
	if (e == Unchanged || e == NotFound) && interval > 0 && since < interval/2 {
		return TooSoon
	}
	return e
}

// Next returns the interval until the next visit, given the last one (0 after
// the first visit), and whether there is to be a next visit at all.
func (p Policy) Next(document bool, had time.Duration, e Event) (next time.Duration, again bool) {
	lo, hi, first := p.Min, p.Max, p.First
	if document {
		lo, hi, first = 4*p.Min, 4*p.Max, p.Document
	}
	switch e {
	case Permanent:
		return 0, false
	case TooSoon:
		return had, true
	case NotFound:
		if had == 0 {
			return p.Missing, true
		}
		// What was not there at the longest interval is given up.
		if next = 2 * had; next > hi {
			return 0, false
		}
		return next, true
	case Failing:
		return min(max(2*had, lo), hi), true
	}
	if had == 0 {
		// The first visit: every link was new, which says nothing yet but that
		// this is a page that links to documents.
		if e == Gained {
			first /= 2
		}
		return clamp(first, lo, hi), true
	}
	factor := p.Longer
	switch e {
	case Changed:
		factor = p.Shorter
	case Gained:
		factor = p.Gained
	}
	return clamp(time.Duration(float64(had)*factor), lo, hi), true
}

func clamp(d, lo, hi time.Duration) time.Duration { return max(lo, min(d, hi)) }

// Outcome is what a whole crawl of a site came to.
type Outcome struct {
	Ended   bool // it reached its end; else it was refused, stopped or cut
	Soon    bool // it was asked for by hand, long before it was due
	Gained  int  // documents accepted that were new
	Changed int  // pages that had changed
	Wanted  bool // papers of people who live there are still missing
	Barren  bool // the site is not worth recrawling (package stats)
	Retries int  // crawls in a row that did not reach their end, this one included
}

// Site returns how long a site rests after a crawl, and its new interval; had is
// the last one, 0 after the first crawl. A site's interval bounds from below how
// often its pages' intervals are looked at, so that a few restless pages do not
// bring the crawler daily.
func (p Policy) Site(had time.Duration, o Outcome) (rest, interval time.Duration) {
	if !o.Ended {
		n := min(max(o.Retries-1, 0), 16)
		return min(p.RetryBase<<n, p.RetryMax), had
	}
	switch {
	case had == 0:
		interval = p.First
	case o.Gained > 0:
		interval = time.Duration(float64(had) * p.Gained)
	case o.Soon && o.Changed == 0:
		interval = had
	case o.Changed > 0:
		interval = time.Duration(float64(had) * p.Shorter)
	default:
		interval = time.Duration(float64(had) * p.Longer)
	}
	interval = clamp(interval, p.Min, p.Max)
	rest = interval
	if o.Barren {
		rest = 4 * p.Max // not never: a mistake heals
	}
	if o.Wanted {
		rest = max(p.Min, rest/2)
	}
	return rest, interval
}

// Revisits reports whether a site's nth recrawl (from 1) asks its to-be-avoided
// directories too.
func (p Policy) Revisits(n int) bool { return p.Revisit > 0 && n%p.Revisit == 0 }
