package store

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/jackc/pgx/v5"

	"gleaner/internal/each"
	"gleaner/internal/gleaner"
	"gleaner/internal/record/frontier"
)

// Readable is a document with text, where it was found, and what it was matched
// with.
type Readable struct {
	Document
	Places  []Location
	Matches []Found
}

// MostPlaces bounds from how many of its places a document is looked at.
const MostPlaces = 8

const (
	readableBatch = 200
	suspectBatch  = 100_000 // ids held at a time
	signsBatch    = 1000    // asked for at a time
)

// readableSQL is true of a document d that can be matched.
const readableSQL = `d.first_pages <> '' AND d.state <> 'failed'`

// EachUncompared calls do with batches of the documents that were compared with no
// list of wanted papers since they were found, in the order of their ids, after one of
// them. Those that SaveCompared, or a judgement, says were are not met again.
func (db MatchRecords) EachUncompared(ctx context.Context, last int64, do func([]Readable) error) error {
	return db.eachReadable(ctx, `d.compared = 0`, last, do)
}

// eachReadable calls do with batches of the documents d with text for which where holds,
// whose arguments begin with $3, in the order of their ids, after one of them.
func (db MatchRecords) eachReadable(ctx context.Context, where string, last int64, do func([]Readable) error, args ...any) error {
	for {
		batch, err := db.readable(ctx, where+` AND d.id > $1 AND `+readableSQL+` ORDER BY d.id LIMIT $2`, append([]any{last, readableBatch}, args...)...)
		if err != nil || len(batch) == 0 {
			return err
		}
		if err := do(batch); err != nil {
			return err
		}
		last = batch[len(batch)-1].ID
	}
}

// EachSuspect calls do with batches of the documents that may be matched otherwise
// since the wanted papers changed, in the order of their ids, after one of them:
// those that bear one of the signs, and those that are matched with a paper that
// changed. Of a hundred thousand at a time it keeps the ids, and no more.
func (db MatchRecords) EachSuspect(ctx context.Context, signs []int32, last int64, do func([]Readable) error) error {
	for more := true; more; {
		ids, err := db.suspects(ctx, signs, last)
		if err != nil {
			return err
		}
		more = len(ids) == suspectBatch
		for some := range slices.Chunk(ids, readableBatch) {
			batch, err := db.readable(ctx, `d.id = ANY($1) AND `+readableSQL+` ORDER BY d.id`, some)
			if err == nil && len(batch) > 0 {
				err = do(batch)
			}
			if err != nil {
				return err
			}
			last = some[len(some)-1]
		}
	}
	return nil
}

// suspects are the first of them after an id. The lists of signs are asked for one
// after the other, and each may have more than fit. The planner takes it for nothing
// to read the signs of a document, which lie outside its row, and to compare them
// with as many: it would read all of them rather than the index.
func (db MatchRecords) suspects(ctx context.Context, signs []int32, last int64) (ids []int64, err error) {
	const of = `SELECT d.id FROM bearing JOIN documents d USING (sha256)
		WHERE d.id > $1 AND d.compared < (SELECT max(version) FROM wanted_changes) AND ` + readableSQL + ` ORDER BY d.id LIMIT $2`
	add := func(tx pgx.Tx, bearing string, args ...any) error {
		more, err := Column[int64](ctx, tx, `WITH bearing AS MATERIALIZED (`+bearing+`) `+of, append([]any{last, suspectBatch}, args...)...)
		ids = append(ids, more...)
		slices.Sort(ids)
		ids = slices.Compact(ids)
		ids = ids[:min(len(ids), suspectBatch)]
		return err
	}
	err = db.Tx(ctx, func(tx pgx.Tx) error {
		err := add(tx, `SELECT DISTINCT m.sha256 FROM matches m JOIN wanted_changes USING (paper_key)`)
		if err == nil {
			_, err = tx.Exec(ctx, `SET LOCAL enable_seqscan = off`)
		}
		for some := range slices.Chunk(signs, signsBatch) {
			if err == nil {
				err = add(tx, `SELECT sha256 FROM signs WHERE signs && $3::int[]`, some)
			}
		}
		return err
	})
	return ids, err
}

