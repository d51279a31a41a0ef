package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"gleaner/internal/each"
)

// What a cleaning comes to for a document or a page.
const (
	WouldGo = "would-go" // it goes when the cleaning is confirmed
	Went    = "gone"
	Kept    = "kept"
)

// What goes: a document with its file, one place of a document that is elsewhere,
// too, or a parent page.
const (
	CleanDocument = "document"
	CleanPlace    = "place"
	CleanParent   = "parent"
)

// Cleaning describes which documents CleanDocuments removes.
type Cleaning struct {
	Job      int64
	InPlace  bool // else nothing is changed
	Both     bool // of those on blacklisted hosts only those that failed to be ingested
	Ingested bool // those that the library took as well
	Matched  bool // of those on blacklisted hosts also what matches a paper or was decided on
	Batch    int  // documents or places of a step
}

// CleanAt is where a cleaning of documents goes on.
type CleanAt struct {
	Hosts  bool   `json:"hosts,omitempty"` // through with what was not ingested: now what is on blacklisted hosts
	Site   int64  `json:"site,omitempty"`
	Hash   []byte `json:"hash,omitempty"`
	SHA256 string `json:"sha256,omitempty"`
	End    bool   `json:"end,omitempty"`
}

// cleanable is a document, or a place of one, that a cleaning looks at.
type cleanable struct {
	SHA256 string
	Site   int64
	Hash   []byte // of the place; empty where it is the document that is meant
	URL    string
	Host   string
	Kind   string
	Class  string
	Bytes  int64
	Keep   string // why it stays; "" where it may go
	Last   bool   // no other place of the document would be left
}

// keepSQL says why a document d stays, whatever its host or its ingestion: nothing where it
// may go.
const keepSQL = `CASE
	WHEN d.state='new' OR d.taken_until > now() THEN 'it waits to be examined'
	ELSE coalesce((SELECT 'compared with ' || m.paper_key || ': ' || CASE WHEN m.settled='' THEN m.verdict ELSE 'settled, ' || m.settled END
		FROM matches m WHERE m.sha256=d.sha256 AND (m.verdict <> 'different' OR m.settled <> '') ORDER BY m.score DESC, m.paper_key LIMIT 1), '') END`

// notIngestedSQL selects documents that the library's own system could not take, behind
// one.
const notIngestedSQL = `SELECT d.sha256, 0::bigint, ''::bytea, coalesce(l.url, ''), '', d.kind, d.class, d.bytes, ` + keepSQL + `, true
	FROM documents d LEFT JOIN LATERAL (SELECT l.url FROM locations l WHERE l.sha256=d.sha256 ORDER BY l.current DESC, l.url LIMIT 1) l ON true
	WHERE d.ingestion='failed' AND d.sha256 > $1 ORDER BY d.sha256 LIMIT $2`

// onBlacklistSQL selects places of documents on blacklisted hosts, behind one: all, or
// those of documents that failed to be ingested. A place is a document's last where all
// others are on such hosts, too, and come before it.
const onBlacklistSQL = `SELECT d.sha256, s.id, l.hash, l.url, s.host, d.kind, d.class, d.bytes,
		CASE WHEN d.ingestion='ingested' AND NOT $6 THEN 'the library ingested it'
			WHEN $7 AND d.state<>'new' AND coalesce(d.taken_until <= now(), true) THEN '' ELSE ` + keepSQL + ` END,
		NOT EXISTS (SELECT 1 FROM locations o JOIN sites t ON t.id=o.site_id WHERE o.sha256=l.sha256
			AND ((o.site_id, o.hash) > (l.site_id, l.hash) OR NOT EXISTS (SELECT 1 FROM blacklist b WHERE b.host=t.host)))
	FROM (SELECT s.id, s.host FROM sites s WHERE s.id >= $1 AND EXISTS (SELECT 1 FROM blacklist b WHERE b.host=s.host) ORDER BY s.id) s
		JOIN LATERAL (SELECT * FROM locations l WHERE l.site_id=s.id AND (s.id > $1 OR (l.hash, l.sha256) > ($2, $3))
			AND (NOT $5 OR EXISTS (SELECT 1 FROM documents f WHERE f.sha256=l.sha256 AND f.ingestion='failed')) ORDER BY l.hash, l.sha256 LIMIT $4) l ON true
		JOIN documents d ON d.sha256=l.sha256
	ORDER BY s.id, l.hash, l.sha256 LIMIT $4`

