package homepage

import (
	"path"
	"slices"
	"strings"

	"gleaner/internal/text"
)

// linkWords are words of anchors, in many languages.
type linkWords struct {
	Origin       string   `json:"origin"`
	Publications []string `json:"publications"` // beginnings of the plainest words for a list of papers
	Papers       []string `json:"papers"`       // for pages that list papers, or lead to them
	People       []string `json:"people"`       // for pages that list people
	Groups       []string `json:"groups"`       // for a group's site
}

var (
	links      = mustRead[linkWords]("data/links.json")
	paperWords = wordSet(strings.Join(links.Papers, " "))
	listWords  = wordSet(strings.Join(links.People, " "))
	groupWords = wordSet(strings.Join(links.Groups, " "))
)

func namesPublications(anchor string) bool {
	ws := text.Words(anchor)
	return len(ws) < 8 && slices.ContainsFunc(ws, func(w string) bool {
		return slices.ContainsFunc(links.Publications, func(stem string) bool { return strings.HasPrefix(w, stem) })
	})
}

func listsPapers(anchor string) bool { return calledAny(anchor, 11, paperWords) }

// calledAny reports whether a text has at most so many words, one of them from a set.
func calledAny(anchor string, most int, of map[string]bool) bool {
	ws := text.Words(anchor)
	return len(ws) <= most && slices.ContainsFunc(ws, func(w string) bool { return of[w] })
}

// isBibliography reports whether an address is that of a BibTeX file.
func isBibliography(u string) bool { return strings.EqualFold(path.Ext(parseURL(u).Path), ".bib") }

// entriesOf returns the entries of a bibliography that name the person.
func (p *person) entriesOf(bibliography string) string {
	var own []string
	for entry := range strings.SplitSeq(bibliography, "@") {
		if named, _ := p.in(text.Words(entry)); named >= nameInitials {
			own = append(own, entry)
		}
	}
	return strings.Join(own, " ")
}
