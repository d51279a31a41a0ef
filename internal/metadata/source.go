package metadata

import (
	"context"

	"gleaner/internal/gleaner"
	"gleaner/internal/text"
)

// Variations are the names under which people may speak of the venue, the most
// telling first (Zhuang et al., JCDL 2005, §3.2, "venue name with variations").
func Variations(v gleaner.Venue) []string {
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
	Papers(ctx context.Context, v gleaner.Venue, years gleaner.Years) ([]gleaner.Paper, error)
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
