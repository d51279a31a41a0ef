package document

import (
	"regexp"
	"strings"
)

var (
	bracketed = regexp.MustCompile(`(?m)^\s*\[([0-9]{1,3}|[A-Za-z][A-Za-z+&-]{0,12}\s?'?[0-9]{2,4}[a-z]?)\]`)
	numbered2 = regexp.MustCompile(`(?m)^\s*([0-9]{1,3})\.\s+[A-Z]`)
	authored  = regexp.MustCompile(`(?m)^\s*(?:[A-Z][\pL'’-]+,\s(?:[A-Z]\.|[A-Z][a-z]+)|(?:[A-Z]\.[ -]?){1,3}\s?[A-Z][\pL'’-]+(?:,| and\b)|[A-Z][\pL'’-]+ [A-Z]{1,2}[,.]|[A-Z][a-z]+ (?:[A-Z]\. )?[A-Z][\pL'’-]+(?:,| and | \((?:19|20)[0-9]{2}))`)
	yearToken = regexp.MustCompile(`\b(?:19[0-9]{2}|20[0-4][0-9])[a-z]?\b`)
)

// references finds where the entries of the reference list begin, and how many they
// are: by their labels ([12], [Kle99], 12.) after the last heading that announces one,
// or by lines that begin like an author list near a year. Where the heading lies in the
// pages left out, labels alone are counted in the last pages.
func (c *counts) references(t *Text) (list string, marks [][]int, n int) {
	if c.refsEnd < 0 {
		if t.Skipped == 0 || t.Front >= len(t.Pages) {
			return "", nil, 0
		}
		list = strings.Join(t.Pages[t.Front:], "\n")
		if marks = bracketed.FindAllStringIndex(list, -1); len(marks) < 5 {
			return "", nil, 0
		}
		return list, marks, len(marks)
	}
	list = referenceList(strings.Join(t.Pages, "\n")[c.refsEnd:])
	marks = bracketed.FindAllStringIndex(list, -1)
	if len(marks) < 3 {
		if numbered := numbered2.FindAllStringIndex(list, -1); len(numbered) > len(marks) {
			marks = numbered
		}
	}
	if len(marks) >= 3 {
		return list, marks, len(marks)
	}
	lines := authored.FindAllStringIndex(list, -1)
	if n = min(len(yearToken.FindAllString(list, -1)), len(lines)); n <= len(marks) {
		return list, marks, len(marks)
	}
	return list, lines, n
}

// Bounds of the references that are kept of one document.
const (
	mostReferences = 500
	longReference  = 400 // bytes
)

// entriesOf are the entries of the reference list, each on one line.
func (c *counts) entriesOf() (entries []string) {
	for i, m := range c.marks[:min(len(c.marks), mostReferences)] {
		end := len(c.list)
		if i+1 < len(c.marks) {
			end = c.marks[i+1][0]
		}
		end = min(end, m[0]+2*longReference)
		entry, _, _ := strings.Cut(strings.TrimSpace(c.list[m[0]:end]), "\n\n")
		entry = strings.Join(strings.Fields(strings.ReplaceAll(entry, "-\n", "")), " ")
		entries = append(entries, strings.ToValidUTF8(entry[:min(len(entry), longReference)], ""))
	}
	return entries
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
