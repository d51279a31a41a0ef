package workflows

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"gleaner/activities"
	"gleaner/internal/crawl"
	"gleaner/internal/gleaner"
)

// Trouble describes consecutive failures of a crawl's slices.
type Trouble struct {
	Attempt int       `json:"attempt,omitempty"` // failures in a row, without progress between; 0 is no trouble
	Since   time.Time `json:"since,omitzero"`
	Error   string    `json:"error,omitempty"`
	Own     int       `json:"own,omitempty"` // failures other than outages of our own servers
}

// String returns a line for people.
func (t Trouble) String() string {
	return fmt.Sprintf("since %s, attempt %d: %s", t.Since.UTC().Format("2006-01-02 15:04:05 MST"), t.Attempt, t.Error)
}

// MemoTrouble is the memo field of a site's workflow with its Trouble.
const MemoTrouble = "GleanerTrouble"

// slicesThatFail is the number of consecutive failures, without progress and without an
// outage, after which a crawl ends.
const slicesThatFail = 10

// slice runs a slice with one attempt. How often slices may fail depends on the progress
// between, which only the workflow knows.
func (c *siteRun) slice(ctx workflow.Context) (activities.Slice, error) {
	ctx = long(ctx, activities.QueueCrawl, c.p.Host) // a slice waits while the database is unavailable
	o := workflow.GetActivityOptions(ctx)
	o.RetryPolicy = &temporal.RetryPolicy{MaximumAttempts: 1}
	o.HeartbeatTimeout = activities.CrawlSilence
	o.StartToCloseTimeout += time.Hour // of slices
	var s activities.Slice
	failed := c.p.Trouble.Attempt > 0
	err := workflow.ExecuteActivity(workflow.WithActivityOptions(ctx, o), crawler.CrawlSlice, c.p.Host, failed).Get(ctx, &s)
	if err == nil {
		c.p.Total = c.p.Total.Plus(s.Progress)
		c.show(ctx, Trouble{})
		c.index(ctx, s.Venues)
	}
	return s, err
}

// afterFailure returns the next step after a failed slice: another slice after a wait, or the
// crawl's end.
func (c *siteRun) afterFailure(ctx workflow.Context, err error) step {
	if temporal.IsCanceledError(err) || ctx.Err() != nil {
		return step{state: gleaner.SiteStopped, reason: "cancelled"}
	}
	t := c.p.Trouble
	did := doneBefore(err)
	c.p.Crawl = cmp.Or(did.Crawl, c.p.Crawl)
	if did.Requests > 0 {
		c.p.Total = c.p.Total.Plus(did.Progress)
		t = Trouble{}
	}
	if t.Attempt++; t.Attempt == 1 {
		t.Since = workflow.Now(ctx)
	}
	t.Error = rootCause(err)
	var app *temporal.ApplicationError
	errors.As(err, &app)
	outage := app != nil && activities.Outage(app.Type())
	if !outage {
		t.Own++
	}
	c.show(ctx, t)
	switch {
	case app != nil && app.NonRetryable():
		return step{state: gleaner.SiteStopped, reason: t.Error}
	case t.Own >= slicesThatFail:
		return step{state: gleaner.SiteStopped, reason: fmt.Sprintf("%d slices in a row failed without progress, the last one: %s", t.Own, t.Error)}
	}
	return step{wait: pauseAfter(err, t.Attempt, outage), reason: t.Error}
}

// pauseAfter returns the wait after failed slices. During an outage it does not grow beyond
// some seconds, since an outage may end at any moment. After the death of a worker it is
// short.
func pauseAfter(err error, attempt int, outage bool) time.Duration {
	longest := time.Minute
	var lost *temporal.TimeoutError
	var app *temporal.ApplicationError
	switch {
	case errors.As(err, &lost) && attempt == 1:
		return time.Second / 2
	case outage:
		longest = activities.OutageLook
	}
	wait := min(time.Second<<min(attempt-1, 6), longest)
	if errors.As(err, &app) {
		wait = max(wait, app.NextRetryDelay())
	}
	return wait
}

// doneBefore returns the result of a slice before it failed, from the details of its error. If
// the process died, it returns the progress of the last heartbeat.
func doneBefore(err error) (did crawl.Result) {
	var app *temporal.ApplicationError
	var late *temporal.TimeoutError
	switch {
	case errors.As(err, &app) && app.HasDetails():
		_ = app.Details(&did) // undecodable details are no progress
	case errors.As(err, &late) && late.HasLastHeartbeatDetails():
		_ = late.LastHeartbeatDetails(&did)
	}
	return did
}

// index updates the search attribute with the venues that want the site.
func (c *siteRun) index(ctx workflow.Context, venues []string) {
	if venues = venuesOf(venues...); len(venues) == 0 || slices.Equal(venues, c.p.Venues) {
		return
	}
	c.p.Venues = venues
	_ = workflow.UpsertTypedSearchAttributes(ctx, attrVenues.ValueSet(venues))
}

// show updates memo and search attribute when trouble begins, changes or ends.
func (c *siteRun) show(ctx workflow.Context, t Trouble) {
	if t == c.p.Trouble {
		return
	}
	c.p.Trouble = t
	stage := string(gleaner.SiteCrawling)
	if t.Attempt > 0 {
		stage = "failing"
	}
	_ = workflow.UpsertTypedSearchAttributes(ctx, attrStage.ValueSet(stage))
	_ = workflow.UpsertMemo(ctx, map[string]any{MemoTrouble: t})
}
