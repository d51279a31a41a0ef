package store

import (
	"context"
	"regexp"
	"strconv"
	"strings"
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
	Until     int64         `json:"until,omitempty"`     // number of the last document; 0 is that of all

	// As placed finds them.
	site   int64    // of Host; 0 where it is none's
	papers []string // of Venue, where these are few; nil where they are many
}

// Listed is a document in a list.
type Listed struct {
	Document
	URL    string `json:"url"`
	Anchor string `json:"anchor,omitempty"` // words of the link to that URL
	Paper  string `json:"paper,omitempty"`  // that it is
	Title  string `json:"title,omitempty"`  // of that paper
}

// where are the conditions that are asked for, and no others, so that each leads to the
// index that serves it; arg gives an argument its number.
func (q DocumentQuery) where(arg func(any) string) (all []string) {
	add := func(asked bool, before string, v any, after string) {
		if asked {
			all = append(all, before+arg(v)+after)
		}
	}
	one := func(column string, of []string) {
		if len(of) == 1 {
			add(true, "d."+column+" = ", of[0], "") // an index of the column and the number has these in order
			return
		}
		add(len(of) > 1, "d."+column+" = ANY(", of, ")")
	}
	add(true, "d.id > ", q.After, "")
	add(q.Until > 0, "d.id <= ", q.Until, "")
	one("state", q.States)
	one("class", q.Classes)
	one("kind", q.Kinds)
	one("outcome", q.Outcomes)
	add(q.Ingestion != "", "d.ingestion = ", q.Ingestion, "")
	add(q.Host != "", "EXISTS (SELECT 1 FROM locations l WHERE l.sha256=d.sha256 AND l.site_id=", q.site, ")")
	if years := q.Years.All(); q.Venue != "" || years != nil {
		found := "EXISTS (SELECT 1 FROM matches m JOIN papers p ON p.key=m.paper_key WHERE m.sha256=d.sha256 AND " + FoundSQL
		if q.Venue != "" {
			found += " AND " + q.goal(arg)
		}
		if years != nil {
			found += " AND p.year = ANY(" + arg(years) + ")"
		}
		all = append(all, found+")")
	}
	add(!q.From.IsZero(), "d.discovered_at >= ", q.From, "")
	add(!q.To.IsZero(), "d.discovered_at < ", q.To, "")
	if q.Primary {
		all = append(all, "d.same_as = ''")
	}
	return all
}

// sql finds the documents, with its arguments.
func (q DocumentQuery) sql() (sql string, args []any) {
	arg := numbered(&args)
	where, order, of := q.where(arg), "d.id", ""
	if words := strings.Fields(regexp.QuoteMeta(q.Text)); len(words) > 0 { // a phrase may go on in the next line
		where = append(where, "d.first_pages ~* "+arg(strings.Join(words, `\s+`)))
	}
	limit := q.Limit
	if q.Sample > 0 {
		order = "md5(" + arg(q.Seed) + " || d.sha256), d.id"
		if limit == 0 || q.Sample < limit {
			limit = q.Sample
		}
	}
	if q.Venue != "" {
		of = " AND " + q.goal(arg)
	}
	return `
		WITH chosen AS (SELECT ` + documentColumns + ` FROM documents d
			WHERE ` + strings.Join(where, " AND ") + ` ORDER BY ` + order + ` LIMIT NULLIF(` + arg(limit) + `::bigint, 0))
		SELECT ` + documentColumns + `, coalesce(l.url, ''), coalesce(l.anchor, ''), coalesce(m.paper_key, ''), coalesce(m.title, '')
		FROM chosen d
		LEFT JOIN LATERAL (SELECT l.url, l.anchor FROM locations l WHERE l.sha256=d.sha256 ORDER BY l.current DESC, l.url LIMIT 1) l ON true
		LEFT JOIN LATERAL (SELECT m.paper_key, p.title FROM matches m JOIN papers p ON p.key=m.paper_key WHERE m.sha256=d.sha256 AND ` + FoundSQL + of + `
			ORDER BY m.score DESC, m.paper_key LIMIT 1) m ON true
		ORDER BY ` + order, args
}

// goal is true of matches m with papers p of the venue.
func (q DocumentQuery) goal(arg func(any) string) string {
	if q.papers != nil {
		return "m.paper_key = ANY(" + arg(q.papers) + ")"
	}
	return goalSQL(arg(q.Venue))
}

// fewPapers are those that lead to their documents; where a venue has more, its
// documents are found among all.
const fewPapers = 2000

// placed finds the site of a query, and the papers where they are few. Which way is the
// shortest to the documents depends on how many these are, which the planner knows of
// values alone.
func (db DocumentRecords) placed(ctx context.Context, q *DocumentQuery) (err error) {
	if q.Host != "" {
		q.site, err = Get[int64](ctx, db, `SELECT coalesce((SELECT id FROM sites WHERE host=$1), 0)`, q.Host)
	}
	if q.Venue == "" || err != nil {
		return err
	}
	keys, err := Column[string](ctx, db, `SELECT key FROM papers WHERE venue=$1 UNION ALL
		SELECT hp.paper_key FROM harvests v JOIN harvest_papers hp ON hp.harvest_id=v.id WHERE v.venue=$1 LIMIT $2`, q.Venue, fewPapers+1)
	if q.papers = nil; len(keys) <= fewPapers {
		q.papers = append([]string{}, keys...)
	}
	return err
}

// planned has a statement planned for its arguments, each time.
func planned(args []any) []any { return append([]any{pgx.QueryExecModeCacheDescribe}, args...) }

// numbered gives arguments their numbers in a statement.
func numbered(args *[]any) func(any) string {
	return func(v any) string {
		*args = append(*args, v)
		return "$" + strconv.Itoa(len(*args))
	}
}

// FindDocuments lists documents that meet conditions, in the order in which they
// came, or in that of the sample.
func (db DocumentRecords) FindDocuments(ctx context.Context, q DocumentQuery) ([]Listed, error) {
	if err := db.placed(ctx, &q); err != nil {
		return nil, err
	}
	sql, args := q.sql()
	return List[Listed](ctx, db, sql, planned(args)...)
}

// throughSQL finds the last of so many documents that meet all conditions but that on
// their text.
func (q DocumentQuery) throughSQL(most int) (sql string, args []any) {
	arg := numbered(&args)
	return `SELECT coalesce(max(id), 0), count(*)::int FROM (SELECT d.id FROM documents d WHERE ` + strings.Join(q.where(arg), " AND ") + ` ORDER BY d.id LIMIT ` + arg(most) + `) d`, args
}

// DocumentsThrough is the number of the last document that is looked at where no more
// than most texts are looked through for what a query says, and how many these are.
func (db DocumentRecords) DocumentsThrough(ctx context.Context, q DocumentQuery, most int) (last int64, n int, err error) {
	if err := db.placed(ctx, &q); err != nil {
		return 0, 0, err
	}
	sql, args := q.throughSQL(most)
	err = db.Pool.QueryRow(ctx, sql, planned(args)...).Scan(&last, &n)
	return last, n, err
}

// DocumentsLike lists the documents whose SHA-256 begins so, at most two.
func (db DocumentRecords) DocumentsLike(ctx context.Context, prefix string) ([]string, error) {
	return Column[string](ctx, db, `SELECT sha256 FROM documents WHERE left(sha256, length($1)) = $1 ORDER BY sha256 LIMIT 2`, prefix)
}
