package activities

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"go.temporal.io/sdk/activity"

	"gleaner/internal/crawl"
	"gleaner/internal/gleaner"
	"gleaner/internal/record/store"
	"gleaner/internal/service/app"
)

// Crawl asks sites.
type Crawl struct {
	db      *store.DB
	crawler *crawl.Crawler
	watch   app.Watch
	end     func(context.Context, SiteEnd) (watchers []string, err error)
	running atomic.Int32 // slices that this worker crawls
}

// An activity crawls slice after slice for an hour, since Temporal writes six events for
// each, and a slow host gets few requests in one slice. Where a worker has so many at once
// that others wait for its places, each of them gives up its own after one slice.
const (
	severalSlices = time.Hour
	manyCrawls    = CrawlPlaces * 3 / 4
)

// outagePatience is for how long a slice after one that failed waits for the blob store, or for
// room: each attempt is some events of its workflow.
const outagePatience = 10 * time.Minute

// CrawlPlaces is how many sites a worker crawls at a time; nearly all of them wait.
const CrawlPlaces = 4000

// CrawlSlice crawls a part of one site, in several slices, or in one: that shows whether
// a site that failed goes on. The place to go on from is in the record, so a second
// attempt goes on where the first was killed. Where nothing waits any more, for nobody, it
// records the end of the crawl, too.
func (a *Crawl) CrawlSlice(ctx context.Context, host string, one bool) (Slice, error) {
	began := time.Now()
	var s Slice
	r, err := slice(ctx, a.watch, func(beat context.Context, report func(crawl.Progress)) (r crawl.Result, err error) {
		a.running.Add(1)
		defer a.running.Add(-1)
		next := func(e crawl.Ending) bool {
			goesOn := !one && a.goesOn(beat, host, began, s.Venues)
			if goesOn {
				a.watch.SliceEnded(string(e))
			}
			return goesOn
		}
		var failed error           // of slices that did something, which the workflow counts
		var patience time.Duration // the first failure is for people to see
		if one {
			patience = outagePatience
		}
		err = untilBack(beat, patience, func() (err error) {
			if s.Venues, err = a.db.SiteVenues(beat, host); err != nil {
				return err
			}
			if r, err = a.crawler.Slices(beat, host, report, next); r.Progress != (crawl.Progress{}) {
				failed, err = err, nil
			}
			return err
		})
		if err = cmp.Or(err, failed); err != nil {
			return r, err
		}
		if now, err := a.db.SiteVenues(ctx, host); err == nil {
			s.Venues = now // they are for people to see; the slice is done
		}
		waits, unknown := a.db.Unexamined(ctx, host)
		s.Examined = unknown == nil && !waits
		if r.Ending == crawl.Exhausted && s.Examined && undisturbed(ctx) {
			s.Watchers, err = a.end(beat, SiteEnd{Host: host, State: gleaner.SiteDone, Reason: r.Reason, Crawl: r.Crawl})
			s.Ended = err == nil // else the workflow has it done
		}
		return r, nil
	})
	s.Result = r
	return s, typed(err, r)
}

// undisturbed reports whether nothing came for an activity's workflow, such as a signal,
// since it asked for the activity: by the event that did, the id of the activity, its history ends.
func undisturbed(ctx context.Context) bool {
	in := activity.GetInfo(ctx)
	d, err := activity.GetClient(ctx).DescribeWorkflowExecution(ctx, in.WorkflowExecution.ID, in.WorkflowExecution.RunID)
	return err == nil && fmt.Sprint(d.GetWorkflowExecutionInfo().GetHistoryLength()) == in.ActivityID
}

// goesOn reports whether another slice of a site may follow in the same activity. It may not
// if a harvest has joined, since the workflow shows the harvests.
func (a *Crawl) goesOn(ctx context.Context, host string, began time.Time, of []string) bool {
	if time.Since(began) > severalSlices || a.running.Load() > manyCrawls {
		return false
	}
	now, err := a.db.SiteVenues(ctx, host)
	return err == nil && slices.Equal(now, of)
}

