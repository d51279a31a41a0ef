package store

import (
	"context"
	"crypto/sha256"
	"errors"
	"net/http"
	"time"

	"github.com/jackc/pgx/v5"

	"gleaner/internal/gleaner"
)

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
	RetryAfter time.Duration
	// Crawled keeps it from the local index, which would know more the farther a crawl was.
	Crawled bool
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
	var p CachedPage
	err := db.Pool.QueryRow(ctx, `SELECT hash, host, url, final_url, outcome, status, header, body, fetched_at, deaths > 0 OR coalesce(reading < now() - `+readTime+`, false) FROM page_cache
		WHERE hash=$1 AND fetched_at > now() - $2::interval`, hash, maxAge).
		Scan(&p.Hash, &p.Host, &p.URL, &p.FinalURL, &p.Outcome, &p.Status, &p.Header, &p.Body, &p.At, &p.Suspect)
	if errors.Is(err, pgx.ErrNoRows) {
		return p, false, nil
	}
	return p, err == nil, err
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
	err = db.Pool.QueryRow(ctx, `INSERT INTO page_cache AS p (hash, host, url, final_url, outcome, status, header, indexed, reading)
			VALUES ($1,'',$2,'','',0,'{}',true,now())
		ON CONFLICT (hash) DO UPDATE SET deaths = p.deaths + coalesce(p.reading < now() - `+readTime+`, false)::int,
			reading = CASE WHEN $3 THEN now() WHEN p.reading >= now() - `+readTime+` THEN p.reading
				WHEN p.deaths = 0 AND p.reading IS NULL THEN now() END
		RETURNING deaths`, answerHash(what), what, alone).Scan(&deaths)
	return deaths, err
}

// KeepAnswer notes that an answer is still being read.
func (db PageRecords) KeepAnswer(ctx context.Context, what string) error {
	return db.Exec(ctx, `UPDATE page_cache SET reading=now() WHERE hash=$1`, answerHash(what))
}

// EndAnswer notes that an answer was read. Its deaths are kept for as long as pages are: the
// next page of the same list may be what they were over.
func (db PageRecords) EndAnswer(ctx context.Context, what string) error {
	_, err := db.Pool.Exec(ctx, `WITH gone AS (DELETE FROM page_cache WHERE hash=$1 AND deaths=0)
		UPDATE page_cache SET reading=NULL WHERE hash=$1 AND deaths>0`, answerHash(what))
	return err
}

// CachedOn lists the hashes of the answers kept for a host.
func (db PageRecords) CachedOn(ctx context.Context, host string, maxAge time.Duration) ([][]byte, error) {
	return Column[[]byte](ctx, db, `SELECT hash FROM page_cache WHERE host=$1 AND outcome='success' AND fetched_at > now() - $2::interval`, host, maxAge)
}
