package store

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"gleaner/internal/each"
)

// maxTitle is the length in characters at which the first lines of a text are cut.
const maxTitle = 80

// DocumentTitle is a title of a document of no known paper, "" without one: the words of
// a link, its first lines, or its metadata. Programs that write documents fill the metadata
// with names of files, so these come last.
func DocumentTitle(anchor, text, meta string) string {
	for _, words := range []string{anchor, firstLines(text), meta} {
		if words = strings.Join(strings.Fields(words), " "); isTitle(words) {
			return words
		}
	}
	return ""
}

// firstLines are the first two lines of a text that hold words.
func firstLines(text string) string {
	var lines []string
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); strings.ContainsFunc(line, unicode.IsLetter) {
			lines = append(lines, line)
		}
		if len(lines) == 2 {
			break
		}
	}
	all := []rune(strings.Join(lines, " "))
	return string(all[:min(len(all), maxTitle)])
}

var noTitle = regexp.MustCompile(`(?i)^(untitled|microsoft word|my title)|\.(docx?|dvi|tex|ps|pdf)$`)

// isTitle reports whether words say what a document is about: a name of a file, and
// links such as "PDF" or "full text", do not.
func isTitle(words string) bool {
	long := each.Count(strings.Fields(words), func(w string) bool { return utf8.RuneCountInString(w) > 3 })
	return !noTitle.MatchString(words) && strings.Contains(words, " ") && (long > 1 || utf8.RuneCountInString(words) > 15)
}
