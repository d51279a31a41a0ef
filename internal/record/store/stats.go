package store

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"gleaner/internal/each"
)

// Rates are the counts from which package stats computes shares.
type Rates struct {
	Pages     int `json:"pages"`    // fetched
	Relevant  int `json:"relevant"` // of these, leading to an accepted document
	Documents int `json:"documents"`
	Accepted  int `json:"accepted"`
	Judged    int `json:"judged,omitempty"` // pages of which a classifier said what they are about
	About     int `json:"about,omitempty"`  // of these, about a subject that is collected
}

const rateColumns = `t.pages, t.relevant, t.documents, t.accepted, t.judged, t.about`

// SiteRates are those of a site.
type SiteRates struct {
	Host string `json:"host"`
	Rates
	References int    `json:"references"`    // in the reference lists of its documents
	Foreign    int    `json:"foreign_links"` // from pages of other sites to its documents
	Verdict    string `json:"verdict,omitempty"`
	Pace       `json:"pace"`
}

// DirectoryRates are those of a directory of a site, with all below it.
type DirectoryRates struct {
	Host string `json:"host"`
	Path string `json:"path"` // begins and ends with a slash
	Name string `json:"-"`
	Rates
	Avoid bool `json:"avoid,omitempty"`
}

// SiteRecord is what was fetched of a site.
type SiteRecord struct {
	ID        int
	Host      string
	Scopes    []string
	Pages     map[string]string // URL → the page that links to it
	About     map[string]bool   // of the pages that were judged, whether they are about a subject that is collected
	Documents []SiteDocument
	Fruitful  []string  // pages here that link to an accepted document, here or elsewhere
	Imported  bool      // and never crawled: its pages are those that link to files
	Foreign   int       // links from pages of other sites to its documents
	At        time.Time // by the database's clock, when the reading began
}

// SiteDocument is a file, at however many URLs.
type SiteDocument struct {
	URLs       []string
	Accepted   bool
	References int
}

// SiteRecord reads what was fetched of a site.
func (db StatisticRecords) SiteRecord(ctx context.Context, host string) (SiteRecord, error) {
	s, err := SiteRecords(db).Site(ctx, host)
	if err != nil {
		return SiteRecord{}, fmt.Errorf("store: site %s: %w", host, err)
	}
	rec := SiteRecord{ID: s.ID, Host: host, Imported: s.Crawl == 0, Pages: map[string]string{}, About: map[string]bool{}}
	if rec.At, err = Get[time.Time](ctx, db, `SELECT now()`); err != nil {
		return rec, err
	}
	if rec.Scopes, err = SiteRecords(db).Scopes(ctx, s.ID); err != nil {
		return rec, err
	}
	type page struct {
		URL, Parent string
		About       *bool
	}
	err = forEach(ctx, db, func(p page) {
		if rec.Pages[p.URL] = p.Parent; p.About != nil {
			rec.About[p.URL] = *p.About
		}
	}, `SELECT url, parent, about FROM urls WHERE site_id=$1 AND (state=1 OR was=1)
		UNION ALL SELECT url, '', NULL FROM parents WHERE $3 AND host=$2 AND first_crawl IS NOT NULL`, s.ID, host, rec.Imported)
	if err != nil {
		return rec, err
	}
	rec.Documents, err = List[SiteDocument](ctx, db, `SELECT array_agg(l.url), d.state='accepted', d.refs
		FROM locations l JOIN documents d ON d.sha256=l.sha256
		WHERE l.site_id=$1 GROUP BY d.sha256`, s.ID)
	if err != nil {
		return rec, err
	}
	if rec.Fruitful, err = Column[string](ctx, db, parentsSQL("$1", "$2"), s.ID, host); err != nil {
		return rec, err
	}
	rec.Foreign, err = Get[int](ctx, db, `SELECT count(DISTINCT (k.site_id, k.page, k.target))
		FROM locations l JOIN links k ON k.target=l.asked WHERE l.site_id=$1 AND k.site_id <> $1`, s.ID)
	return rec, err
}

