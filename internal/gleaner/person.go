package gleaner

import (
	"regexp"
	"strings"
)

// Person is what a catalogue knows of an author beyond the papers.
type Person struct {
	Author Author `json:"author"`
	// URLs are addresses that may be the person's own pages, the most likely
	// first. Those marked outdated by the catalogue come last.
	URLs []string `json:"urls,omitempty"`
	// Profiles are pages about the person on portals, by kind ("orcid",
	// "scholar", "s2", "wikidata", …): identity, but never a homepage.
	Profiles     map[string]string `json:"profiles,omitempty"`
	Aliases      []string          `json:"aliases,omitempty"`      // other spellings of the name
	Affiliations []string          `json:"affiliations,omitempty"` // present ones first
	Titles       []string          `json:"titles,omitempty"`       // of papers, as many as tell the person apart
	// Ambiguous says that the entry stands for several people of one name.
	Ambiguous bool `json:"ambiguous,omitempty"`
}

// ORCID is the person's bare ORCID iD, or "".
func (p Person) ORCID() string { return ORCID(p.Profiles["orcid"]) }

var orcidRE = regexp.MustCompile(`\b\d{4}-\d{4}-\d{4}-\d{3}[\dXx]\b`)

// ORCID finds an ORCID iD in an address, or "".
func ORCID(s string) string { return strings.ToUpper(orcidRE.FindString(s)) }