// JudgedOtherwise lists the documents on a harvest's sites, and those to which these link,
// that the filter would take otherwise now: with a filter those kept unread, and those
// rejected whose score is at least what it asks for; without one those rejected by a filter.
// They come in the order of their ids, after one of them, but for those over which
// frontier.MaxDeaths processes died.
func (db MatchRecords) JudgedOtherwise(
	ctx context.Context, harvest string, filter bool, least float64, after int64,
) ([]ToJudge, error) {
	return List[ToJudge](ctx, db, `WITH s AS (SELECT site_id FROM harvest_sites WHERE harvest_id=$1),
		of AS (SELECT l.sha256 FROM s JOIN locations l USING (site_id)
			UNION SELECT l.sha256 FROM s JOIN leads g ON g.from_site=s.site_id JOIN locations l ON l.asked=g.hash)
		SELECT d.sha256, d.id FROM of JOIN documents d USING (sha256)
		WHERE d.blob_removed_at IS NULL AND d.id > $4 AND d.deaths < $5 AND CASE
			WHEN $2 AND d.state='accepted' THEN d.outcome='unread'
			WHEN d.state='rejected' THEN d.class<>'' AND (NOT $2 OR d.outcome<>'`+gleaner.OtherDiscipline+`' AND d.score >= $3::real) ELSE false END
		ORDER BY d.id`, harvest, filter, least, after, frontier.MaxDeaths)
}

// ToJudge is a document that JudgedOtherwise lists.
type ToJudge struct {
	SHA256 string
	ID     int64
}

// CountJudged adds documents that JudgedOtherwise listed and that were judged again.
func (db MatchRecords) CountJudged(ctx context.Context, harvest string, n int) error {
	return db.Exec(ctx, `UPDATE harvests SET documents_judged=documents_judged+$2 WHERE id=$1`, harvest, n)
}

// readable reads documents with their places, the first of each, and matches.
func (db MatchRecords) readable(ctx context.Context, where string, args ...any) ([]Readable, error) {
	docs, err := List[Document](ctx, db, `SELECT `+documentColumns+` FROM documents d WHERE `+where, args...)
	if err != nil || len(docs) == 0 {
		return nil, err
	}
	shas := each.Of(docs, func(d Document) string { return d.SHA256 })
	places, err := List[Location](ctx, db, `SELECT l.* FROM unnest($1::text[]) of (sha), LATERAL (
		SELECT `+locationColumns+` FROM locations WHERE sha256 = sha ORDER BY current DESC, url, member LIMIT $2) l`, shas, MostPlaces)
	if err != nil {
		return nil, err
	}
	if err := owners(ctx, db, places); err != nil {
		return nil, err
	}
	at := each.By(places, func(l Location) string { return l.SHA256 })
	matches, err := Map[string, []Found](ctx, db, `SELECT sha256, array_agg(ROW(paper_key, verdict, score, form, reasons, settled) ORDER BY paper_key)
		FROM matches WHERE sha256 = ANY($1) GROUP BY sha256`, shas)
	return each.Of(docs, func(d Document) Readable { return Readable{d, at[d.SHA256], matches[d.SHA256]} }), err
}

// SaveCompared notes that what a document is matched with is what it comes to
// against the wanted papers of a version, and the signs that it bears. The error is
// ErrStale where other papers are wanted by now.
func (db MatchRecords) SaveCompared(ctx context.Context, sha string, signs []int32, wanted int64) error {
	return db.Tx(ctx, func(tx pgx.Tx) error {
		if err := checkWanted(ctx, tx, wanted); err != nil {
			return err
		}
		b := &pgx.Batch{}
		b.Queue(`UPDATE documents SET compared=$2 WHERE sha256=$1 AND compared<>$2`, sha, wanted)
		queueSigns(b, sha, signs)
		return tx.SendBatch(ctx, b).Close()
	})
}

func queueSigns(b *pgx.Batch, sha string, signs []int32) {
	if len(signs) == 0 {
		b.Queue(`DELETE FROM signs WHERE sha256=$1`, sha)
		return
	}
	b.Queue(`INSERT INTO signs (sha256, signs) VALUES ($1,$2) ON CONFLICT (sha256) DO UPDATE SET signs=EXCLUDED.signs
		WHERE signs.signs <> EXCLUDED.signs`, sha, signs)
}

// ChangedPapers are the papers that came to be wanted, changed or ceased to be
// wanted since every document was compared last.
func (db MatchRecords) ChangedPapers(ctx context.Context) ([]gleaner.Paper, error) {
	return List[gleaner.Paper](ctx, db, `SELECT `+paperColumns+` FROM papers p JOIN wanted_changes c ON c.paper_key=p.key ORDER BY p.key`)
}

