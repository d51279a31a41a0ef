package activities

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"

	"gleaner/internal/gleaner"
	"gleaner/internal/harvest"
	"gleaner/internal/harvest/report"
	"gleaner/internal/harvest/stats"
	"gleaner/internal/record/store"
	"gleaner/internal/recrawl"
)

// Stages runs the stages of a harvest between its crawls.
type Stages struct {
	db      *store.DB
	stages  *harvest.Stages
	stats   stats.Thresholds
	recrawl recrawl.Policy
	policy  string // of the crawl: blacklist, whitelist or hybrid

	// Hurry starts the activities of a harvest that wait for their next attempt. It is nil
	// in the SDK's test environment, which has no server.
	Hurry func(context.Context)
}

// Begin records the beginning of a harvest.
func (a *Stages) Begin(ctx context.Context, h Harvest) error {
	defer alive(ctx)()
	if err := h.Options.Check(); err != nil {
		return temporal.NewNonRetryableApplicationError(err.Error(), ErrTypeInput, err)
	}
	options, err := json.Marshal(h.Options)
	if err != nil {
		return err
	}
	return typed(a.db.SaveHarvest(ctx, store.Harvest{ID: h.ID, Venue: h.Venue, Years: h.Years, Options: options, Stage: gleaner.StagePapers}))
}

// ListPapers lists the published papers, and which of them are wanted.
func (a *Stages) ListPapers(ctx context.Context, h Harvest) (Listed, error) {
	beat, set, stop := heartbeats[string](ctx)
	defer stop()
	l, err := unlessPaused(beat, a.db, h.ID, func(ctx context.Context) (Listed, error) {
		return a.stages.ListPapers(ctx, h.ID, h.Venue, h.Years, set)
	})
	if len(l.Missing) > 20 {
		l.Missing = append(l.Missing[:20], fmt.Sprintf("and %d more", len(l.Missing)-20))
	}
	return l, typed(err)
}

// LocateCopies adds open copies of missing papers to the frontier.
func (a *Stages) LocateCopies(ctx context.Context, h Harvest) (harvest.Seeded, error) {
	beat, set, stop := heartbeats[harvest.Asked](ctx)
	defer stop()
	from, _ := resumed[harvest.Asked](ctx)
	return result(unlessPaused(beat, a.db, h.ID, func(ctx context.Context) (harvest.Seeded, error) {
		return a.stages.LocateCopies(ctx, h.ID, from, set)
	}))
}

// LocateAgain repeats the failed queries for copies.
func (a *Stages) LocateAgain(ctx context.Context, h Harvest) (harvest.Seeded, error) {
	beat, set, stop := heartbeats[string](ctx)
	defer stop()
	return result(unlessPaused(beat, a.db, h.ID, func(ctx context.Context) (harvest.Seeded, error) {
		return a.stages.LocateAgain(ctx, h.ID, func(done, of int) { set(fmt.Sprintf("%d of %d papers", done, of)) })
	}))
}

// StillOpen counts the unanswered requests, by stage.
func (a *Stages) StillOpen(ctx context.Context, id string) (store.Questions, error) {
	defer alive(ctx)()
	return result(a.db.StillOpen(ctx, id))
}

// AskAgain makes the unanswered requests due. A harvest repeats them once before it reports a
// paper as missing.
func (a *Stages) AskAgain(ctx context.Context, id string) (store.Questions, error) {
	defer alive(ctx)()
	return result(a.db.AskAgain(ctx, store.RetryFilter{Harvest: id}, false))
}

// AuthorBatches divides the next authors of a pass into b.Limit batches of size authors each,
// which may run in parallel.
func (a *Stages) AuthorBatches(ctx context.Context, b Batch, size int) (AuthorBatches, error) {
	defer alive(ctx)()
	since, err := a.decidedSince(ctx, b)
	if err != nil {
		return AuthorBatches{}, typed(err)
	}
	last, more, err := a.stages.AuthorBatches(ctx, b.Harvest.ID, store.AuthorRange{After: b.After, Limit: b.Limit, AsOf: b.AsOf}, size, b.Pass, since)
	return AuthorBatches{Last: last, More: more}, typed(err)
}

// decidedSince returns the time since which decisions on authors are valid; zero is the
// default.
func (a *Stages) decidedSince(ctx context.Context, b Batch) (time.Time, error) {
	if b.Pass == 2 || !b.Harvest.Options.Refresh {
		return b.Settled, nil
	}
	h, err := a.db.FindHarvest(ctx, b.Harvest.ID)
	return h.StartedAt, err
}

// FindHomepages searches for the homepages of a batch of authors.
func (a *Stages) FindHomepages(ctx context.Context, b Batch) (Authors, error) {
	beat, set, stop := heartbeats[string](ctx)
	defer stop()
	since, err := a.decidedSince(ctx, b)
	if err != nil {
		return Authors{}, typed(err)
	}
	return result(unlessPaused(beat, a.db, b.Harvest.ID, func(ctx context.Context) (Authors, error) {
		return a.stages.FindHomepages(ctx, b.Harvest.ID, b.Harvest.Venue, harvest.Part{
			Authors: store.AuthorRange{After: b.After, UpTo: b.UpTo, Limit: b.Limit, AsOf: b.AsOf},
			Pass:    b.Pass, Since: since, Delay: b.Harvest.Options.Delay,
		}, func(done, of int) { set(fmt.Sprintf("%d of %d authors", done, of)) })
	}))
}

