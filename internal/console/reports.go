package console

import (
	"context"
	"sync"
	"time"

	"gleaner/internal/guard"
	"gleaner/internal/harvest/report"
	"gleaner/internal/record/store"
)

// reports are those that are being made: one of a large harvest takes seconds, so its
// numbers and reasons are kept on record, and pages show them from there.
type reports struct {
	background[string, *report.Report]
	db    *store.DB
	hands chan struct{} // who makes one: each holds its report's papers
}

// background makes what takes longer than a page waits, once for each key at a time.
type background[K comparable, V any] struct {
	ctx    context.Context // of the console: what is being made ends with it
	kept   time.Duration   // how long what was made waits for who asks again
	mu     sync.Mutex
	making map[K]*making[V]
	work   sync.WaitGroup
}

// making is what is being made.
type making[V any] struct {
	done chan struct{} // closed when it is ready
	made V
	err  error
}

// Bounds of reports: how many are made at a time, how long one may take, how long it
// is good enough, and how long a page waits for a better one.
const (
	reportsATime = 2
	makingTime   = 10 * time.Minute
	reportFresh  = 2 * time.Second
	reportWaited = time.Second
)

// whole makes a harvest's report with all its lists, or waits for the one that is
// being made.
func (rs *reports) whole(ctx context.Context, id string) (*report.Report, error) {
	m := rs.report(id)
	select {
	case <-m.done:
		return m.made, m.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// latest returns the numbers of a harvest's report, and has them made anew where they
// are twenty times as old as that takes, or of another stage. Who would wait long for that gets the old
// ones, or nil where there are none.
func (rs *reports) latest(ctx context.Context, h store.Harvest) (*report.Report, error) {
	now, err := rs.db.Now(ctx)
	if err != nil {
		return nil, err
	}
	r, err := report.Latest(ctx, rs.db.ReportRecords, h.ID)
	if err != nil || r != nil && r.Harvest.Stage == h.Stage && now.Sub(r.Made) < r.Took+max(reportFresh, 20*r.Took) {
		return r, err
	}
	m := rs.report(h.ID)
	if r != nil && r.Took > reportWaited {
		return r, nil
	}
	late := time.NewTimer(reportWaited)
	defer late.Stop()
	select {
	case <-m.done:
		if m.err != nil {
			return nil, m.err
		}
		return report.Latest(ctx, rs.db.ReportRecords, h.ID)
	case <-late.C:
		return r, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// make has something made, if it is not being made or kept.
func (b *background[K, V]) make(key K, do func(context.Context) (V, error)) *making[V] {
	b.mu.Lock()
	defer b.mu.Unlock()
	m := b.making[key]
	if m == nil {
		m = &making[V]{done: make(chan struct{})}
		b.making[key] = m
		b.work.Add(1)
		guard.Go(func() {
			defer b.work.Done()
			ctx, cancel := context.WithTimeout(b.ctx, makingTime)
			defer cancel()
			m.err = guard.Run(func() (err error) { m.made, err = do(ctx); return err })
			if b.kept > 0 {
				time.AfterFunc(b.kept, func() { b.forget(key, m) })
			} else {
				b.forget(key, m)
			}
			close(m.done)
		})
	}
	return m
}

// forget has it made anew when it is asked for again; nil is whatever is made or kept of it.
func (b *background[K, V]) forget(key K, m *making[V]) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if m == nil || b.making[key] == m {
		delete(b.making, key)
	}
}

// report makes a report when it is its turn, and keeps it.
func (rs *reports) report(id string) *making[*report.Report] {
	return rs.make(id, func(ctx context.Context) (*report.Report, error) { return rs.build(ctx, id) })
}

func (rs *reports) build(ctx context.Context, id string) (*report.Report, error) {
	select {
	case rs.hands <- struct{}{}:
		defer func() { <-rs.hands }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	r, err := report.Build(ctx, rs.db, id)
	if err != nil {
		return nil, err
	}
	return r, report.Keep(ctx, rs.db.ReportRecords, r)
}

// reportPage is a harvest's report: whole for programs, for people its numbers.
type reportPage struct {
	*report.Report

	unmade bool // nothing but the harvest is known yet
}

func (p reportPage) Live() bool { return p.unmade }

// Unmade reports whether the numbers are still being worked out.
func (p reportPage) Unmade() bool { return p.unmade }

// Drawn are the charts of the page.
func (p reportPage) Drawn() report.Charts { return p.Report.Charts() }

// OfSite reports whether the harvest is after no papers.
func (p reportPage) OfSite() bool { return harvestRow{Harvest: p.Harvest}.OfSite() }

// Named is what the harvest is called by people.
func (p reportPage) Named() string { return harvestName(p.Harvest, p.Title) }

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

func harvestReport(ctx context.Context, c *Console, a *asked) (any, error) {
	h, err := c.exactly(ctx, a.get("id"))
	if err != nil {
		return nil, err
	}
	var r *report.Report
	if asJSON(a.Request) {
		r, err = c.reports.whole(ctx, h.ID)
	} else {
		r, err = c.reports.latest(ctx, h)
	}
	if err == nil && r == nil {
		return reportPage{&report.Report{Harvest: h}, true}, nil
	}
	return reportPage{r, false}, err
}
