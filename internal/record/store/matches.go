package store

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/jackc/pgx/v5"

	"gleaner/internal/gleaner"
)

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
// the paper, or one of them is not on record.
var ErrNoMatch = errors.New("this document was not matched with that paper")

// Settle records a person's word on a match: "yes", "no", or "" to take it back.
// A document that is the paper is accepted, once its file is here; it need not have been
// compared with it.
func (db MatchRecords) Settle(ctx context.Context, paper, sha, word string) error {
	return db.Tx(ctx, func(tx pgx.Tx) error {
		tag, err := tx.Exec(ctx, `UPDATE matches m SET settled=$3, matched_at=CASE WHEN $3='yes' AND `+FoundSQL+`
			THEN matched_at ELSE now() END WHERE paper_key=$1 AND sha256=$2`, paper, sha, word)
		if err != nil {
			return err
		}
		if word == "yes" && tag.RowsAffected() == 0 {
			tag, err = tx.Exec(ctx, `INSERT INTO matches (paper_key, sha256, verdict, score, reasons, settled)
				SELECT p.key, d.sha256, 'different', 0, '["named by a person"]', 'yes' FROM papers p, documents d
				WHERE p.key=$1 AND d.sha256=$2`, paper, sha)
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
