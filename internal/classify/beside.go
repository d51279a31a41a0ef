package classify

import (
	"math"
	"sync"
)

// MostBeside is what Options.Beside may be at most.
const MostBeside = 10

// Sites are what a classifier said of the pages of sites so far. They are safe for
// concurrent use; the zero value is ready.
type Sites struct {
	mu sync.Mutex
	of map[string]said
}

// said is the sum of the log odds of a site's pages, and how many these are.
type said struct{ odds, pages float64 }

// maxSites bounds what is remembered: of further ones pages are judged alone.
const maxSites = 100_000

// ScoreOn is the score of the next page of a site. The page's log odds and Options.Beside
// times those of the pages before, Σ / (n + 1), add up: one page before weighs half of
// many. Where Beside is 0 or the site is "" it is the Score of the page alone.
func (c *Classifier) ScoreOn(sites *Sites, site string, words []string) float64 {
	alone := c.Score(words)
	if c.Options.Beside == 0 || site == "" || math.IsNaN(alone) {
		return alone
	}
	own := logOdds(alone)
	before := sites.add(site, own)
	return 1 / (1 + math.Exp(-own-c.Options.Beside*before.odds/(before.pages+1)))
}

// add takes a page of a site down and returns what was there before.
func (s *Sites) add(site string, odds float64) said {
	s.mu.Lock()
	defer s.mu.Unlock()
	before, known := s.of[site]
	if s.of == nil {
		s.of = map[string]said{}
	}
	if known || len(s.of) < maxSites {
		s.of[site] = said{before.odds + odds, before.pages + 1}
	}
	return before
}

// logOdds of a probability, which is brought within 1e-6 and 1 − 1e-6.
func logOdds(p float64) float64 {
	p = min(max(p, 1e-6), 1-1e-6)
	return math.Log(p / (1 - p))
}