// slice runs a slice of a crawl. Its result includes the progress of interrupted attempts. If
// the worker stops, the slice ends regularly, and the next one continues.
func slice(ctx context.Context, watch app.Watch, run func(context.Context, func(crawl.Progress)) (crawl.Result, error)) (crawl.Result, error) {
	beat, set, stop := heartbeats[crawl.Progress](ctx)
	defer stop()
	before, _ := resumed[crawl.Progress](ctx)
	progress := watchedProgress{watch: watch}
	r, err := run(beat, func(p crawl.Progress) { set(before.Plus(p)); progress.upTo(p) })
	progress.upTo(r.Progress)
	r.Progress = before.Plus(r.Progress)
	if err != nil && beat.Err() != nil && ctx.Err() == nil {
		r.Ending, err = crawl.SliceFull, nil
	}
	watch.SliceEnded(string(r.Ending))
	return r, err
}

// LinkCounts are how many links on record a harvest took.
type LinkCounts = store.LinkCounts

// LinkSearch asks for links on record that lead to a harvest's missing papers.
type LinkSearch struct {
	Harvest string     `json:"harvest"`
	Since   time.Time  `json:"since,omitzero"` // of pages read since; of all where it is zero
	Counted LinkCounts `json:"counted"`        // what the harvest took before
}

// FindLinks searches the kept links of all sites for a harvest's missing papers. It makes no
// requests.
func (a *Crawl) FindLinks(ctx context.Context, s LinkSearch) (LinkCounts, error) {
	beat, set, stop := heartbeats[crawl.KeptPosition](ctx)
	defer stop()
	from, _ := resumed[crawl.KeptPosition](ctx)
	at, err := a.crawler.FindLinks(beat, s.Harvest, s.Since, from, set)
	if err == nil {
		s.Counted.Found += at.Links
		err = a.db.CountLinks(beat, s.Harvest, s.Counted)
	}
	return s.Counted, typed(err)
}

// reopening is the position of ReopenLinks.
type reopening struct {
	Host  string `json:"host"` // the last one
	Links int    `json:"links"`
}

// ReopenLinks takes links of a harvest's sites that crawls under other options did not take.
func (a *Crawl) ReopenLinks(ctx context.Context, s LinkSearch) (LinkCounts, error) {
	beat, set, stop := heartbeats[reopening](ctx)
	defer stop()
	at, _ := resumed[reopening](ctx)
	for {
		hosts, err := a.db.ReadSites(beat, s.Harvest, at.Host, hostsPerRetry)
		if err != nil {
			return s.Counted, typed(err)
		}
		if len(hosts) == 0 {
			s.Counted.Reopened += at.Links
			return s.Counted, typed(a.db.CountLinks(beat, s.Harvest, s.Counted))
		}
		for _, host := range hosts {
			n, err := a.crawler.ReopenLinks(beat, s.Harvest, host)
			if err != nil {
				return s.Counted, typed(err)
			}
			at = reopening{Host: host, Links: at.Links + n}
			set(at)
		}
	}
}

// watchedProgress passes the progress of a slice to a Watch, as differences. A slice reports
// from two goroutines, so that an older count may come after a newer one.
type watchedProgress struct {
	watch  app.Watch
	mu     sync.Mutex
	passed crawl.Progress
}

func (w *watchedProgress) upTo(p crawl.Progress) {
	w.mu.Lock()
	defer w.mu.Unlock()
	more := func(passed *int, now int) int {
		n := max(0, now-*passed)
		*passed += n
		return n
	}
	pages, documents := more(&w.passed.Pages, p.Pages), more(&w.passed.Documents, p.Documents)
	w.watch.Crawled(pages, documents, more(&w.passed.Accepted, p.Accepted), more(&w.passed.Found, p.Found))
}
