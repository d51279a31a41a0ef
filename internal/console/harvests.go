package console

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"gleaner/internal/each"
	"gleaner/internal/gleaner"
	"gleaner/internal/harvest/report"
	"gleaner/internal/record/store"
)

// harvestRow is a harvest and how far it is.
type harvestRow struct {
	store.Harvest
	Title    string       `json:"title"` // of what it is after, as people write it
	Counts   store.Counts `json:"counts"`
	Workflow string       `json:"workflow_url,omitempty"` // in the Temporal UI
}

// Named is what the harvest is called by people.
func (h harvestRow) Named() string { return harvestName(h.Harvest, h.Title) }

// ofHarvest is what a page of a harvest's things is called after.
type ofHarvest struct{ name string }

// Named is what the harvest is called by people.
func (p ofHarvest) Named() string { return p.name }

// harvestAsked is the harvest that a page is asked for, and what it is called.
func harvestAsked(ctx context.Context, c *Console, a *asked) (h store.Harvest, of ofHarvest, err error) {
	if h, err = c.exactly(ctx, a.get("harvest")); err != nil {
		return h, of, err
	}
	title, err := c.App.DB.GoalTitle(ctx, h.Venue)
	return h, ofHarvest{harvestName(h, title)}, err
}

func harvestName(h store.Harvest, title string) string {
	if title == h.Venue || title == "" {
		return h.ID
	}
	return strings.TrimSuffix(title+", "+h.Years.String(), ", ")
}

// OfSite reports whether the harvest is after the documents of a site, and not after
// papers.
func (h harvestRow) OfSite() bool { return gleaner.ParseGoal(h.Venue).Site != "" }

// Share is how much of what is wanted was found.
func (h harvestRow) Share() float64 {
	if h.Counts.Wanted == 0 {
		return 0
	}
	return float64(h.Counts.Found) / float64(h.Counts.Wanted)
}

// Runs reports whether the harvest has not ended.
func (h harvestRow) Runs() bool { return h.CompletedAt == nil }

// harvestsPage lists harvests, the latest first.
type harvestsPage struct {
	Harvests []harvestRow `json:"harvests"`
	Next     string       `json:"next,omitempty"` // the parameter after of the next page

	Lists []store.WantedList `json:"lists"` // of wanted papers
}

func (p harvestsPage) Live() bool { return slices.ContainsFunc(p.Harvests, harvestRow.Runs) }

// harvestsListed is how many harvests a page lists: each is counted anew.
const harvestsListed = 20

func harvests(ctx context.Context, c *Console, a *asked) (any, error) {
	all, err := c.App.DB.HarvestsBefore(ctx, a.get("after"), harvestsListed+1)
	if err != nil {
		return nil, err
	}
	lists, err := store.WantedLists(ctx, c.App.DB)
	if err != nil {
		return nil, err
	}
	p := harvestsPage{Harvests: []harvestRow{}, Lists: each.List(lists)}
	all, p.Next = each.Page(all, harvestsListed, func(h store.Harvest) string { return h.ID })
	for _, h := range all {
		row, err := c.harvestRow(ctx, h)
		if err != nil {
			return nil, err
		}
		p.Harvests = append(p.Harvests, row)
	}
	return p, nil
}

func (c *Console) harvestRow(ctx context.Context, h store.Harvest) (row harvestRow, err error) {
	row.Harvest = h
	if c.WorkflowURL != nil {
		row.Workflow = c.WorkflowURL(h.ID)
	}
	if row.Title, err = c.App.DB.GoalTitle(ctx, h.Venue); err != nil {
		return row, err
	}
	row.Counts, err = c.counts.get(h.ID+" "+h.UpdatedAt.String(), func() (store.Counts, error) { return c.App.DB.HarvestCounts(ctx, h.ID) })
	return row, err
}

// harvestPage is one harvest.
type harvestPage struct {
	harvestRow
	Sites    []store.SitePace `json:"sites"`              // that are being crawled
	Troubles []string         `json:"troubles,omitempty"` // what fails now and is tried again
	Unknown  string           `json:"troubles_unknown,omitempty"`
	Progress *Progress        `json:"progress,omitempty"` // while it runs
	Failures []store.Failure  `json:"failures"`           // what may be tried again
	Failing  []string         `json:"failing_sites"`      // hosts of these, at most pageSize

	Barred []store.SiteRow `json:"barred"` // its sites that are paused or on the blacklist, at most pageSize

	Gone     *store.HarvestRemoval `json:"would_go,omitempty"` // what its removal would take, of one that ended
	Schedule *Scheduled            `json:"schedule,omitempty"` // that starts it again, of one that ended

	Answer string `json:"address_answered,omitempty"` // what the address of a site answered that was no page
}

func (p harvestPage) Live() bool { return p.Runs() }

