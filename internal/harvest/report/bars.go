package report

import (
	"fmt"
	"html/template"
)

// Bar is one bar of a chart: its parts are stacked, in the colours of their classes.
type Bar struct {
	Name  string
	Parts []Part
}

// Part is a part of a bar.
type Part struct {
	Class string // held, found, missing or all
	N     int
}

// Bars draws horizontal bars, each with its name and sum above it. A table beside it has the same
// numbers for readers who cannot see it.
func Bars(title string, bars []Bar) template.HTML {
	const step = 36.0
	title = template.HTMLEscapeString(title)
	c := newCanvas(title, narrowWidth, step*float64(max(len(bars), 1)))
	most := 1
	for _, b := range bars {
		most = max(most, b.sum())
	}
	for i, b := range bars {
		y, at := float64(i)*step, 0.0
		c.text(0, y+step*.33, "start", template.HTMLEscapeString(cut(b.Name)))
		for _, p := range b.Parts {
			w := (narrowWidth - 60) * float64(p.N) / float64(most)
			c.bar(at, y+step*.45, w, step*.4, p.Class, template.HTMLEscapeString(fmt.Sprintf("%s: %d", b.Name, p.N)))
			at += w
		}
		c.text(at+6, y+step*.77, "start", fmt.Sprint(b.sum()))
	}
	return template.HTML(c.done()) // #nosec G203 -- numbers, and names that were escaped
}

func (b Bar) sum() (n int) {
	for _, p := range b.Parts {
		n += p.N
	}
	return n
}

// cut shortens a name to the room above a bar.
func cut(name string) string {
	const room = 50
	if r := []rune(name); len(r) > room {
		return string(r[:room-1]) + "…"
	}
	return name
}
