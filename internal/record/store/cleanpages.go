package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

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

// textsOf is a table t that holds text of pages: the key by which it is walked, which rows
// are of blacklisted hosts, and what is set in them; "" has them deleted.
type textsOf struct{ table, key, of, set string }

// textsOfPages are walked in this order: the index is filled from the cache. On a
// blacklisted host the validators go, too, or a later crawl would be told that nothing
// changed; a link to another host stays as a URL. Of pages that others found, as searches
// do, title and snippet go.
var textsOfPages = []textsOf{
	{"page_cache", "hash", blackHostSQL + ` OR ` + onBlack("final_url"), ""},
	{"page_index", "hash", onBlack("url"), ""},
	{"kept_links", "site_id, page", blackSiteSQL, ""},
	{"urls", "site_id, hash", texts + ` AND ` + onBlack("parent") + ` OR (` + texts + ` OR content IS NOT NULL OR etag || last_modified <> '') AND ` + blackSiteSQL,
		`anchor='', context='', heading='', tag_path='', etag=CASE WHEN ` + blackSiteSQL + ` THEN '' ELSE etag END,
			last_modified=CASE WHEN ` + blackSiteSQL + ` THEN '' ELSE last_modified END,
			content=CASE WHEN ` + blackSiteSQL + ` THEN NULL ELSE content END`},
	{"locations", "hash, sha256", `anchor || context || heading || meta_title <> '' AND ` + onBlack("parent"),
		`anchor='', context='', heading='', meta_title=''`},
	{"sites", "id", `learnt IS NOT NULL AND ` + blackHostSQL, `learnt=NULL`},
	{"collection_urls", "collection, hash",
		`anchor <> '' AND ` + onBlack("parent") + ` OR (anchor || title <> '' OR terms IS NOT NULL) AND ` + blackHostSQL,
		`anchor='', title=CASE WHEN ` + blackHostSQL + ` THEN '' ELSE title END,
			terms=CASE WHEN ` + blackHostSQL + ` THEN NULL ELSE terms END`},
	{"collection_words", "collection, hash", blackReadSQL, ""},
	{"collection_links", "collection, hash", blackReadSQL, ""},
	{"collection_examples", "collection, topic, hash", onBlack("url"), ""},
	{"collection_results", "collection, topic, place",
		`counts IS NOT NULL AND ` + onBlack("url"), `counts=NULL, outcome='blacklisted'`},
	{"homepage_decisions", "author_id",
		`EXISTS (SELECT FROM jsonb_path_query(decision, '$.*[*]') o WHERE ` + titledSQL + `)`,
		`decision=(SELECT jsonb_object_agg(k, CASE WHEN jsonb_typeof(v)='array' THEN ` + untitled("v") + ` ELSE v END)
			FROM jsonb_each(decision) e(k, v))`},
	{"searches", "provider, md5(query), wanted",
		`EXISTS (SELECT FROM jsonb_array_elements(results) o WHERE ` + titledSQL + `)`, `results=` + untitled("results")},
}

// What is true of rows with text of links, of those of blacklisted hosts, and of what a
// search says of a page of theirs.
const (
	texts        = `anchor || context || heading || tag_path <> ''`
	blackSiteSQL = `site_id IN (SELECT s.id FROM sites s JOIN blacklist b ON b.host=s.host)`
	blackHostSQL = `host IN (SELECT host FROM blacklist)`
	blackReadSQL = `(SELECT u.` + blackHostSQL + ` FROM collection_urls u
		WHERE u.collection=t.collection AND u.hash=t.hash)`
)

var titledSQL = `(o ? 'title' OR o ? 'snippet') AND ` + onBlack("o->>'url'")

// untitled is a JSON array in a column without what it says of pages of blacklisted hosts.
func untitled(column string) string {
	return `coalesce((SELECT jsonb_agg(CASE WHEN ` + titledSQL + ` THEN o - 'title' - 'snippet' ELSE o END ORDER BY n)
		FROM jsonb_array_elements(` + column + `) WITH ORDINALITY a(o, n)), ` + column + `)`
}

// TextsAt is where RemovePages goes on: in one of textsOfPages, behind a key, as text.
type TextsAt struct {
	Table string   `json:"table,omitempty"` // "" is the first
	Key   []string `json:"key,omitempty"`
	End   bool     `json:"end,omitempty"` // there are no more
}

// RemovePages removes what is kept of the pages of blacklisted hosts: their bodies, what
// is indexed and learnt of them, and the texts of their links, among so many rows. It
// returns how many of them held any, and where it goes on.
func (db DocumentRecords) RemovePages(ctx context.Context, tx pgx.Tx, at TextsAt, batch int) (removed int64, next TextsAt, err error) {
	i := slices.IndexFunc(textsOfPages, func(t textsOf) bool { return t.table == at.Table })
	if i < 0 { // one that is no longer walked, too
		i, at.Key = 0, nil
	}
	t, args := textsOfPages[i], []any{batch}
	for _, k := range at.Key {
		args = append(args, k)
	}
	var looked int
	next.Table = t.table
	err = tx.QueryRow(ctx, t.sql(at.Key == nil), args...).Scan(&looked, &removed, &next.Key)
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return 0, at, fmt.Errorf("store: remove texts of pages in %s: %w", t.table, err)
	}
	if looked < batch {
		next = TextsAt{End: true}
		if i++; i < len(textsOfPages) {
			next = TextsAt{Table: textsOfPages[i].table}
		}
	}
	return removed, next, nil
}

// sql looks at the first $1 rows, or those behind a key ($2 and on). It returns how many
// there were, how many held text, and the key of the last; nothing where there is none.
func (t textsOf) sql(first bool) string {
	last, params, where := "k1", "$2", ""
	for i := range strings.Count(t.key, ",") {
		last, params = fmt.Sprintf("%s, k%d", last, i+2), fmt.Sprintf("%s, $%d", params, i+3)
	}
	if !first {
		where = ` WHERE (` + t.key + `) > (` + params + `)`
	}
	did := `DELETE FROM ` + t.table + ` t USING`
	if t.set != "" {
		did = `UPDATE ` + t.table + ` t SET ` + t.set + ` FROM`
	}
	return `WITH next (` + last + `, black) AS MATERIALIZED (
			SELECT ` + t.key + `, ` + t.of + ` FROM ` + t.table + ` t` + where + ` ORDER BY ` + t.key + ` LIMIT $1),
		did AS (` + did + ` next s WHERE s.black AND (` + t.key + `) = (` + last + `) RETURNING 1)
		SELECT count(*) OVER (), (SELECT count(*) FROM did), ARRAY[` + strings.ReplaceAll(last, ",", "::text,") + `::text] FROM next
		ORDER BY ` + strings.ReplaceAll(last, ",", " DESC,") + ` DESC LIMIT 1`
}
