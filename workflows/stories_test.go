package workflows

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"

	"gleaner/activities"
	"gleaner/internal/crawl"
	"gleaner/internal/crawl/synthesis"
	"gleaner/internal/gleaner"
	"gleaner/internal/harvest/tables"
	"gleaner/internal/ingest"
	"gleaner/internal/record/store"
)

// answers are what activities answer, by their names and in their order.
type answers map[string][]any

// story is a workflow that TestRecord starts, and what its activities answer.
type story struct {
	id            string
	workflow, arg any // nil where another story starts it
	answers       answers
	fails         bool // or is cancelled
}

func runs(id string, workflow, arg any, a answers) story  { return story{id, workflow, arg, a, false} }
func fails(id string, workflow, arg any, a answers) story { return story{id, workflow, arg, a, true} }
func child(id string, a answers) story                    { return story{id: id, answers: a} }

// stories give every command of every workflow.
func stories() []story {
	b := busy{host: "busy.example", began: make(chan struct{}), asked: make(chan struct{}, 2)}
	return slices.Concat(siteStories(b), harvestStories(b), searchStories(),
		recrawlStories(b), jobStories(), collectionStories())
}

// busy is a host whose crawl is under way when others join it, and does not signal its end.
type busy struct {
	host         string
	began, asked chan struct{}
}

// begun answers when the crawl is under way.
func (b busy) begun(answer any) meanwhile {
	return meanwhile{func(ctx context.Context, _ client.Client) error {
		return received[struct{}](ctx, b.began)
	}, answer}
}

// ended answers whoever asks which crawls ended.
func (b busy) ended() meanwhile {
	return meanwhile{func(context.Context, client.Client) error { b.asked <- struct{}{}; return nil }, []string{b.host}}
}

// ended is the answer of a slice that recorded the end of its crawl.
func ended(watchers ...string) activities.Slice {
	s := exhausted
	s.Ended, s.Watchers = true, watchers
	return s
}

var (
	exhausted = activities.Slice{Result: crawl.Result{Ending: crawl.Exhausted}, Examined: true}
	full      = activities.Slice{Result: crawl.Result{Ending: crawl.SliceFull}, Venues: []string{"conf/first"}}
	resting   = activities.Slice{Result: crawl.Result{Ending: crawl.Paused}}
	waiting   = activities.Slice{Result: crawl.Result{Ending: crawl.Waiting, Wait: time.Second}}
)

func siteStories(b busy) []story {
	const host = "bad.example"
	wake := func(ctx context.Context, c client.Client) error {
		return c.SignalWorkflow(ctx, SiteID(host), "", SignalWake, nil)
	}
	return []story{
		runs(SiteID(host), CrawlSite, SiteParams{Host: host}, answers{
			"CrawlSlice": {
				waiting, silent(activities.CrawlSilence + activities.Silence), failure(activities.ErrTypeDatabase, 0), failure(activities.ErrTypeOther, 1),
				meanwhile{wake, resting}, exhausted, full,
			},
			"EndSite":         {meanwhile{wake, []string{"conf/none"}}, []string{"conf/none"}},
			"FilterDocuments": {activities.Judged{More: true}},
		}),
		runs(SiteID("long.example"), CrawlSite, SiteParams{Host: "long.example"}, answers{
			"CrawlSlice": slices.Repeat([]any{full}, 10),
		}),
		runs(SiteID(b.host), CrawlSite, SiteParams{Host: b.host}, answers{
			"CrawlSlice": {meanwhile{func(ctx context.Context, _ client.Client) error {
				close(b.began)
				return received[struct{}](ctx, b.asked, b.asked)
			}, exhausted}},
		}),
	}
}

