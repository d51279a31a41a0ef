package sampleweb

import (
	"crypto/sha256"
	"encoding/hex"

	"gleaner/internal/each"
)

// Truth is what there is to be found.
type Truth struct {
	Papers  []PaperTruth  `json:"papers"`
	Authors []AuthorTruth `json:"authors"`
}

// PaperTruth says where a paper can be had, or why it cannot.
type PaperTruth struct {
	Key     string   `json:"key"`
	Venue   string   `json:"venue"`
	Year    int      `json:"year"`
	Title   string   `json:"title"`
	Authors []string `json:"authors"`
	// Missing is one of the Reasons; "" when the paper can be had.
	Missing string `json:"missing,omitempty"`
	// URLs are the addresses of its file, and SHA256 the digest of each.
	URLs   []string `json:"urls,omitempty"`
	SHA256 []string `json:"sha256,omitempty"`
}

// AuthorTruth says where a person's homepage is; "" when there is none.
type AuthorTruth struct {
	PID      string `json:"pid"`
	Name     string `json:"name"`
	Homepage string `json:"homepage,omitempty"`
}

// Truth makes every paper's file once to take its digest: milliseconds each.
func (w *Web) Truth() Truth {
	var t Truth
	for _, p := range w.papers {
		pt := PaperTruth{Key: p.key, Venue: venue(p.venue).Key, Year: p.year, Title: p.title,
			Authors: p.authorNames(), Missing: p.reason}
		if p.reason == "" {
			sum := sha256.Sum256(w.paperFile(p))
			if p.own() {
				pt.URLs = append(pt.URLs, p.fileURL())
			}
			if p.landing {
				pt.URLs = append(pt.URLs, p.proceedingsFile())
			}
			for range pt.URLs {
				pt.SHA256 = append(pt.SHA256, hex.EncodeToString(sum[:]))
			}
		}
		t.Papers = append(t.Papers, pt)
	}
	t.Authors = each.Of(w.authors, func(a *author) AuthorTruth { return AuthorTruth{a.pid, a.name, a.home()} })
	return t
}
