package page

import (
	"iter"

	"gleaner/internal/web/weburl"
)

// Files gives the links of a page to what is or may be a file, unless page or link ask
// not to be followed.
func (p *Page) Files() iter.Seq[*Link] {
	return func(yield func(*Link) bool) {
		for i := range p.Links {
			l := &p.Links[i]
			if !p.NoFollow && !l.NoFollow && (l.Source == SourceCitation || weburl.IsDocumentName(l.URL)) && !yield(l) {
				return
			}
		}
	}
}
