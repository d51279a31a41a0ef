package workflows

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"go.temporal.io/sdk/workflow"

	"gleaner/activities"
	"gleaner/internal/crawl"
	"gleaner/internal/crawl/synthesis"
)

// CollectParams starts or continues the making of collections by topic. What they are
// is in the record, under their name.
type CollectParams struct {
	Name     string       `json:"name"`
	Run      int          `json:"run,omitempty"`      // of the record's that this makes
	Parallel int          `json:"parallel,omitempty"` // slices at a time, each of which asks one host at a time; 0 is 4
	State    CollectState `json:"state"`              // of the runs before
}

// CollectState is what a run hands to the next, and what QueryStatus tells.
type CollectState struct {
	Prepared *synthesis.Prepared `json:"prepared,omitempty"` // nil before the centroids are made
	Total    crawl.Progress      `json:"total"`
	Paused   bool                `json:"paused,omitempty"`
	End      crawl.Ending        `json:"end,omitempty"`
	Reason   string              `json:"reason,omitempty"` // beside End, for a person
}

// CollectionsID is the workflow id of the collections of a name: one at a time.
func CollectionsID(name string) string { return "collections/" + name }

// SignalAskedAgain tells a run that its collections were asked for after it had ended them
// (record.Ask did not find them running): the next follows at once, under the parameters
// that come with the signal, whenever that comes.
const SignalAskedAgain = "asked-again"

// SynthesizeCollections makes collections by topic: the centroids first, then slices
// of one crawl over many hosts, some at a time, until the collections are full, nothing
// waits, or a limit is reached.
func SynthesizeCollections(ctx workflow.Context, p CollectParams) (CollectState, error) {
	if p.Parallel <= 0 {
		p.Parallel = 4
	}
	c := &collectRun{p: p, s: p.State, next: p, again: signals(ctx, SignalAskedAgain), pausing: workflow.NewMutex(ctx)}
	if err := c.listen(ctx); err != nil {
		return c.s, err
	}
	err := c.run(ctx)
	if workflow.IsContinueAsNewError(err) {
		return c.s, err
	}
	if ended := c.end(ctx, err); err == nil {
		err = ended
	}
	own, _ := workflow.NewDisconnectedContext(ctx)
	_ = workflow.Await(own, func() bool { return workflow.AllHandlersFinished(ctx) }) // else a pause fails that is on record
	if c.askedAgain() {
		return c.s, workflow.NewContinueAsNewError(ctx, SynthesizeCollections, c.next)
	}
	return c.s, err
}

type collectRun struct {
	p       CollectParams
	s       CollectState
	next    CollectParams // the latest asking of those that came, and of what this run makes
	again   workflow.ReceiveChannel
	pausing workflow.Mutex // held by who pauses or resumes
	resumed int            // how often
}

// askedAgain reports whether they were asked for after what this run makes.
func (c *collectRun) askedAgain() bool {
	for {
		var p CollectParams
		if !c.again.ReceiveAsync(&p) {
			return c.next.Run > c.p.Run
		}
		if p.Run > c.next.Run {
			c.next = p
		}
	}
}

func (c *collectRun) listen(ctx workflow.Context) error {
	return cmp.Or(
		query(ctx, QueryStatus, func() (CollectState, error) { return c.s, nil }),
		update(ctx, UpdatePause, func(ctx workflow.Context) error { return c.pause(ctx, true) }),
		update(ctx, UpdateResume, func(ctx workflow.Context) error { return c.pause(ctx, false) }),
	)
}

func (c *collectRun) pause(ctx workflow.Context, paused bool) error {
	err := c.pausing.Lock(ctx)
	if err != nil {
		return err
	}
	defer c.pausing.Unlock()
	if err = workflow.ExecuteActivity(quick(ctx, "pause"), topical.PauseCollection, c.p.Name, paused).Get(ctx, nil); err == nil {
		c.s.Paused = paused
		if !paused {
			c.resumed++
		}
	}
	return err
}

// rest waits while the collections are paused, and not asked for again. Where the record said
// so to an activity, it holds though this run was not asked to pause, unless it was resumed
// since: the run before may have been lost.
func (c *collectRun) rest(ctx workflow.Context, recorded bool, resumed int) error {
	if recorded && c.resumed == resumed {
		c.s.Paused = true
		workflow.SetCurrentDetails(ctx, c.details())
	}
	return workflow.Await(ctx, func() bool { return !c.s.Paused || c.askedAgain() })
}

func (c *collectRun) run(ctx workflow.Context) error {
	if c.s.Prepared == nil {
		if err := workflow.UpsertTypedSearchAttributes(ctx, attrStage.ValueSet("searching")); err != nil {
			return err
		}
		if err := c.prepare(ctx); err != nil {
			return err
		}
	}
	if err := workflow.UpsertTypedSearchAttributes(ctx, attrStage.ValueSet("collecting")); err != nil {
		return err
	}
	for !c.askedAgain() {
		if runIsFull(ctx) {
			err := workflow.Await(ctx, func() bool { return workflow.AllHandlersFinished(ctx) })
			if err != nil || c.askedAgain() { // a signal does not outlive the run that it reached
				return err
			}
			c.p.State = c.s
			return workflow.NewContinueAsNewError(ctx, SynthesizeCollections, c.p)
		}
		workflow.SetCurrentDetails(ctx, c.details())
		if err := c.rest(ctx, false, 0); err != nil {
			return err
		}
		resumed := c.resumed
		results, err := c.slices(ctx)
		if err != nil {
			return err
		}
		end, wait := afterRound(results)
		if end != "" {
			c.s.End = end
			for _, r := range results {
				if r.Ending == end {
					c.s.Reason = r.Reason
				}
			}
			return nil
		}
		if wait > 0 {
			if _, err := waitFor(ctx, "until a host may be asked", workflow.AwaitOptions{Timeout: wait}, func() bool { return c.s.Paused }); err != nil {
				return err
			}
		}
		paused := slices.ContainsFunc(results, func(r crawl.Result) bool { return r.Ending == crawl.Paused })
		if err := c.rest(ctx, paused, resumed); err != nil {
			return err
		}
	}
	return nil
}

