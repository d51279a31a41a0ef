package match

import (
	"strconv"
	"strings"
)

// pageRelation is the relation of the pages of two records.
type pageRelation int

const (
	pagesUnknown pageRelation = iota
	pagesSame
	pagesOther
)

func (r pageRelation) reason() string {
	return [...]string{pagesUnknown: "pages not known on both sides", pagesSame: "same pages", pagesOther: "other pages"}[r]
}

// comparePages reads "703-709", "703–9", "12:1-12:28" or "44". Versions of a work often have
// different pages, so a difference counts only if authors are unknown.
func comparePages(a, b string) pageRelation {
	fa, la := pageRange(a)
	fb, lb := pageRange(b)
	switch {
	case fa < 0 || fb < 0:
		return pagesUnknown
	case fa == fb && la == lb && la > fa:
		return pagesSame
	case fa == fb || fa <= lb && fb <= la:
		return pagesUnknown
	}
	return pagesOther
}

// pageRange returns -1, -1 if s is not a range of plain numbers.
func pageRange(s string) (first, last int) {
	s = strings.NewReplacer("–", "-", "—", "-", "--", "-").Replace(strings.TrimSpace(s))
	from, to, ok := strings.Cut(s, "-")
	first, err := strconv.Atoi(strings.TrimSpace(from))
	if err != nil {
		return -1, -1
	}
	if !ok {
		return first, first
	}
	to = strings.TrimSpace(to)
	if n := len(strings.TrimSpace(from)) - len(to); n > 0 { // "703-9"
		to = strings.TrimSpace(from)[:n] + to
	}
	last, err = strconv.Atoi(to)
	if err != nil {
		return -1, -1
	}
	return first, last
}
