package store

import (
	"context"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"gleaner/internal/record/frontier"
	"gleaner/internal/web/weburl"
)

// Parent is a page that leads to files: one whose links are on record, or that is on
// the whitelist.
type Parent struct {
	Site      int64
	Page      []byte // identity of its URL
	URL       string
	Host      string
	Documents int        // that it links to, on record
	First     *time.Time // when it was first seen to link to a file; nil where it is only listed
	Last      *time.Time
	Why       string // it is of no use; "" where it is
}

// ParentAt is where a cleaning of parents goes on.
type ParentAt struct {
	Site     int64  `json:"site,omitempty"`
	Page     []byte `json:"page,omitempty"`
	Listed   bool   `json:"listed,omitempty"` // through with links: now the whitelist
	Position int    `json:"position,omitempty"`
	URL      string `json:"url,omitempty"`
	End      bool   `json:"end,omitempty"`
}

// linkingSQL are pages whose links are on record, behind one.
const linkingSQL = `SELECT p.site_id, p.page, coalesce(u.url, i.url, '') AS url, s.host FROM
	(SELECT DISTINCT k.site_id, k.page FROM links k WHERE (k.site_id, k.page) > ($1, $2) ORDER BY k.site_id, k.page LIMIT $3) p
	JOIN sites s ON s.id=p.site_id LEFT JOIN urls u ON u.site_id=p.site_id AND u.hash=p.page LEFT JOIN imported_pages i ON i.site_id=p.site_id AND i.hash=p.page`

// givenSQL are pages by URL, host and identity.
const givenSQL = `SELECT coalesce(s.id, 0) AS site_id, v.page, v.url, v.host FROM unnest($1::text[], $2::text[], $3::bytea[]) v (url, host, page) LEFT JOIN sites s ON s.host=v.host`

// parentsOfSQL says of pages what they lead to, and why one is of no use. A page
// without documents is let be while its site is crawled: they may be on their way. What
// is asked of each page is asked by LIMIT, which the planner cannot make one reading of
// everything.
func parentsOfSQL(pages string) string {
	return `SELECT p.site_id, p.page, p.url, p.host, n.documents, n.first, n.last, CASE
			WHEN EXISTS (SELECT 1 FROM blacklist b WHERE b.host=p.host) THEN 'blacklisted host ' || p.host
			WHEN u.state=4 THEN 'dead link: ' || u.outcome
			WHEN p.url='' THEN 'dead link: not on record'
			WHEN n.documents > 0 OR (SELECT true FROM locations l WHERE left(l.parent, 300) COLLATE "C" = left(p.url, 300) COLLATE "C" AND l.parent=p.url LIMIT 1) THEN ''
			WHEN (SELECT s.state='crawling' FROM sites s WHERE s.id=p.site_id) THEN ''
			ELSE 'no document' END
		FROM (` + pages + `) p LEFT JOIN urls u ON u.site_id=p.site_id AND u.hash=p.page
			CROSS JOIN LATERAL (SELECT (count(DISTINCT l.sha256))::int AS documents, min(k.first_seen)::timestamptz AS first, max(k.last_seen)::timestamptz AS last
				FROM links k LEFT JOIN locations l ON l.asked=k.target WHERE k.site_id=p.site_id AND k.page=p.page) n
		ORDER BY p.site_id, p.page, p.url`
}

// parentsAt lists the next parents, and where to go on behind them.
func parentsAt(ctx context.Context, tx pgx.Tx, at ParentAt, limit int) ([]Parent, ParentAt, error) {
	if at.Listed {
		return listedParents(ctx, tx, at, limit)
	}
	next, err := rowsOf[Parent](ctx, tx, parentsOfSQL(linkingSQL), at.Site, orNone(at.Page), limit)
	if len(next) < limit {
		return next, ParentAt{Listed: true, Position: -1}, err
	}
	last := next[len(next)-1]
	return next, ParentAt{Site: last.Site, Page: last.Page}, err
}

func listedParents(ctx context.Context, tx pgx.Tx, at ParentAt, limit int) ([]Parent, ParentAt, error) {
	listed, err := rowsOf[ListedURL](ctx, tx, whitelistSQL, at.Position, at.URL, limit)
	if err != nil {
		return nil, at, err
	}
	var urls, hosts []string
	var pages [][]byte
	for _, l := range listed {
		hash := frontier.HashOf(l.URL)
		urls, hosts, pages = append(urls, l.URL), append(hosts, weburl.Host(l.URL)), append(pages, hash[:])
		at.Position, at.URL = l.Position, l.URL
	}
	at.End = len(listed) < limit
	next, err := rowsOf[Parent](ctx, tx, parentsOfSQL(givenSQL), orEmpty(urls), orEmpty(hosts), pages)
	// One that links to files was looked at before, and is gone or good.
	return slices.DeleteFunc(next, func(p Parent) bool { return p.First != nil }), at, err
}

func rowsOf[T any](ctx context.Context, tx pgx.Tx, sql string, args ...any) ([]T, error) {
	rows, err := tx.Query(ctx, sql, args...)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowToStructByPos[T])
}

// CleanParents looks at the next pages that lead to files: which of them are of no use
// (on a blacklisted host, gone, or without any document), and where it goes on. With
// inPlace their links and their lines of the whitelist go in the transaction that it
// is given; without, nothing is changed.
func (db *DB) CleanParents(ctx context.Context, tx pgx.Tx, at ParentAt, inPlace bool, limit int) (looked int, useless []Parent, next ParentAt, err error) {
	all, next, err := parentsAt(ctx, tx, at, limit)
	if err != nil {
		return 0, nil, at, err
	}
	b := &pgx.Batch{}
	var urls []string
	for _, p := range all {
		if p.Why == "" {
			continue
		}
		useless = append(useless, p)
		urls = append(urls, p.URL)
		b.Queue(`DELETE FROM links WHERE site_id=$1 AND page=$2`, p.Site, p.Page)
	}
	if inPlace && len(useless) > 0 {
		b.Queue(`DELETE FROM whitelist WHERE md5(url) = ANY (SELECT md5(u) FROM unnest($1::text[]) u)`, urls)
		err = tx.SendBatch(ctx, b).Close()
	}
	return len(all), useless, next, err
}
