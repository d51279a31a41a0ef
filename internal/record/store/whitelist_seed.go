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
// the order of the list, and makes these hosts due. It returns how many hosts of
// the list have pages. A page that is known already is put back; but those of domains
// that gave fewer than small accepted documents, and their hosts, are asked when their
// own time has come, and new pages there at once.
func (db ListRecords) SeedWhitelist(ctx context.Context, small int) (int, error) {
	urls, err := db.Whitelist(ctx, -1, "", 0)
	if err != nil {
		return 0, err
	}
	rarely, err := Column[string](ctx, db, `SELECT domain FROM domains WHERE documents < $1`, small)
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
		again := !slices.Contains(rarely, weburl.Domain(host))
		if err := db.Tx(ctx, func(tx pgx.Tx) error { return seedHost(ctx, tx, host, firstOfEach(byHost[host]), again) }); err != nil {
			return 0, fmt.Errorf("store: seed %s: %w", host, err)
		}
	}
	return len(byHost), nil
}

// seedHost enters pages of a host. again makes those due that were asked before.
func seedHost(ctx context.Context, tx pgx.Tx, host string, entries []frontier.Entry, again bool) error {
	id, err := HoldSite(ctx, tx, host)
	if err != nil {
		return err
	}
	added, err := frontier.Add(ctx, tx, id, entries)
	if err != nil || len(added) == 0 && !again {
		return err
	}
	hashes := make([][]byte, len(entries))
	for i := range entries {
		h := entries[i].Hash()
		hashes[i] = h[:]
	}
	if _, err := tx.Exec(ctx, `UPDATE urls SET due_at=now() WHERE $3 AND site_id=$1 AND hash = ANY($2) AND state IN (1, 2)`, id, hashes, again); err != nil {
		return err
	}
	_, err = tx.Exec(ctx, `UPDATE sites SET due_at=now() WHERE id=$1`, id)
	return err
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
