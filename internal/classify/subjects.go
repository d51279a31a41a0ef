package classify

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"gleaner/internal/topic"
)

// subjectScheme is the prefix of the URL of a Labelled that is a subject.
const subjectScheme = "subject:"

// ReadSubjects reads subjects of the topic and of others, to learn from beside labelled pages,
// which are mostly of too few sites. A line has "topic" or "other", a tab, a name, a tab, and
// words of pages about it. Empty lines and those that begin with # are ignored.
func ReadSubjects(r io.Reader, f *topic.Filter) ([]Labelled, error) {
	var out []Labelled
	seen := map[string]bool{}
	lines := bufio.NewScanner(r)
	for n := 1; lines.Scan(); n++ {
		line := strings.TrimSpace(lines.Text())
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		c := strings.Split(line, "\t")
		if len(c) != 3 || c[0] != aboutTopic && c[0] != aboutOther || c[1] == "" || seen[c[1]] {
			return nil, fmt.Errorf("line %d: want topic or other, a tab, a name that is new, a tab and words, have %q", n, line)
		}
		seen[c[1]] = true
		words := Words(f, topic.Page{Title: c[1], Text: c[2]})
		out = append(out, Labelled{URL: subjectScheme + c[1], Topic: c[0] == aboutTopic, Words: strings.Join(words, " ")})
	}
	return out, lines.Err()
}

// pageIndices returns the indices of the examples that are pages.
func pageIndices(examples []Example) (pages []int) {
	for i, e := range examples {
		if !e.Subject {
			pages = append(pages, i)
		}
	}
	return pages
}