// SitesFound adds homepages to the frontier while the search for others runs, and returns their
// hosts. It does nothing without a web search: then the search does not wait, and it uses
// the local index, which crawls must not change meanwhile.
func (a *Stages) SitesFound(ctx context.Context, b Batch) (Sites, error) {
	defer alive(ctx)()
	if !a.stages.WebSearch {
		return Sites{}, nil
	}
	if paused, err := a.db.Paused(ctx, b.Harvest.ID); err != nil || paused {
		return Sites{Paused: paused, More: true}, typed(err)
	}
	if b.Limit == 0 {
		return Sites{More: true}, nil
	}
	hosts, err := a.stages.SeedFound(ctx, b.Harvest.ID, b.Without, b.Limit)
	return Sites{Hosts: hosts, More: true}, typed(err)
}

// SettleHomepages assigns each page to one author, after each pass.
func (a *Stages) SettleHomepages(ctx context.Context, h Harvest) (harvest.Settled, error) {
	beat, _, stop := heartbeats[string](ctx)
	defer stop()
	return result(a.stages.SettleHomepages(beat, h.ID))
}

// seeding is the position of SeedHomepages: the hosts whose homepages were added, and after
// all of them the hosts whose due URLs were put back.
type seeding struct {
	harvest.Seeded
	Host    string `json:"host"` // the last one
	Done    bool   `json:"done"` // all hosts have their homepages
	PutBack string `json:"put_back"`
}

// SeedHomepages adds the homepages found, or the site of the goal, to the frontier, and puts
// back the due URLs of the harvest's sites. It continues after the last host of the attempt
// before.
func (a *Stages) SeedHomepages(ctx context.Context, h Harvest) (harvest.Seeded, error) {
	beat, set, stop := heartbeats[seeding](ctx)
	defer stop()
	at, _ := resumed[seeding](ctx)
	before := at.Seeded
	if !at.Done {
		seeded := func(host string, s harvest.Seeded) {
			at.Host, at.Seeded = host, harvest.Seeded{Hosts: before.Hosts + s.Hosts, URLs: before.URLs + s.URLs}
			set(at)
		}
		var s harvest.Seeded
		var err error
		if h.Goal.Site != "" {
			s, err = a.stages.SeedSite(beat, h.ID, h.Goal.Site, h.Options.Scope, seeded)
		} else {
			s, err = a.stages.SeedHomepages(beat, h.ID, h.Options.Scope, at.Host, seeded)
		}
		if err != nil {
			return s, typed(err)
		}
		at.Done = true
		set(at)
	}
	if h.Options.Again == AgainNone {
		return at.Seeded, nil
	}
	row, err := a.db.FindHarvest(beat, h.ID)
	if err != nil {
		return at.Seeded, typed(err)
	}
	// URLs that this run has requested are not requested again.
	what := store.PutBack{All: h.Options.Again == AgainAll, Before: row.StartedAt}
	err = a.db.RequeueHarvest(beat, h.ID, what, a.recrawl, at.PutBack, func(host string) { at.PutBack = host; set(at) })
	return at.Seeded, typed(err)
}

// SitesToCrawl returns the next hosts of a harvest with waiting URLs.
func (a *Stages) SitesToCrawl(ctx context.Context, b Batch) (Sites, error) {
	defer alive(ctx)()
	hosts, last, err := a.db.SitesToCrawl(ctx, b.Harvest.ID, b.After, b.Limit)
	return Sites{Hosts: hosts, Last: last, More: len(hosts) == b.Limit}, typed(err)
}

// EndSite records how a crawl ended, and returns the harvests that wait for it.
func (a *Stages) EndSite(ctx context.Context, end SiteEnd) ([]string, error) {
	ctx, _, stop := heartbeats[string](ctx)
	defer stop()
	return result(a.endSite(ctx, end))
}

func (a *Stages) endSite(ctx context.Context, end SiteEnd) ([]string, error) {
	measured, err := stats.Measure(ctx, a.db, end.Host, a.stats)
	if err != nil {
		return nil, err
	}
	ended := store.CrawlEnd{Crawl: end.Crawl, State: end.State, Reason: end.Reason, Policy: a.policy, Barren: measured.Verdict == stats.Barren}
	if err := a.db.FinishCrawl(ctx, end.Host, ended, a.recrawl); err != nil {
		return nil, err
	}
	return a.db.AwaitingEnd(ctx, end.Host)
}

// SignalSiteEnded is the signal to a harvest that a site's crawl has ended. It carries the
// SiteEnd.
const SignalSiteEnded = "site-ended"

