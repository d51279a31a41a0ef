package crawl

import (
	"context"

	"gleaner/internal/fetch"
	"gleaner/internal/library/repository"
	"gleaner/internal/record/frontier"
)

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
