package console

import (
	"context"
	"html/template"

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
	var bars []report.Bar
	for _, m := range p.Months {
		bars = append(bars, report.Bar{Name: m.Month, Parts: []report.Part{{Class: "found", N: m.Accepted}, {Class: "held", N: m.Documents - m.Accepted}}})
	}
	return report.Bars("Documents by month: accepted, others", bars)
}

// PaceChart draws how many sites are asked how often.
func (p statisticsPage) PaceChart() template.HTML {
	var bars []report.Bar
	for _, t := range p.Paces {
		bars = append(bars, report.Bar{Name: t.Every, Parts: []report.Part{{Class: "all", N: t.Sites - t.Resting}, {Class: "missing", N: t.Resting}}})
	}
	return report.Bars("Sites by the pause between two requests: asked, left alone for a while", bars)
}

// DomainChart draws the domains of the whitelist with the most documents.
func (p statisticsPage) DomainChart() template.HTML {
	var bars []report.Bar
	for _, d := range p.Domains {
		bars = append(bars, report.Bar{Name: d.Domain, Parts: []report.Part{{Class: "all", N: d.Documents}}})
	}
	return report.Bars("Documents by domain", bars)
}