// ForgetChanges notes that every document was compared with the wanted papers of a
// version, or one after it.
func (db MatchRecords) ForgetChanges(ctx context.Context, version int64) error {
	b := &pgx.Batch{}
	b.Queue(`SELECT pg_advisory_xact_lock(` + wantedLock + `)`) // before its rows, as in changeWanted
	b.Queue(`DELETE FROM wanted_changes WHERE version <= $1`, version)
	return db.Send(ctx, b)
}

// nobodyWants notes the papers that documents are matched with and that no harvest
// wants any more, since this transaction.
func nobodyWants(ctx context.Context, tx pgx.Tx) error {
	papers, err := Column[string](ctx, tx, `SELECT DISTINCT m.paper_key FROM matches m WHERE m.settled=''
		AND NOT EXISTS (SELECT 1 FROM harvest_papers h WHERE h.paper_key=m.paper_key AND NOT h.held)`)
	if err != nil {
		return err
	}
	return changeWanted(ctx, tx, papers)
}

// CommonSigns are the signs that more than so many documents bear, with about how
// many do, as far as the database has counted.
func (db MatchRecords) CommonSigns(ctx context.Context, most int) (map[int32]int, error) {
	return Map[int32, int](ctx, db, `SELECT sign, (share * reltuples)::int FROM pg_stats, pg_class,
			unnest(most_common_elems::text::int[], most_common_elem_freqs::float8[]) of (sign, share)
		WHERE schemaname = current_schema() AND tablename = 'signs' AND attname = 'signs' AND pg_class.oid = 'signs'::regclass
			AND sign IS NOT NULL AND share * reltuples > $1`, most)
}

// Readable returns a document with where it was found and what it was matched
// with. The error is ErrNoDocument for one that is not known.
func (db MatchRecords) Readable(ctx context.Context, sha string) (Readable, error) {
	d, places, err := DocumentRecords(db).Document(ctx, sha)
	if err != nil {
		return Readable{}, err
	}
	found, err := db.Matches(ctx, sha)
	return Readable{Document: d, Places: places, Matches: found}, err
}

// EachReadable calls do with batches of the documents with text that were found on
// the sites of all harvests of a goal, in the order of their ids.
func (db MatchRecords) EachReadable(ctx context.Context, goal string, do func([]Readable) error) error {
	return db.eachReadable(ctx, `EXISTS (SELECT 1 FROM locations l JOIN harvest_sites h ON h.site_id=l.site_id
			JOIN harvests v ON v.id=h.harvest_id
		WHERE l.sha256=d.sha256 AND v.venue=$3)`, 0, do, goal)
}

// Matches lists what a document was matched with, by paper.
func (db MatchRecords) Matches(ctx context.Context, sha string) ([]Found, error) {
	return List[Found](ctx, db, `SELECT paper_key, verdict, score, form, reasons, settled FROM matches WHERE sha256=$1 ORDER BY paper_key`, sha)
}

// ErrNoMatch is returned by Settle where the document was never matched with
// the paper, or is not on record.
var ErrNoMatch = errors.New("this document was not matched with that paper")

// Settle records a person's word on a match: "yes", "no", or "" to take it back.
// A document that is the paper is accepted, once its file is here; it need not have been
// compared with it.
func (db MatchRecords) Settle(ctx context.Context, paper, sha, word string) error {
	if _, err := PaperRecords(db).Paper(ctx, paper); err != nil {
		return err
	}
	return db.Tx(ctx, func(tx pgx.Tx) error {
		tag, err := tx.Exec(ctx, `UPDATE matches m SET settled=$3, matched_at=CASE WHEN $3='yes' AND `+FoundSQL+`
			THEN matched_at ELSE now() END WHERE paper_key=$1 AND sha256=$2`, paper, sha, word)
		if err != nil {
			return err
		}
		if word != "" && tag.RowsAffected() == 0 {
			tag, err = tx.Exec(ctx, `INSERT INTO matches (paper_key, sha256, verdict, score, reasons, settled)
				SELECT p.key, d.sha256, 'different', 0, '["named by a person"]', $3 FROM papers p, documents d
				WHERE p.key=$1 AND d.sha256=$2`, paper, sha, word)
			if err != nil {
				return err
			}
		}
		if tag.RowsAffected() == 0 {
			return fmt.Errorf("%s, %s: %w", paper, sha, ErrNoMatch)
		}
		if word != "yes" {
			return nil
		}
		b := &pgx.Batch{}
		queueAccept(b, sha)
		return tx.SendBatch(ctx, b).Close()
	})
}

