package console

import (
	"context"
	"html/template"

	"gleaner/internal/each"
	"gleaner/internal/harvest/report"
	"gleaner/internal/record/store"
)

// growth is how the collection grew, and how often sites are asked.
type growth struct {
	months []store.Month
	paces  []store.PaceTally
}

func growthOf(ctx context.Context, db store.StatisticRecords) (g growth, err error) {
	if g.months, err = db.Months(ctx); err != nil {
		return g, err
	}
	g.paces, err = db.PaceTallies(ctx)
	return g, err
}

// GrowthChart draws the documents that came month by month: accepted, and others.
func (p statisticsPage) GrowthChart() template.HTML {
	return report.Bars("Documents by month: accepted, others", each.Of(p.Months, func(m store.Month) report.Bar {
		others := m.Documents - m.Accepted
		return report.Bar{Name: m.Month, Parts: []report.Part{{Class: "found", N: m.Accepted}, {Class: "held", N: others}}}
	}))
}

// PaceChart draws how many sites are asked how often.
func (p statisticsPage) PaceChart() template.HTML {
	title := "Sites by the pause between two requests: asked, left alone for a while"
	return report.Bars(title, each.Of(p.Paces, func(t store.PaceTally) report.Bar {
		asked := t.Sites - t.Resting
		return report.Bar{Name: t.Every, Parts: []report.Part{{Class: "all", N: asked}, {Class: "missing", N: t.Resting}}}
	}))
}

// DomainChart draws the domains of the whitelist with the most documents.
func (p statisticsPage) DomainChart() template.HTML {
	return report.Bars("Documents by domain", each.Of(p.Domains, func(d store.DomainRank) report.Bar {
		return report.Bar{Name: d.Domain, Parts: []report.Part{{Class: "all", N: d.Documents}}}
	}))
}
