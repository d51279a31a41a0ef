package homepage

import (
	"cmp"
	"slices"
	"strings"

	"gleaner/internal/gleaner"
	"gleaner/internal/gleaner/evidence"
)

// again adds the results of a settled first pass to a subject: the homepages of
// co-authors, by id, and the pages assigned to others. It reports whether a second search
// is worthwhile.
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

// resolveConflicts assigns a page that several authors were given to the one with the
// strongest evidence. Ties go to an author whose name it bears, then to the highest score,
// then to the smallest id. A page on another author's personal host goes to that author.
// It changes the decisions in place and depends on nothing else.
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
				preferOver(winner.Name, &decisions[c.decision], key)
			}
		}
	}
	resolveHosts(decisions)
}

// owner is an author with a homepage on a site of their own.
type owner struct {
	author gleaner.Author
	claim  float64
}

// resolveHosts assigns a site with one author's name, a host or a directory of one, to
// that author. Others were given it as the site of a project, since it shows most of
// their titles.
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
				preferOver(o.author.Name, &decisions[i], AddressKey(c.URL))
			}
		}
	}
}

// ownerOf returns the owner of the innermost site that contains an address.
func ownerOf(owners map[string]owner, key string) (o owner) {
	for at := key; o.claim == 0 && at != ""; {
		o = owners[at]
		at = strings.TrimSuffix(at[:strings.LastIndexByte(at, '/')+1], "/")
	}
	return o
}

// preferOver assigns a page to the winner, and removes it from the decision on another author.
func preferOver(winner string, d *evidence.Decision, key string) {
	d.Homepages, d.Candidates = slices.Clone(d.Homepages), slices.Clone(d.Candidates) // a Book in memory shares them
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