// SaveRates replaces the rates of a site by those of a record read at a moment.
func (db StatisticRecords) SaveRates(ctx context.Context, siteID int, at time.Time, s SiteRates, dirs []DirectoryRates) error {
	return db.Tx(ctx, func(tx pgx.Tx) error {
		b := &pgx.Batch{}
		b.Queue(`SELECT 1 FROM sites WHERE id=$1 FOR NO KEY UPDATE`, siteID) // one at a time
		b.Queue(`INSERT INTO site_stats (site_id, pages, relevant, documents, accepted, refs, verdict, measured_at, foreign_links, judged, about)
			VALUES ($1,$2,$3,$4,$5,$6,$7,$8,$9,$10,$11)
			ON CONFLICT (site_id) DO UPDATE SET pages=EXCLUDED.pages, relevant=EXCLUDED.relevant, documents=EXCLUDED.documents,
				accepted=EXCLUDED.accepted, refs=EXCLUDED.refs, verdict=EXCLUDED.verdict, measured_at=EXCLUDED.measured_at,
				foreign_links=EXCLUDED.foreign_links, judged=EXCLUDED.judged, about=EXCLUDED.about`,
			siteID, s.Pages, s.Relevant, s.Documents, s.Accepted, s.References, s.Verdict, at, s.Foreign, s.Judged, s.About)
		b.Queue(`DELETE FROM directory_stats WHERE site_id=$1`, siteID)
		if err := tx.SendBatch(ctx, b).Close(); err != nil {
			return err
		}
		_, err := tx.CopyFrom(ctx, pgx.Identifier{"directory_stats"}, []string{"site_id", "path", "name", "pages", "relevant", "documents", "accepted", "judged", "about", "avoid"},
			pgx.CopyFromSlice(len(dirs), func(i int) ([]any, error) {
				d := dirs[i]
				return []any{siteID, d.Path, d.Name, d.Pages, d.Relevant, d.Documents, d.Accepted, d.Judged, d.About, d.Avoid}, nil
			}))
		return err
	})
}

// MeasuredHosts lists hosts that were crawled or have documents of an import, by host,
// after the host given.
func (db StatisticRecords) MeasuredHosts(ctx context.Context, after string, limit int) ([]string, error) {
	return Column[string](ctx, db, `SELECT host FROM sites s WHERE (crawl > 0 OR EXISTS (SELECT 1 FROM locations l WHERE l.site_id=s.id))
		AND host > $1 COLLATE "C" ORDER BY host COLLATE "C" LIMIT $2`, after, limit)
}

// StaleHosts lists hosts, crawled or with documents, whose rates are older than what they
// are of: a visit of a crawl under way, or a verdict on a document there or linked there.
func (db StatisticRecords) StaleHosts(ctx context.Context) ([]string, error) {
	return Column[string](ctx, db, `
		WITH judged AS (SELECT host, max(at) AS at FROM (
				SELECT s.host, d.updated_at AS at FROM documents d JOIN locations l ON l.sha256=d.sha256 JOIN sites s ON s.id=l.site_id
				UNION ALL SELECT split_part(l.parent, '/', 3), d.updated_at FROM documents d JOIN locations l ON l.sha256=d.sha256
				UNION ALL SELECT s.host, d.updated_at FROM documents d JOIN locations l ON l.sha256=d.sha256 JOIN links k ON k.target=l.asked JOIN sites s ON s.id=k.site_id) j GROUP BY host)
		SELECT s.host FROM sites s LEFT JOIN site_stats t ON t.site_id=s.id LEFT JOIN judged j ON j.host=s.host
		WHERE t.measured_at='-infinity' OR (s.crawl > 0 OR j.host IS NOT NULL) AND (t.site_id IS NULL OR j.at >= t.measured_at
			OR s.state='crawling' AND EXISTS (SELECT 1 FROM urls u WHERE u.site_id=s.id AND u.fetched_at >= t.measured_at))
		ORDER BY s.host COLLATE "C"`)
}

