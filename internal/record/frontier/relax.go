package frontier

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"gleaner/internal/gleaner"
)

// TooDeep is the outcome of a link that lies further from a homepage than a
// crawl goes.
const TooDeep gleaner.Outcome = "max-depth"

// Relax looks again at the URLs of a site that were kept out as too deep. A page
// may have been found by a shorter way after its links were entered; their depth
// is then less than what they were entered with. Those within maxDepth wait from
// now on, and their number is returned. It is worth asking when nothing waits
// any more: then all ways are known.
func Relax(ctx context.Context, q Querier, siteID, maxDepth int) (int, error) {
	rows, _ := q.Query(ctx, `SELECT hash, depth, parent FROM urls WHERE site_id = $1 AND state = 5 AND outcome = $2`, siteID, string(TooDeep))
	w := ways{known: map[Hash]way{}}
	skipped, err := w.read(rows)
	if err != nil || len(skipped) == 0 {
		return 0, err
	}
	for range maxDepth + 1 {
		parents := w.unknown()
		if len(parents) == 0 {
			break
		}
		rows, _ := q.Query(ctx, `SELECT hash, depth, parent FROM urls WHERE site_id = $1 AND hash = ANY($2)`, siteID, parents)
		if _, err := w.read(rows); err != nil {
			return 0, err
		}
	}
	var hashes [][]byte
	var depths []int16
	for _, h := range skipped {
		if d := w.depth(h, maxDepth+1); d <= maxDepth {
			hashes, depths = append(hashes, h[:]), append(depths, int16(d))
		}
	}
	if len(hashes) == 0 {
		return 0, nil
	}
	tag, err := q.Exec(ctx, `UPDATE urls u SET state = 0, outcome = '', depth = v.depth FROM unnest($2::bytea[], $3::smallint[]) AS v (hash, depth)
		WHERE u.site_id = $1 AND u.hash = v.hash AND u.state = 5`, siteID, hashes, depths)
	if err != nil {
		return 0, fmt.Errorf("frontier: relax: %w", err)
	}
	return int(tag.RowsAffected()), nil
}

// Readmit lets those of a site's URLs wait that were kept out with one of the
// outcomes, unless kept says that they are so still. It returns how many.
func Readmit(ctx context.Context, q Querier, siteID int, outcomes []string, kept func(*Entry) bool) (int, error) {
	rows, _ := q.Query(ctx, `SELECT hash, url, source, role FROM urls WHERE site_id = $1 AND state = 5 AND outcome = ANY($2)`, siteID, outcomes)
	var again [][]byte
	var h []byte
	var e Entry
	_, err := pgx.ForEachRow(rows, []any{&h, &e.Link.URL, &e.Link.Source, &e.Role}, func() error {
		if e.Derive(); !kept(&e) {
			again = append(again, append([]byte(nil), h...))
		}
		return nil
	})
	if err == nil && len(again) > 0 {
		_, err = q.Exec(ctx, `UPDATE urls SET state = 0, outcome = '', reason = '' WHERE site_id = $1 AND state = 5 AND hash = ANY($2)`, siteID, again)
	}
	if err != nil {
		return 0, fmt.Errorf("frontier: readmit: %w", err)
	}
	return len(again), nil
}

// ways are URLs with the depth and the page by which they were found.
type ways struct{ known map[Hash]way }

type way struct {
	depth  int
	parent Hash
	seed   bool
}

func (w ways) read(rows pgx.Rows) (read []Hash, err error) {
	var h []byte
	var depth int
	var parent string
	_, err = pgx.ForEachRow(rows, []any{&h, &depth, &parent}, func() error {
		at := Hash(h)
		read = append(read, at)
		w.known[at] = way{depth: depth, parent: HashOf(parent), seed: parent == ""}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("frontier: relax: %w", err)
	}
	return read, nil
}

// unknown are parents that were not read yet. One that the record does not have
// is asked for again by each round, of which there are few.
func (w ways) unknown() (hashes [][]byte) {
	asked := map[Hash]bool{}
	for _, at := range w.known {
		if _, ok := w.known[at.parent]; !ok && !at.seed && !asked[at.parent] {
			asked[at.parent] = true
			hashes = append(hashes, at.parent[:])
		}
	}
	return hashes
}

// depth is the least known: by the way a URL was found, or as it was noted when
// it was found again. hops bounds the way.
func (w ways) depth(h Hash, hops int) int {
	at := w.known[h]
	if _, ok := w.known[at.parent]; !ok || at.seed || hops == 0 {
		return at.depth
	}
	return min(at.depth, w.depth(at.parent, hops-1)+1)
}
