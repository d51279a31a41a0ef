package homepage

import (
	"slices"
	"strings"

	"gleaner/internal/gleaner/evidence"
)

// Withdraw takes a homepage back whose crawl came to its end and brought nothing
// academic, where nothing but the name spoke for it: no directory lists it, no page that
// is known links to it by the name, and it shows no title and no co-author. brought says
// what it came to. It reports whether there was one.
func Withdraw(d evidence.Decision, url, brought string) (evidence.Decision, bool) {
	i := slices.IndexFunc(d.Homepages, func(c evidence.Candidate) bool { return c.URL == url && nameAlone(c) })
	if i < 0 {
		return d, false
	}
	rule := evidence.Withdrawn + ": " + brought
	d.Homepages = slices.Delete(slices.Clone(d.Homepages), i, i+1)
	d.Candidates = slices.Clone(d.Candidates)
	for k := range d.Candidates {
		if c := &d.Candidates[k]; c.URL == url {
			c.Kept, c.Priority, c.Rule = false, "", rule
		}
	}
	if len(d.Homepages) == 0 {
		d.NotFound = rule
	}
	return d, true
}

func nameAlone(c evidence.Candidate) bool {
	f := c.Features
	return c.Source != "user" && f != nil && f[fListed]+f[fLinked]+f[fTitles]+f[fCoAuthors]+f[fProjectSite] == 0
}

// WithdrawnFrom are the pages that a decision took back, and what their crawls came to:
// whoever looks again leaves them out.
func WithdrawnFrom(d evidence.Decision) map[string]string {
	var out map[string]string
	for _, c := range d.Candidates {
		if strings.HasPrefix(c.Rule, evidence.Withdrawn) {
			if out == nil {
				out = map[string]string{}
			}
			out[c.URL] = c.Rule
		}
	}
	return out
}

// withdrawn is why a page is left out that was taken back before; "" for not.
func (h *hunt) withdrawn(url string) string {
	for from, rule := range h.s.Withdrawn {
		if belowFound(url, []string{from}) {
			return rule
		}
	}
	return ""
}
