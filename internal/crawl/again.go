package crawl

import (
	"gleaner/internal/gleaner"
	"gleaner/internal/rank"
	"gleaner/internal/record/frontier"
	"gleaner/internal/recrawl"
)

// unchanged processes a URL that has not changed: it answered 304, or the same bytes.
func (l *loop) unchanged(e *frontier.Entry, v *frontier.Visit) rank.Result {
	v.Outcome, v.State = gleaner.NotModified, e.Was
	if e.Was == frontier.Waiting { // a server may answer 304 to a first request
		v.State = frontier.Page
		if e.Document {
			v.State = frontier.Document
		}
	}
	if v.ETag == "" && v.LastModified == "" { // a 304 need not repeat them
		v.ETag, v.LastModified = e.ETag, e.LastModified
	}
	if v.State == frontier.Document {
		return rank.Result{Document: true}
	}
	l.batch.Read = append(l.batch.Read, frontier.Reading{Page: e.Hash(), URL: e.Link.URL, Day: v.At, Same: true})
	l.progress.Pages++
	return rank.Result{}
}

// schedule sets when a URL is requested again.
func (l *loop) schedule(e *frontier.Entry, v *frontier.Visit, r rank.Result) {
	event, document := eventOf(v, r), v.State == frontier.Document || e.Was == frontier.Document
	if v.State == frontier.Failed && !v.NextTry.IsZero() {
		v.Interval = e.Interval
		return // it is retried in this crawl
	}
	if !e.Visited.IsZero() {
		event = event.After(v.At.Sub(e.Visited), e.Interval)
	}
	next, again := l.cfg.Recrawl.Next(document, e.Interval, event)
	v.Interval = next
	if again {
		v.Due = v.At.Add(next)
	}
}

// eventOf classifies a visit for the recrawl policy.
func eventOf(v *frontier.Visit, r rank.Result) recrawl.Event {
	switch {
	case v.Unchanged():
		return recrawl.Unchanged
	case v.State == frontier.Failed:
		return recrawl.Failing
	case v.State == frontier.Gone && (v.Status == 404 || v.Outcome == SoftMissing):
		return recrawl.NotFound
	case v.State == frontier.Gone:
		return recrawl.Permanent
	case r.NewDocs > 0:
		return recrawl.Gained
	}
	return recrawl.Changed
}
