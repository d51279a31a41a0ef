package console

import (
	"context"
	"fmt"
	"sync"
	"time"

	"gleaner/internal/harvest/report"
	"gleaner/internal/record/store"
)

// reports are those made lately: one of a large harvest takes seconds, and many pages
// show a part of it.
type reports struct {
	db   *store.DB
	ctx  context.Context // of the console: what is being made ends with it
	mu   sync.Mutex
	made map[string]*madeReport
	work sync.WaitGroup

	hands chan struct{} // who makes one: each holds its report's papers
}

// madeReport is the latest report of a harvest, and the one that is being made.
type madeReport struct {
	report *report.Report
	until  time.Time     // it is good enough till then
	making chan struct{} // closed when the next is ready; nil while none is made
	err    error         // of the last that was made
}

// Bounds of reports: how many are kept, how long one may take, and how long a page
// that can do without waits for it.
const (
	maxReports   = 8
	reportsATime = 2
	reportTime   = 10 * time.Minute
	reportFresh  = 2 * time.Second
	reportWaited = 2 * time.Second
)

// get returns a harvest's report, anew where the last one is old: twenty times as old
// as it took to make. Where that takes longer than wait it is the last one, or nil.
func (rs *reports) get(ctx context.Context, id string, wait time.Duration) (*report.Report, error) {
	rs.mu.Lock()
	m := rs.made[id]
	if m == nil {
		rs.forgetOne()
		m = &madeReport{}
		rs.made[id] = m
	}
	if m.report != nil && time.Now().Before(m.until) {
		defer rs.mu.Unlock()
		return m.report, nil
	}
	if m.making == nil {
		m.making = make(chan struct{})
		rs.work.Go(func() { rs.make(id, m) })
	}
	making := m.making
	rs.mu.Unlock()

	late := time.NewTimer(wait)
	defer late.Stop()
	select {
	case <-making:
	case <-late.C:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	rs.mu.Lock()
	defer rs.mu.Unlock()
	if m.report == nil {
		return nil, m.err
	}
	return m.report, nil
}

func (rs *reports) make(id string, m *madeReport) {
	r, took, err := rs.build(id)
	rs.mu.Lock()
	defer rs.mu.Unlock()
	if m.err = err; err == nil {
		m.report, m.until = r, time.Now().Add(max(reportFresh, 20*took))
	}
	close(m.making)
	m.making = nil
}

// build makes a report when it is its turn.
func (rs *reports) build(id string) (r *report.Report, took time.Duration, err error) {
	select {
	case rs.hands <- struct{}{}:
		defer func() { <-rs.hands }()
	case <-rs.ctx.Done():
		return nil, 0, rs.ctx.Err()
	}
	ctx, cancel := context.WithTimeout(rs.ctx, reportTime)
	defer cancel()
	began := time.Now()
	r, err = report.Build(ctx, rs.db, id)
	return r, time.Since(began), err
}

// forgetOne makes room for one more report.
func (rs *reports) forgetOne() {
	for id, m := range rs.made {
		if len(rs.made) < maxReports {
			return
		}
		if m.making == nil {
			delete(rs.made, id)
		}
	}
}

// reportPage is a harvest's report.
type reportPage struct {
	*report.Report
}

// Title implements titled.
func (p reportPage) Title() string { return "Report: " + p.Harvest.ID }

// Drawn are the charts of the page.
func (p reportPage) Drawn() report.Charts { return p.Report.Charts() }

// OfSite reports whether the harvest is after no papers.
func (p reportPage) OfSite() bool { return harvestRow{Harvest: p.Harvest}.OfSite() }

// Why are the reasons for which papers are missing, the nearest first.
func (p reportPage) Why() (all []reasonLine) {
	for _, r := range report.Reasons() {
		if n := p.Reasons[r]; n > 0 {
			all = append(all, reasonLine{r, n})
		}
	}
	return all
}

type reasonLine struct {
	Reason report.Reason
	Papers int
}

func harvestReport(ctx context.Context, c *Console, a *asked) (titled, error) {
	h, err := c.exactly(ctx, a.get("id"))
	if err != nil {
		return nil, err
	}
	r, err := c.reports.get(ctx, h.ID, answerTime)
	if err != nil {
		return nil, err
	}
	if r == nil {
		return nil, fmt.Errorf("the report of %s takes longer than %s", h.ID, answerTime)
	}
	return reportPage{r}, nil
}