// stageStarting is the stage of a harvest that was started and is not on record yet.
const stageStarting gleaner.Stage = "starting"

// Retries are the reasons for which something failed, by what a retry does.
func (p harvestPage) Retries() map[string][]store.Failure {
	by := map[string][]store.Failure{}
	for _, f := range p.Failures {
		does := "Look for authors and ask catalogues again"
		if f.URLs+f.Stalled+f.Sites > 0 {
			does = "Ask for URLs and read documents again"
		}
		by[does] = append(by[does], f)
	}
	return by
}

// Starting reports whether the harvest is not on record yet.
func (p harvestPage) Starting() bool { return p.Stage == stageStarting }

// troubleTime is how long Temporal may take to say what fails.
const troubleTime = 3 * time.Second

func harvest(ctx context.Context, c *Console, a *asked) (any, error) {
	h, err := c.exactly(ctx, a.get("id"))
	if errors.Is(err, store.ErrNoHarvest) && begun(ctx, c, a.get("id")) {
		p := harvestPage{Sites: []store.SitePace{}, Barred: []store.SiteRow{}, Failures: []store.Failure{}, Failing: []string{}}
		p.Harvest = store.Harvest{ID: a.get("id"), Stage: stageStarting}
		return p, nil
	}
	if err != nil {
		return nil, err
	}
	row, err := c.harvestRow(ctx, h)
	if err != nil {
		return nil, err
	}
	p := harvestPage{harvestRow: row}
	sites, err := c.App.DB.SitePaces(ctx, h.ID)
	if err != nil {
		return nil, err
	}
	barred, err := c.App.DB.Sites(ctx, store.SiteQuery{Harvest: h.ID, Barred: true, Limit: pageSize})
	if err != nil {
		return nil, err
	}
	p.Sites, p.Barred = each.List(sites), each.List(barred)
	if p.Answer, err = report.AnswerOf(ctx, c.App.DB, h.Venue); err != nil {
		return nil, err
	}
	if err := p.fail(ctx, c); err != nil {
		return nil, err
	}
	if !row.Runs() {
		return p, p.ended(ctx, c)
	}
	look, cancel := context.WithTimeout(ctx, troubleTime)
	defer cancel()
	if now, err := c.Harvests.Progress(look, h.ID); err == nil {
		p.Progress = &now
	}
	if p.Troubles, err = c.Harvests.Troubles(look, h.ID); err != nil {
		p.Unknown = "Temporal does not answer: what fails now is not known"
		wonder(ctx, c, "troubles", err)
	}
	return p, nil
}

// begun reports whether a harvest that is not on record was started and waits for a worker.
func begun(ctx context.Context, c *Console, id string) bool {
	look, cancel := context.WithTimeout(ctx, troubleTime)
	defer cancel()
	is, err := c.Harvests.Begun(look, id)
	wonder(ctx, c, "harvest", err)
	return is
}

// wonder notes what Temporal did not answer to who still asks.
func wonder(ctx context.Context, c *Console, what string, err error) {
	if err != nil && ctx.Err() == nil { // else the tab was closed
		c.log.WarnContext(ctx, "console: "+what, "error", err)
	}
}

// ended adds what the removal of a harvest that ended would take, and what starts it again.
func (p *harvestPage) ended(ctx context.Context, c *Console) error {
	gone, err := store.RemoveHarvest(ctx, c.App.DB, p.ID, true)
	switch {
	case errors.Is(err, store.ErrHarvestRuns), errors.Is(err, store.ErrNoHarvest): // since
		return nil
	case err != nil:
		return err
	}
	p.Gone = &gone
	look, cancel := context.WithTimeout(ctx, troubleTime)
	defer cancel()
	p.Schedule, err = c.Schedules.Schedule(look, p.ID)
	wonder(ctx, c, "schedule", err)
	return nil
}

// fail adds what failed of the harvest, and where.
func (p *harvestPage) fail(ctx context.Context, c *Console) error {
	failures, err := failuresOf(ctx, c, p.ID)
	p.Failures, p.Failing = each.List(failures), []string{}
	if err != nil || len(failures) == 0 {
		return err
	}
	rows, err := c.App.DB.Sites(ctx, store.SiteQuery{Harvest: p.ID, Failing: true, Limit: pageSize})
	p.Failing = each.Of(rows, func(s store.SiteRow) string { return s.Host })
	return err
}

// exactly finds a harvest by its id alone: an address means one harvest for good.
func (c *Console) exactly(ctx context.Context, id string) (store.Harvest, error) {
	h, err := c.App.DB.FindHarvest(ctx, id)
	if err == nil && h.ID != id {
		err = fmt.Errorf("%s: %w", id, store.ErrNoHarvest)
	}
	return h, err
}