// prepare has the centroids made, also where that is paused meanwhile.
func (c *collectRun) prepare(ctx workflow.Context) error {
	for {
		var p synthesis.Prepared
		resumed := c.resumed
		if err := workflow.ExecuteActivity(long(ctx, activities.QueueCrawl, "a search and a centroid for each topic"), topical.PrepareCollection, c.p.Name).Get(ctx, &p); err != nil {
			return err
		}
		if !p.Paused {
			c.s.Prepared = &p
			return nil
		}
		// The record says so first.
		if err := workflow.Sleep(ctx, time.Second); err != nil {
			return err
		}
		if err := c.rest(ctx, true, resumed); err != nil || c.askedAgain() {
			return err
		}
	}
}

// slices runs some slices side by side; the record keeps them from each other's hosts.
func (c *collectRun) slices(ctx workflow.Context) ([]crawl.Result, error) {
	futures := make([]workflow.Future, c.p.Parallel)
	for i := range futures {
		futures[i] = workflow.ExecuteActivity(long(ctx, activities.QueueCrawl, fmt.Sprintf("slice %d of %d", i+1, len(futures))), topical.CollectSlice, c.p.Name)
	}
	results := make([]crawl.Result, len(futures))
	var failed error
	for i, f := range futures {
		if err := f.Get(ctx, &results[i]); err != nil {
			failed = err
		}
		c.s.Total = c.s.Total.Plus(results[i].Progress)
	}
	return results, failed
}

// longestWait is after how long a collection looks again at hosts that cannot be asked.
const longestWait = 10 * time.Minute

// afterRound is what follows slices that ran side by side: the end, another round at
// once, or one after a wait. Nothing waits only where all of them say so: what one was
// at may have brought something for the others.
func afterRound(results []crawl.Result) (end crawl.Ending, wait time.Duration) {
	exhausted, waiting, paused := 0, 0, false
	wait = longestWait
	for _, r := range results {
		switch r.Ending {
		case synthesis.Full, crawl.PageLimit, crawl.TimeLimit, synthesis.Stopped:
			return r.Ending, 0
		case synthesis.Exhausted:
			exhausted++
		case crawl.Waiting:
			waiting++
			wait = min(wait, r.Wait)
		case crawl.Paused:
			paused = true
		}
	}
	switch {
	case paused: // by the record; the workflow is asked to as well
		return "", time.Second
	case exhausted == len(results):
		return synthesis.Exhausted, 0
	case exhausted+waiting == len(results):
		return "", wait
	}
	return "", 0
}

// end writes down how it ended, also that of a cancelled one.
func (c *collectRun) end(ctx workflow.Context, err error) error {
	end := activities.CollectionEnd{Name: c.p.Name, Run: c.p.Run, State: activities.JobEnded}
	end.Note = strings.Trim(string(c.s.End)+": "+c.s.Reason, ": ")
	switch {
	case ctx.Err() != nil:
		end.State, end.Note = activities.JobCancelled, ""
	case err != nil:
		end.State, end.Note = activities.JobFailed, rootCause(err)
	}
	ctx, cancel := workflow.NewDisconnectedContext(ctx)
	defer cancel()
	workflow.SetCurrentDetails(ctx, c.details()+fmt.Sprintf("\n**%s** %s\n", end.State, end.Note))
	if err := workflow.ExecuteActivity(quick(ctx, "its end"), topical.EndCollection, end).Get(ctx, nil); err != nil {
		return err
	}
	return workflow.UpsertTypedSearchAttributes(ctx, attrStage.ValueSet(end.State), attrOutcome.ValueSet(end.State))
}

func (c *collectRun) details() string {
	t := c.s.Total
	d := fmt.Sprintf("### collections %s\n\n", c.p.Name)
	if c.s.Paused {
		d += "**paused**\n\n"
	}
	if p := c.s.Prepared; p != nil {
		d += fmt.Sprintf("%d topics with a centroid; without: %s\n\n", p.Centroids, cmp.Or(strings.Join(p.Without, ", "), "none"))
	}
	if p := c.s.Prepared; p != nil && len(p.Unsure) > 0 {
		d += fmt.Sprintf("**only %.0f %% of the pages that made a centroid would be collected for its topic**, fewest of: %s\n\n", 100*p.Own, strings.Join(p.Unsure, ", "))
	}
	return d + fmt.Sprintf("| requests | refused | pages | documents | on topic | failed |\n|--:|--:|--:|--:|--:|--:|\n| %d | %d | %d | %d | %d | %d |\n", t.Requests, t.Refused, t.Pages, t.Documents, t.Entries, t.Failed)
}
