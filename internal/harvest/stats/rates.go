package stats

import (
	"net/url"
	"strings"

	"gleaner/internal/gleaner"
	"gleaner/internal/record/store"
)

// Thresholds decide when a directory or a site is poor. Rates are shares from 0 to 1.
type Thresholds struct {
	Yield, DDR, ADR float64 // less than Yield, and than DDR or ADR, is poor
	MinURLs         int     // least number of pages and documents for a verdict
	TrapPages       int     // pages after which a site with a low page yield is a trap
	StopSites       int     // number of sites above which a barren name is a stop directory
	StopShare       float64 // unless a greater share of the sites with the name has documents
}

// Defaults returns CINDI's thresholds (Chen 2008).
func Defaults() Thresholds {
	return Thresholds{Yield: 0.05, DDR: 0.01, ADR: 0.05, MinURLs: 10, TrapPages: 200, StopSites: 5, StopShare: 0.05}
}

// Verdicts on a site.
const (
	Trap   = "trap"   // many pages, hardly any relevant ones
	Barren = "barren" // not worth recrawling
)

// PRR returns the page relevancy rate (Chen 2008, §3.4): among classified pages, the share about
// a collected subject.
func PRR(r store.Rates) float64 { return share(r.About, r.Judged) }

// PageYield returns the share of fetched pages that lead to an accepted document.
func PageYield(r store.Rates) float64 { return share(r.Relevant, r.Pages) }

// DDR returns the document download rate: documents per fetched page, which may be more than one.
// A directory without pages counts as one page per document.
func DDR(r store.Rates) float64 {
	if r.Pages == 0 {
		return share(r.Documents, r.Documents)
	}
	return share(r.Documents, r.Pages)
}

// ADR returns the accepted document rate: the accepted share of documents.
func ADR(r store.Rates) float64 { return share(r.Accepted, r.Documents) }

func share(part, whole int) float64 { return float64(part) / float64(max(whole, 1)) }

// poor reports whether a directory with enough URLs has a low page yield, and few documents or
// few accepted ones. DDR and ADR are consecutive steps from fetched pages to accepted documents,
// so one low rate suffices: a course with one slide in fifty pages has DDR = 2 % and no papers.
// By CINDI's rule any low rate suffices, which drops a page of publications beside its files.
func (t Thresholds) poor(r store.Rates) bool {
	return t.judges(r) && PageYield(r) < t.Yield && (DDR(r) < t.DDR || ADR(r) < t.ADR)
}

// judges reports whether there are enough URLs for a verdict.
func (t Thresholds) judges(r store.Rates) bool { return r.Pages+r.Documents >= t.MinURLs }

// verdict returns the verdict on a whole site.
func (t Thresholds) verdict(r store.Rates) string {
	switch {
	case gleaner.Trap{After: t.TrapPages, Rate: t.Yield}.Is(r.Pages, r.Relevant) && r.Accepted == 0:
		return Trap
	case t.poor(r):
		return Barren
	}
	return ""
}

// maxLevels is the greatest depth of directories that are counted; CINDI's frontier has none
// deeper.
const maxLevels = 7

// directories returns the directories of a URL, from "/" down.
func directories(raw string) []string {
	u, err := url.Parse(raw)
	if err != nil {
		return nil
	}
	path := u.EscapedPath()
	out := []string{"/"}
	for i := 1; i < len(path) && len(out) <= maxLevels; i++ {
		if path[i] == '/' {
			out = append(out, path[:i+1])
		}
	}
	return out
}

// name returns the last part of a directory's path in lower case: "papers" for "/~ada/Papers/".
func name(dir string) string {
	parts := strings.Split(strings.Trim(dir, "/"), "/")
	return strings.ToLower(parts[len(parts)-1])
}
