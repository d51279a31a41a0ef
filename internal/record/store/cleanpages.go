package store

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// hostOfSQL is the host of the canonical URL in a column.
func hostOfSQL(column string) string {
	return `split_part(split_part(` + column + `, '://', 2), '/', 1)`
}

// onBlack reports whether the host of a URL in a column is on the blacklist.
func onBlack(column string) string {
	return hostOfSQL(column) + ` IN (SELECT host FROM blacklist)`
}

// textsOf is a table that holds text of pages: the number and the hash by which it is
// walked, which rows are of blacklisted hosts, and what removes the text of row t in s.
type textsOf struct{ table, number, hash, of, remove string }

// textsOfPages are walked in this order: the index is filled from the cache. On a
// blacklisted host the validators go, too, or a later crawl would be told that nothing
// changed; a link to another host stays as a URL.
var textsOfPages = []textsOf{
	{"page_cache", "0::bigint", "hash", blackHostSQL + ` OR ` + onBlack("final_url"), `DELETE FROM page_cache t USING s WHERE t.hash=s.hash`},
	{"page_index", "0::bigint", "hash", onBlack("url"), `DELETE FROM page_index t USING s WHERE t.hash=s.hash`},
	{"kept_links", "site_id", "page", blackSiteSQL, `DELETE FROM kept_links t USING s WHERE t.site_id=s.number AND t.page=s.hash`},
	{"urls", "site_id", "hash", texts + ` AND ` + onBlack("parent") + ` OR (` + texts + ` OR content IS NOT NULL OR etag || last_modified <> '') AND ` + blackSiteSQL, `UPDATE urls t
		SET anchor='', context='', heading='', tag_path='', etag=CASE WHEN ` + blackSiteSQL + ` THEN '' ELSE etag END,
			last_modified=CASE WHEN ` + blackSiteSQL + ` THEN '' ELSE last_modified END, content=CASE WHEN ` + blackSiteSQL + ` THEN NULL ELSE content END
		FROM s WHERE t.site_id=s.number AND t.hash=s.hash`},
	{"collection_urls", "collection::bigint", "hash", `anchor <> '' AND ` + onBlack("parent") + ` OR (anchor || title <> '' OR terms IS NOT NULL) AND ` + blackHostSQL, `UPDATE collection_urls t
		SET anchor='', title=CASE WHEN ` + blackHostSQL + ` THEN '' ELSE title END, terms=CASE WHEN ` + blackHostSQL + ` THEN NULL ELSE terms END
		FROM s WHERE t.collection=s.number AND t.hash=s.hash`},
}

// What is true of rows with text of links, and of those of blacklisted hosts.
const (
	texts        = `anchor || context || heading || tag_path <> ''`
	blackSiteSQL = `site_id IN (SELECT s.id FROM sites s JOIN blacklist b ON b.host=s.host)`
	blackHostSQL = `host IN (SELECT host FROM blacklist)`
)

// RemovePages removes what is kept of the pages of blacklisted hosts: their bodies, what
// is indexed of them, and the texts of their links. It returns how many rows held any, and
// calls told after each batch of rows.
func (db DocumentRecords) RemovePages(ctx context.Context, batch int, told func()) (removed int64, err error) {
	for _, t := range textsOfPages {
		var number int64
		for hash, looked := []byte{}, batch; looked == batch; told() {
			var n int64
			err := db.Tx(ctx, func(tx pgx.Tx) error {
				return tx.QueryRow(ctx, t.sql(), number, hash, batch).Scan(&looked, &n, &number, &hash)
			})
			if err != nil {
				return removed, fmt.Errorf("store: remove texts of pages in %s: %w", t.table, err)
			}
			removed += n
		}
	}
	return removed, nil
}

// sql looks at the next $3 rows behind the number $1 and the hash $2. It returns how many
// there were, how many held text, and the last.
func (t textsOf) sql() string {
	behind := `(` + t.number + `, ` + t.hash + `) > ($1, $2)`
	if t.number == "0::bigint" {
		behind = `$1::bigint = 0 AND ` + t.hash + ` > $2`
	}
	return `WITH next AS MATERIALIZED (SELECT ` + t.number + ` AS number, ` + t.hash + ` AS hash, ` + t.of + ` AS black
			FROM ` + t.table + ` WHERE ` + behind + ` ORDER BY 1, 2 LIMIT $3),
		s AS (SELECT * FROM next WHERE black), did AS (` + t.remove + ` RETURNING 1)
		SELECT (SELECT count(*) FROM next), (SELECT count(*) FROM did), l.number, l.hash
		FROM (SELECT number, hash FROM next UNION ALL SELECT $1::bigint, $2::bytea ORDER BY 1 DESC, 2 DESC LIMIT 1) l`
}
