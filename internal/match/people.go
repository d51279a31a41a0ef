package match

import (
	"slices"
	"strings"

	"gleaner/internal/gleaner"
	"gleaner/internal/text"
)

// agreement compares the authors of two records.
type agreement struct {
	known  bool // both records have authors
	shared int
	fewer  int  // authors of the record with fewer
	more   int  // authors of the other
	first  bool // the first authors agree
}

// all reports whether the shorter list is wholly in the longer, and is more than one name out of
// the middle of many (an introduction, a talk, a review by one of them).
func (g agreement) all() bool {
	return g.known && g.shared == g.fewer && (g.first || 2*g.fewer > g.more)
}

// most reports whether most authors are common, or half of them with the first author.
func (g agreement) most() bool {
	return g.known && (g.all() || 2*g.shared > g.fewer && g.fewer > 1 || 2*g.shared == g.fewer && g.first)
}

func compareAuthors(a, b []gleaner.Author) agreement {
	na, nb := people(a), people(b)
	ag := agreement{known: len(na) > 0 && len(nb) > 0, fewer: min(len(na), len(nb)), more: max(len(na), len(nb))}
	if sameNames(na, nb) {
		ag.shared, ag.first = ag.fewer, true
		return ag
	}
	used := make([]bool, len(nb))
	for i, x := range na {
		for j, y := range nb {
			if !used[j] && samePerson(x, y) {
				used[j] = true
				ag.shared++
				ag.first = ag.first || i == 0 && j == 0
				break
			}
		}
	}
	return ag
}

// sameNames reports whether two lists have the same words, divided into persons differently or in
// another order.
func sameNames(a, b [][]string) bool {
	wa, wb := slices.Concat(a...), slices.Concat(b...)
	slices.Sort(wa)
	slices.Sort(wb)
	return len(wa) > 1 && slices.Equal(wa, wb)
}

// maxAuthors is the number of authors of a work that are compared. Comparison is quadratic, and
// some works have thousands.
const maxAuthors = 300

// people folds names and drops those that are none, such as "&NA;", "N/A" and "et al.".
func people(as []gleaner.Author) [][]string {
	var out [][]string
	for _, a := range as[:min(len(as), maxAuthors)] {
		name := text.Plain(a.Name)
		if last, first, ok := strings.Cut(name, ","); ok { // "Silberhorn, Gene"
			name = first + " " + last
		}
		var ws []string
		for _, w := range strings.FieldsFunc(name, func(r rune) bool { return r == ' ' || r == '.' || r == '\n' || r == '\t' || r == '-' || r == '\u00a0' }) {
			switch n := text.Normalise(w); n {
			case "", "jr", "sr", "ii", "iii", "phd", "md", "dr", "prof":
			default:
				ws = append(ws, n)
			}
		}
		switch joined := strings.Join(ws, ""); joined {
		case "", "na", "andna", "etal", "others", "anonymous", "anon", "unknown", "noauthor", "nn":
		default:
			out = append(out, ws)
		}
	}
	return out
}

// samePerson compares two folded names: the surname, and the first names that both have.
func samePerson(a, b []string) bool {
	if len(a) > 2 && len(a) == len(b) && sameNames([][]string{a}, [][]string{b}) {
		return true
	}
	sa, sb := a[len(a)-1], b[len(b)-1]
	if sa != sb {
		// "Mao Zedong" and "Zedong Mao"; "García Márquez" and "García".
		if len(a) == len(b) && len(a) > 1 && a[0] == sb && b[0] == sa {
			return true
		}
		if !(len(sa) >= 5 && slices.Contains(b[1:], sa) || len(sb) >= 5 && slices.Contains(a[1:], sb)) {
			return strings.Join(a, "") == strings.Join(b, "")
		}
	}
	if len(a) == 1 || len(b) == 1 {
		return true
	}
	fa, fb := a[0], b[0]
	n := min(len(fa), len(fb))
	if n <= 2 { // initials, also without spaces: "JB"
		return fa[0] == fb[0]
	}
	return fa[:3] == fb[:3] || fa[0] == fb[0] && len(sa) >= 4
}
