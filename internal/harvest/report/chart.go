package report

import (
	"fmt"
	"html/template"
	"strings"
)

// The size of a chart, in pixels of its view box.
const (
	chartWidth  = 720.0
	narrowWidth = 360.0 // as wide as a phone
	chartHeight = 240.0
	chartMargin = 36.0
)

// canvas is an unfinished SVG drawing.
type canvas struct {
	strings.Builder
	width float64
}

func newCanvas(title string, width, height float64) *canvas {
	c := &canvas{width: width}
	class := ""
	if width < chartWidth {
		class = ` class="narrow"`
	}
	fmt.Fprintf(c, `<svg viewBox="0 0 %g %g"%s role="img" aria-label="%s"><title>%s</title>`, width, height, class,
		title, title)
	return c
}

// yearsCanvas returns a canvas wide enough for a column per year.
func yearsCanvas(title string, years []Year) *canvas {
	width := chartWidth
	if float64(len(years))*yearWidth <= narrowWidth-chartMargin {
		width = narrowWidth
	}
	return newCanvas(title, width, chartHeight)
}

// yearWidth is the width of a year with its label.
const yearWidth = 34.0

// bar draws a bar, unless its height is 0.
func (c *canvas) bar(x, y, w, h float64, class, label string) {
	if w <= 0 || h <= 0 {
		return
	}
	fmt.Fprintf(c, `<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" class="%s"><title>%s</title></rect>`, x, y, w, h, class, label)
}

func (c *canvas) text(x, y float64, anchor, s string) {
	fmt.Fprintf(c, `<text x="%.1f" y="%.1f" text-anchor="%s">%s</text>`, x, y, anchor, s)
}

func (c *canvas) rule(y float64) {
	fmt.Fprintf(c, `<line x1="%g" x2="%g" y1="%.1f" y2="%.1f"/>`, chartMargin, c.width, y, y)
}

func (c *canvas) done() string { return c.String() + "</svg>" }

// columns returns the distance of the columns of years, and labels as many years as there is room
// for.
func columns(c *canvas, years []Year) (step float64) {
	step = (c.width - chartMargin) / float64(max(len(years), 1))
	every := 1 + len(years)*yearWidth/int(c.width-chartMargin)
	for i, y := range years {
		if i%every == 0 {
			c.text(chartMargin+(float64(i)+.5)*step, chartHeight-6, "middle", YearOf(y.Year))
		}
	}
	return step
}

// papersChart stacks held, found and missing papers by year (Zhuang et al.,
// figure 5).
func papersChart(years []Year) string {
	c := yearsCanvas("Papers by year: held, found, missing", years)
	most := 2
	for _, y := range years {
		most = max(most, y.Published+y.Published%2) // even, so that half of it is a whole number of papers
	}
	floor, room := chartHeight-24, chartHeight-24-12
	for _, share := range []float64{.5, 1} {
		c.rule(floor - room*share)
		c.text(chartMargin-4, floor-room*share+4, "end", fmt.Sprint(share*float64(most)))
	}
	step := columns(c, years)
	for i, y := range years {
		at := floor
		for _, part := range []struct {
			n     int
			class string
		}{{y.Held, "held"}, {y.Found, "found"}, {y.Missing, "missing"}} {
			h := room * float64(part.n) / float64(most)
			at -= h
			c.bar(chartMargin+(float64(i)+.15)*step, at, .7*step, h, part.class, fmt.Sprintf("%s: %d %s", YearOf(y.Year), part.n, part.class))
		}
	}
	return c.done()
}

// recallChart draws recall by year in its three forms (figures 6 to 9).
func recallChart(years []Year) string {
	c := yearsCanvas("Recall by year", years)
	floor, room := chartHeight-24, chartHeight-24-12
	for _, share := range []float64{0, .5, 1} {
		c.rule(floor - room*share)
		c.text(chartMargin-4, floor-room*share+4, "end", fmt.Sprintf("%.1f", share))
	}
	step := columns(c, years)
	for i, y := range years {
		for j, form := range []struct {
			recall   float64
			part, of int
			class    string
			words    string
		}{
			{y.Recall, y.Found, y.Wanted, "found", "wanted papers found"},
			{y.Target, y.Found + y.HeldMet, y.Published, "all", "of all papers found"},
			{y.Covered, y.Held + y.Found, y.Published, "held", "of all papers held or found"},
		} {
			if form.of > 0 {
				at := chartMargin + (float64(i)+.15+float64(j)*.7/3)*step
				c.bar(at, floor-room*form.recall, .7*step/3, room*form.recall, form.class, fmt.Sprintf("%s: %d of %d %s", YearOf(y.Year), form.part, form.of, form.words))
			}
		}
	}
	return c.done()
}

// reasonsChart draws the reasons of missing papers.
func reasonsChart(r *Report) template.HTML {
	var bars []Bar
	for _, why := range reasons {
		if n := r.Reasons[why]; n > 0 {
			bars = append(bars, Bar{string(why), []Part{{"missing", n}}})
		}
	}
	return Bars("Why papers are missing", bars)
}
