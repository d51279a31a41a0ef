package metadata

import (
	"context"

	"gleaner/internal/gleaner"
	"gleaner/internal/text"
)

// Venue is one conference or journal as catalogues know it.
type Venue struct {
	Key  string `json:"key"`  // DBLP's: "conf/webdb", "journals/jair"
	Name string `json:"name"` // short, as people write it: "WebDB"
	// Title is the full name, "" where no catalogue gave one.
	Title string `json:"title,omitempty"`
	// IDs are its names elsewhere: "issn" (several separated by commas),
	// "openalex" (S…), "acl" (the Anthology's venue id), "crossref" (a DOI prefix).
	IDs map[string]string `json:"ids,omitempty"`
}

// Variations are the names under which people may speak of the venue, the most
// telling first (Zhuang et al., JCDL 2005, §3.2, "venue name with variations").
func (v Venue) Variations() []string {
	var out []string
	seen := map[string]bool{"": true}
	add := func(s string) {
		if f := text.Normalise(s); !seen[f] {
			seen[f] = true
			out = append(out, s)
		}
	}
	add(v.Name)
	title, acronym := splitAcronym(v.Title)
	add(title)
	add(acronym)
	add(lastSegment(v.Key))
	return out
}

// VenueInfo is one answer of a search for venues.
type VenueInfo struct {
	Key     string `json:"key"`
	Name    string `json:"name"` // as the catalogue prints it, acronym included
	Acronym string `json:"acronym,omitempty"`
	Kind    string `json:"kind,omitempty"` // "Conference or Workshop", "Journal", …
}

// Volume is one table of contents of a venue.
type Volume struct {
	Venue string `json:"venue"` // "conf/webdb"
	// TOC is the path of its table of contents, without an ending:
	// "db/conf/webdb/webdb2003".
	TOC   string `json:"toc"`
	Key   string `json:"key,omitempty"` // of the proceedings, where there is one
	Title string `json:"title,omitempty"`
	// Years are the publication years that the index gives it; the zero value
	// where the index does not say, and then only its papers can.
	Years gleaner.Years `json:"years"`
}

// Source lists what a venue published.
type Source interface {
	Name() string
	// Papers lists every paper of the venue published in the years, in a stable
	// order. Errors are this package's; ErrNotCovered where the source has no
	// way to list that venue.
	Papers(ctx context.Context, v Venue, years gleaner.Years) ([]gleaner.Paper, error)
}

// CopySource knows where copies of a paper can be had without a crawl.
type CopySource interface {
	Name() string
	// Copies lists what is known; none is no error.
	Copies(ctx context.Context, p gleaner.Paper) ([]Copy, error)
}

// BatchCopySource answers for many papers with few requests.
type BatchCopySource interface {
	CopySource
	// CopiesOf returns a list for each paper, in the papers' order.
	CopiesOf(ctx context.Context, papers []gleaner.Paper) ([][]Copy, error)
}

// Person is what a catalogue knows of an author beyond the papers.
type Person struct {
	Author gleaner.Author `json:"author"`
	// URLs are addresses that may be the person's own pages, the most likely
	// first. Those marked outdated by the catalogue come last.
	URLs []string `json:"urls,omitempty"`
	// Profiles are pages about the person on portals, by kind ("orcid",
	// "scholar", "s2", "wikidata", …): identity, but never a homepage.
	Profiles     map[string]string `json:"profiles,omitempty"`
	Aliases      []string          `json:"aliases,omitempty"`      // other spellings of the name
	Affiliations []string          `json:"affiliations,omitempty"` // present ones first
	Titles       []string          `json:"titles,omitempty"`       // of at most maxPersonTitles papers
	// Ambiguous says that the entry stands for several people of one name.
	Ambiguous bool `json:"ambiguous,omitempty"`
}

// ORCID is the person's bare ORCID iD, or "".
func (p Person) ORCID() string { return bareORCID(p.Profiles["orcid"]) }
