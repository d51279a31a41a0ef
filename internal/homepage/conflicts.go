package homepage

import (
	"cmp"
	"slices"
	"strings"

	"gleaner/internal/gleaner"
	"gleaner/internal/gleaner/evidence"
)

// again is a subject with what a settled first pass tells: the homepages of
// co-authors, by id, and the pages that went to others. It reports whether another
// try is worth while.
func (s Subject) again(own evidence.Decision, homepages map[string]string) (Subject, bool) {
	pages, taken := slices.Clone(s.CoAuthorHomepages), slices.Clone(s.Taken)
	for _, a := range coAuthors(s) {
		if u := homepages[a.ID()]; u != "" && !slices.Contains(pages, u) {
			pages = append(pages, u)
		}
	}
	for _, c := range own.Candidates {
		if strings.HasPrefix(c.Rule, ruleGiven) {
			taken = append(taken, c.URL)
		}
	}
	again := len(own.Homepages) == 0 && (len(pages) > len(s.CoAuthorHomepages) || len(taken) > 0)
	s.CoAuthorHomepages, s.Taken = pages, taken
	return s, again
}

// resolveConflicts leaves a page that several authors were given to the one
// who is best vouched for (then to one whose name it bears, then the highest score, then
// the smallest id), and one on
// another author's personal host to that author. It changes the decisions in place and
// is a pure function of them.
func resolveConflicts(decisions []evidence.Decision) {
	type claim struct {
		decision  int
		candidate evidence.Candidate
	}
	claims := map[string][]claim{}
	for i, d := range decisions {
		for _, c := range d.Homepages {
			k := AddressKey(c.URL)
			claims[k] = append(claims[k], claim{i, c})
		}
	}
	for key, cs := range claims {
		if len(cs) < 2 {
			continue
		}
		slices.SortFunc(cs, func(x, y claim) int {
			a, b := x.candidate, y.candidate
			if p, q := a.Features[fIdentity] >= minIdentity, b.Features[fIdentity] >= minIdentity; p != q && a.Features[fVouched] == b.Features[fVouched] {
				return map[bool]int{true: -1, false: 1}[p]
			}
			return cmp.Or(cmp.Compare(b.Features[fVouched], a.Features[fVouched]), cmp.Compare(b.Score, a.Score),
				cmp.Compare(decisions[x.decision].Author.ID(), decisions[y.decision].Author.ID()))
		})
		winner := decisions[cs[0].decision].Author
		for _, c := range cs[1:] {
			if decisions[c.decision].Author.ID() != winner.ID() {
				yieldTo(&decisions[c.decision], winner.Name, key)
			}
		}
	}
	resolveHosts(decisions)
}

// owner is who has a homepage on a site of their own.
type owner struct {
	author gleaner.Author
	claim  float64
}

// resolveHosts leaves a site that one author owns by name, be it a host or a directory
// of one, to that author: others were given it as the site of a project, since it shows
// most of their titles.
func resolveHosts(decisions []evidence.Decision) {
	owners := map[string]owner{} // by the address of the site
	for _, d := range decisions {
		for _, c := range d.Homepages {
			root, personal := siteOf(parseURL(c.URL), parseName(d.Author.Name))
			key, claim := AddressKey(root), c.Features[fIdentity]+c.Features[fVouched]
			if personal && c.Features[fUser] > 0 && c.Features[fIdentity] >= nameLoose && claim > owners[key].claim {
				owners[key] = owner{d.Author, claim}
			}
		}
	}
	for i := range decisions {
		for _, c := range slices.Clone(decisions[i].Homepages) {
			o := ownerOf(owners, AddressKey(c.URL))
			if o.claim > 0 && c.Features[fIdentity] < minIdentity && o.author.ID() != decisions[i].Author.ID() {
				yieldTo(&decisions[i], o.author.Name, AddressKey(c.URL))
			}
		}
	}
}

// ownerOf is the owner of the innermost site that an address lies in.
func ownerOf(owners map[string]owner, key string) (o owner) {
	for at := key; o.claim == 0 && at != ""; {
		o = owners[at]
		at = strings.TrimSuffix(at[:strings.LastIndexByte(at, '/')+1], "/")
	}
	return o
}

// yieldTo gives up a page to another author.
func yieldTo(d *evidence.Decision, winner, key string) {
	d.Homepages, d.Candidates = slices.Clone(d.Homepages), slices.Clone(d.Candidates) // a book in memory has them, too
	d.Homepages = slices.DeleteFunc(d.Homepages, func(c evidence.Candidate) bool { return AddressKey(c.URL) == key })
	for i := range d.Candidates {
		if c := &d.Candidates[i]; c.Kept && AddressKey(c.URL) == key {
			c.Kept, c.Priority, c.Rule = false, "", ruleGiven+" "+winner+", with more evidence"
		}
	}
	if len(d.Homepages) == 0 {
		d.NotFound = evidence.GivenToAnother
	}
}
