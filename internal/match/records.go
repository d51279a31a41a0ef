package match

import (
	"cmp"
	"fmt"
	"slices"

	"gleaner/internal/gleaner"
	"gleaner/internal/text"
)

// shortTitle is the length in letters below which a title alone is no evidence (Unpaywall's
// bound).
const shortTitle = 21

// Records reports whether two records describe the same work, for holdings and for merging
// metadata. Versions of one work (preprint and published) are the same work. The score is 0–1;
// the reasons are for people.
func Records(a, b gleaner.Paper) (Verdict, float64, []string) {
	if v, why := sameID(a, b); v != "" {
		return v, 1, []string{why}
	}
	rel := compareTitles(a.Title, b.Title)
	ag := compareAuthors(a.Authors, b.Authors)
	gap := yearGap(a, b)
	why := []string{rel.reason(), ag.reason(), yearReason(gap)}
	c := comparison{rel: rel, authors: ag, gap: gap, pages: comparePages(a.Pages, b.Pages),
		letters: min(len(text.Normalise(a.Title)), len(text.Normalise(b.Title)))}
	v, score := c.verdict()
	if c.pages != pagesUnknown {
		why = append(why, c.pages.reason())
	}
	return v, score, slices.DeleteFunc(why, func(s string) bool { return s == "" })
}

func sameID(a, b gleaner.Paper) (Verdict, string) {
	doi, arxiv := gleaner.ParseDOI(a.DOI), gleaner.ParseArXiv(a.ArXiv)
	switch {
	case a.Key != "" && a.Key == b.Key:
		return Exact, "same key " + a.Key
	case doi != "" && doi == gleaner.ParseDOI(b.DOI) && compareTitles(a.Title, b.Title) <= withSubtitle:
		return Exact, "same DOI " + doi
	case arxiv != "" && arxiv == gleaner.ParseArXiv(b.ArXiv):
		return Exact, "same arXiv id " + arxiv
	}
	return "", ""
}

// yearGap returns -1 if a year is unknown.
func yearGap(a, b gleaner.Paper) int {
	if a.Year == 0 || b.Year == 0 {
		return -1
	}
	return max(a.Year-b.Year, b.Year-a.Year)
}

// maxYears is the greatest distance of two versions of one work.
const maxYears = 4

// comparison holds the relations of the fields of two records.
type comparison struct {
	rel     relation
	authors agreement
	gap     int // years, -1 if unknown
	pages   pageRelation
	letters int // of the shorter title
}

func (c comparison) verdict() (Verdict, float64) {
	ag := c.authors
	switch {
	case c.rel == otherTitle:
		return Different, 0
	case ag.known && ag.shared == 0:
		return Different, 0.1
	case c.rel == prolonged && !(ag.all() && c.gap == 0 && c.pages == pagesSame):
		return Different, 0.1
	case c.gap > maxYears && c.rel == sameTitle && ag.most() && c.letters > 2*shortTitle:
		return Ambiguous, 0.4
	case c.gap > maxYears:
		return Different, 0.2
	case !ag.known:
		return c.withoutAuthors()
	case c.gap >= 3 && c.pages == pagesOther:
		return Ambiguous, 0.5 // a reprint or later version: another publication
	case c.rel == sameTitle && ag.all() && c.gap <= 1:
		return Exact, 1
	case c.rel <= misread && ag.most():
		return Strong, 0.9
	case c.rel == nearTitle && ag.most():
		return Strong, 0.8
	case c.rel == withSubtitle && ag.most() && c.gap <= maxYears:
		return Strong, 0.75
	case c.rel == prolonged:
		return Strong, 0.7
	}
	return Ambiguous, 0.5
}

// withoutAuthors judges by the other fields. A review has the title of the reviewed book, often
// without authors. So a title without authors needs the same year and no contradicting pages.
func (c comparison) withoutAuthors() (Verdict, float64) {
	long := c.letters > shortTitle
	switch {
	case c.pages == pagesOther:
		return Different, 0.2
	case c.rel <= misread && long && c.gap == 0:
		return Strong, 0.8
	case c.rel <= misread && (long || c.gap >= 0 && c.gap <= 1):
		return Ambiguous, 0.6
	case c.rel <= withSubtitle && long:
		return Ambiguous, 0.5
	}
	return Different, 0.2
}

func (r relation) reason() string {
	return [...]string{
		sameTitle: "same title", misread: "title differs by misread letters", nearTitle: "title differs by a small word or an ending",
		withSubtitle: "title with and without its subtitle", prolonged: "one title begins with the other",
		otherTitle: "a number or a content word differs",
	}[r]
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
	return text.Count(gap, "year") + " apart"
}

// Record returns the wanted papers that a record of another source may be, best first, without
// those that differ.
func (ix *Index) Record(p gleaner.Paper) []Match {
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
	for _, i := range ix.doi[gleaner.ParseDOI(p.DOI)] {
		try(int(i))
	}
	for _, i := range ix.arxiv[gleaner.ParseArXiv(p.ArXiv)] {
		try(int(i))
	}
	for _, i := range ix.titled(p.Title, func() traits { return traitsOf(p) }) {
		try(i)
	}
	slices.SortStableFunc(out, Compare)
	return out
}

// maxSimilar is the number of papers with which a record is compared.
const maxSimilar = 200

// Titled returns the numbers of the papers with a similar title, likeliest first.
func (ix *Index) Titled(title string) []int {
	return ix.titled(title, func() traits { return traits{} })
}

func (ix *Index) titled(title string, by func() traits) []int {
	var out []int
	sk := skeleton(clip(title))
	if first, ok := ix.short[string(sk)]; ok {
		out = ix.likeliest(first, maxSimilar, by)
	}
	for _, c := range ix.candidates(sk, 0, len(sk), maxSimilar, by) {
		out = append(out, c.paper)
	}
	return out
}

// Compare orders matches, the surest first.
func Compare(a, b Match) int {
	return cmp.Or(cmp.Compare(a.Verdict.rank(), b.Verdict.rank()), cmp.Compare(b.Score, a.Score),
		cmp.Compare(a.Paper.Key, b.Paper.Key))
}
