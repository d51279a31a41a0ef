package store

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/jackc/pgx/v5"

	"gleaner/internal/record/frontier"
	"gleaner/internal/web/page"
	"gleaner/internal/web/weburl"
)

// SeedWhitelist gives the whitelist's pages to the frontiers of their hosts, in
// the order of the list, and makes these hosts due. It returns how many hosts.
// A page that is known already is put back.
func (db *DB) SeedWhitelist(ctx context.Context) (int, error) {
	urls, err := db.Whitelist(ctx, 0)
	if err != nil {
		return 0, err
	}
	byHost := map[string][]frontier.Entry{}
	for _, u := range urls {
		host := weburl.Host(u.URL)
		byHost[host] = append(byHost[host], frontier.Entry{Role: frontier.Member, Candidate: page.Candidate{
			Link: page.Link{URL: u.URL, Position: u.Position, Source: page.SourceSeed}, Queue: 3, Priority: 1 / float64(1+u.Position)}})
	}
	for _, host := range slices.Sorted(maps.Keys(byHost)) {
		entries := firstOfEach(byHost[host])
		err := db.Tx(ctx, func(tx pgx.Tx) error {
			id, err := HoldSite(ctx, tx, host)
			if err != nil {
				return err
			}
			if _, err := frontier.Add(ctx, tx, id, entries); err != nil {
				return err
			}
			hashes := make([][]byte, len(entries))
			for i := range entries {
				h := entries[i].Hash()
				hashes[i] = h[:]
			}
			if _, err := tx.Exec(ctx, `UPDATE urls SET due_at=now() WHERE site_id=$1 AND hash = ANY($2) AND state IN (1, 2)`, id, hashes); err != nil {
				return err
			}
			_, err = tx.Exec(ctx, `UPDATE sites SET due_at=now() WHERE id=$1`, id)
			return err
		})
		if err != nil {
			return 0, fmt.Errorf("store: seed %s: %w", host, err)
		}
	}
	return len(byHost), nil
}

// firstOfEach drops entries of one identity, keeping the first.
func firstOfEach(entries []frontier.Entry) []frontier.Entry {
	met := map[frontier.Hash]bool{}
	return slices.DeleteFunc(entries, func(e frontier.Entry) bool {
		h := e.Hash()
		defer func() { met[h] = true }()
		return met[h]
	})
}
