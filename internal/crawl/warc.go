package crawl

import (
	"context"
	"fmt"

	"gleaner/internal/fetch"
	"gleaner/internal/library/repository"
	"gleaner/internal/record/frontier"
)

// newKeeping writes what a slice exchanges with its host.
func newKeeping(s *slice) *repository.Keeping {
	return s.coll.Repository().Keeping(s.site.Host, fmt.Sprintf("crawl %d of %s", s.site.Crawl, s.site.Host), s.log)
}

// keep writes what was exchanged since the last time: over e, or over robots.txt where
// that is nil.
func (s *slice) keep(ctx context.Context, e *frontier.Entry) error {
	return s.keeping.Write(ctx, func(x *fetch.Exchanged) repository.Origin {
		if e == nil {
			return repository.OriginOf(x, "", "", -1)
		}
		return repository.OriginOf(x, e.Link.URL, e.Parent, e.Depth)
	})
}