// cleanables lists what comes next, at most a batch.
func cleanables(ctx context.Context, tx pgx.Tx, c Cleaning, at CleanAt) ([]cleanable, error) {
	sql, args := notIngestedSQL, []any{at.SHA256, c.Batch}
	if at.Hosts {
		sql = onBlacklistSQL
		args = []any{at.Site, each.List(at.Hash), at.SHA256, c.Batch, c.Both, c.Ingested, c.Matched}
	}
	return List[cleanable](ctx, tx, sql, args...)
}

// CleanDocuments looks at the next documents that were not ingested, and then at those
// on blacklisted hosts. It returns what became of each, and where it goes on. InPlace
// marks them as gone in tx; RemoveCleaned removes them afterwards. Documents that wait
// to be examined stay, and unless Cleaning names them those that are compared with a
// paper or were ingested; one that is on another host, too, loses the place alone.
func (db DocumentRecords) CleanDocuments(ctx context.Context, tx pgx.Tx, c Cleaning, at CleanAt) ([]ImportRecord, CleanAt, error) {
	next, err := cleanables(ctx, tx, c, at)
	if err == nil && c.InPlace {
		next, err = lockCleanables(ctx, tx, c, at, next)
	}
	if err != nil {
		return nil, at, err
	}
	var records []ImportRecord
	var documents []string
	var places []cleanable
	for _, d := range next {
		r := ImportRecord{URL: d.URL, Kind: CleanPlace, Detail: "failed ingestion", SHA256: d.SHA256, Class: d.Class, Bytes: d.Bytes, Outcome: WouldGo}
		if at.Hosts {
			r.Detail = "blacklisted host " + d.Host
		}
		if at.Hosts && c.Both {
			r.Detail += ", failed ingestion"
		}
		switch {
		case d.Keep != "":
			r.Outcome, r.Detail, r.Kind = Kept, r.Detail+"; "+d.Keep, CleanDocument
		case d.Last:
			r.Kind, documents = CleanDocument, append(documents, d.SHA256)
		default:
			places = append(places, d)
		}
		if c.InPlace && d.Keep == "" {
			r.Outcome = Went
		}
		records = append(records, r)
	}
	if c.InPlace {
		err = markCleaned(ctx, tx, c.Job, documents, places)
	}
	return records, behind(at, next, c.Batch), err
}

// behind is where a cleaning goes on after a batch.
func behind(at CleanAt, done []cleanable, limit int) CleanAt {
	if len(done) == limit {
		last := done[len(done)-1]
		return CleanAt{Hosts: at.Hosts, Site: last.Site, Hash: last.Hash, SHA256: last.SHA256}
	}
	return CleanAt{Hosts: true, End: at.Hosts}
}

// lockCleanables locks the documents of a batch: nobody finds one of them elsewhere or
// judges it until the end of the transaction. It returns them as they are then.
func lockCleanables(ctx context.Context, tx pgx.Tx, c Cleaning, at CleanAt, next []cleanable) ([]cleanable, error) {
	for {
		shas := each.Of(next, func(d cleanable) string { return d.SHA256 })
		if _, err := tx.Exec(ctx, `SELECT FROM documents WHERE sha256 = ANY($1) ORDER BY sha256 FOR UPDATE`, shas); err != nil {
			return nil, err
		}
		again, err := cleanables(ctx, tx, c, at)
		if err != nil || slices.EqualFunc(next, again, func(a, b cleanable) bool { return a.SHA256 == b.SHA256 }) {
			return again, err
		}
		next = again
	}
}

// markCleaned takes places off the record, and notes which documents go. Their URLs are
// asked for without "only if it changed" from now on, since what they gave is gone; and
// nothing is a copy of them any more.
func markCleaned(ctx context.Context, tx pgx.Tx, job int64, documents []string, places []cleanable) error {
	b := &pgx.Batch{}
	b.Queue(`UPDATE urls u SET etag='', last_modified='', content=NULL FROM locations l WHERE l.sha256 = ANY($1) AND u.site_id=l.site_id AND u.hash=l.asked`, documents)
	for _, p := range places {
		b.Queue(`UPDATE urls u SET etag='', last_modified='', content=NULL FROM locations l WHERE l.hash=$1 AND l.sha256=$2 AND u.site_id=l.site_id AND u.hash=l.asked`, p.Hash, p.SHA256)
		b.Queue(noDocumentSQL, p.SHA256, p.Hash)
		b.Queue(outdatedSQL, p.SHA256)
		b.Queue(`DELETE FROM locations WHERE hash=$1 AND sha256=$2`, p.Hash, p.SHA256)
	}
	b.Queue(`DELETE FROM sketches WHERE sha256 = ANY($1)`, documents)
	b.Queue(`UPDATE documents SET blob_left=(blob_removed_at IS NULL OR blob_left), blob_removed_at=coalesce(blob_removed_at, now()) WHERE sha256 = ANY($1)`, documents)
	b.Queue(`INSERT INTO cleaned (sha256, job) SELECT unnest($1::text[]), $2 ON CONFLICT (sha256) DO UPDATE SET job=EXCLUDED.job, done=false, cleaned_at=now()`, documents, job)
	return tx.SendBatch(ctx, b).Close()
}

