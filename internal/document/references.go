package document

import (
	"regexp"
	"strings"
)

var (
	bracketed = regexp.MustCompile(`(?m)^\s*\[([0-9]{1,3}|[A-Za-z][A-Za-z+&-]{0,12}\s?'?[0-9]{2,4}[a-z]?)\]`)
	numbered2 = regexp.MustCompile(`(?m)^\s*([0-9]{1,3})\.\s+[A-Z]`)
	authored  = regexp.MustCompile(`(?m)^\s*(?:[A-Z][\pL'’-]+,\s(?:[A-Z]\.|[A-Z][a-z]+)|(?:[A-Z]\.[ -]?){1,3}\s?[A-Z][\pL'’-]+(?:,| and\b)|[A-Z][\pL'’-]+ [A-Z]{1,2}[,.]|[A-Z][a-z]+ (?:[A-Z]\. )?[A-Z][\pL'’-]+(?:,| and ))`)
	yearToken = regexp.MustCompile(`\b(?:19[0-9]{2}|20[0-4][0-9])[a-z]?\b`)
)

// CountReferences counts the entries of the reference list: by their labels
// ([12], [Kle99], 12.) after the last heading that announces one, or by lines
// that begin like an author list near a year. Where the heading lies in the
// pages left out, labels alone are counted in the last pages.
func CountReferences(t *Text) int {
	all := strings.Join(t.Pages, "\n")
	list, found := referenceList(all)
	if !found {
		if t.Skipped == 0 || t.Front >= len(t.Pages) {
			return 0
		}
		n := len(bracketed.FindAllString(strings.Join(t.Pages[t.Front:], "\n"), -1))
		if n < 5 {
			return 0
		}
		return n
	}
	labels := len(bracketed.FindAllString(list, -1))
	if labels < 3 {
		labels = max(labels, len(numbered2.FindAllString(list, -1)))
	}
	if labels >= 3 {
		return labels
	}
	years := len(yearToken.FindAllString(list, -1))
	return max(labels, min(years, len(authored.FindAllString(list, -1))))
}

// referenceList is what follows the last heading "References"; an appendix
// after it is cut off where it announces itself.
func referenceList(all string) (string, bool) {
	var last []int
	for _, p := range []*regexp.Regexp{headingRefs, refsSpaced} {
		for _, m := range p.FindAllStringIndex(all, -1) {
			if last == nil || m[0] > last[0] {
				last = m
			}
		}
	}
	if last == nil {
		return "", false
	}
	list := all[last[1]:]
	if m := appendixHead.FindStringIndex(list); m != nil {
		list = list[:m[0]]
	}
	return list, true
}

var appendixHead = heading(`appendix|appendices|appendix [a-z]?.*|supplementary material|proof of .*|proofs`)
