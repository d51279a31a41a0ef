package homepage

import (
	"slices"
	"strings"

	"gleaner/internal/each"
	"gleaner/internal/gleaner/evidence"
	"gleaner/internal/text"
	"gleaner/internal/web/weburl"
)

// Withdraw removes a homepage from a decision if only the name was evidence for it: no
// directory lists it, no known page links to it by the name, and it shows no title and no
// co-author. It is called after a crawl that found nothing academic; brought describes
// what it found. Withdraw reports whether it removed one.
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
	return c.Source != "user" && c.Confirmed == 0 && f != nil && f[fListed]+f[fLinked]+f[fTitles]+f[fCoAuthors]+f[fProjectSite] == 0
}

// Provisional returns the homepages of a decision for which only the name is evidence.
// Their crawls confirm them (Confirm) or not (Withdraw).
func Provisional(d evidence.Decision) (all []evidence.Candidate) {
	return each.Where(d.Homepages, nameAlone)
}

// Confirm notes that a crawl found papers of the author at a provisional homepage, which
// is no longer provisional then. It reports whether there was one.
func Confirm(d evidence.Decision, url string, papers int) (evidence.Decision, bool) {
	is := false
	mark := func(all []evidence.Candidate) []evidence.Candidate {
		all = slices.Clone(all)
		for i, c := range all {
			if c.URL == url && nameAlone(c) {
				all[i].Confirmed, is = papers, true
				all[i].Rule += "; confirmed by its crawl: " + text.Count(papers, "paper") + " of theirs"
			}
		}
		return all
	}
	d.Homepages = mark(d.Homepages)
	if is {
		d.Candidates = mark(d.Candidates)
	}
	return d, is
}

// ConfirmedBy returns the homepages of a decision at which a crawl found papers of the
// author. The next search treats them as listed by a directory.
func ConfirmedBy(d evidence.Decision) (all []Listed) {
	for _, c := range d.Homepages {
		if c.Confirmed > 0 || c.Source == evidence.SourceListed+":"+evidence.SourceCrawl {
			all = append(all, Listed{URL: c.URL, Source: evidence.SourceCrawl})
		}
	}
	return all
}

// WithdrawnFrom returns the pages withdrawn from a decision, or from one before it. The
// next search leaves them out.
func WithdrawnFrom(d evidence.Decision) (all []evidence.Candidate) {
	return each.Where(d.Candidates, func(c evidence.Candidate) bool {
		return strings.HasPrefix(c.Rule, evidence.Withdrawn)
	})
}

// withdrawn returns the withdrawn page whose crawl covered an address, and the rule by
// which the address is left out; "" for none. Pages that a directory lists are not left out.
func (cs *candidates) withdrawn(url, source string) (from, rule string) {
	if strings.HasPrefix(source, evidence.SourceListed) {
		return "", ""
	}
	for _, c := range cs.subject.Withdrawn {
		if bareHost(c.URL) == bareHost(url) && weburl.InScope(url, []string{weburl.PathPrefix(c.URL)}) {
			return c.URL, "of " + c.URL + ", which led nowhere"
		}
	}
	return "", ""
}

func bareHost(url string) string { return strings.TrimPrefix(weburl.Host(url), "www.") }

// keepWithdrawn keeps withdrawn pages among the candidates, unless they were fetched again. A
// later search would accept them anew otherwise.
func (a *authorSearch) keepWithdrawn() {
	for _, c := range a.subject.Withdrawn {
		if !slices.ContainsFunc(a.decision.Candidates, func(o evidence.Candidate) bool { return o.Fetched && sameAddress(o.URL, c.URL) }) {
			a.decision.Candidates = append(a.decision.Candidates, c)
		}
	}
}
