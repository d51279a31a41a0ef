package store

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"gleaner/internal/gleaner"
)

// DocumentQuery are conditions on documents; the zero value is all of them.
type DocumentQuery struct {
	States    []string      `json:"states,omitempty"`    // new, accepted, rejected, failed
	Classes   []string      `json:"classes,omitempty"`   // paper, thesis, slides, …
	Kinds     []string      `json:"kinds,omitempty"`     // pdf, postscript, …
	Outcomes  []string      `json:"outcomes,omitempty"`  // of reading
	Ingestion string        `json:"ingestion,omitempty"` // new, ingested or failed
	Host      string        `json:"host,omitempty"`      // found there
	Venue     string        `json:"venue,omitempty"`     // is a paper of that venue, person or list
	Years     gleaner.Years `json:"years,omitzero"`      // is a paper of these years
	From      time.Time     `json:"from,omitzero"`       // discovered then or later
	To        time.Time     `json:"to,omitzero"`         // discovered before
	Text      string        `json:"text,omitempty"`      // its first pages say so, in any case
	Primary   bool          `json:"primary,omitempty"`   // leave out copies of another one's text
	Sample    int           `json:"sample,omitempty"`    // so many at random; 0 is all
	Seed      string        `json:"seed,omitempty"`      // of the sample: the same seed gives the same one
	Limit     int           `json:"limit,omitempty"`     // at most so many, the oldest first; 0 is all
	After     int64         `json:"after,omitempty"`     // number of the document before the first; not of a sample
}

// Listed is a document in a list.
type Listed struct {
	Document
	URL   string `json:"url"`
	Paper string `json:"paper,omitempty"` // that it is
	Title string `json:"title,omitempty"` // of that paper
}

// sql finds what args describe. Without a sample the order is
// that of an index, so that a page of a long list is read alone.
func (q DocumentQuery) sql() string {
	order := `d.id`
	if q.Sample > 0 {
		order = `md5($13 || d.sha256), d.id`
	}
	return `
		WITH chosen AS (SELECT ` + documentColumns + ` FROM documents d
			WHERE (cardinality($1::text[])=0 OR d.state = ANY($1)) AND (cardinality($2::text[])=0 OR d.class = ANY($2))
				AND (cardinality($3::text[])=0 OR d.kind = ANY($3)) AND (cardinality($4::text[])=0 OR d.outcome = ANY($4))
				AND ($5='' OR d.ingestion=$5)
				AND ($6='' OR EXISTS (SELECT 1 FROM locations l JOIN sites s ON s.id=l.site_id WHERE l.sha256=d.sha256 AND s.host=$6))
				AND ($7='' AND $8::int[] IS NULL OR EXISTS (SELECT 1 FROM matches m JOIN papers p ON p.key=m.paper_key WHERE m.sha256=d.sha256 AND ` + FoundSQL + `
					AND ($7='' OR ` + goalSQL(7) + `) AND ($8::int[] IS NULL OR p.year = ANY($8))))
				AND ($9::timestamptz IS NULL OR d.discovered_at >= $9) AND ($10::timestamptz IS NULL OR d.discovered_at < $10)
				AND ($11='' OR position(lower($11) IN lower(d.first_pages)) > 0) AND (NOT $12 OR d.same_as='')
				AND $13::text IS NOT NULL AND d.id > $14
			ORDER BY ` + order + ` LIMIT NULLIF($15, 0))
		SELECT ` + documentColumns + `, coalesce(l.url, ''), coalesce(m.paper_key, ''), coalesce(m.title, '')
		FROM chosen d
		LEFT JOIN LATERAL (SELECT l.url FROM locations l WHERE l.sha256=d.sha256 ORDER BY l.current DESC, l.url LIMIT 1) l ON true
		LEFT JOIN LATERAL (SELECT m.paper_key, p.title FROM matches m JOIN papers p ON p.key=m.paper_key WHERE m.sha256=d.sha256 AND ` + FoundSQL + `
			AND ($7='' OR ` + goalSQL(7) + `) ORDER BY m.score DESC, m.paper_key LIMIT 1) m ON true
		ORDER BY ` + order
}

func (q DocumentQuery) args() []any {
	limit := q.Limit
	if q.Sample > 0 && (limit == 0 || q.Sample < limit) {
		limit = q.Sample
	}
	return []any{orEmpty(q.States), orEmpty(q.Classes), orEmpty(q.Kinds), orEmpty(q.Outcomes), q.Ingestion, q.Host, q.Venue, q.Years.All(),
		orNull(q.From), orNull(q.To), q.Text, q.Primary, q.Seed, q.After, limit}
}

// FindDocuments lists documents that meet conditions, in the order in which they
// came, or in that of the sample.
func (db *DB) FindDocuments(ctx context.Context, q DocumentQuery) ([]Listed, error) {
	rows, err := db.Pool.Query(ctx, q.sql(), q.args()...)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (Listed, error) {
		var l Listed
		err := row.Scan(append(l.columns(), &l.URL, &l.Paper, &l.Title)...)
		return l, err
	})
}

func orNull(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}

// DocumentsLike lists the documents whose SHA-256 begins so, at most two.
func (db *DB) DocumentsLike(ctx context.Context, prefix string) ([]string, error) {
	return list1[string](ctx, db, `SELECT sha256 FROM documents WHERE left(sha256, length($1)) = $1 ORDER BY sha256 LIMIT 2`, prefix)
}
