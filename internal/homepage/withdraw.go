package homepage

import (
	"slices"
	"strings"

	"gleaner/internal/each"
	"gleaner/internal/gleaner/evidence"
	"gleaner/internal/text"
	"gleaner/internal/web/weburl"
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
	return c.Source != "user" && c.Confirmed == 0 && f != nil && f[fListed]+f[fLinked]+f[fTitles]+f[fCoAuthors]+f[fProjectSite] == 0
}

// Provisional are the homepages of a decision for which nothing but the name speaks: what
// their crawls bring confirms them, or withdraws them.
func Provisional(d evidence.Decision) (all []evidence.Candidate) {
	return each.Where(d.Homepages, nameAlone)
}

// Confirm notes that a crawl found papers of the author at a provisional homepage, which is
// theirs from then on. It reports whether there was one.
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

// ConfirmedBy are the homepages of a decision at which a crawl found papers of the author:
// whoever looks again is told of them as by a directory.
func ConfirmedBy(d evidence.Decision) (all []Listed) {
	for _, c := range d.Homepages {
		if c.Confirmed > 0 || c.Source == evidence.SourceListed+":"+evidence.SourceCrawl {
			all = append(all, Listed{URL: c.URL, Source: evidence.SourceCrawl})
		}
	}
	return all
}

// WithdrawnFrom are the pages that a decision took back, or one before it: whoever looks
// again leaves them out.
func WithdrawnFrom(d evidence.Decision) (all []evidence.Candidate) {
	return each.Where(d.Candidates, func(c evidence.Candidate) bool {
		return strings.HasPrefix(c.Rule, evidence.Withdrawn)
	})
}

// withdrawn is the page that was taken back with which another was crawled, and why that
// is left out; "" for none. What a directory has come to list is looked at again.
func (h *hunt) withdrawn(url, source string) (from, rule string) {
	if strings.HasPrefix(source, evidence.SourceListed) {
		return "", ""
	}
	for _, c := range h.s.Withdrawn {
		if bareHost(c.URL) == bareHost(url) && weburl.InScope(url, []string{weburl.PathPrefix(c.URL)}) {
			return c.URL, "of " + c.URL + ", which led nowhere"
		}
	}
	return "", ""
}

func bareHost(url string) string { return strings.TrimPrefix(weburl.Host(url), "www.") }

// remember keeps what was taken back among the candidates, but for what was looked at
// again: a search that does not bring it must not have the next one give it anew.
func (h *hunt) remember() {
	for _, c := range h.s.Withdrawn {
		if !slices.ContainsFunc(h.d.Candidates, func(o evidence.Candidate) bool { return o.Fetched && sameAddress(o.URL, c.URL) }) {
			h.d.Candidates = append(h.d.Candidates, c)
		}
	}
}
