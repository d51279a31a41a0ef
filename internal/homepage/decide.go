package homepage

import (
	"cmp"
	"slices"
	"strings"

	"gleaner/internal/each"
	"gleaner/internal/gleaner/evidence"
)

// decide compares the candidates with each other, keeps the best and sets the rule that
// decided each.
func (a *authorSearch) decide() {
	a.candidates.lowerNamesakes()
	for _, s := range a.candidates.sites {
		a.candidates.rule(s)
	}
	kept := a.candidates.kept()
	for i, s := range kept {
		if i < a.cfg.MaxKept {
			s.c.Kept = true
			continue
		}
		s.c.Rule, s.c.Priority = "better ones are kept already", ""
	}
	for _, s := range a.candidates.sites {
		a.decision.Candidates = append(a.decision.Candidates, s.c)
	}
	a.keepWithdrawn()
	for _, s := range kept[:min(len(kept), a.cfg.MaxKept)] {
		a.decision.Homepages = append(a.decision.Homepages, s.c)
	}
	if len(a.decision.Homepages) == 0 {
		a.decision.NotFound = a.notFoundReason()
	}
}

// competingScore is what a page must score to count as a competing candidate: news
// and profiles that show a paper do not count.
const competingScore = 0.7

// lowerNamesakes lowers the score of namesakes: if one page with the name shows the
// papers, a page with the name that shows none is somebody else's.
func (cs *candidates) lowerNamesakes() {
	for _, s := range cs.sites {
		if s.c.Features == nil || s.c.Features[fTitles] > 0 {
			continue
		}
		competing := 0.0
		for _, o := range cs.sites {
			if o != s && o.c.Features[fTitles] > 0 && o.c.Features[fOther] == 0 && o.c.Score >= competingScore {
				competing = max(competing, o.c.Features[fIdentity])
			}
		}
		if competing > 0 {
			s.c.Features[fRival] = competing * (1 - s.c.Features[fCoAuthors])
			s.c.Score = cs.model.Score(s.c.Features)
		}
	}
}

const (
	ruleEvidence  = "evidence"
	ruleTooLittle = "too little evidence"
	ruleGiven     = "given to" // somebody else
	ruleDead      = "does not answer: "
)

// Weighed reports whether the score alone decided on a candidate. The model is trained on
// such candidates.
func Weighed(c evidence.Candidate) bool {
	return c.Features != nil && (strings.HasPrefix(c.Rule, ruleEvidence) || strings.HasPrefix(c.Rule, ruleTooLittle))
}

// minIdentity is the least identity feature of a homepage, unless it is the site of a
// project.
const minIdentity = 0.5

// rule sets why a candidate is kept or not.
func (cs *candidates) rule(s *site) {
	f := s.c.Features
	switch {
	case s.c.Rule != "":
	case !s.visited && s.pre < minPrescore:
		s.c.Rule = "no sign of the name in address, title or snippet"
	case !s.c.Fetched:
		s.c.Rule = "not looked at: better ones came first"
	case f["kind_missing"] > 0:
		s.c.Rule = "the page says that nothing is there"
	case f[fOther] > 0 && f[fIdentity] < nameLoose:
		s.c.Rule = "somebody else's page"
	case f[fIdentity] < minIdentity && f[fProjectSite] < 0.3:
		s.c.Rule = "does not show the name as its own"
	case s.c.Score < cs.model.Threshold && !certainByName(f) && !tiedToPapers(f) && !cs.onlyNamed(s):
		s.c.Rule = ruleTooLittle + missing(f)
	default:
		s.c.Priority = priorityOf(s.c.Score, f)
		s.c.Rule = ruleEvidence + shown(f)
	}
}

// Priorities of a candidate, those of Zhuang et al. (JCDL 2005, Table 1).
const (
	High   = "high"
	Medium = "medium"
	Low    = "low"
)

// priorityOf grades how likely a crawl from a page finds the person's papers.
func priorityOf(score float64, f map[string]float64) string {
	switch {
	case score >= 0.9 && f[fTitles]+f[fDocuments] > 0:
		return High
	case score >= 0.75:
		return Medium
	default:
		return Low
	}
}

