package stats

import (
	"net/url"
	"strings"

	"gleaner/internal/gleaner"
	"gleaner/internal/record/store"
)

// Thresholds say when a directory or a site is not worth it. The rates are
// shares from 0 to 1.
type Thresholds struct {
	Yield, DDR, ADR float64 // what falls short of Yield, and of DDR or ADR, is poor
	MinURLs         int     // what has fewer pages and documents is not judged
	TrapPages       int     // pages of a site after which a page yield below the threshold makes it a trap
	StopSites       int     // a name barren on more sites than this is a stop directory
	StopShare       float64 // unless more than this share of the sites with the name gave something
}

// Defaults are CINDI's thresholds (Chen 2008).
func Defaults() Thresholds {
	return Thresholds{Yield: 0.05, DDR: 0.01, ADR: 0.05, MinURLs: 10, TrapPages: 200, StopSites: 5, StopShare: 0.05}
}

// Verdicts on a site.
const (
	Trap   = "trap"   // many pages, hardly a relevant one
	Barren = "barren" // not worth recrawling
)

// PRR is the page relevancy rate (Chen 2008, §3.4): of the pages of which a classifier said
// what they are about, the share that is about a subject that is collected.
func PRR(r store.Rates) float64 { return share(r.About, r.Judged) }

// PageYield is the share of the pages fetched that lead to an accepted document.
func PageYield(r store.Rates) float64 { return share(r.Relevant, r.Pages) }

// DDR is the document download rate: documents for each page fetched, which may
// be more than one. Where files alone lie it is as if each had a page.
func DDR(r store.Rates) float64 {
	if r.Pages == 0 {
		return share(r.Documents, r.Documents)
	}
	return share(r.Documents, r.Pages)
}

// ADR is the accepted document rate: of the documents, those that were accepted.
func ADR(r store.Rates) float64 { return share(r.Accepted, r.Documents) }

func share(part, whole int) float64 {
	if whole == 0 {
		return 0
	}
	return float64(part) / float64(whole)
}

// poor reports whether nothing comes of it, on enough URLs to say so: its pages
// lead nowhere, and either hardly any documents lie there or hardly any of them
// are accepted. DDR and ADR are two steps of one way, from what was fetched to
// an accepted document; where one of them is dry, the other does not help: a
// course with one slide in fifty pages has DDR = 2 %, and gave nothing. By CINDI's rule one
// low rate is enough, which drops a page of publications beside its files.
func (t Thresholds) poor(r store.Rates) bool {
	return t.judges(r) && PageYield(r) < t.Yield && (DDR(r) < t.DDR || ADR(r) < t.ADR)
}

// judges reports whether there are enough URLs to say something.
func (t Thresholds) judges(r store.Rates) bool { return r.Pages+r.Documents >= t.MinURLs }

// verdict judges a whole site.
func (t Thresholds) verdict(r store.Rates) string {
	switch {
	case gleaner.Trap{After: t.TrapPages, Rate: t.Yield}.Is(r.Pages, r.Relevant) && r.Accepted == 0:
		return Trap
	case t.poor(r):
		return Barren
	}
	return ""
}

// maxLevels is how deep directories are told apart; CINDI's frontier takes none
// deeper.
const maxLevels = 7

// directories lists the directories that a URL lies in, from "/" down.
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

// name is the last part of a directory's path, in lower case: "papers" of
// "/~ada/Papers/".
func name(dir string) string {
	parts := strings.Split(strings.Trim(dir, "/"), "/")
	return strings.ToLower(parts[len(parts)-1])
}
