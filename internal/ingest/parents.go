package ingest

import (
	"context"
	"time"

	"gleaner/internal/record/frontier"
	"gleaner/internal/record/store"
)

// setProvenance copies the provenance of a resource into its record. Logs may have it behind
// the resource, so this is done once the next one was read.
func (it *item) setProvenance() {
	it.Parent, it.Seed = canonical(it.of.Parent), it.of.Seed
	if d := it.of.Depth; d >= 0 {
		it.Depth = &d
	}
	if t := it.of.Crawled; !t.IsZero() {
		it.Crawled = &t
	}
}

// parents adds to a step the pages among items, as another crawler read them, with the files
// that they link to, and those by which, as the log says, the documents among them were found.
func (w *work) parents(ctx context.Context, items []*item, s *store.ImportStep) error {
	if w.options.Unrecorded {
		return nil
	}
	link := func(page string, day time.Time, files ...frontier.Hash) error {
		if len(files) == 0 || page == "" {
			return nil
		}
		site, err := w.site(ctx, page)
		for _, f := range files {
			s.Links = append(s.Links, frontier.Seen{Site: site, Page: frontier.HashOf(page), Target: f, Day: day})
		}
		return err
	}
	for _, it := range items {
		day := it.file.At
		if it.page != nil || it.of.Again && it.hash != (frontier.Hash{}) {
			s.Parents = append(s.Parents, store.ParentSeen{Page: it.hash, URL: it.URL, Day: day, Leads: len(it.files) > 0})
		}
		err := link(it.URL, day, it.files...)
		if err == nil && !isPage(it.kind) && it.SHA256 != "" && it.Parent != "" {
			s.Parents = append(s.Parents, store.ParentSeen{Page: frontier.HashOf(it.Parent), URL: it.Parent, Leads: true})
			err = link(it.Parent, day, it.hash)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
