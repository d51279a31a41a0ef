package metadata

import (
	"strings"

	"gleaner/internal/each"
	"gleaner/internal/gleaner"
	"gleaner/internal/match"
	"gleaner/internal/text"
)

// What one paper is compared with, at most. Catalogues list hundreds of papers of
// one title ("Editorial"), and what anybody lists may be made to be alike.
const (
	mostCompared = 200
	mostOfTitle  = 32 // of one title and year, and of one identifier
)

// shelf finds among the papers of the lists before the one that another is.
type shelf struct {
	papers []gleaner.Paper
	titles *match.Index // one paper for each title
	byID   map[string][]int
	like   map[drawer][]int
	taken  map[int]bool // by another paper of the list that is merged
}

// drawer holds papers of one title.
type drawer struct {
	title int  // its number in the index
	year  int  // or anyYear
	open  bool // only those that no publisher's DOI tells from others
}

const anyYear = -1

func newShelf(papers []gleaner.Paper) *shelf {
	s := &shelf{papers: papers, byID: map[string][]int{}, like: map[drawer][]int{}, taken: map[int]bool{}}
	var first []gleaner.Paper // of each title
	number := map[string]int{}
	for i, p := range papers {
		for _, id := range match.Identifiers(p) {
			s.byID[id] = append(s.byID[id], i)
		}
		title := text.Normalise(p.Title)
		if title == "" {
			continue
		}
		n, ok := number[title]
		if !ok {
			n = len(first)
			number[title] = n
			first = append(first, p)
		}
		for _, year := range []int{p.Year, anyYear} {
			for _, open := range []bool{false, true} {
				if d := (drawer{n, year, open}); !open || !published(p.DOI) {
					s.like[d] = append(s.like[d], i)
				}
			}
		}
	}
	s.titles = match.NewIndex(first)
	return s
}

// find looks for the paper that p is, and says why; -1 is none.
func (s *shelf) find(p gleaner.Paper) (int, string) {
	best, found := -1, match.Match{}
	for _, i := range s.candidates(p) {
		own := s.papers[i]
		// Two works of one title, with a DOI each from publishers, are a
		// conference paper and its journal version.
		same := p.Key == own.Key || (p.ArXiv != "" && p.ArXiv == own.ArXiv)
		if !same && otherDOI(own.DOI, p.DOI) {
			continue
		}
		m := match.Match{Paper: own}
		if m.Verdict, m.Score, m.Reasons = match.Records(own, p); m.Verdict != match.Exact && m.Verdict != match.Strong {
			continue
		}
		if best < 0 || match.Compare(m, found) < 0 {
			best, found = i, m
		}
	}
	return best, strings.Join(found.Reasons, ", ")
}

// candidates are the papers with which p is compared: those of its identifiers,
// then those of its title and of titles like it, of the same year first. Where p
// has a publisher's DOI, those of other such DOIs are left out.
func (s *shelf) candidates(p gleaner.Paper) []int {
	var some [][]int
	for _, id := range match.Identifiers(p) {
		some = append(some, free(s, s.byID, id))
	}
	open := published(p.DOI)
	for _, n := range s.titles.Titled(p.Title) {
		some = append(some, free(s, s.like, drawer{n, p.Year, open}), free(s, s.like, drawer{n, anyYear, open}))
	}
	return each.Distinct(mostCompared, some...)
}

// free gives the first few that are not taken. Those that are it forgets, so that
// nobody steps over them again.
func free[K comparable](s *shelf, in map[K][]int, at K) []int {
	all := in[at]
	n, i := 0, 0
	for ; i < len(all) && n < mostOfTitle; i++ {
		if !s.taken[all[i]] {
			all[n] = all[i]
			n++
		}
	}
	copy(all[i-n:i], all[:n])
	if all = all[i-n:]; i > n {
		in[at] = all
	}
	return all[:n]
}

// otherDOI reports whether two DOIs name different publications; a preprint's
// own does not speak against the published one.
func otherDOI(a, b string) bool { return a != b && published(a) && published(b) }

// published reports whether a DOI is a publisher's.
func published(doi string) bool {
	for _, preprints := range []string{"10.48550/", "10.31219/", "10.36227/"} {
		if strings.HasPrefix(doi, preprints) {
			return false
		}
	}
	return doi != ""
}
