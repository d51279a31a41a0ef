package activities

import (
	"context"
	"sync"

	"gleaner/internal/crawl"
	"gleaner/internal/record/store"
	"gleaner/internal/service/app"
)

// Crawl asks sites.
type Crawl struct {
	db      *store.DB
	crawler *crawl.Crawler
	watch   app.Watch
}

// CrawlSlice crawls a part of one site. The place to go on from is in the
// record, so a second attempt goes on where the first was killed.
func (a *Crawl) CrawlSlice(ctx context.Context, host string) (Slice, error) {
	beat, set, stop := heartbeats[crawl.Progress](ctx)
	defer stop()
	told := teller{watch: a.watch}
	r, err := a.crawler.Slice(beat, host, func(p crawl.Progress) { set(p); told.upTo(p) })
	told.upTo(r.Progress)
	a.watch.SliceEnded(string(r.Ending))
	if err != nil && beat.Err() != nil && ctx.Err() == nil {
		// The worker stops: what was done is written, the rest is for the next.
		r.Ending = crawl.SliceFull
		return Slice{Result: r}, nil
	}
	if err != nil {
		return Slice{Result: r}, typed(err, r.Progress)
	}
	venues, err := a.db.SiteVenues(ctx, host)
	if err != nil {
		venues = nil // they are for people to see; the slice is done
	}
	return Slice{Result: r, Venues: venues}, nil
}

// teller tells a Watch what a slice did since the last time. A slice reports
// from two goroutines, so that an older count may come after a newer one.
type teller struct {
	watch app.Watch
	mu    sync.Mutex
	told  crawl.Progress
}

func (t *teller) upTo(p crawl.Progress) {
	t.mu.Lock()
	defer t.mu.Unlock()
	more := func(told *int, now int) int {
		n := max(0, now-*told)
		*told += n
		return n
	}
	t.watch.Crawled(more(&t.told.Pages, p.Pages), more(&t.told.Documents, p.Documents), more(&t.told.Accepted, p.Accepted), more(&t.told.Found, p.Found))
}