// alsoSQL are the titles of other papers that the document of a match m of a paper p is, too.
// One that a list names, too, has two keys and is one.
var alsoSQL = `ARRAY(SELECT o.title FROM matches also JOIN papers o ON o.key=also.paper_key
	WHERE also.sha256=m.sha256 AND ` + foundIn("also") + `
		AND (o.year, ` + lettersOf("o.title") + `) <> (p.year, ` + lettersOf("p.title") + `) ORDER BY o.key LIMIT 5)`

// AlsoPapers are the titles of papers other than one that a document is, too.
func AlsoPapers(ctx context.Context, db *DB, paper, sha string) ([]string, error) {
	return One(ctx, db, pgx.RowTo[[]string], nil, `SELECT `+alsoSQL+` FROM matches m JOIN papers p ON p.key=m.paper_key
		WHERE p.key=$1 AND m.sha256=$2`, paper, sha)
}

// Review is a match that waits for a person's word.
type Review struct {
	Paper   string   `json:"paper"`
	Title   string   `json:"title"`
	Year    int      `json:"year"`
	Authors []string `json:"authors"`
	SHA256  string   `json:"sha256"`
	Verdict string   `json:"verdict"`
	Score   float64  `json:"score"`
	Form    string   `json:"form"`
	Reasons []string `json:"reasons"`
	Settled string   `json:"settled,omitempty"`
	Class   string   `json:"class"`
	Kind    string   `json:"kind"`
	Pages   int      `json:"pages"`
	URL     string   `json:"url"`
	Anchor  string   `json:"anchor,omitempty"`
	Begins  string   `json:"begins"` // how its text begins
	Also    []string `json:"also"`   // titles of other papers that it is
}

// ReviewQuery are conditions on matches that wait for a person's word; zero fields are
// none.
type ReviewQuery struct {
	Venue   string
	Years   gleaner.Years
	Settled bool    // what a person settled instead
	After   *Review // the one before the first
	Limit   int
}

func (q ReviewQuery) condition() string {
	if q.Settled {
		return `m.settled <> ''`
	}
	return waitsForReview()
}

func (q ReviewQuery) sql() string {
	return `SELECT p.key, p.title, p.year, ARRAY(SELECT a->>'name' FROM jsonb_array_elements(p.authors) a), m.sha256, m.verdict, m.score, m.form,
			m.reasons, m.settled, d.class, d.kind, d.pages, coalesce(l.url, ''), coalesce(l.anchor, ''), left(d.first_pages, 600), ` + alsoSQL + `
		FROM matches m JOIN papers p ON p.key=m.paper_key JOIN documents d ON d.sha256=m.sha256
		LEFT JOIN LATERAL (SELECT url, anchor FROM locations l WHERE l.sha256=m.sha256 ORDER BY current DESC, url LIMIT 1) l ON true
		WHERE ($1='' OR p.venue=$1) AND ($6::int[] IS NULL OR p.year = ANY($6)) AND (-m.score, m.paper_key, m.sha256) > ($2::real, $3, $4) AND ` + q.condition() + `
		ORDER BY -m.score, m.paper_key, m.sha256 LIMIT nullif($5, 0)`
}

func (q ReviewQuery) args() []any {
	if a := q.After; a != nil {
		return []any{q.Venue, float32(-a.Score), a.Paper, a.SHA256, q.Limit, q.Years.All()}
	}
	return []any{q.Venue, float32(math.Inf(-1)), "", "", q.Limit, q.Years.All()}
}

// Reviews lists the ambiguous matches of papers that were not found otherwise, the
// likeliest first.
func (db MatchRecords) Reviews(ctx context.Context, q ReviewQuery) ([]Review, error) {
	return List[Review](ctx, db, q.sql(), q.args()...)
}

// CountReviews counts all that Reviews would list without a limit.
func (db MatchRecords) CountReviews(ctx context.Context, q ReviewQuery) (int, error) {
	return Get[int](ctx, db, `SELECT count(*) FROM matches m JOIN papers p ON p.key=m.paper_key WHERE ($1='' OR p.venue=$1) AND ($2::int[] IS NULL OR p.year = ANY($2)) AND `+q.condition(), q.Venue, q.Years.All())
}

// PaperOf is the paper that a document is, or one without a key.
func (db MatchRecords) PaperOf(ctx context.Context, sha string) (gleaner.Paper, error) {
	return One(ctx, db, pgx.RowToStructByPos[gleaner.Paper], nil, `SELECT `+paperColumns+` FROM papers p JOIN matches m ON m.paper_key=p.key WHERE m.sha256=$1 AND `+FoundSQL+`
		ORDER BY m.score DESC, p.key LIMIT 1`, sha)
}
