package match

import (
	"bytes"
	"cmp"
	"slices"

	"gleaner/internal/each"
	"gleaner/internal/gleaner"
	"gleaner/internal/text"
)

// Reason explains why a wanted paper counts as held.
type Reason struct {
	Held    gleaner.Paper `json:"held"` // the record of the library
	Verdict Verdict       `json:"verdict"`
	Score   float64       `json:"score"`
	Why     []string      `json:"why"`
}

// bareTitle reports whether a record holds only this title and perhaps a year. Such a record of a
// library's list counts as a match, since the list gives no more.
func bareTitle(p, h gleaner.Paper) bool {
	gap := yearGap(p, h)
	return len(h.Authors) == 0 && h.Pages == "" && gap <= 1 &&
		compareTitles(p.Title, h.Title) <= misread && (len(text.Normalise(h.Title)) > shortTitle || gap == 0)
}

// Held returns by key the wanted papers that a library holds. Exact and strong matches count, and
// equal titles from a list of titles.
func Held(wanted, holdings []gleaner.Paper) map[string]Reason {
	s := newHeldIndex(wanted)
	out := map[string]Reason{}
	for _, h := range holdings {
		for _, i := range s.candidates(h) {
			p := wanted[i]
			v, score, why := Records(p, h)
			if v != Exact && v != Strong && (v == Different || !bareTitle(p, h)) {
				continue
			}
			old, ok := out[p.Key]
			if ok && (old.Verdict.rank() < v.rank() || old.Verdict == v && old.Score >= score) {
				continue
			}
			out[p.Key] = Reason{Held: h, Verdict: v, Score: score, Why: why}
		}
	}
	return out
}

// maxSameTitle is the number of papers of one title with which every record is compared. Of more
// papers, as many with one of its authors and its year are compared.
const maxSameTitle = 32

// heldIndex finds wanted papers for a record of a library.
type heldIndex struct {
	byID   map[string][]int
	titles *Index
}

// nameYear is one author and one year of the papers of one title.
type nameYear struct {
	title int
	name  string // a word of the author's name, anybody or nobody
	year  int    // or anyYear
}

// nameYears are the papers of titles that many papers have.
type nameYears map[nameYear][]int

// add adds the papers of a title by the name of each author and the year.
func (cs nameYears) add(title int, all []int, papers []gleaner.Paper) {
	for _, i := range all {
		for _, name := range append(nameWords(papers[i]), anybody) {
			for _, year := range []int{papers[i].Year, anyYear} {
				c := nameYear{title, name, year}
				cs[c] = append(cs[c], i)
			}
		}
	}
}

const (
	anybody = "*"
	nobody  = ""
	anyYear = -1
)

func newHeldIndex(papers []gleaner.Paper) *heldIndex {
	s := &heldIndex{byID: map[string][]int{}, titles: NewIndex(papers)}
	for i, p := range papers {
		for _, id := range Identifiers(p) {
			s.byID[id] = append(s.byID[id], i)
		}
	}
	return s
}

// Identifiers returns the identifiers of a paper. Two records with a common one are the same
// paper.
func Identifiers(p gleaner.Paper) (out []string) {
	for _, id := range [][2]string{{"key:", p.Key}, {"doi:", gleaner.ParseDOI(p.DOI)}, {"arxiv:", gleaner.ParseArXiv(p.ArXiv)}} {
		if id[1] != "" {
			out = append(out, id[0]+id[1])
		}
	}
	return out
}

// nameWords returns the folded words of the authors' names; nobody without authors.
func nameWords(p gleaner.Paper) []string {
	words := slices.Concat(people(p.Authors)...)
	if len(words) == 0 {
		return []string{nobody}
	}
	for i, w := range words {
		words[i] = string(skeleton(w))
	}
	slices.Sort(words)
	return slices.Compact(words)
}

// candidates returns the papers with which a record is compared: those of its identifiers, and
// the likeliest of its title and of similar titles.
func (s *heldIndex) candidates(h gleaner.Paper) []int {
	var some [][]int
	for _, id := range Identifiers(h) {
		some = append(some, s.byID[id][:min(len(s.byID[id]), maxSameTitle)])
	}
	some = append(some, s.titles.titled(h.Title, func() traits { return traitsOf(h) }))
	return each.Distinct(maxSimilar, some...)
}

// traits distinguish papers of one title.
type traits struct {
	names []string // words of names, or of a text that contains names
	year  int      // 0 if unknown
	same  []int32  // papers with the same identifier
}

// traitsOf returns the traits of a record.
func traitsOf(p gleaner.Paper) traits {
	return traits{names: append(nameWords(p), nobody), year: p.Year}
}

// likeliest returns at most n papers of a title, from the first on. If more have it, those of an
// identifier come first, then those of the rarest pair of name and year.
func (ix *Index) likeliest(first, n int, by func() traits) []int {
	if n == 0 || len(ix.crowds[nameYear{first, anybody, anyYear}]) <= min(n, maxSameTitle) {
		return ix.alike(first, n)
	}
	of := by()
	var some [][]int
	for _, i := range of.same[:min(len(of.same), maxSameTitle)] {
		if bytes.Equal(ix.title(int(i)), ix.title(first)) {
			some = append(some, []int{int(i)})
		}
	}
	for _, name := range append(of.names, anybody) {
		for _, year := range []int{of.year, of.year - 1, of.year + 1, anyYear} {
			all := ix.crowds[nameYear{first, name, year}]
			some = append(some, all[:min(len(all), maxSameTitle)])
		}
	}
	slices.SortStableFunc(some, func(a, b []int) int { return cmp.Compare(len(a), len(b)) })
	return each.Distinct(n, some...)
}