// shown lists the strongest evidence, for people to read.
func shown(f map[string]float64) string {
	var parts []string
	for _, e := range []struct {
		feature string
		min     float64
		words   string
	}{
		{fListed, 0.1, "listed"}, {fLinked, 0.1, "linked by name"}, {fNameTitle, nameInitials, "name in title"}, {fNameHeading, nameInitials, "name in heading"},
		{fNameURL, nameInitials, "name in address"}, {fNameEmail, nameInitials, "name in e-mail"}, {fTitles, 0.1, "a wanted title"}, {fCoAuthors, 0.1, "a co-author"},
		{fDocuments, 0.1, "documents"}, {fProjectSite, 0.3, "a project's site with most of the titles"},
	} {
		if f[e.feature] >= e.min {
			parts = append(parts, e.words)
		}
	}
	return ": " + strings.Join(parts, ", ")
}

func missing(f map[string]float64) string {
	switch {
	case f[fRival] > 0:
		return ": another page with the name shows the papers"
	case f[fTitles] == 0 && f[fCoAuthors] == 0:
		return ": neither a title nor a co-author on it"
	default:
		return ""
	}
}

// kept returns the candidates that passed, the best first, one per site.
func (cs *candidates) kept() []*site {
	out := each.Where(cs.sites, func(s *site) bool { return s.c.Priority != "" })
	slices.SortStableFunc(out, func(a, b *site) int {
		return cmp.Or(cmp.Compare(b.c.Score, a.c.Score), cmp.Compare(a.c.URL, b.c.URL))
	})
	return cs.onePerSite(out)
}

// onePerSite drops pages that lie below one that is better or equal.
func (cs *candidates) onePerSite(in []*site) []*site {
	var out []*site
	for _, s := range in {
		if cs.linksToHomepage(s, in) {
			s.c.Rule, s.c.Priority = "an inner page of a homepage that is kept", ""
			continue
		}
		below := slices.ContainsFunc(out, func(o *site) bool {
			a, b := AddressKey(o.c.URL), AddressKey(s.c.URL)
			return a == b || strings.HasPrefix(b, a+"/") || strings.HasPrefix(a, b+"/")
		})
		if below {
			s.c.Rule, s.c.Priority = "below or above a page that is kept", ""
			continue
		}
		out = append(out, s)
	}
	return out
}

// linksToHomepage reports whether the link "home" of s led to another candidate that passed.
func (cs *candidates) linksToHomepage(s *site, passed []*site) bool {
	return slices.ContainsFunc(passed, func(o *site) bool {
		return o != s && o.c.Source == evidence.SourceInner && sameAddress(o.c.Via, s.c.URL)
	})
}

// notFoundReason returns why no homepage was found, in one line.
func (a *authorSearch) notFoundReason() string {
	fetched, dead, barred, listed := 0, 0, false, false
	for _, s := range a.candidates.sites {
		switch {
		case s.c.Fetched:
			fetched++
		case strings.HasPrefix(s.c.Rule, ruleDead):
			dead++
		case s.c.Rule == evidence.OnBlacklist:
			barred, listed = true, listed || strings.HasPrefix(s.c.Source, evidence.SourceListed)
		}
	}
	for _, u := range a.reader.unanswered {
		if u.Kind == evidence.KindPage && !a.foreign[u.What] {
			return evidence.DidNotAnswer + " (" + u.What + ": " + u.Reason + ")"
		}
	}
	switch {
	case a.reader.unreadable != "":
		return evidence.Unreadable + " (" + a.reader.unreadable + ")"
	case a.answered == 0 && (len(a.failures) > 0 || a.cfg.Searcher == nil):
		return evidence.NoSearch
	case len(a.failures) > 0:
		return evidence.SearchFailed
	case listed || barred && fetched+dead == 0:
		return evidence.Barred
	case fetched > 0:
		return evidence.NoEvidence
	case dead > 0:
		return evidence.AllDead
	default:
		return evidence.NoCandidates
	}
}