// SiteRatesList lists the rates of sites, those with the most accepted documents
// first; verdict is one of package stats, "" for all; limit 0 is all.
func (db StatisticRecords) SiteRatesList(ctx context.Context, verdict string, limit int) ([]SiteRates, error) {
	return List[SiteRates](ctx, db, `SELECT s.host, `+rateColumns+`, t.refs, t.foreign_links, t.verdict, `+paceColumns+` FROM site_stats t JOIN sites s ON s.id=t.site_id
		WHERE $1='' OR t.verdict=$1 ORDER BY t.accepted DESC, t.pages, s.host LIMIT nullif($2, 0)`, verdict, limit)
}

// DirectoryRatesList lists the directories of a host, or of all where host is
// "", by host and path; avoided lists only those to be avoided.
func (db StatisticRecords) DirectoryRatesList(ctx context.Context, host string, avoided bool) ([]DirectoryRates, error) {
	return List[DirectoryRates](ctx, db, `SELECT s.host, t.path, t.name, `+rateColumns+`, t.avoid
		FROM directory_stats t JOIN sites s ON s.id=t.site_id WHERE ($1='' OR s.host=$1) AND (t.avoid OR NOT $2) ORDER BY s.host, t.path`, host, avoided)
}

// StopDirectory is a directory's name and what was found under it.
type StopDirectory struct {
	Name     string   `json:"name"`
	Sites    int      `json:"sites"`    // that have it
	Barren   int      `json:"barren"`   // of these, with no accepted document or no relevant page under it
	Fruitful int      `json:"fruitful"` // the others
	Pages    int      `json:"pages"`
	Examples []string `json:"examples"` // barren sites, at most three
}

// StopDirectories lists names under which no accepted document, or no relevant
// page, was found on more than minSites sites, unless more than maxShare of the
// sites that have the name gave something (Chen, CINDI Robot, 2008).
func (db StatisticRecords) StopDirectories(ctx context.Context, minSites int, maxShare float64) ([]StopDirectory, error) {
	return List[StopDirectory](ctx, db, `
		WITH named AS (SELECT d.name, s.host, sum(d.pages) AS pages,
				sum(d.accepted) = 0 AND sum(d.relevant) = 0 AS barren
			FROM directory_stats d JOIN sites s ON s.id=d.site_id WHERE d.path <> '/' AND d.pages + d.documents > 0 GROUP BY d.name, s.host)
		SELECT name, count(*), count(*) FILTER (WHERE barren), count(*) FILTER (WHERE NOT barren), sum(pages)::int,
			(array_agg(host ORDER BY host) FILTER (WHERE barren))[1:3]
		FROM named GROUP BY name HAVING count(*) FILTER (WHERE barren) > $1 AND count(*) FILTER (WHERE NOT barren) <= $2::float8 * count(*)
		ORDER BY 3 DESC, 1`, minSites, maxShare)
}

// StopNames are the names of stop directories.
func (db StatisticRecords) StopNames(ctx context.Context, minSites int, maxShare float64) ([]string, error) {
	dirs, err := db.StopDirectories(ctx, minSites, maxShare)
	return each.Of(dirs, func(d StopDirectory) string { return d.Name }), err
}

// Counters are those of CDI (Wu et al., WIDM 2012, Table 1), of every file that a
// harvest's sites gave, in each version. They are computed from the record, so a
// file that was taken twice counts once. All is the sum of the others but
// Filtered, which is the sum of its two parts, and SameText.
type Counters struct {
	All                int `json:"all"`
	SavedNew           int `json:"saved_New"`              // accepted, the first from its URL
	SavedDuplicate     int `json:"saved_Duplicate"`        // accepted, from a URL from which one was saved before: another version
	Filtered           int `json:"filtered"`               //
	FilteredMTF        int `json:"filtered_MTF"`           // by kind: no document, a source, a web page in its place
	FilteredDCF        int `json:"filtered_DCF"`           // by content: not academic
	FailedTextExtract  int `json:"failed_TextExtract"`     // encrypted, broken, cut off, pictures, no reader for it
	FailedFileNotFound int `json:"failed_FileNotFound"`    // the repository has lost the file, or examining it failed for good
	FailedPDFNotFound  int `json:"failed_PDFFilenotFound"` // an archive without a document
	Unexamined         int `json:"unexamined"`             // waits
	SameText           int `json:"same_text"`              // of the saved ones, those with the same bytes or text as another; not CDI's
}

