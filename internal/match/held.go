package match

import (
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

const (
	// fewAlike is how many papers of one title a record is compared with, whatever
	// else they say; of more, as many of one of its authors and of its year.
	fewAlike = 32
	// mostCompared is with how many papers a record is compared at all.
	mostCompared = 200
)

// shelf has wanted papers by what a record of a library may say of them: a
// catalogue lists hundreds of one title ("Editorial").
type shelf struct {
	byID   map[string][]int
	titles *Index        // one paper for each title
	alike  map[int][]int // the papers of each
	crowds map[crowd][]int
}

// crowd are the papers of one title that one author wrote in one year.
type crowd struct {
	title int
	name  string // a word of the author's name, or anybody, or nobody
	year  int    // or anyYear
}

const (
	anybody = "*"
	nobody  = ""
	anyYear = -1
)

func newShelf(papers []gleaner.Paper) *shelf {
	s := &shelf{byID: map[string][]int{}, alike: map[int][]int{}, crowds: map[crowd][]int{}}
	var first []gleaner.Paper // of each title
	number := map[string]int{}
	for i, p := range papers {
		for _, id := range Identifiers(p) {
			s.byID[id] = append(s.byID[id], i)
		}
		title := text.Normalise(p.Title)
		n, ok := number[title]
		if !ok {
			n = len(first)
			number[title] = n
			first = append(first, p)
		}
		s.alike[n] = append(s.alike[n], i)
	}
	for n, all := range s.alike {
		if len(all) <= fewAlike {
			continue
		}
		for _, i := range all {
			for _, name := range append(nameWords(papers[i]), anybody) {
				for _, year := range []int{papers[i].Year, anyYear} {
					c := crowd{n, name, year}
					s.crowds[c] = append(s.crowds[c], i)
				}
			}
		}
	}
	s.titles = NewIndex(first)
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

// nameWords are the words of the authors' names; nobody where there are none.
func nameWords(p gleaner.Paper) []string {
	words := slices.Concat(people(p.Authors)...)
	if len(words) == 0 {
		return []string{nobody}
	}
	slices.Sort(words)
	return slices.Compact(words)
}

// candidates are the papers with which a record is compared: those of its
// identifiers, and those of its title and of titles like it. Where these are many,
// those of its authors, or of no author, first those of its year.
func (s *shelf) candidates(h gleaner.Paper) []int {
	var out []int
	seen := map[int]bool{}
	take := func(some []int) {
		for _, i := range some[:min(len(some), fewAlike)] {
			if !seen[i] && len(out) < mostCompared {
				seen[i] = true
				out = append(out, i)
			}
		}
	}
	for _, id := range Identifiers(h) {
		take(s.byID[id])
	}
	names := nameWords(h)
	if names[0] == nobody {
		names[0] = anybody
	} else {
		names = append(names, nobody)
	}
	for _, n := range s.titles.Titled(h.Title) {
		if len(out) == mostCompared {
			break
		}
		if len(s.alike[n]) <= fewAlike {
			take(s.alike[n])
			continue
		}
		for _, year := range []int{h.Year, h.Year - 1, h.Year + 1, anyYear} {
			for _, name := range names {
				take(s.crowds[crowd{n, name, year}])
			}
		}
	}
	return out
}