// noDocumentSQL makes URLs at which a document was found, one place of it or all, such that
// gave none, where nothing else was found there.
const noDocumentSQL = `UPDATE urls u SET was=0 FROM locations l WHERE l.sha256=$1 AND ($2::bytea IS NULL OR l.hash=$2)
	AND u.site_id=l.site_id AND u.hash=l.asked AND u.was=2
	AND NOT EXISTS (SELECT 1 FROM locations o WHERE o.asked=l.asked AND o.sha256<>l.sha256)`

// outdatedSQL has the rates measured anew of a document's sites and of those that link to it.
const outdatedSQL = `UPDATE site_stats SET measured_at='-infinity' WHERE site_id IN (SELECT l.site_id FROM locations l WHERE l.sha256=$1
	UNION SELECT s.id FROM locations l JOIN sites s ON s.host=split_part(l.parent, '/', 3) WHERE l.sha256=$1
	UNION SELECT k.site_id FROM locations l JOIN links k ON k.target=l.asked WHERE l.sha256=$1)`

// RemoveCleaned takes the documents that were marked off the record, and their files
// away: a file before its row, and both while nobody can bring the document back. It
// tells of each. What a crawl brought back since it was marked stays.
func (db DocumentRecords) RemoveCleaned(ctx context.Context, blobs Blobs, told func()) error {
	for {
		left, err := Column[string](ctx, db, `SELECT sha256 FROM cleaned WHERE NOT done ORDER BY sha256 LIMIT 500`)
		if err != nil || len(left) == 0 {
			return err
		}
		for _, sha := range left {
			if err := db.leaveCopies(ctx, sha); err != nil {
				return err
			}
			if err := db.removeDocument(ctx, sha, blobs); err != nil {
				return fmt.Errorf("store: remove document %s: %w", sha, err)
			}
			told()
		}
	}
}

// leaveCopies gives the copies of a document that goes another best one among them.
func (db DocumentRecords) leaveCopies(ctx context.Context, sha string) error {
	return db.Tx(ctx, func(tx pgx.Tx) error {
		// A judgement that finds a copy is through before the lock is had; a later one
		// finds no sketch of what goes.
		if _, err := tx.Exec(ctx, `SELECT pg_advisory_xact_lock(`+copiesLock+`)`); err != nil {
			return err
		}
		copies, err := Column[string](ctx, tx, `UPDATE documents SET same_as=''
			WHERE same_as=$1 AND EXISTS (SELECT 1 FROM documents d WHERE d.sha256=$1 AND d.blob_removed_at IS NOT NULL) RETURNING sha256`, sha)
		if err != nil || len(copies) == 0 {
			return err
		}
		return group(ctx, tx, copies)
	})
}

// removeDocument removes a document that is still marked, and with it what it was
// compared with and where it was found.
func (db DocumentRecords) removeDocument(ctx context.Context, sha string, blobs Blobs) error {
	return db.Tx(ctx, func(tx pgx.Tx) error {
		tag, err := tx.Exec(ctx, `SELECT FROM documents WHERE sha256=$1 AND blob_removed_at IS NOT NULL FOR UPDATE`, sha)
		if err != nil {
			return err
		}
		b := &pgx.Batch{}
		if tag.RowsAffected() > 0 {
			if err := blobs.Delete(ctx, sha); err != nil {
				return err
			}
			b.Queue(noDocumentSQL, sha, nil)
		}
		b.Queue(outdatedSQL, sha)
		b.Queue(`DELETE FROM documents WHERE sha256=$1 AND blob_removed_at IS NOT NULL`, sha)
		b.Queue(`UPDATE cleaned SET done=true WHERE sha256=$1`, sha)
		return tx.SendBatch(ctx, b).Close()
	})
}

// ForgetCleaned forgets documents that went so long ago that no fetch from before is
// under way.
func (db DocumentRecords) ForgetCleaned(ctx context.Context) error {
	return db.Exec(ctx, `DELETE FROM cleaned WHERE done AND cleaned_at < now() - interval '7 days'`)
}

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
		`decision=` + untitledDecision("decision")},
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

// untitledDecision is a decision in a column likewise.
func untitledDecision(column string) string {
	return `(SELECT jsonb_object_agg(k, CASE WHEN jsonb_typeof(v)='array' THEN ` + untitled("v") + ` ELSE v END)
		FROM jsonb_each(` + column + `) e(k, v))`
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
