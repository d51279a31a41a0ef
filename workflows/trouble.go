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

// Trouble is work that fails and is tried again.
type Trouble struct {
	Attempt int       `json:"attempt,omitempty"` // in a row, without progress between; 0 is no trouble
	Since   time.Time `json:"since,omitzero"`
	Error   string    `json:"error,omitempty"`
	Own     int       `json:"own,omitempty"` // attempts that an outage of our own servers does not explain
}

// String says it to a person.
func (t Trouble) String() string {
	return fmt.Sprintf("since %s, attempt %d: %s", t.Since.UTC().Format("2006-01-02 15:04:05 MST"), t.Attempt, t.Error)
}

// MemoTrouble is where a site's workflow shows its Trouble to who describes it.
const MemoTrouble = "GleanerTrouble"

// slicesThatFail is after how many slices in a row that failed, without progress
// and without an outage to blame, a site's crawl ends.
const slicesThatFail = 10

// slice runs one slice, as one attempt: how often a slice may fail depends on
// whether there was progress between, which only the workflow knows.
func (c *siteRun) slice(ctx workflow.Context) (activities.Slice, error) {
	ctx = long(ctx, activities.QueueCrawl, c.p.Host) // while the database is away a slice keeps what it has
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

// afterFailure is what follows a slice that failed: another one after a while,
// or the crawl's end.
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

// pauseAfter is how long a site waits after slices that failed. An outage ends at
// some moment, and the wait for that does not grow beyond some seconds; a slice
// whose worker died is begun again at once.
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

// doneBefore is what a slice did before it failed: its error says so, or, of its progress
// alone, its last heartbeat where the process died.
func doneBefore(err error) (did crawl.Result) {
	var app *temporal.ApplicationError
	var late *temporal.TimeoutError
	switch {
	case errors.As(err, &app) && app.HasDetails():
		_ = app.Details(&did) // what cannot be read is no progress
	case errors.As(err, &late) && late.HasLastHeartbeatDetails():
		_ = late.LastHeartbeatDetails(&did)
	}
	return did
}

// index keeps the list of venues that want the site, by which it is found.
func (c *siteRun) index(ctx workflow.Context, venues []string) {
	if venues = venuesOf(venues...); len(venues) == 0 || slices.Equal(venues, c.p.Venues) {
		return
	}
	c.p.Venues = venues
	_ = workflow.UpsertTypedSearchAttributes(ctx, attrVenues.ValueSet(venues))
}

// show makes trouble, and its end, seen from outside.
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
