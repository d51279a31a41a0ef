package sampleweb

import (
	"fmt"
	"strings"

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
		venues[v] = venue(v)
		for y := first; y <= last; y++ {
			volume := dblp.Volume{TOC: fmt.Sprintf("db/%s/%s%d", venues[v].Key, strings.ToLower(venues[v].Name), y), Year: y}
			for _, p := range w.papers {
				if p.venue == v && p.year == y {
					known := p.record()
					known.Pages, known.Links = p.pages, []string{p.electronic()}
					volume.Papers = append(volume.Papers, known)
				}
			}
			venues[v].Volumes = append(venues[v].Volumes, volume)
		}
	}
	people := each.Of(w.authors, func(a *author) dblp.Person {
		return dblp.Person{Author: gleaner.Author{PID: a.pid, Name: a.name}, URLs: a.listed}
	})
	return dblp.New(DBLPURL, venues, people)
}

// record is what a catalogue knows of a paper.
func (p *paper) record() gleaner.Paper {
	return gleaner.Paper{Key: p.key, Year: p.year, Title: p.title, Authors: each.Of(p.authors, func(a *author) gleaner.Author {
		return gleaner.Author{PID: a.pid, Name: a.name}
	})}
}
