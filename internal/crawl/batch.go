package crawl

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"gleaner/internal/frontier"
	"gleaner/internal/page"
	"gleaner/internal/politeness"
	"gleaner/internal/store"
)

// batch is what a slice did and has not written yet.
type batch struct {
	visits []frontier.Visit
	links  []frontier.Entry // of this site
	place  map[frontier.Hash]int
	leads  map[string][]frontier.Entry // by host
	pages  []*page.Page                // for the index

	// aliases are URLs where redirects ended: fetched under another name.
	aliases []frontier.Entry

	// changed are URLs that a sitemap says have changed, and when.
	changed   [][]byte
	changedAt []time.Time
}

func (b *batch) reset() {
	b.visits, b.links, b.aliases, b.pages = b.visits[:0], b.links[:0], b.aliases[:0], nil
	b.changed, b.changedAt = nil, nil
	b.place, b.leads = map[frontier.Hash]int{}, map[string][]frontier.Entry{}
}

// add keeps a link once, at its best.
func (b *batch) add(e frontier.Entry) {
	h := e.Hash()
	if i, ok := b.place[h]; ok {
		had := &b.links[i]
		had.Depth, had.Role = min(had.Depth, e.Depth), min(had.Role, e.Role)
		if e.Skip == "" {
			had.Skip = ""
			had.Queue, had.Priority, had.Wanted = max(had.Queue, e.Queue), max(had.Priority, e.Priority), max(had.Wanted, e.Wanted)
		}
		return
	}
	b.place[h] = len(b.links)
	b.links = append(b.links, e)
}

func (b *batch) addLead(host string, e frontier.Entry) {
	for i := range b.leads[host] {
		if had := &b.leads[host][i]; had.Hash() == e.Hash() {
			if e.Wanted > had.Wanted {
				*had = e
			}
			return
		}
	}
	b.leads[host] = append(b.leads[host], e)
}

func (b *batch) empty() bool {
	return len(b.visits) == 0 && len(b.links) == 0 && len(b.leads) == 0 && len(b.aliases) == 0
}

// learntEvery is how often what was learnt is written: it may be a quarter of a
// megabyte, and is written when a slice ends; a crash costs no more than what the
// last minute taught.
const learntEvery = time.Minute

// flush writes the batch in one transaction, fenced by the lease: a slice that
// lost it writes nothing. New links enter the window here, when the record has
// given them their place in the order of discovery.
func (s *slice) flush(ctx context.Context, last bool) error {
	if s.batch.empty() && !last {
		return nil
	}
	var learnt json.RawMessage // nil leaves what is written
	if s.taught && (last || time.Since(s.learnt) >= learntEvery) {
		var err error
		if learnt, err = s.strategy.State(); err != nil {
			return fmt.Errorf("crawl %s: %w", s.site.Host, err)
		}
		learnt = store.StorableJSON(learnt)
	}
	var added map[frontier.Hash]frontier.Added
	tries := 0
	err := s.patiently(ctx, func() error {
		tries++
		return s.db.Tx(ctx, func(tx pgx.Tx) (err error) {
			added, err = s.write(ctx, tx, learnt, last)
			return err
		})
	})
	if err != nil {
		return fmt.Errorf("crawl %s: write: %w", s.site.Host, err)
	}
	s.written = time.Now()
	clear(s.seen.since)
	if learnt != nil {
		s.learnt, s.taught = time.Now(), false
	}
	if tries > 1 {
		s.window.filled = false // it may have been written before: what was new then is not told again
	}
	for i := range s.batch.links {
		e := s.batch.links[i]
		if a := added[e.Hash()]; a.Waiting {
			e.ID = a.Seq
			s.window.enter(&e, a.New)
		}
	}
	if len(s.batch.pages) > 0 {
		if err := s.cfg.Index(ctx, s.batch.pages); err != nil && ctx.Err() == nil {
			s.log.WarnContext(ctx, "pages could not be indexed", "host", s.site.Host, "error", err)
		}
	}
	s.batch.reset()
	return nil
}

