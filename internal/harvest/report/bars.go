package report

import (
	"fmt"
	"html/template"
)

// Bar is one bar of a drawing: its parts are stacked, in the classes' colours.
type Bar struct {
	Name  string
	Parts []Part
}

// Part is a stretch of a bar.
type Part struct {
	Class string // held, found, missing or all
	N     int
}

// Bars draws lying bars, one below the other, each with its name and sum. A table beside
// it says the same to who does not see it.
func Bars(title string, bars []Bar) template.HTML {
	const step, label = 24.0, 240.0
	title = template.HTMLEscapeString(title)
	c := newCanvas(title, step*float64(max(len(bars), 1)))
	most := 1
	for _, b := range bars {
		most = max(most, b.sum())
	}
	for i, b := range bars {
		y, at := float64(i)*step, label
		c.text(label-8, y+step*.68, "end", template.HTMLEscapeString(cut(b.Name)))
		for _, p := range b.Parts {
			w := (chartWidth - label - 60) * float64(p.N) / float64(most)
			c.bar(at, y+step*.15, w, step*.7, p.Class, template.HTMLEscapeString(fmt.Sprintf("%s: %d", b.Name, p.N)))
			at += w
		}
		c.text(at+6, y+step*.68, "start", fmt.Sprint(b.sum()))
	}
	return template.HTML(c.done()) // #nosec G203 -- numbers, and names that were escaped
}

func (b Bar) sum() (n int) {
	for _, p := range b.Parts {
		n += p.N
	}
	return n
}

// cut shortens a name to what has room beside a bar.
func cut(name string) string {
	const room = 36
	if r := []rune(name); len(r) > room {
		return string(r[:room-1]) + "…"
	}
	return name
}
