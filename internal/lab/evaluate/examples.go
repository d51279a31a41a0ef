package evaluate

import (
	"gleaner/internal/each"
	"gleaner/internal/rank"
	"gleaner/internal/web/weburl"
)

// deeper is what a page is worth that leads to a worthy page, per hop.
const deeper = 0.7

// Examples turns a whole crawl of a site, breadth-first as a rule, into examples
// for rank.TrainPrior. A document's outcome is whether it was a paper. A page's
// is the papers per request that it led to: g papers linked there and not on
// the page where it was found count g/(g+1), and each hop on the way to a
// better page costs a factor of 0.7.
func Examples(site string, r Run) []rank.Example {
	steps := r.Answered()
	papers := map[string]bool{}
	for _, s := range steps {
		if s.Kind == Paper {
			papers[weburl.Key(s.URL)] = true
		}
	}
	links := map[string][]string{}
	found := map[string][]int{} // steps by the page on which they were found
	for i, s := range steps {
		if s.Page != nil {
			seen := map[string]bool{}
			for _, l := range s.Page.Links {
				if k := weburl.Key(l.URL); !seen[k] {
					seen[k] = true
					links[s.URL] = append(links[s.URL], k)
				}
			}
		}
		if s.Parent != "" {
			found[s.Parent] = append(found[s.Parent], i)
		}
	}
	worth := make([]float64, len(steps))
	for i := len(steps) - 1; i >= 0; i-- { // what was found on a page came after it
		s := steps[i]
		if s.Document {
			if s.Kind == Paper {
				worth[i] = 1
			}
			continue
		}
		known := each.Members(links[s.Parent])
		led := 0.0
		for _, k := range links[s.URL] {
			if papers[k] && !known[k] {
				led++
			}
		}
		worth[i] = led / (led + 1)
		for _, j := range found[s.URL] {
			if !steps[j].Document {
				worth[i] = max(worth[i], deeper*worth[j])
			}
		}
	}
	var out []rank.Example
	for i, s := range steps {
		if s.Parent != "" && (s.Document || s.Page != nil) {
			out = append(out, rank.Example{Site: site, Candidate: s.Candidate, Outcome: worth[i]})
		}
	}
	return out
}

// Log turns a whole breadth-first crawl into the log that TrainLinks reads.
// Links to what the crawl did not reach are left out.
func Log(r Run) []Followed {
	steps := r.Answered()
	reached := map[string]Step{}
	for _, s := range steps {
		reached[weburl.Key(s.URL)] = s
	}
	var out []Followed
	for _, s := range steps {
		if s.Parent == "" {
			out = append(out, Followed{URL: s.URL})
		}
		if s.Page == nil {
			continue
		}
		for _, l := range s.Page.Links {
			to, ok := reached[weburl.Key(l.URL)]
			if ok && to.URL != s.URL && (!to.Document || to.Kind == Paper) {
				out = append(out, Followed{URL: to.URL, Parent: s.URL, Anchor: l.Anchor, Document: to.Document})
			}
		}
	}
	return out
}