func harvestStories(b busy) []story {
	of := func(venue string) (activities.Harvest, string) {
		h := harvestOf(gleaner.Goal{Venue: venue}, 0)
		return h, HarvestID(h.ID)
	}
	first, firstID := of("conf/first")
	again, againID := of("conf/again")
	many, manyID := of("conf/many")
	left, leftID := of("conf/left") // whose list has a host that is pending
	pending := HarvestState{Stage: gleaner.StageCrawl, Pending: []string{"left.example"}}
	broken, brokenID := of("conf/broken")
	dropped, droppedID := of("conf/dropped")
	site := harvestOf(gleaner.Goal{Site: "http://site.example/"}, 0)
	control := func(ctx context.Context, c client.Client) error {
		return cmp.Or(ask(firstID, UpdatePause)(ctx, c), ask(firstID, UpdateResume)(ctx, c),
			ask(firstID, UpdateRetryWhat, activities.Retry{Host: "a.example"})(ctx, c))
	}
	return []story{
		runs(firstID, HarvestVenue, HarvestParams{Harvest: first}, answers{
			"ListPapers":   {b.begun(nil)},
			"AskAgain":     {activities.Questions{Authors: 1}},
			"Requeue":      {activities.Requeued{Stalled: 1}},
			"SitesToCrawl": {sites("press.example"), sites(b.host, "a.example"), sites("b.example")},
			"Ended":        {b.ended()},
		}),
		child(SiteID("press.example"), answers{"CrawlSlice": {ended(first.ID)}}),
		child(SiteID("a.example"), answers{
			"CrawlSlice": {meanwhile{control, exhausted}},
			"EndSite":    {[]string{first.ID}},
		}),
		child(SiteID("b.example"), answers{"EndSite": {[]string{first.ID}}}),
		runs(againID, HarvestVenue, HarvestParams{Harvest: again, Retry: &activities.Retry{}}, answers{
			"StillOpen": {activities.Questions{Copies: 1}},
			"Report":    {meanwhile{ask(againID, UpdateRetryWhat, activities.Retry{}), nil}},
		}),
		runs(manyID, HarvestVenue, HarvestParams{Harvest: many}, answers{
			"SitesToCrawl": {sites(names("many")...)},
			"Ended":        {names("many")},
		}),
		child(activities.HomepagesID(manyID), answers{"SettleHomepages": {meanwhile{ask(manyID, UpdateResume), nil}}}),
		fails(leftID, HarvestVenue, HarvestParams{Harvest: left, State: pending}, answers{
			"SitesToCrawl": {sites("left.example")},
		}),
		child(SiteID("left.example"), answers{"CrawlSlice": {meanwhile{cancel(leftID), full}, exhausted}}),
		fails(brokenID, HarvestVenue, HarvestParams{Harvest: broken}, nil),
		child(activities.HomepagesID(brokenID), answers{
			"AuthorBatches": {temporal.NewNonRetryableApplicationError("it broke", activities.ErrTypeOther, nil)},
		}),
		fails(droppedID, HarvestVenue, HarvestParams{Harvest: dropped}, nil),
		child(activities.HomepagesID(droppedID), answers{"AuthorBatches": {meanwhile{cancel(droppedID), nil}}}),
		runs("scheduled site", OnSchedule, ScheduledParams{Harvest: &HarvestParams{Harvest: site}}, nil),
	}
}

func searchStories() []story {
	h := harvestOf(gleaner.Goal{Venue: "conf/search"}, 1)
	searches := func(ctx context.Context, _ client.Client) error {
		return received(ctx, time.After(firstLook+5*time.Second))
	}
	return []story{runs(activities.HomepagesID(HarvestID(h.ID)), FindHomepages, HomepagesParams{Harvest: h}, answers{
		"AuthorBatches": {activities.AuthorBatches{Last: names("author"), More: true}},
		"SitesFound":    {activities.Sites{Hosts: []string{"early.example"}, More: true}, activities.Sites{More: true}},
		"Ended":         {[]string{"early.example"}},
		"FindHomepages": slices.Repeat([]any{meanwhile{searches, nil}}, BatchesAtOnce),
	})}
}

