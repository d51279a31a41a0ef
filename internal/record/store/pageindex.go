package store

import (
	"bytes"
	"context"
	"crypto/sha256"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"gleaner/internal/each"
	"gleaner/internal/gleaner"
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
			hash[:16], p.URL, text.Head(p.Title, indexedBytes), text.Head(p.Snippet(), indexedBytes), wordsOf(p)).
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

// wordsOf writes a page as a tsvector literal: of its text the names, since people and venues
// are searched for. Words are letters and digits, which need no escaping.
func wordsOf(p evidence.Page) string {
	places := map[string][]byte{} // of a word, each with its weight and a comma
	position := 0
	enter := func(words []string, weight string) {
		for _, w := range words[:min(len(words), indexedWords)] {
			position++
			if at := places[w]; bytes.Count(at, []byte{','}) < indexedTimes && len(w) <= 240 {
				places[w] = append(append(strconv.AppendInt(at, int64(position), 10), weight...), ',')
			}
		}
	}
	enter(text.Words(text.Head(p.Title, indexedBytes)), "A")
	enter(text.Words(text.Head(p.URL, indexedBytes)), "B")
	enter(text.Names(text.Head(p.Text, indexedText)), "")
	var b strings.Builder
	for w, at := range places {
		b.WriteString("'" + w + "':")
		b.Write(at[:len(at)-1])
		b.WriteByte(' ')
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
	return Collect(ctx, x.db, pgx.RowToStructByNameLax[evidence.Result], `SELECT url, title, snippet
		FROM (SELECT * FROM page_index WHERE words @@ $1::text::tsquery ORDER BY id DESC LIMIT $2) p
		WHERE 2 * (SELECT count(*) FROM unnest($3::text[]) t WHERE words @@ t::tsquery) >= cardinality($3)
		ORDER BY ts_rank('{0.2, 0.2, 0.4, 1}', words, $4::text::tsquery, 1) DESC, url LIMIT $5`,
		anyOf(rare), mostPages, each, anyOf(terms), n)
}

// rare are those of the terms that some pages hold, but no more than commonPages.
func (x *PageIndex) rare(ctx context.Context, terms []string) ([]string, error) {
	var rare []string
	for _, t := range terms {
		n, err := Get[int](ctx, x.db, `SELECT count(*) FROM (SELECT 1 FROM page_index WHERE words @@ $1::text::tsquery LIMIT $2) t`, anyOf([]string{t}), commonPages+1)
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
		RETURNING hash, host, url, final_url, outcome, status, header, body, fetched_at, false`, limit)
}

// CachedPage is an answer fetched outside a crawl, or by one while homepages are looked
// for.
type CachedPage struct {
	Hash     []byte
	Host     string
	URL      string
	FinalURL string
	Outcome  string
	Status   int
	Header   http.Header
	Body     []byte
	At       time.Time
	// RetryAfter is a failure's; it is not kept.
	RetryAfter time.Duration `db:"-"`
	// Crawled keeps it from the local index, which would know more the farther a crawl was.
	Crawled bool `db:"-"`
	// Suspect says that a process died over the page, or may have.
	Suspect bool
}

// SavePage keeps an answer for others who need the same page.
func (db PageRecords) SavePage(ctx context.Context, p CachedPage) error {
	if p.Header == nil {
		p.Header = http.Header{}
	}
	return db.Exec(ctx, `INSERT INTO page_cache (hash, host, url, final_url, outcome, status, header, body, fetched_at, indexed) VALUES ($1,$2,$3,$4,$5,$6,$7,$8,$9,$10)
		ON CONFLICT (hash) DO UPDATE SET final_url=EXCLUDED.final_url, outcome=EXCLUDED.outcome, status=EXCLUDED.status,
			header=EXCLUDED.header, body=EXCLUDED.body, fetched_at=EXCLUDED.fetched_at,
			indexed=EXCLUDED.indexed OR page_cache.indexed AND page_cache.outcome<>''`,
		p.Hash, p.Host, p.URL, p.FinalURL, p.Outcome, p.Status, p.Header, p.Body, p.At, p.Crawled)
}

// Searched reports whether a harvest that wants a site still looks for homepages.
func (db CrawlRecords) Searched(ctx context.Context, siteID int) (bool, error) {
	return Get[bool](ctx, db, `SELECT EXISTS (SELECT 1 FROM harvests h JOIN harvest_sites hs ON hs.harvest_id=h.id
		WHERE hs.site_id=$1 AND h.completed_at IS NULL AND h.stage=$2)`, siteID, gleaner.StageHomepages)
}

// CachedPage returns an answer not older than maxAge, false if there is none. What
// became of the answer, and whether it still counts, is the caller's to judge.
func (db PageRecords) CachedPage(ctx context.Context, hash []byte, maxAge time.Duration) (CachedPage, bool, error) {
	p, err := One(ctx, db, pgx.RowToAddrOfStructByPos[CachedPage], nil, `SELECT hash, host, url, final_url, outcome, status, header, body, fetched_at,
			deaths > 0 OR coalesce(reading < now() - `+readTime+`, false)
		FROM page_cache WHERE hash=$1 AND fetched_at > now() - $2::interval`, hash, maxAge)
	if p == nil {
		return CachedPage{}, false, err
	}
	return *p, true, err
}

// BeginAsk notes, in the turn of its host, that a page is asked for, and returns since when,
// nil where it is not. Who asked before and came to no end died over the answer: a page
// with deaths is noted only if alone is set.
func (db PageRecords) BeginAsk(ctx context.Context, p CachedPage, alone bool) (deaths int, since *time.Time, err error) {
	err = db.Pool.QueryRow(ctx, `INSERT INTO page_cache AS p
			(hash, host, url, final_url, outcome, status, header, indexed, fetched_at, asking)
			VALUES ($1,$2,$3,$3,'',0,'{}',true,'-infinity',now())
		ON CONFLICT (hash) DO UPDATE SET deaths = p.deaths + (p.asking IS NOT NULL)::int,
			asking = CASE WHEN $4 OR p.deaths = 0 AND p.asking IS NULL THEN now() END
		RETURNING deaths, asking`, p.Hash, p.Host, p.URL, alone).Scan(&deaths, &since)
	return deaths, since, err
}

// EndAsk notes that nobody died over the answer to what was asked at a time.
func (db PageRecords) EndAsk(ctx context.Context, hash []byte, since time.Time) error {
	return db.Exec(ctx, `UPDATE page_cache SET asking = NULL, deaths = 0 WHERE hash=$1 AND asking=$2`, hash, since)
}

// readTime is longer than a page takes to be read. Whoever began to read one longer ago,
// and did not come to an end, died over it.
const readTime = `interval '5 seconds'`

// BeginPage notes that a page is being read, and returns how many processes died over it:
// one in readTime at most.
func (db PageRecords) BeginPage(ctx context.Context, hash []byte) (deaths int, err error) {
	return One(ctx, db, pgx.RowTo[int], nil, `UPDATE page_cache SET deaths = deaths + coalesce(reading < now() - `+readTime+`, false)::int,
			reading = CASE WHEN reading >= now() - `+readTime+` THEN reading ELSE now() END
		WHERE hash=$1 RETURNING deaths`, hash)
}

// EndPage notes that a page was read. With an outcome it is set aside under that one.
func (db PageRecords) EndPage(ctx context.Context, hash []byte, outcome gleaner.Outcome) error {
	return db.Exec(ctx, `UPDATE page_cache SET reading = NULL, deaths = 0, outcome = coalesce(nullif($2, ''), outcome) WHERE hash=$1`, hash, string(outcome))
}

// answerHash is the key of an outside service's answer, which is no page's.
func answerHash(what string) []byte {
	sum := sha256.Sum256([]byte("answer " + what))
	return sum[:16]
}

// BeginAnswer notes that an outside service's answer is being read, and returns how many
// processes died over it, as BeginPage does. One with deaths is noted only if alone is set.
func (db PageRecords) BeginAnswer(ctx context.Context, what string, alone bool) (deaths int, err error) {
	return Get[int](ctx, db, `INSERT INTO page_cache AS p (hash, host, url, final_url, outcome, status, header, indexed, reading)
			VALUES ($1,'',$2,'','',0,'{}',true,now())
		ON CONFLICT (hash) DO UPDATE SET deaths = p.deaths + coalesce(p.reading < now() - `+readTime+`, false)::int,
			reading = CASE WHEN $3 THEN now() WHEN p.reading >= now() - `+readTime+` THEN p.reading
				WHEN p.deaths = 0 AND p.reading IS NULL THEN now() END
		RETURNING deaths`, answerHash(what), what, alone)
}

// KeepAnswer notes that an answer is still being read.
func (db PageRecords) KeepAnswer(ctx context.Context, what string) error {
	return db.Exec(ctx, `UPDATE page_cache SET reading=now() WHERE hash=$1`, answerHash(what))
}

// EndAnswer notes that an answer was read. Its deaths are kept for as long as pages are: the
// next page of the same list may be what they were over.
func (db PageRecords) EndAnswer(ctx context.Context, what string) error {
	return db.Exec(ctx, `WITH gone AS (DELETE FROM page_cache WHERE hash=$1 AND deaths=0)
		UPDATE page_cache SET reading=NULL WHERE hash=$1 AND deaths>0`, answerHash(what))
}

// CachedOn lists the hashes of the answers kept for a host, and returns the bytes of all, also
// of older ones.
func (db PageRecords) CachedOn(ctx context.Context, host string, maxAge time.Duration) (fresh [][]byte, bytes int, err error) {
	err = db.Pool.QueryRow(ctx, `SELECT array_agg(hash) FILTER (WHERE outcome='success' AND fetched_at > now() - $2::interval),
		coalesce(sum(octet_length(body)), 0) FROM page_cache WHERE host=$1`, host, maxAge).Scan(&fresh, &bytes)
	return fresh, bytes, err
}

// Searches keeps the answers of search engines; it implements homepage.Cache.
type Searches struct{ db base }

// Searches returns the answers kept in the record.
func (db PageRecords) Searches() *Searches { return &Searches{db.base} }

func (s *Searches) LoadSearch(ctx context.Context, provider, query string, n int) (evidence.Answer, bool, error) {
	a, err := One(ctx, s.db, pgx.RowToAddrOfStructByPos[evidence.Answer], nil,
		`SELECT results, asked_at FROM searches WHERE provider=$1 AND md5(query)=md5($2) AND wanted=$3`, provider, query, n)
	if a == nil {
		return evidence.Answer{}, false, err
	}
	return *a, true, err
}

// SaveSearch keeps an answer, of pages of blacklisted hosts only the address.
func (s *Searches) SaveSearch(ctx context.Context, provider, query string, n int, a evidence.Answer) error {
	return s.db.Exec(ctx, `INSERT INTO searches (provider, query, wanted, results, asked_at) VALUES ($1,$2,$3,`+untitled("$4::jsonb")+`,$5)
		ON CONFLICT (provider, md5(query), wanted) DO UPDATE SET results=EXCLUDED.results, asked_at=EXCLUDED.asked_at`, provider, query, n, each.List(a.Results), a.At)
}

func (s *Searches) Spend(ctx context.Context, provider string, start time.Time, limit int) (bool, error) {
	n, err := s.db.changed(ctx, `INSERT INTO search_spending (provider, period, requests) SELECT $1, $2, 1 WHERE $3 > 0
		ON CONFLICT (provider, period) DO UPDATE SET requests = search_spending.requests + 1 WHERE search_spending.requests < $3`, provider, start, limit)
	return n == 1, err
}

func (s *Searches) Spent(ctx context.Context, provider string, start time.Time) (int, error) {
	return Get[int](ctx, s.db, `SELECT coalesce((SELECT requests FROM search_spending WHERE provider=$1 AND period=$2), 0)`, provider, start)
}

// Spending is what was asked of a search provider.
type Spending struct {
	Provider string    `json:"provider"`
	Since    time.Time `json:"since"` // begin of the period
	Requests int       `json:"requests"`
	Kept     int       `json:"kept"` // answers in the record, which cost nothing when they are wanted again
}

// Spending lists what was asked of each provider in its present or last period.
func (s *Searches) Spending(ctx context.Context) ([]Spending, error) {
	return List[Spending](ctx, s.db, `SELECT provider, coalesce(p.period, `+never+`), coalesce(p.requests, 0), coalesce(k.kept, 0)
		FROM (SELECT DISTINCT ON (provider) provider, period, requests FROM search_spending ORDER BY provider, period DESC) p
		FULL JOIN (SELECT provider, count(*) AS kept FROM searches GROUP BY 1) k USING (provider) ORDER BY provider`)
}

// IndexedPages counts the pages of the local index.
func (db PageRecords) IndexedPages(ctx context.Context) (int, error) {
	return Get[int](ctx, db, `SELECT count(*) FROM page_index`)
}