// ByKind are the outcomes by which a file is rejected for its kind, and not for
// what it says.
func ByKind() []string {
	return []string{"not-a-document", "source", "unwelcome", "wall", "error-page"}
}

// HarvestCounters computes Counters of a harvest; "" is the whole collection.
func (db StatisticRecords) HarvestCounters(ctx context.Context, harvest string) (Counters, error) {
	return One(ctx, db, pgx.RowToStructByPos[Counters], nil, `
		WITH item AS (SELECT l.hash, d.kind, d.state, d.outcome, d.class, CASE WHEN d.same_as='' THEN d.sha256 ELSE d.same_as END AS text
			FROM locations l JOIN documents d ON d.sha256=l.sha256
			WHERE $1='' OR l.site_id IN (SELECT site_id FROM harvest_sites WHERE harvest_id=$1)),
		other AS (SELECT count(*) AS n FROM urls u WHERE u.state=4 AND u.outcome='wrong-mimetype'
			AND ($1='' OR u.site_id IN (SELECT site_id FROM harvest_sites WHERE harvest_id=$1))),
		n AS (SELECT count(*) AS every,
			count(DISTINCT hash) FILTER (WHERE state='accepted') AS fresh, count(*) FILTER (WHERE state='accepted') AS accepted,
			count(DISTINCT text) FILTER (WHERE state='accepted') AS texts,
			count(*) FILTER (WHERE by_kind AND NOT packed) AS mtf, count(*) FILTER (WHERE by_kind AND packed) AS hollow,
			count(*) FILTER (WHERE state='rejected' AND class<>'') AS dcf,
			count(*) FILTER (WHERE state='rejected' AND class='' AND NOT by_kind) AS unread,
			count(*) FILTER (WHERE state='failed') AS failed, count(*) FILTER (WHERE state='new') AS waiting
			FROM (SELECT *, state='rejected' AND class='' AND outcome = ANY ($2) AS by_kind,
				kind IN ('zip', 'tar', 'gzip', 'compress', 'bzip2', 'packed') AS packed FROM item) i)
		SELECT every + o.n, fresh, accepted - fresh, mtf + o.n + dcf, mtf + o.n, dcf, unread, failed, hollow, waiting, accepted - texts FROM n, other o`, harvest, ByKind())
}

// Month is what came to the collection in one month.
type Month struct {
	Month     string `json:"month"` // as 2026-01
	Documents int    `json:"documents"`
	Accepted  int    `json:"accepted"`
}

// Months lists what came in the last 24 months, the oldest first, from the first month
// with a document on.
func (db StatisticRecords) Months(ctx context.Context) ([]Month, error) {
	return List[Month](ctx, db, `
		WITH came AS (SELECT date_trunc('month', discovered_at AT TIME ZONE 'UTC') AS month, count(*) AS n, count(*) FILTER (WHERE state='accepted') AS accepted
			FROM documents WHERE discovered_at >= (date_trunc('month', now() AT TIME ZONE 'UTC') - interval '23 months') AT TIME ZONE 'UTC' GROUP BY 1)
		SELECT to_char(m, 'YYYY-MM'), coalesce(n, 0)::int, coalesce(accepted, 0)::int
		FROM generate_series((SELECT min(month) FROM came), date_trunc('month', now() AT TIME ZONE 'UTC'), interval '1 month') m
		LEFT JOIN came ON came.month=m ORDER BY m`)
}

