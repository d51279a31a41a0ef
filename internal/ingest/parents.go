package ingest

import (
	"context"
	"time"

	"gleaner/internal/record/frontier"
	"gleaner/internal/record/store"
)

// told fills in what the log said of a resource, by the time when all of it is read.
func (it *item) told() {
	it.Parent, it.Seed = canonical(it.of.Parent), it.of.Seed
	if d := it.of.Depth; d >= 0 {
		it.Depth = &d
	}
	if t := it.of.Crawled; !t.IsZero() {
		it.Crawled = &t
	}
}

// parents are the pages in hand that link to files, and the pages by which, as the log
// says, the documents in hand were found.
func (w *work) parents(ctx context.Context) (links []store.ImportedLink, err error) {
	if w.options.Unrecorded {
		return nil, nil
	}
	now := time.Now()
	add := func(page string, day time.Time, files ...frontier.Hash) error {
		if len(files) == 0 || page == "" {
			return nil
		}
		site, err := w.site(ctx, page)
		if day.IsZero() || day.After(now) {
			day = now
		}
		for _, f := range files {
			links = append(links, store.ImportedLink{URL: page, Seen: frontier.Seen{Site: site, Page: frontier.HashOf(page), Target: f, Day: day}})
		}
		return err
	}
	for _, it := range w.items {
		if err = add(it.URL, it.of.Crawled, it.files...); err == nil && !isPage(it.kind) && it.SHA256 != "" {
			err = add(it.Parent, it.of.Crawled, it.hash)
		}
		if err != nil {
			return nil, err
		}
	}
	return links, nil
}
