package store

import (
	"bytes"
	"context"
	"crypto/sha256"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"

	"gleaner/internal/each"
	"gleaner/internal/gleaner/evidence"
	"gleaner/internal/text"
	"gleaner/internal/web/weburl"
)

// PageIndex is the full-text index over pages that were fetched already; it
// answers the local search for homepages.
type PageIndex struct {
	db    base
	limit int64
}

// pagesPerTrim is how many pages are indexed between two looks at the limit.
const pagesPerTrim = 1000

// PageIndex returns the index, which keeps about the limit pages seen last; 0 is
// no limit.
func (db PageRecords) PageIndex(limit int) *PageIndex { return &PageIndex{db.base, int64(limit)} }

// Bounds of what is indexed of one page. A list of a large department's people
// is within them; a term's fifth occurrence hardly changes a rank.
const (
	indexedWords = 3000
	indexedTimes = 4
	indexedBytes = 8 << 10 // of a title or an address
	indexedText  = 64 << 10
)

// PutPages adds pages, or replaces those of the same URLs, in one round trip.
func (x *PageIndex) PutPages(ctx context.Context, pages []evidence.Page) error {
	if len(pages) == 0 {
		return nil
	}
	b := &pgx.Batch{}
	trim := false
	for _, p := range pages {
		hash := sha256.Sum256([]byte(weburl.Key(p.URL)))
		b.Queue(`INSERT INTO page_index (hash, url, title, snippet, words) VALUES ($1,$2,$3,$4,$5::text::tsvector)
			ON CONFLICT (hash) DO UPDATE SET id=DEFAULT, url=EXCLUDED.url, title=EXCLUDED.title, snippet=EXCLUDED.snippet, words=EXCLUDED.words, seen_at=now() RETURNING id`,
			hash[:16], p.URL, clean(p.Title, indexedBytes), clean(p.Snippet(), indexedBytes), wordsOf(p)).
			QueryRow(func(row pgx.Row) error {
				var id int64
				err := row.Scan(&id)
				trim = trim || id%pagesPerTrim == 0
				return err
			})
	}
	if err := x.db.Pool.SendBatch(ctx, b).Close(); err != nil || !trim || x.limit == 0 {
		return err
	}
	return x.db.Exec(ctx, `DELETE FROM page_index WHERE id <= (SELECT id FROM page_index ORDER BY id DESC OFFSET $1 LIMIT 1)`, x.limit)
}

// clean makes text storable: valid, without NUL, bounded.
func clean(s string, limit int) string {
	s = strings.ReplaceAll(strings.ToValidUTF8(s, ""), "\x00", "")
	if len(s) > limit {
		s = strings.ToValidUTF8(s[:limit], "")
	}
	return s
}

// wordsOf writes a page as a tsvector literal. Terms are letters and digits, so
// that they need no escaping; quoted all the same.
func wordsOf(p evidence.Page) string {
	type term struct {
		word   string
		times  int
		places []byte
	}
	var terms []term
	at := map[string]int{} // a word's place in terms
	position := 0
	enter := func(field, weight string) {
		words := text.Words(field)
		for _, w := range words[:min(len(words), indexedWords)] {
			position++
			i, known := at[w]
			if !known {
				i, at[w] = len(terms), len(terms)
				terms = append(terms, term{word: w})
			}
			if t := &terms[i]; t.times < indexedTimes && utf8.RuneCountInString(w) <= 60 {
				t.times++
				t.places = append(append(strconv.AppendInt(t.places, int64(position), 10), weight...), ',')
			}
		}
	}
	enter(clean(p.Title, indexedBytes), "A")
	enter(clean(p.URL, indexedBytes), "B")
	enter(clean(p.Text, indexedText), "")
	var b strings.Builder
	for _, t := range terms {
		if t.times > 0 {
			b.WriteString("'" + strings.ReplaceAll(t.word, "'", "''") + "':")
			b.Write(bytes.TrimSuffix(t.places, []byte{','}))
			b.WriteByte(' ')
		}
	}
	return b.String()
}

// Terms on more pages than commonPages say little of a person; their pages are
// only taken where they hold a rarer term of the query, too. mostPages bounds
// the pages that are compared.
const (
	commonPages = 3000
	mostPages   = 2000
)

// SearchPages answers the local search for homepages.
func (x *PageIndex) SearchPages(ctx context.Context, terms []string, n int) ([]evidence.Result, error) {
	rare, err := x.rare(ctx, terms)
	if err != nil || len(rare) == 0 {
		return nil, err
	}
	each := each.Of(terms, func(t string) string { return anyOf([]string{t}) })
	// The weights are those of D (text), C (none), B (address) and A (title); 1 divides
	// by the logarithm of the length.
	return Collect(ctx, x.db, func(row pgx.CollectableRow) (r evidence.Result, err error) {
		err = row.Scan(&r.URL, &r.Title, &r.Snippet)
		return r, err
	}, `SELECT url, title, snippet
		FROM (SELECT * FROM page_index WHERE words @@ $1::text::tsquery ORDER BY id DESC LIMIT $2) p
		WHERE 2 * (SELECT count(*) FROM unnest($3::text[]) t WHERE words @@ t::tsquery) >= cardinality($3)
		ORDER BY ts_rank('{0.2, 0.2, 0.4, 1}', words, $4::text::tsquery, 1) DESC, url LIMIT $5`,
		anyOf(rare), mostPages, each, anyOf(terms), n)
}

// rare are those of the terms that some pages hold, but no more than commonPages.
func (x *PageIndex) rare(ctx context.Context, terms []string) ([]string, error) {
	var rare []string
	for _, t := range terms {
		var n int
		err := x.db.Pool.QueryRow(ctx, `SELECT count(*) FROM (SELECT 1 FROM page_index WHERE words @@ $1::text::tsquery LIMIT $2) t`, anyOf([]string{t}), commonPages+1).Scan(&n)
		if err != nil {
			return nil, err
		}
		if n > 0 && n <= commonPages {
			rare = append(rare, t)
		}
	}
	return rare, nil
}

func anyOf(terms []string) string {
	quoted := each.Of(terms, func(t string) string { return "'" + strings.ReplaceAll(t, "'", "''") + "'" })
	return strings.Join(quoted, " | ")
}

// FreshPages lists pages of the cache that were not indexed yet, the oldest
// first, and marks them as indexed.
func (db PageRecords) FreshPages(ctx context.Context, limit int) ([]CachedPage, error) {
	return List[CachedPage](ctx, db, `UPDATE page_cache SET indexed=true WHERE hash IN
			(SELECT hash FROM page_cache WHERE NOT indexed ORDER BY fetched_at LIMIT $1 FOR UPDATE SKIP LOCKED)
		RETURNING hash, host, url, final_url, outcome, status, header, body, fetched_at, '0'::interval, false, false`, limit)
}
