package catalogues

import (
	"fmt"

	"gleaner/internal/gleaner"
)

// Large is a venue-year of papers with three authors each, all of whom have an ORCID iD and
// a homepage. Author j of paper i has the pid i/j.
func Large(papers int) Catalogue {
	c := Catalogue{Venue: "conf/exa", Name: "EXA", Title: "Symposium on Examples", ISSN: "1234-5678",
		Volumes: []Volume{{TOC: "db/conf/exa/exa2003", Year: 2003}}, Homepages: map[string][]string{}}
	for i := range papers {
		p := gleaner.Paper{Key: fmt.Sprintf("conf/exa/Paper%d", i), Venue: c.Venue, Year: 2003, Pages: fmt.Sprintf("%d-%d", 10*i+1, 10*i+10),
			Title: fmt.Sprintf("On the %s of Measured Example Number %d & its Kin", []string{"Structure", "Growth", "Decay", "Cost"}[i%4], i),
			DOI:   fmt.Sprintf("10.5555/exa.%d", i)}
		p.Links = []string{"https://doi.org/" + p.DOI}
		for j := range 3 {
			pid, n := fmt.Sprintf("%d/%d", i, j), 3*i+j
			p.Authors = append(p.Authors, gleaner.Author{PID: pid, Name: fmt.Sprintf("Ann%c Person%c%c%c", 'a'+j, 'a'+i%26, 'a'+i/26, 'a'+j)})
			c.Homepages[pid] = []string{"https://orcid.org/0000-0000-0000-0000", fmt.Sprintf("http://cs%d.example.edu/~person%d/", n%200, n)}
		}
		c.Volumes[0].Papers = append(c.Volumes[0].Papers, p)
	}
	return c
}
