package crawl

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"gleaner/internal/frontier"
	"gleaner/internal/politeness"
	"gleaner/internal/store"
)

// learntEvery is how often what was learnt is written: it may be a quarter of a
// megabyte, and is written when a slice ends; a crash costs no more than what the
// last minute taught.
const learntEvery = time.Minute

// flush writes the batch in one transaction, fenced by the lease: a slice that
// lost it writes nothing. New links enter the window here, when the record has
// given them their place in the order of discovery.
func (s *slice) flush(ctx context.Context, last bool) error {
	if s.batch.Empty() && !last {
		return nil
	}
	var learnt json.RawMessage // nil leaves what is written
	if s.taught && (last || s.now().Sub(s.learnt) >= learntEvery) {
		var err error
		if learnt, err = s.strategy.State(); err != nil {
			return fmt.Errorf("crawl %s: %w", s.site.Host, err)
		}
		learnt = store.StorableJSON(learnt)
	}
	var w frontier.Written
	tries := 0
	err := s.patiently(ctx, func() (err error) {
		tries++
		w, err = s.db.WriteSlice(ctx, s.of(), store.SliceWrite{Batch: &s.batch, Progress: s.crawl, Learnt: learnt, Last: last, Orderly: s.orderly})
		return err
	})
	if errors.Is(err, store.ErrNotHeld) {
		err = politeness.ErrLost
	}
	if err != nil {
		return fmt.Errorf("crawl %s: write: %w", s.site.Host, err)
	}
	s.written = time.Now()
	clear(s.seen.since)
	if learnt != nil {
		s.learnt, s.taught = s.now(), false
	}
	if tries > 1 {
		s.window.filled = false // it may have been written before: what was new then is not told again
	}
	s.window.all = s.window.all && w.Again == 0
	for i := range s.batch.Links {
		e := s.batch.Links[i]
		if a := w.Added[e.Hash()]; a.Waiting {
			e.ID = a.Seq
			s.window.enter(&e, a.New)
		}
	}
	if len(s.pages) > 0 {
		if err := s.cfg.Index(ctx, s.pages); err != nil && ctx.Err() == nil {
			s.log.WarnContext(ctx, "pages could not be indexed", "host", s.site.Host, "error", err)
		}
	}
	s.batch.Reset()
	s.pages = nil
	return nil
}
