package frontier

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"gleaner/internal/gleaner"
)

// Reading is a page that was read, and the files that it links to, on its host and
// on others.
type Reading struct {
	Page  Hash
	URL   string // of the page; "" of one that is gone
	Day   time.Time
	Files []Hash // each once
	Again bool   // it was read before: links that are gone are removed
	Same  bool   // it is unchanged, and so are its links

	Kept   []byte // links that were not taken, packed; nil where there are none
	NoRoom bool   // they exceed the bounds
	Unread string // why some links were not read; "" if all were
	MadeOf []byte // the requests of its rendering, as package crawl encodes them; nil if it must be rendered
}

// Link records the links of pages of one site.
func Link(ctx context.Context, q Querier, siteID int, readings []Reading) error {
	var pages, targets, again, same []Hash
	for i := range readings {
		r := &readings[i]
		for j := range r.Files {
			pages, targets = append(pages, r.Page), append(targets, r.Files[j])
		}
		if r.Again {
			again = append(again, r.Page)
		}
		if r.Same {
			same = append(same, r.Page)
		}
	}
	if err := keep(ctx, q, siteID, readings); err != nil {
		return err
	}
	if len(same) > 0 {
		if _, err := q.Exec(ctx, `UPDATE links SET last_seen = current_date WHERE site_id = $1 AND page = ANY($2) AND last_seen < current_date`, siteID, same); err != nil {
			return failed("link", err)
		}
	}
	if len(again) > 0 {
		_, err := q.Exec(ctx, `DELETE FROM links k WHERE site_id = $1 AND page = ANY($2)
			AND NOT EXISTS (SELECT 1 FROM unnest($3::bytea[], $4::bytea[]) AS v (page, target) WHERE v.page = k.page AND v.target = k.target)`, siteID, again, pages, targets)
		if err != nil {
			return failed("unlink", err)
		}
	}
	if len(pages) == 0 {
		return nil
	}
	_, err := q.Exec(ctx, `INSERT INTO links AS k (site_id, page, target, first_seen, last_seen)
		SELECT DISTINCT $1::bigint, page, target, current_date, current_date FROM unnest($2::bytea[], $3::bytea[]) AS v (page, target)
		ON CONFLICT (site_id, page, target) DO UPDATE SET last_seen = EXCLUDED.last_seen WHERE k.last_seen < EXCLUDED.last_seen`, siteID, pages, targets)
	return failed("link", err)
}

// Seen is a link to a file that a page had on a day.
type Seen struct {
	Site   int // of the page
	Page   Hash
	Target Hash
	Day    time.Time
}

// LinkSeen records links seen by other crawlers, at any time. The days of a link extend from
// the first on which it was seen to the last.
func LinkSeen(ctx context.Context, q Querier, links []Seen) error {
	var sites []int
	var pages, targets []Hash
	var days []time.Time
	for i := range links {
		l := &links[i]
		sites, pages, targets, days = append(sites, l.Site), append(pages, l.Page), append(targets, l.Target), append(days, l.Day)
	}
	_, err := q.Exec(ctx, `INSERT INTO links AS k (site_id, page, target, first_seen, last_seen)
		SELECT site_id, page, target, min(day)::date, max(day)::date FROM unnest($1::bigint[], $2::bytea[], $3::bytea[], $4::timestamptz[]) AS v (site_id, page, target, day)
		GROUP BY site_id, page, target ORDER BY site_id, page, target
		ON CONFLICT (site_id, page, target) DO UPDATE SET first_seen = least(k.first_seen, EXCLUDED.first_seen), last_seen = greatest(k.last_seen, EXCLUDED.last_seen)
		WHERE EXCLUDED.first_seen < k.first_seen OR EXCLUDED.last_seen > k.last_seen`, sites, pages, targets, days)
	return failed("link", err)
}

// TooDeep is the outcome of a link beyond the greatest depth of a crawl.
const TooDeep gleaner.Outcome = "max-depth"

// Relax computes the depth of a site's URLs with the outcome TooDeep anew. A page may have been
// found by a shorter path after its links were added. URLs within maxDepth wait from now on;
// Relax returns their number. It is called when nothing waits, since all paths are known
// then.
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
	var hashes []Hash
	var depths []int16
	for _, h := range skipped {
		if d := w.depth(h, maxDepth+1); d <= maxDepth {
			hashes, depths = append(hashes, h), append(depths, int16(d))
		}
	}
	if len(hashes) == 0 {
		return 0, nil
	}
	tag, err := q.Exec(ctx, `UPDATE urls u SET state = 0, outcome = '', depth = v.depth FROM unnest($2::bytea[], $3::smallint[]) AS v (hash, depth)
		WHERE u.site_id = $1 AND u.hash = v.hash AND u.state = 5`, siteID, hashes, depths)
	return int(tag.RowsAffected()), failed("relax", err)
}

// Readmit lets URLs of a site wait that were skipped with one of the outcomes, unless kept
// reports true for them. It returns how many.
func Readmit(ctx context.Context, q Querier, siteID int, outcomes []string, kept func(*Entry) bool) (int, error) {
	rows, _ := q.Query(ctx, `SELECT hash, url, source, role FROM urls WHERE site_id = $1 AND state = 5 AND outcome = ANY($2)`, siteID, outcomes)
	var again []Hash
	var h Hash
	var e Entry
	_, err := pgx.ForEachRow(rows, []any{&h, &e.Link.URL, &e.Link.Source, &e.Role}, func() error {
		if e.Derive(); !kept(&e) {
			again = append(again, h)
		}
		return nil
	})
	if err == nil && len(again) > 0 {
		_, err = q.Exec(ctx, `UPDATE urls SET state = 0, outcome = '', reason = '' WHERE site_id = $1 AND state = 5 AND hash = ANY($2)`, siteID, again)
	}
	return len(again), failed("readmit", err)
}

// ways are URLs with the depth and the page by which they were found.
type ways struct{ known map[Hash]way }

type way struct {
	depth  int
	parent Hash
	seed   bool
}

func (w ways) read(rows pgx.Rows) (read []Hash, err error) {
	var at Hash
	var depth int
	var parent string
	_, err = pgx.ForEachRow(rows, []any{&at, &depth, &parent}, func() error {
		read = append(read, at)
		w.known[at] = way{depth: depth, parent: HashOf(parent), seed: parent == ""}
		return nil
	})
	return read, failed("relax", err)
}

// unknown returns parents that were not read yet. Each round reads those again that the record
// does not have; there are few rounds.
func (w ways) unknown() (hashes []Hash) {
	asked := map[Hash]bool{}
	for _, at := range w.known {
		if _, ok := w.known[at.parent]; !ok && !at.seed && !asked[at.parent] {
			asked[at.parent] = true
			hashes = append(hashes, at.parent)
		}
	}
	return hashes
}

// depth returns the least known depth of a URL: by the path on which it was found, or as
// recorded when it was found again. hops bounds the path.
func (w ways) depth(h Hash, hops int) int {
	at := w.known[h]
	if _, ok := w.known[at.parent]; !ok || at.seed || hops == 0 {
		return at.depth
	}
	return min(at.depth, w.depth(at.parent, hops-1)+1)
}
