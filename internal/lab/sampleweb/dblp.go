package sampleweb

import (
	"fmt"

	"gleaner/internal/each"
	"gleaner/internal/gleaner"
	"gleaner/internal/lab/dblp"
)

// catalogue is the metadata service: what was published, and the homepages that it
// knows of.
func (w *Web) catalogue() *dblp.Service {
	venues := make([]dblp.Venue, w.opt.Venues)
	first, last := w.Years()
	for v := range venues {
		venues[v] = dblp.Venue{Key: w.venueKey(v), Name: w.venueName(v), Title: w.venueLong(v)}
		for y := first; y <= last; y++ {
			venues[v].Volumes = append(venues[v].Volumes, dblp.Volume{TOC: fmt.Sprintf("db/%s/%s%d", w.venueKey(v), w.venueShort(v), y), Year: y, Papers: w.volume(v, y)})
		}
	}
	people := each.Of(w.authors, func(a *author) dblp.Person {
		return dblp.Person{Author: gleaner.Author{PID: a.pid, Name: a.name}, URLs: a.listed}
	})
	return dblp.New(w.DBLPURL(), venues, people)
}

func (w *Web) volume(v, year int) []gleaner.Paper {
	in := each.Where(w.papers, func(p *paper) bool { return p.venue == v && p.year == year })
	return each.Of(in, func(p *paper) gleaner.Paper {
		out := p.record()
		out.Pages, out.Links = p.pages, []string{p.electronic()}
		return out
	})
}

// record is what a catalogue knows of a paper.
func (p *paper) record() gleaner.Paper {
	return gleaner.Paper{Key: p.key, Year: p.year, Title: p.title, Authors: each.Of(p.authors, func(a *author) gleaner.Author {
		return gleaner.Author{PID: a.pid, Name: a.name}
	})}
}