// TellEnd signals workflows that a crawl has ended. A missing workflow is not an error. A
// workflow without the signal reads the record after a while.
func (a *Stages) TellEnd(ctx context.Context, workflows []string, end SiteEnd) error {
	for _, id := range workflows {
		_ = activity.GetClient(ctx).SignalWorkflow(ctx, id, "", SignalSiteEnded, end)
	}
	return nil
}

// Ended returns those of the hosts whose crawl has ended.
func (a *Stages) Ended(ctx context.Context, hosts []string) ([]string, error) {
	defer alive(ctx)()
	recrawl := ""
	if in := activity.GetInfo(ctx); in.WorkflowType.Name == "RecrawlDue" {
		recrawl = in.WorkflowExecution.ID
	}
	return result(a.db.EndedSites(ctx, hosts, recrawl))
}

// Counts returns the counts of a harvest.
func (a *Stages) Counts(ctx context.Context, id string) (Counts, error) {
	defer alive(ctx)()
	return result(a.db.HarvestCounts(ctx, id))
}

// Stage is a stage with a note.
type Stage struct {
	Harvest string        `json:"harvest"`
	Stage   gleaner.Stage `json:"stage"`
	Note    string        `json:"note,omitempty"`
}

// SetStage records the stage that a harvest is in.
func (a *Stages) SetStage(ctx context.Context, s Stage) error {
	defer alive(ctx)()
	return typed(a.db.SetStage(ctx, s.Harvest, s.Stage, s.Note))
}

// Pause records that a harvest is paused or resumed; slices read it.
func (a *Stages) Pause(ctx context.Context, id string, paused bool) error {
	defer alive(ctx)()
	err := a.db.SetPaused(ctx, id, paused)
	if err == nil && !paused && a.Hurry != nil {
		a.Hurry(ctx)
	}
	return typed(err)
}

// Requeued counts what a retry put back.
type Requeued struct {
	URLs    int `json:"urls"`
	Stalled int `json:"documents"` // over which a reader stalled
	Authors int `json:"authors"`   // with unanswered requests
	Sources int `json:"sources"`   // unanswered requests to catalogues
	Sites   int `json:"sites"`     // that refused, stopped or did not answer
	Held    int `json:"held"`      // papers that the library holds by now
}

// requeuing is the position of Requeue.
type requeuing struct {
	Host string   `json:"host"` // the last one
	Did  Requeued `json:"did"`
}

// Requeue marks papers that the library holds by now, puts failed URLs back, host by host, and
// takes up the documents that stalled. It makes unanswered requests due, and starts the
// activities that wait for their next attempt.
func (a *Stages) Requeue(ctx context.Context, r Retry) (Requeued, error) {
	beat, set, stop := heartbeats[requeuing](ctx)
	defer stop()
	at, again := resumed[requeuing](ctx)
	if !again {
		held, err := a.stages.HeldByNow(beat, r.Harvest)
		if err == nil {
			err = a.db.HoldPapers(beat, r.Harvest, held)
		}
		if err != nil {
			return Requeued{}, typed(err)
		}
		f := store.RetryFilter{Harvest: r.Harvest, Host: r.Host, Reason: r.Reason, OlderThan: r.OlderThan}
		q, err := a.db.AskAgain(beat, f, true)
		if err != nil {
			return Requeued{}, typed(err)
		}
		at.Did.Held, at.Did.Authors, at.Did.Sources = len(held), q.Authors, q.Papers+q.Copies
		if at.Did.Sites, err = a.db.RetriedSites(beat, f); err != nil {
			return Requeued{}, typed(err)
		}
		if at.Did.Stalled, err = a.db.RequeueStalled(beat, f); err != nil {
			return Requeued{}, typed(err)
		}
		set(at)
	}
	for {
		hosts, err := a.db.RetryHosts(beat, store.RetryFilter{Harvest: r.Harvest, Host: r.Host}, at.Host, hostsPerRetry)
		if err != nil {
			return at.Did, typed(err)
		}
		if len(hosts) == 0 {
			if a.Hurry != nil {
				a.Hurry(beat)
			}
			return at.Did, nil
		}
		for _, host := range hosts {
			n, err := a.db.RequeueFailed(beat, store.RetryFilter{Harvest: r.Harvest, Host: host, Reason: r.Reason, OlderThan: r.OlderThan})
			if at.Did.URLs += n; err == nil {
				at.Host = host
			}
			set(at)
			if err != nil {
				return at.Did, typed(err)
			}
		}
	}
}

const hostsPerRetry = 500

// Report computes the report once and keeps it.
func (a *Stages) Report(ctx context.Context, h Harvest) (report.Summary, error) {
	ctx, _, stop := heartbeats[string](ctx)
	defer stop()
	r, err := report.Build(ctx, a.db, h.ID)
	if err == nil {
		err = report.Keep(ctx, a.db.ReportRecords, r)
	}
	if err == nil {
		err = harvest.Homepages{DB: a.db}.Withdraw(ctx, r.Barren)
	}
	if err == nil {
		err = harvest.Homepages{DB: a.db}.Confirm(ctx, h.ID)
	}
	if err != nil {
		return report.Summary{}, typed(err)
	}
	return r.Summary, nil
}