// write is what flush does in one transaction. It takes the rows of all its sites
// in the order in which everybody takes them: the next one may be a slice of a
// site that leads here.
func (s *slice) write(ctx context.Context, tx pgx.Tx, learnt json.RawMessage, last bool) (added map[frontier.Hash]frontier.Added, err error) {
	hosts := slices.Sorted(maps.Keys(s.batch.leads))
	sites := make([]int, len(hosts))
	for i, host := range hosts {
		if sites[i], err = store.EnsureSite(ctx, tx, host); err != nil {
			return nil, err
		}
	}
	if len(sites) > 0 {
		if _, err := tx.Exec(ctx, `SELECT FROM sites WHERE id = ANY($1) ORDER BY host COLLATE "C" FOR NO KEY UPDATE`, append(slices.Clone(sites), s.site.ID)); err != nil {
			return nil, err
		}
	}
	// Before all else the site's own row: it holds off a take-over until the commit.
	if err := s.writeSite(ctx, tx, learnt, last); err != nil {
		return nil, err
	}
	if err := frontier.Done(ctx, tx, s.site.ID, s.batch.visits); err != nil {
		return nil, err
	}
	if err := s.writeSeen(ctx, tx); err != nil {
		return nil, err
	}
	if added, err = frontier.Add(ctx, tx, s.site.ID, s.batch.links); err != nil {
		return nil, err
	}
	if err := s.writeAliases(ctx, tx); err != nil {
		return nil, err
	}
	if err := s.writeChanged(ctx, tx); err != nil {
		return nil, err
	}
	for i, host := range hosts {
		if err := s.writeLeads(ctx, tx, sites[i], s.batch.leads[host]); err != nil {
			return nil, err
		}
	}
	return added, nil
}

// writeSite writes how far the crawl is. An orderly end of the slice ends the
// count of attempts, what was done begins it anew. A process that is stopped
// before the commit must not keep the row locked from who comes after it.
func (s *slice) writeSite(ctx context.Context, tx pgx.Tx, learnt json.RawMessage, last bool) error {
	ended := last && s.orderly
	tag, err := tx.Exec(ctx, `UPDATE sites SET crawl_pages=$3, crawl_read=$4, crawl_relevant=$5, learnt=coalesce($6, learnt),
			attempts = CASE WHEN $7 THEN 0 WHEN $8 THEN 1 ELSE attempts END, handling = CASE WHEN $9 THEN handling END, crawl_bytes=$10
		WHERE id=$1 AND token=$2 RETURNING set_config('idle_in_transaction_session_timeout', '5s', true)`,
		s.site.ID, s.lease.Token, s.site.CrawlPages, s.pagesRead, s.relevant, learnt, ended, len(s.batch.visits) > 0, last && !s.orderly, s.bytes)
	if err == nil && tag.RowsAffected() == 0 {
		return politeness.ErrLost
	}
	return err
}

// writeLeads gives documents on another host to that host's own frontier, where
// they are asked for under its own lease.
func (s *slice) writeLeads(ctx context.Context, tx pgx.Tx, id int, leads []frontier.Entry) error {
	if slices.ContainsFunc(leads, func(e frontier.Entry) bool { return e.Skip == "" }) {
		if err := store.InheritSite(ctx, tx, s.site.ID, id, "lead"); err != nil {
			return err
		}
	}
	if err := s.noteLeads(ctx, tx, id, leads); err != nil {
		return err
	}
	_, err := frontier.Add(ctx, tx, id, leads)
	return err
}

// writeAliases enters the ends of redirects as fetched already, unless they are
// known to have been.
func (s *slice) writeAliases(ctx context.Context, tx pgx.Tx) error {
	if len(s.batch.aliases) == 0 {
		return nil
	}
	if _, err := frontier.Add(ctx, tx, s.site.ID, s.batch.aliases); err != nil {
		return err
	}
	for i := range s.batch.aliases {
		e := &s.batch.aliases[i]
		if err := frontier.Alias(ctx, tx, s.site.ID, e.Hash(), s.site.Crawl, "the end of a redirect from "+e.Parent); err != nil {
			return err
		}
	}
	return nil
}
