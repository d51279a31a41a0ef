package frontier

import (
	"context"

	"github.com/jackc/pgx/v5"

	"gleaner/internal/gleaner"
	"gleaner/internal/web/page"
)

// Known is what the record says of a URL that was met.
type Known struct {
	Hash    Hash
	URL     string
	Depth   int
	Role    Role
	State   State
	Content []byte // of a page whose links were followed in the present crawl
}

// EachKnown tells of every URL of a site, the nearest to a homepage first. What it
// tells of is valid until the next one.
func EachKnown(ctx context.Context, q Querier, siteID, crawl int, each func(*Known)) error {
	rows, _ := q.Query(ctx, `SELECT hash, depth, role, state, url, CASE WHEN state=1 AND role=0 AND crawl=$2 THEN content END FROM urls
		WHERE site_id=$1 ORDER BY depth, seq`, siteID, crawl)
	var k Known
	var h []byte
	_, err := pgx.ForEachRow(rows, []any{&h, &k.Depth, &k.Role, &k.State, &k.URL, &k.Content}, func() error {
		k.Hash = Hash(h)
		each(&k)
		return nil
	})
	return err
}

// LookUp tells of those of some URLs that were met: their hash, depth and role.
func LookUp(ctx context.Context, q Querier, siteID int, hashes [][]byte) ([]Known, error) {
	rows, _ := q.Query(ctx, `SELECT hash, depth, role FROM urls WHERE site_id=$1 AND hash = ANY($2)`, siteID, hashes)
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (k Known, err error) {
		var h []byte
		err = row.Scan(&h, &k.Depth, &k.Role)
		k.Hash = Hash(h)
		return k, err
	})
}

// EachLead tells how the leads of other hosts to a site ended within the last
// month, in the order in which they were asked for: the page that named each, and
// what became of it.
func EachLead(ctx context.Context, q Querier, siteID int, each func(parent string, state State, outcome gleaner.Outcome)) error {
	rows, _ := q.Query(ctx, `SELECT parent, state, outcome FROM urls WHERE site_id=$1 AND role > 0 AND source <> $2 AND parent <> ''
		AND state IN (1, 2, 4) AND fetched_at > now() - interval '30 days' ORDER BY fetched_at`, siteID, page.SourceSeed)
	var parent string
	var state State
	var outcome gleaner.Outcome
	_, err := pgx.ForEachRow(rows, []any{&parent, &state, &outcome}, func() error {
		each(parent, state, outcome)
		return nil
	})
	return err
}

// NoteLead counts a URL of another site among the leads of one, though it is in no frontier.
func NoteLead(ctx context.Context, q Querier, from, to int, h Hash) error {
	_, err := q.Exec(ctx, `INSERT INTO leads (from_site, hash, to_site, wanted) VALUES ($1, $2, $3, -1)
		ON CONFLICT DO NOTHING`, from, h[:], to)
	return err
}

// Fetched reports whether a URL was fetched in the given crawl of its site, by
// itself or as the end of a redirect (Alias).
func Fetched(ctx context.Context, q Querier, siteID int, h Hash, crawl int) (bool, error) {
	var done bool
	err := q.QueryRow(ctx, `SELECT EXISTS (SELECT 1 FROM urls WHERE site_id = $1 AND hash = $2 AND crawl = $3 AND (state IN (1, 2) OR state = 6 AND outcome = 'success'))`, siteID, h[:], crawl).Scan(&done)
	return done, err
}
