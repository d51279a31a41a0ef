package metadata

import (
	"strings"

	"gleaner/internal/each"
	"gleaner/internal/gleaner"
	"gleaner/internal/match"
	"gleaner/internal/text"
)

// Limits on the papers with which one paper is compared. Catalogues list hundreds of papers with
// the same title ("Editorial"), and a hostile list can hold any number.
const (
	mostCompared = 200
	mostOfTitle  = 32 // with the same title and year, or the same identifier
)

// paperIndex finds the paper of earlier lists that equals a paper of the next list.
type paperIndex struct {
	papers  []gleaner.Paper
	titles  *match.Index // one paper for each title
	byID    map[string][]int
	byTitle map[titleKey][]int
	taken   map[int]bool // by another paper of the list that is merged
}

// titleKey selects papers with the same title.
type titleKey struct {
	title int  // number in the index
	year  int  // or anyYear
	open  bool // only papers without a publisher's DOI
}

const anyYear = -1

func newPaperIndex(papers []gleaner.Paper) *paperIndex {
	s := &paperIndex{papers: papers, byID: map[string][]int{}, byTitle: map[titleKey][]int{}, taken: map[int]bool{}}
	var first []gleaner.Paper // with each title
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
				if k := (titleKey{n, year, open}); !open || !published(p.DOI) {
					s.byTitle[k] = append(s.byTitle[k], i)
				}
			}
		}
	}
	s.titles = match.NewIndex(first)
	return s
}

// find returns the index of the paper that equals p, with the reasons; -1 if there is none.
func (s *paperIndex) find(p gleaner.Paper) (int, string) {
	best, found := -1, match.Match{}
	for _, i := range s.candidates(p) {
		own := s.papers[i]
		// Two works with the same title and different DOIs of publishers are a conference
		// paper and its journal version.
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

// candidates returns the papers with which p is compared: those with its identifiers, then those
// with its title or a similar one, the same year first. If p has a publisher's DOI, papers with
// another such DOI are left out.
func (s *paperIndex) candidates(p gleaner.Paper) []int {
	var some [][]int
	for _, id := range match.Identifiers(p) {
		some = append(some, available(s, s.byID, id))
	}
	open := published(p.DOI)
	for _, n := range s.titles.Titled(p.Title) {
		some = append(some, available(s, s.byTitle, titleKey{n, p.Year, open}), available(s, s.byTitle, titleKey{n, anyYear, open}))
	}
	return each.Distinct(mostCompared, some...)
}

// available returns the first few papers that are not taken. It removes the taken ones before
// them, so that they are not looked at again.
func available[K comparable](s *paperIndex, in map[K][]int, at K) []int {
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

// otherDOI reports whether two DOIs name different publications. The DOI of a preprint does not
// exclude the published version.
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