func recrawlStories(b busy) []story {
	of := func(venue string) RecrawlParams {
		return RecrawlParams{Due: activities.Due{Of: store.Selection{Venue: venue}}}
	}
	joined := of("conf/first")
	joined.Whitelist = &activities.Whitelist{}
	many, left := of("conf/many"), of("conf/left")
	return []story{
		runs("scheduled recrawl", OnSchedule, ScheduledParams{Recrawl: &joined}, nil),
		child(RecrawlID("conf/first"), answers{
			"ListDue": {b.begun(sites(b.host))},
			"PutBack": {[]string{b.host}},
			"Ended":   {b.ended()},
		}),
		runs(RecrawlID("conf/many"), RecrawlDue, many, answers{
			"ListDue": {sites(names("due")...)},
			"PutBack": {names("due")},
			"Ended":   {names("due")},
		}),
		fails(RecrawlID("conf/left"), RecrawlDue, left, answers{
			"ListDue": {sites("due.example")},
			"PutBack": {[]string{"due.example"}},
		}),
		child(SiteID("due.example"), answers{
			"CrawlSlice": {meanwhile{cancel(RecrawlID("conf/left")), full}, exhausted},
		}),
	}
}

func jobStories() []story {
	return []story{
		runs(ImportID(1), ImportCrawl, ingest.Run{Job: 1}, answers{
			"ImportSlice": append(slices.Repeat([]any{ingest.Progress{}}, 10), ingest.Progress{Ended: true}),
		}),
		fails(ImportID(3), ImportCrawl, ingest.Run{Job: 3}, answers{
			"ImportSlice": {meanwhile{cancel(ImportID(3)), ingest.Progress{}}},
		}),
		runs(JobID("clean", 1), TableJob, tables.Run{Job: 1, Kind: "clean"}, answers{
			"DoTableJob": slices.Repeat([]any{tables.Progress{More: true}}, 10),
		}),
		runs(JudgeLeftID, JudgeLeft, nil, answers{"FilterDocuments": slices.Repeat([]any{activities.Judged{More: true}}, 10)}),
		runs(TellNewsID, TellNews, nil, nil),
	}
}

func collectionStories() []story {
	const name = "first"
	id := CollectionsID(name)
	pauses := func(ctx context.Context, c client.Client) error {
		return cmp.Or(ask(id, UpdatePause)(ctx, c), ask(id, UpdateResume)(ctx, c))
	}
	askedAgain := func(ctx context.Context, c client.Client) error {
		return c.SignalWorkflow(ctx, id, "", SignalAskedAgain, CollectParams{Name: name, Run: 2, Parallel: 1})
	}
	return []story{
		runs(id, SynthesizeCollections, CollectParams{Name: name, Run: 1, Parallel: 1}, answers{
			"PrepareCollection": {meanwhile{pauses, synthesis.Prepared{Paused: true}}, synthesis.Prepared{}},
			"CollectSlice": slices.Concat(
				[]any{crawl.Result{Ending: crawl.Waiting, Wait: time.Second}},
				[]any{crawl.Result{Progress: crawl.Progress{Pages: 1}}},
				slices.Repeat([]any{crawl.Result{}}, 10),
				[]any{crawl.Result{Ending: synthesis.Full}, crawl.Result{Ending: synthesis.Exhausted}}),
			"EndCollection": {meanwhile{askedAgain, nil}},
		}),
	}
}

func harvestOf(goal gleaner.Goal, window int) activities.Harvest {
	return activities.NewHarvest(goal, gleaner.Years{}, activities.HarvestOptions{Window: window})
}

// names are of more hosts, or authors, than one run has room for.
func names(prefix string) (names []string) {
	for i := range 12 {
		names = append(names, fmt.Sprintf("%s-%02d.example", prefix, i))
	}
	return names
}

func sites(hosts ...string) activities.Sites {
	return activities.Sites{Hosts: hosts, Last: hosts[len(hosts)-1]}
}

// ask sends a workflow an update.
func ask(id, update string, args ...any) func(context.Context, client.Client) error {
	return func(ctx context.Context, c client.Client) error {
		o := client.UpdateWorkflowOptions{
			WorkflowID:   id,
			UpdateName:   update,
			Args:         args,
			WaitForStage: client.WorkflowUpdateStageCompleted,
		}
		h, err := c.UpdateWorkflow(ctx, o)
		if err != nil {
			return err
		}
		return h.Get(ctx, nil)
	}
}

func cancel(id string) func(context.Context, client.Client) error {
	return func(ctx context.Context, c client.Client) error { return c.CancelWorkflow(ctx, id, "") }
}

// received waits until each of the channels was received from.
func received[T any](ctx context.Context, from ...<-chan T) error {
	for _, c := range from {
		select {
		case <-c:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}
