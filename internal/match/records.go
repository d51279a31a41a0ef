package match

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"gleaner/internal/venue"
)

// letters below which a title alone proves nothing (Unpaywall's bound).
const shortTitle = 21

// Records says whether two records describe the same work: for holdings, and
// for merging what metadata sources say. Versions of one work (preprint and
// published) are the same work. The score is 0–1; the reasons are for a person.
func Records(a, b venue.Paper) (Verdict, float64, []string) {
	if v, why := sameID(a, b); v != "" {
		return v, 1, []string{why}
	}
	rel := compareTitles(a.Title, b.Title)
	ag := compareAuthors(a.Authors, b.Authors)
	gap := yearGap(a, b)
	why := []string{rel.reason(), ag.reason(), yearReason(gap)}
	v, score := verdictOf(rel, ag, gap, min(len(Normalise(a.Title)), len(Normalise(b.Title))))
	return v, score, slices.DeleteFunc(why, func(s string) bool { return s == "" })
}

func sameID(a, b venue.Paper) (Verdict, string) {
	switch {
	case a.Key != "" && a.Key == b.Key:
		return Exact, "same key " + a.Key
	case a.DOI != "" && strings.EqualFold(a.DOI, b.DOI) && compareTitles(a.Title, b.Title) <= withSubtitle:
		return Exact, "same DOI " + strings.ToLower(a.DOI)
	case a.ArXiv != "" && bareArXiv(a.ArXiv) == bareArXiv(b.ArXiv):
		return Exact, "same arXiv id " + bareArXiv(a.ArXiv)
	}
	return "", ""
}

// yearGap is -1 where a year is unknown.
func yearGap(a, b venue.Paper) int {
	if a.Year == 0 || b.Year == 0 {
		return -1
	}
	return max(a.Year-b.Year, b.Year-a.Year)
}

// maxYears between two versions of one work.
const maxYears = 4

func verdictOf(rel relation, ag agreement, gap, letters int) (Verdict, float64) {
	switch {
	case rel == otherTitle:
		return Different, 0
	case ag.known && ag.shared == 0:
		return Different, 0.1
	case gap > maxYears && !(ag.known && 2*ag.shared > ag.fewer && rel == sameTitle && letters > 2*shortTitle):
		return Different, 0.2
	case !ag.known:
		return withoutAuthors(rel, gap, letters)
	}
	half := 2*ag.shared >= ag.fewer
	switch {
	case rel == sameTitle && ag.shared == ag.fewer && gap <= 1:
		return Exact, 1
	case rel <= misread && half:
		return Strong, 0.9
	case rel == nearTitle && half:
		return Strong, 0.8
	case rel == withSubtitle && half && gap <= 2:
		return Strong, 0.75
	}
	return Ambiguous, 0.5
}

// withoutAuthors judges by the title alone, as a library's own list often has
// nothing else.
func withoutAuthors(rel relation, gap, letters int) (Verdict, float64) {
	switch {
	case rel == sameTitle && letters > shortTitle && gap >= 0 && gap <= 1:
		return Exact, 0.9
	case rel <= misread && letters > shortTitle && gap <= 2:
		return Strong, 0.8
	case rel <= misread && gap >= 0 && gap <= 1:
		return Ambiguous, 0.6
	case rel <= withSubtitle && letters > shortTitle:
		return Ambiguous, 0.5
	}
	return Different, 0.2
}

func (r relation) reason() string {
	switch r {
	case sameTitle:
		return "same title"
	case misread:
		return "title differs by misread letters"
	case nearTitle:
		return "title differs by a small word or an ending"
	case withSubtitle:
		return "title with and without its subtitle"
	}
	return "a number or a content word differs"
}

func (ag agreement) reason() string {
	if !ag.known {
		return "authors not known on both sides"
	}
	return fmt.Sprintf("%d of %d authors in common", ag.shared, ag.fewer)
}

func yearReason(gap int) string {
	switch {
	case gap < 0:
		return ""
	case gap == 0:
		return "same year"
	}
	return fmt.Sprintf("%d years apart", gap)
}

// Record finds the wanted papers that a record of another source may be, best
// first; different ones are left out.
func (ix *Index) Record(p venue.Paper) []Match {
	seen := map[int]bool{}
	var out []Match
	try := func(i int) {
		if seen[i] {
			return
		}
		seen[i] = true
		if v, score, why := Records(ix.papers[i], p); v != Different {
			out = append(out, Match{Paper: ix.papers[i], Verdict: v, Score: score, Reasons: why})
		}
	}
	for _, i := range ix.doi[strings.ToLower(p.DOI)] {
		try(int(i))
	}
	if p.ArXiv != "" {
		for _, i := range ix.arxiv[bareArXiv(p.ArXiv)] {
			try(int(i))
		}
	}
	sk := skeleton(p.Title)
	for _, i := range ix.short[string(sk)] {
		try(int(i))
	}
	for _, c := range ix.candidates(sk, 0, len(sk), 200) {
		try(c.paper)
	}
	sortMatches(out)
	return out
}

func sortMatches(ms []Match) {
	slices.SortStableFunc(ms, func(a, b Match) int {
		return cmp.Or(cmp.Compare(a.Verdict.rank(), b.Verdict.rank()), cmp.Compare(b.Score, a.Score), cmp.Compare(a.Paper.Key, b.Paper.Key))
	})
}

// Reason says why a wanted paper counts as held.
type Reason struct {
	Held    venue.Paper `json:"held"` // the record of the library
	Verdict Verdict     `json:"verdict"`
	Score   float64     `json:"score"`
	Why     []string    `json:"why"`
}

// Held finds which wanted papers a library holds, by key. Exact and strong
// matches count.
func Held(wanted, holdings []venue.Paper) map[string]Reason {
	ix := NewIndex(wanted)
	out := map[string]Reason{}
	for _, h := range holdings {
		for _, m := range ix.Record(h) {
			if m.Verdict != Exact && m.Verdict != Strong {
				continue
			}
			old, ok := out[m.Paper.Key]
			if ok && (old.Verdict.rank() < m.Verdict.rank() || old.Verdict == m.Verdict && old.Score >= m.Score) {
				continue
			}
			out[m.Paper.Key] = Reason{Held: h, Verdict: m.Verdict, Score: m.Score, Why: m.Reasons}
		}
	}
	return out
}
