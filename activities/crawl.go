package activities

import (
	"context"

	"gleaner/internal/crawl"
)

// Crawl asks sites.
type Crawl struct {
	crawler *crawl.Crawler
}

// CrawlSlice crawls a part of one site. The place to go on from is in the
// record, so a second attempt goes on where the first was killed.
func (a *Crawl) CrawlSlice(ctx context.Context, host string) (Slice, error) {
	beat, set, stop := heartbeats[crawl.Progress](ctx)
	defer stop()
	r, err := a.crawler.Slice(beat, host, set)
	if err != nil && beat.Err() != nil && ctx.Err() == nil {
		// The worker stops: what was done is written, the rest is for the next.
		r.Ending = crawl.SliceFull
		return r, nil
	}
	return r, typed(err)
}