// PaceTally counts sites by how long they are left alone between two requests.
type PaceTally struct {
	Every   string `json:"every"`
	Sites   int    `json:"sites"`
	Resting int    `json:"resting"` // of them, those that are left alone for longer now: they asked for it, or failed
}

// PaceTallies counts the sites that Sites lists and whose pace is known, from the shortest pause to the longest.
func (db StatisticRecords) PaceTallies(ctx context.Context) ([]PaceTally, error) {
	return List[PaceTally](ctx, db, `
		WITH s AS (SELECT extract(epoch FROM pace) AS every, asked_until > now() OR parked_until > now() AS rests FROM sites s WHERE pace_by <> '' AND `+listedSite+`),
		step (n, most, every) AS (VALUES (1, 1.0, 'up to 1 s'), (2, 2.0, 'up to 2 s'), (3, 5.0, 'up to 5 s'), (4, 15.0, 'up to 15 s'), (5, 60.0, 'up to 1 min'), (6, 'Infinity'::numeric, 'more than 1 min'))
		SELECT step.every, count(*)::int, count(*) FILTER (WHERE s.rests)::int
		FROM s CROSS JOIN LATERAL (SELECT * FROM step WHERE s.every <= step.most ORDER BY n LIMIT 1) step GROUP BY step.n, step.every ORDER BY step.n`)
}

// Yield is a crawl policy's yield over a period, in the terms of Wu et al.
// (WebSci 2012, Table 2).
type Yield struct {
	Policy      string  `json:"policy"`
	Crawls      int     `json:"crawls"`
	Days        float64 `json:"days"`         // from the beginning of the first to the end of the last, one at least
	Requests    int     `json:"requests"`     // Q
	Fetched     int     `json:"fetched"`      // F: URLs that came
	New         int     `json:"new"`          // N: documents not known before
	Good        int     `json:"good"`         // G: of these, accepted
	Parents     int     `json:"parents"`      // P: pages by which the new ones were found
	GoodParents int     `json:"good_parents"` // P_G: those of the good ones
}

// PolicyYields computes Table 2 for the crawls that began in a period. A
// document counts for the crawl during which, and on whose site, it was first
// found: the dates of an import from before it was on record do not count.
func (db StatisticRecords) PolicyYields(ctx context.Context, from, to time.Time) ([]Yield, error) {
	return List[Yield](ctx, db, `
		WITH c AS (SELECT * FROM crawls WHERE started_at >= $1 AND started_at < $2),
		first AS (SELECT DISTINCT ON (l.sha256) l.sha256, l.site_id, l.parent, l.found_at, d.state, d.discovered_at FROM locations l JOIN documents d ON d.sha256=l.sha256
			WHERE l.found_at >= d.discovered_at - interval '1 hour' ORDER BY l.sha256, l.found_at, l.url),
		n AS (SELECT c.policy, count(*) AS new, count(*) FILTER (WHERE f.state='accepted') AS good, count(DISTINCT f.parent) FILTER (WHERE f.parent <> '') AS parents,
				count(DISTINCT f.parent) FILTER (WHERE f.state='accepted' AND f.parent <> '') AS good_parents
			FROM c JOIN first f ON f.site_id=c.site_id AND f.found_at >= c.started_at AND f.found_at <= c.finished_at
				AND f.discovered_at >= c.started_at GROUP BY c.policy),
		q AS (SELECT policy, count(*) AS crawls, greatest(1, extract(epoch FROM max(finished_at) - min(started_at)) / 86400)::float8 AS days,
				sum(requests)::int AS requests, sum(fetched)::int AS fetched FROM c GROUP BY policy)
		SELECT q.policy, q.crawls, q.days, q.requests, q.fetched, coalesce(n.new, 0), coalesce(n.good, 0), coalesce(n.parents, 0), coalesce(n.good_parents, 0)
		FROM q LEFT JOIN n ON n.policy=q.policy ORDER BY q.policy`, from, to)
}
