package classify

import (
	"math"
	"sync"
)

// MaxBeside is the greatest Options.Beside.
const MaxBeside = 10

// Sites holds the results of a classifier by site. It is safe for concurrent use; the zero value
// is ready.
type Sites struct {
	mu sync.Mutex
	of map[string]siteSum
}

// siteSum holds the sum of the log odds of a site's pages, and their number.
type siteSum struct{ odds, pages float64 }

// maxSites is the number of sites in memory; pages of others are scored alone.
const maxSites = 100_000

// ScoreOn returns the score of the next page of a site. It adds to the page's log odds those of
// earlier pages, Σ / (n + 1), times Options.Beside: one earlier page has half the weight of many.
// If Beside is 0 or the site is "", it is Score.
func (c *Classifier) ScoreOn(sites *Sites, site string, words []string) float64 {
	alone := c.Score(words)
	if c.Options.Beside == 0 || site == "" || math.IsNaN(alone) {
		return alone
	}
	own := logOdds(alone)
	before := sites.add(site, own)
	return 1 / (1 + math.Exp(-own-c.Options.Beside*before.odds/(before.pages+1)))
}

// add adds a page of a site and returns the sum before.
func (s *Sites) add(site string, odds float64) siteSum {
	s.mu.Lock()
	defer s.mu.Unlock()
	before, known := s.of[site]
	if s.of == nil {
		s.of = map[string]siteSum{}
	}
	if known || len(s.of) < maxSites {
		s.of[site] = siteSum{before.odds + odds, before.pages + 1}
	}
	return before
}

// logOdds returns the log odds of a probability limited to 1e-6 to 1 − 1e-6.
func logOdds(p float64) float64 {
	p = min(max(p, 1e-6), 1-1e-6)
	return math.Log(p / (1 - p))
}
