package console

import (
	"cmp"
	"context"
	"slices"

	"gleaner/internal/gleaner"
	"gleaner/internal/harvest/report"
	"gleaner/internal/record/store"
)

// paperRow is a paper as it stands in a harvest, and why it is missing.
type paperRow struct {
	store.HarvestPaper
	Reason   report.Reason `json:"reason,omitempty"`
	Evidence []string      `json:"evidence,omitempty"`
}

// papersPage lists papers of a harvest, by key.
type papersPage struct {
	Harvest string     `json:"harvest"`
	State   string     `json:"state,omitempty"`
	Reason  string     `json:"reason,omitempty"`
	Year    int        `json:"year,omitempty"`
	Papers  []paperRow `json:"papers"`
	Unknown bool       `json:"reasons_unknown,omitempty"` // they are being worked out: ask again in a while
	Next    string     `json:"next,omitempty"`
}

// Title implements titled.
func (p papersPage) Title() string { return "Papers: " + p.Harvest }

// Live implements lively.
func (p papersPage) Live() bool { return p.Unknown }

// States are what a paper may be.
func (papersPage) States() []string { return paperStates() }

// Reasons are why it may be missing.
func (papersPage) Reasons() []string { return reasonNames() }

func paperStates() []string {
	return []string{store.PaperHeld, store.PaperFound, store.PaperMissing}
}

func reasonNames() (all []string) {
	for _, r := range report.Reasons() {
		all = append(all, string(r))
	}
	return all
}

func papers(ctx context.Context, c *Console, a *asked) (titled, error) {
	h, err := c.exactly(ctx, a.get("harvest"))
	if err != nil {
		return nil, err
	}
	p := papersPage{Harvest: h.ID, State: a.get("state"), Reason: a.get("reason"), Year: a.number("year")}
	if p.Reason != "" {
		err = c.missingFor(ctx, &p, a.get("after"))
		return p, err
	}
	rows, err := c.App.DB.HarvestPapers(ctx, store.PaperQuery{Harvest: h.ID, State: p.State, Years: a.years(), After: a.get("after"), Limit: pageSize + 1})
	if err != nil {
		return nil, err
	}
	rows, p.Next = more(rows, func(r store.HarvestPaper) string { return r.Paper })
	p.Papers = make([]paperRow, len(rows))
	any := false
	for i, r := range rows {
		p.Papers[i].HarvestPaper = r
		any = any || r.State == store.PaperMissing
	}
	if any {
		err = c.sayWhy(ctx, &p)
	}
	return p, err
}

// missingFor lists the papers that are missing for one reason.
func (c *Console) missingFor(ctx context.Context, p *papersPage, after string) error {
	r, err := c.reports.get(ctx, p.Harvest, answerTime)
	if err != nil || r == nil {
		return err
	}
	var rows []paperRow
	for _, m := range r.Missing {
		if string(m.Reason) == p.Reason && m.Paper > after && (p.Year == 0 || m.Year == p.Year) {
			rows = append(rows, paperRow{store.HarvestPaper{Paper: m.Paper, Title: m.Title, Year: m.Year, Authors: m.Authors, State: store.PaperMissing}, m.Reason, m.Evidence})
		}
	}
	slices.SortFunc(rows, func(a, b paperRow) int { return cmp.Compare(a.Paper, b.Paper) })
	p.Papers, p.Next = more(rows, func(r paperRow) string { return r.Paper })
	return nil
}

// sayWhy adds to the missing papers of a page why they are missing.
func (c *Console) sayWhy(ctx context.Context, p *papersPage) error {
	r, err := c.reports.get(ctx, p.Harvest, reportWaited)
	if err != nil {
		return err
	}
	if p.Unknown = r == nil; p.Unknown {
		return nil
	}
	at := map[string]int{}
	for i, row := range p.Papers {
		at[row.Paper] = i
	}
	for _, m := range r.Missing {
		if i, ok := at[m.Paper]; ok && p.Papers[i].State == store.PaperMissing {
			p.Papers[i].Reason, p.Papers[i].Evidence = m.Reason, m.Evidence
		}
	}
	return nil
}

// paperPage is one paper, and what was compared with it.
type paperPage struct {
	gleaner.Paper
	Harvests   []store.PaperHarvest `json:"harvests"`
	Copies     []store.Copy         `json:"copies"`     // where catalogues say that it is
	Candidates []store.Candidate    `json:"candidates"` // documents that are it or like it
}

// Title implements titled.
func (p paperPage) Title() string { return p.Paper.Title }

func paper(ctx context.Context, c *Console, a *asked) (titled, error) {
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
	p.Harvests, p.Copies, p.Candidates = listed(harvests), listed(copies[key]), listed(candidates)
	return p, err
}

// listed is a list that is never null to programs.
func listed[T any](rows []T) []T {
	if rows == nil {
		return []T{}
	}
	return rows
}
