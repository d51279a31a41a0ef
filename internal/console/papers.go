package console

import (
	"context"
	"slices"
	"strings"
	"time"

	"gleaner/internal/each"
	"gleaner/internal/gleaner"
	"gleaner/internal/harvest/report"
	"gleaner/internal/record/store"
	"gleaner/internal/service/program"
)

// papersPage lists papers of a harvest, by key.
type papersPage struct {
	Harvest string               `json:"harvest"`
	State   string               `json:"state,omitempty"`
	Reason  string               `json:"reason,omitempty"`
	Year    int                  `json:"year,omitempty"`
	Papers  []store.HarvestPaper `json:"papers"`
	Why     *time.Time           `json:"reasons_as_of,omitempty"`   // when the reasons were worked out
	Unknown bool                 `json:"reasons_unknown,omitempty"` // they are being worked out: ask again in a while
	Next    string               `json:"next,omitempty"`

	ofHarvest
}

func (p papersPage) Live() bool { return p.Unknown }

func paperStates() []string {
	return []string{store.PaperHeld, store.PaperFound, store.PaperMissing}
}

func reasonNames() []string { return each.Text(report.Reasons()) }

func papers(ctx context.Context, c *Console, a *asked) (any, error) {
	h, of, err := harvestAsked(ctx, c, a)
	if err != nil {
		return nil, err
	}
	p := papersPage{Harvest: h.ID, State: a.get("state"), Reason: a.get("reason"), Year: a.number("year"), ofHarvest: of}
	why, err := c.reports.latest(ctx, h)
	if err != nil {
		return nil, err
	}
	if p.Unknown = why == nil; !p.Unknown {
		p.Why = &why.Made
	}
	rows, err := papersFor(ctx, c, a.papers(h.ID, pageSize+1), p.Reason)
	p.Papers, p.Next = more(rows, func(r store.HarvestPaper) string { return r.Paper })
	unexplained := func(r store.HarvestPaper) bool { return r.State == store.PaperMissing && r.Reason == "" }
	if slices.ContainsFunc(p.Papers, unexplained) {
		p.Unknown = true // since the report, as after a word was taken back
		c.reports.report(h.ID)
	}
	return p, err
}

func paperParams() []param {
	return []param{
		{name: "harvest", what: "id of a harvest", required: true},
		{name: "state", what: "only those in this state", one: paperStates()},
		{name: "reason", what: "only those missing for this reason", one: reasonNames()},
		{name: "year", what: "only those of this year", number: true},
	}
}

// papers are the papers of a harvest that are asked for.
func (a *asked) papers(harvest string, limit int) store.PaperQuery {
	return store.PaperQuery{Harvest: harvest, State: a.get("state"), Years: a.years(), After: a.get("after"), Limit: limit}
}

// papersFor lists papers, or those that are missing for a reason.
func papersFor(ctx context.Context, c *Console, q store.PaperQuery, reason string) ([]store.HarvestPaper, error) {
	switch {
	case reason == "":
		return c.App.DB.HarvestPapers(ctx, q)
	case q.State != "" && q.State != store.PaperMissing: // none of these has a reason
		return nil, nil
	}
	return c.App.DB.MissingFor(ctx, q, reason)
}

// paperPage is one paper, and what was compared with it.
type paperPage struct {
	gleaner.Paper
	Harvests   []store.PaperHarvest `json:"harvests"`
	Copies     []store.Copy         `json:"copies"`     // where catalogues say that it is
	Candidates []store.Candidate    `json:"candidates"` // documents that are it or like it
}

// Held reports whether all harvests that are after it leave it out, since the library holds it.
func (p paperPage) Held() bool {
	sought := slices.ContainsFunc(p.Harvests, func(h store.PaperHarvest) bool { return !h.Held })
	return len(p.Harvests) > 0 && !sought
}

func paper(ctx context.Context, c *Console, a *asked) (any, error) {
	db, key := c.App.DB, a.get("key")
	p := paperPage{}
	var err error
	if p.Paper, err = db.Paper(ctx, key); err != nil {
		return nil, err
	}
	harvests, err := db.PaperHarvests(ctx, key)
	if err != nil {
		return nil, err
	}
	copies, err := db.OpenCopies(ctx, []string{key})
	if err != nil {
		return nil, err
	}
	candidates, err := db.Candidates(ctx, key)
	for _, h := range harvests {
		for _, line := range h.Evidence {
			url, what, linked := strings.Cut(line, report.NotTaken)
			if !linked {
				continue
			}
			sha, err := program.FindDocument(ctx, c.App.DB, url)
			if err == nil && !slices.ContainsFunc(candidates, func(c store.Candidate) bool { return c.SHA256 == sha }) {
				candidates = append(candidates, store.Candidate{SHA256: sha, URL: url, Reasons: []string{"linked with the title: " + what}, Also: []string{}})
			}
		}
	}
	p.Harvests, p.Copies, p.Candidates = each.List(harvests), each.List(copies[key]), each.List(candidates)
	return p, err
}
