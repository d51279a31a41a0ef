package crawl

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/jackc/pgx/v5"

	"gleaner/internal/frontier"
	"gleaner/internal/store"
)

// batch is what a slice did and has not written yet.
type batch struct {
	visits []frontier.Visit
	links  []frontier.Entry // of this site
	place  map[frontier.Hash]int
	leads  map[string][]frontier.Entry // by host

	// aliases are URLs where redirects ended: fetched under another name.
	aliases []frontier.Entry
}

func (b *batch) reset() {
	b.visits, b.links, b.aliases = b.visits[:0], b.links[:0], b.aliases[:0]
	b.place, b.leads = map[frontier.Hash]int{}, map[string][]frontier.Entry{}
}

// add keeps a link once, at its least depth.
func (b *batch) add(e frontier.Entry) {
	h := e.Hash()
	if i, ok := b.place[h]; ok {
		had := &b.links[i]
		had.Depth, had.Role = min(had.Depth, e.Depth), min(had.Role, e.Role)
		return
	}
	b.place[h] = len(b.links)
	b.links = append(b.links, e)
}

func (b *batch) addLead(host string, e frontier.Entry) {
	for _, had := range b.leads[host] {
		if had.Link.URL == e.Link.URL {
			return
		}
	}
	b.leads[host] = append(b.leads[host], e)
}

// flush writes the batch and what was learnt in one transaction, fenced by the
// lease: a slice that lost it writes nothing. New links enter the window here,
// when the record has given them their place in the order of discovery.
func (s *slice) flush(ctx context.Context) error {
	if len(s.batch.visits) == 0 && len(s.batch.links) == 0 && len(s.batch.leads) == 0 {
		return nil
	}
	learnt, err := s.strategy.State()
	if err != nil {
		return fmt.Errorf("crawl %s: %w", s.site.Host, err)
	}
	var added map[frontier.Hash]frontier.Added
	err = pgx.BeginFunc(ctx, s.db.Pool, func(tx pgx.Tx) error {
		if err := s.lease.Check(ctx, tx); err != nil {
			return err
		}
		if err := frontier.Done(ctx, tx, s.site.ID, s.batch.visits); err != nil {
			return err
		}
		if err := s.writeSeen(ctx, tx); err != nil {
			return err
		}
		if added, err = frontier.Add(ctx, tx, s.site.ID, s.batch.links); err != nil {
			return err
		}
		if err := s.writeAliases(ctx, tx); err != nil {
			return err
		}
		for _, host := range slices.Sorted(maps.Keys(s.batch.leads)) {
			if err := s.writeLeads(ctx, tx, host, s.batch.leads[host]); err != nil {
				return err
			}
		}
		_, err := tx.Exec(ctx, `UPDATE sites SET crawl_pages=$2, learnt=$3 WHERE id=$1`, s.site.ID, s.site.CrawlPages, learnt)
		return err
	})
	if err != nil {
		return fmt.Errorf("crawl %s: write: %w", s.site.Host, err)
	}
	for i := range s.batch.links {
		e := s.batch.links[i]
		if a, ok := added[e.Hash()]; ok {
			e.ID = a.Seq
			s.window.enter(&e)
		}
	}
	s.batch.reset()
	return nil
}

// writeLeads gives documents on another host to that host's own frontier, where
// they are asked for under its own lease.
func (s *slice) writeLeads(ctx context.Context, tx pgx.Tx, host string, leads []frontier.Entry) error {
	id, err := store.EnsureSite(ctx, tx, host)
	if err != nil {
		return err
	}
	if err := store.InheritSite(ctx, tx, s.site.ID, id, "lead"); err != nil {
		return err
	}
	_, err = frontier.Add(ctx, tx, id, leads)
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
