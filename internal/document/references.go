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

// references counts the entries of the reference list: by their labels
// ([12], [Kle99], 12.) after the last heading that announces one, or by lines
// that begin like an author list near a year. Where the heading lies in the
// pages left out, labels alone are counted in the last pages.
func (c *counts) references(t *Text) int {
	if c.refsEnd < 0 {
		if t.Skipped == 0 || t.Front >= len(t.Pages) {
			return 0
		}
		n := len(bracketed.FindAllString(strings.Join(t.Pages[t.Front:], "\n"), -1))
		if n < 5 {
			return 0
		}
		return n
	}
	list := referenceList(strings.Join(t.Pages, "\n")[c.refsEnd:])
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

// maxReferenceList bounds what is looked at after the heading, in bytes.
const maxReferenceList = 60_000

// referenceList ends at the appendix that may follow.
func referenceList(after string) string {
	if len(after) > maxReferenceList {
		after = after[:maxReferenceList]
	}
	at := 0
	for line := range strings.Lines(after) {
		if s := strings.TrimSpace(line); len(s) <= headingLine && headingOf(s) == secAppendix {
			return after[:at]
		}
		at += len(line)
	}
	return after
}
