package metadata

import (
	"html"
	"regexp"
	"strings"

	"golang.org/x/text/unicode/norm"

	"gleaner/internal/text"
)

var homonymRE = regexp.MustCompile(`\s+\d{4}$`)

// cleanTitle makes plain text of a catalogue's title: entities resolved (some
// come escaped twice), inline markup and the closing full stop removed.
func cleanTitle(s string) string {
	s = html.UnescapeString(html.UnescapeString(s))
	s = norm.NFC.String(strings.Join(strings.Fields(visible(text.WithoutTags(s))), " "))
	// An ellipsis belongs to the title; a single full stop is DBLP's.
	if strings.HasSuffix(s, ".") && !strings.HasSuffix(s, "..") {
		s = strings.TrimSuffix(s, ".")
	}
	return strings.TrimSpace(s)
}

// cleanName makes plain text of a name and strips DBLP's homonym number: "Wei
// Wang 0001" is how Wei Wang is told apart there, not what anyone is called.
func cleanName(s string) string {
	s = norm.NFC.String(strings.Join(strings.Fields(visible(html.UnescapeString(s))), " "))
	return homonymRE.ReplaceAllString(s, "")
}

// frontTitles are titles of matter that is not a paper, folded.
var frontTitles = regexp.MustCompile(`^(?:` + strings.Join([]string{
	`front(?:and back)?matter`, `back(?:and front)?matter`, `frontcover`, `backcover`, `cover(?:page)?`, `title(?:page)?(?:i+)?`, `halftitlepage`,
	`tableofcontents?`, `contents`, `(?:author|subject)?index`, `indexofauthors`, `authors?index`, `copyright(?:page|notice)?`, `colophon`,
	`preface(?:and.*)?`, `(?:guest|conference|workshop|program|generals?|pc)?chairs?(?:preface|message|welcome|foreword)`, `foreword`, `editorial`, `editors?(?:note|message|preface)`,
	`(?:message|welcome)fromthe.*(?:chairs?|editors?|organizers?|organisers?)`, `welcome(?:message)?`,
	`(?:conference|workshop|program(?:me)?|organi[sz]ing|steering|technical|senior|review|symposium)+(?:committees?|organi[sz]ation|officers)(?:and.*)?`, `committees?`, `organi[sz]ation`, `organi[sz]ers`,
	`(?:listof|additional|external|sub)*(?:reviewers|referees)(?:\d{4})?`, `sponsors(?:and.*)?`, `acknowledge?ments?`, `erratum`, `corrigendum`, `publishersnote`, `inmemoriam`,
}, `|`) + `)$`)

// isFrontMatter reports whether a record is a volume's wrapping. Only whole
// titles count: "Editorial: …" may well be an article of substance.
func isFrontMatter(title string) bool {
	return frontTitles.MatchString(text.Normalise(title))
}
