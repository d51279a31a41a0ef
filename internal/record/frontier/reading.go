package frontier

import (
	"context"
	"fmt"
	"time"
)

// Reading is a page that was read, and the files that it links to, on its host and
// on others.
type Reading struct {
	Page  Hash
	URL   string // of the page; "" of one that is gone
	Day   time.Time
	Files []Hash // each once
	Again bool   // it was read before: what it links to no longer is forgotten
	Same  bool   // it is as it was: so is what it links to

	Kept   []byte // links that were not taken, packed; nil where there are none
	NoRoom bool   // there are some, and no room for them
	Unread string // why not all links were looked at; "" where they were
	MadeOf []byte // what a browser asked for to show it, as crawl has it; nil where none did, or it is to be shown anew
}

// Link records what pages of one site link to.
func Link(ctx context.Context, q Querier, siteID int, readings []Reading) error {
	var pages, targets, again, same [][]byte
	for i := range readings {
		r := &readings[i]
		for j := range r.Files {
			pages, targets = append(pages, r.Page[:]), append(targets, r.Files[j][:])
		}
		if r.Again {
			again = append(again, r.Page[:])
		}
		if r.Same {
			same = append(same, r.Page[:])
		}
	}
	if err := keep(ctx, q, siteID, readings); err != nil {
		return err
	}
	if len(same) > 0 {
		if _, err := q.Exec(ctx, `UPDATE links SET last_seen = current_date WHERE site_id = $1 AND page = ANY($2) AND last_seen < current_date`, siteID, same); err != nil {
			return fmt.Errorf("frontier: link: %w", err)
		}
	}
	if len(again) > 0 {
		_, err := q.Exec(ctx, `DELETE FROM links k WHERE site_id = $1 AND page = ANY($2)
			AND NOT EXISTS (SELECT 1 FROM unnest($3::bytea[], $4::bytea[]) AS v (page, target) WHERE v.page = k.page AND v.target = k.target)`, siteID, again, pages, targets)
		if err != nil {
			return fmt.Errorf("frontier: unlink: %w", err)
		}
	}
	if len(pages) == 0 {
		return nil
	}
	_, err := q.Exec(ctx, `INSERT INTO links AS k (site_id, page, target, first_seen, last_seen)
		SELECT DISTINCT $1::bigint, page, target, current_date, current_date FROM unnest($2::bytea[], $3::bytea[]) AS v (page, target)
		ON CONFLICT (site_id, page, target) DO UPDATE SET last_seen = EXCLUDED.last_seen WHERE k.last_seen < EXCLUDED.last_seen`, siteID, pages, targets)
	if err != nil {
		return fmt.Errorf("frontier: link: %w", err)
	}
	return nil
}

// Seen is a link to a file that a page had on a day.
type Seen struct {
	Site   int // of the page
	Page   Hash
	Target Hash
	Day    time.Time
}

// LinkSeen records links that others met, at any time: what is known of a link reaches
// from the first day on which it was seen to the last.
func LinkSeen(ctx context.Context, q Querier, links []Seen) error {
	var sites []int
	var pages, targets [][]byte
	var days []time.Time
	for i := range links {
		l := &links[i]
		sites, pages, targets, days = append(sites, l.Site), append(pages, l.Page[:]), append(targets, l.Target[:]), append(days, l.Day)
	}
	_, err := q.Exec(ctx, `INSERT INTO links AS k (site_id, page, target, first_seen, last_seen)
		SELECT site_id, page, target, min(day)::date, max(day)::date FROM unnest($1::bigint[], $2::bytea[], $3::bytea[], $4::timestamptz[]) AS v (site_id, page, target, day)
		GROUP BY site_id, page, target ORDER BY site_id, page, target
		ON CONFLICT (site_id, page, target) DO UPDATE SET first_seen = least(k.first_seen, EXCLUDED.first_seen), last_seen = greatest(k.last_seen, EXCLUDED.last_seen)
		WHERE EXCLUDED.first_seen < k.first_seen OR EXCLUDED.last_seen > k.last_seen`, sites, pages, targets, days)
	if err != nil {
		return fmt.Errorf("frontier: link: %w", err)
	}
	return nil
}
