package match

import (
	"bytes"
	"cmp"
	"slices"

	"gleaner/internal/gleaner"
	"gleaner/internal/text"
)

// Reason says why a wanted paper counts as held.
type Reason struct {
	Held    gleaner.Paper `json:"held"` // the record of the library
	Verdict Verdict       `json:"verdict"`
	Score   float64       `json:"score"`
	Why     []string      `json:"why"`
}

// bareTitle reports whether a record that gives no more than a title, and
// perhaps a year, gives this one. The title is then all that a library's list
// has to say, and it is believed.
func bareTitle(p, h gleaner.Paper) bool {
	gap := yearGap(p, h)
	return len(h.Authors) == 0 && h.Pages == "" && gap <= 1 &&
		compareTitles(p.Title, h.Title) <= misread && (len(text.Normalise(h.Title)) > shortTitle || gap == 0)
}

// Held finds which wanted papers a library holds, by key. Exact and strong
// matches count, and titles alone from a list that gives nothing else.
func Held(wanted, holdings []gleaner.Paper) map[string]Reason {
	s := newShelf(wanted)
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

// fewAlike is how many papers of one title a record is compared with, whatever else they
// say; of more, as many of one of its authors and of its year.
const fewAlike = 32

// shelf has wanted papers by what a record of a library may say of them.
type shelf struct {
	byID   map[string][]int
	titles *Index
}

// crowd are the papers of one title that one author wrote in one year.
type crowd struct {
	title int
	name  string // a word of the author's name, or anybody, or nobody
	year  int    // or anyYear
}

// crowds are the papers of titles that many have.
type crowds map[crowd][]int

// add puts the papers of a title under the names of each one's authors and its year.
func (cs crowds) add(title int, all []int, papers []gleaner.Paper) {
	for _, i := range all {
		for _, name := range append(nameWords(papers[i]), anybody) {
			for _, year := range []int{papers[i].Year, anyYear} {
				c := crowd{title, name, year}
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

func newShelf(papers []gleaner.Paper) *shelf {
	s := &shelf{byID: map[string][]int{}, titles: NewIndex(papers)}
	for i, p := range papers {
		for _, id := range Identifiers(p) {
			s.byID[id] = append(s.byID[id], i)
		}
	}
	return s
}

// Identifiers are the names by which two records are one paper.
func Identifiers(p gleaner.Paper) (out []string) {
	for _, id := range [][2]string{{"key:", p.Key}, {"doi:", gleaner.ParseDOI(p.DOI)}, {"arxiv:", gleaner.ParseArXiv(p.ArXiv)}} {
		if id[1] != "" {
			out = append(out, id[0]+id[1])
		}
	}
	return out
}

// nameWords are the words of the authors' names, as documents are read; nobody where there
// are none.
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

// candidates are the papers with which a record is compared: those of its identifiers, and
// the likeliest of its title and of titles like it.
func (s *shelf) candidates(h gleaner.Paper) []int {
	var out []int
	seen := map[int]bool{}
	take := func(some []int) {
		for _, i := range some {
			if !seen[i] && len(out) < mostLike {
				seen[i] = true
				out = append(out, i)
			}
		}
	}
	for _, id := range Identifiers(h) {
		take(s.byID[id][:min(len(s.byID[id]), fewAlike)])
	}
	take(s.titles.titled(h.Title, func() traits { return traitsOf(h) }))
	return out
}

// traits are by what the papers of one title are told apart.
type traits struct {
	names []string // words of names, or of a text in which names stand
	year  int      // 0 where unknown
	same  []int32  // papers of an identifier
}

// traitsOf are those of a record.
func traitsOf(p gleaner.Paper) traits {
	return traits{names: append(nameWords(p), nobody), year: p.Year}
}

// likeliest are papers of a title, from the first on, at most n. Where many have it, those of
// an identifier come first, then those of a name and a year that the fewest share.
func (ix *Index) likeliest(first, n int, by func() traits) []int {
	if n == 0 || len(ix.crowds[crowd{first, anybody, anyYear}]) <= min(n, fewAlike) {
		return ix.alike(first, n)
	}
	of := by()
	var some [][]int
	for _, i := range of.same[:min(len(of.same), fewAlike)] {
		if bytes.Equal(ix.title(int(i)), ix.title(first)) {
			some = append(some, []int{int(i)})
		}
	}
	for _, name := range append(of.names, anybody) {
		for _, year := range []int{of.year, of.year - 1, of.year + 1, anyYear} {
			all := ix.crowds[crowd{first, name, year}]
			some = append(some, all[:min(len(all), fewAlike)])
		}
	}
	slices.SortStableFunc(some, func(a, b []int) int { return cmp.Compare(len(a), len(b)) })
	var out []int
	seen := map[int]bool{}
	for _, i := range slices.Concat(some...) {
		if !seen[i] && len(out) < n {
			seen[i] = true
			out = append(out, i)
		}
	}
	return out
}
