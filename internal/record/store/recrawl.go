package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"gleaner/internal/gleaner"
	"gleaner/internal/recrawl"
)

// Selection names sites: those of a venue, of a harvest, one host, or all.
type Selection struct {
	Venue   string `json:"venue,omitempty"`
	Harvest string `json:"harvest,omitempty"`
	Host    string `json:"host,omitempty"`
}

// selectSites is true of a site s that a Selection ($1 venue, $2 harvest, $3
// host) names.
const selectSites = `($1='' OR EXISTS (SELECT 1 FROM harvest_sites hs JOIN harvests h ON h.id=hs.harvest_id WHERE hs.site_id=s.id AND h.venue=$1))
	AND ($2='' OR EXISTS (SELECT 1 FROM harvest_sites hs WHERE hs.site_id=s.id AND hs.harvest_id=$2)) AND ($3='' OR s.host=$3)`

// dueSites is true of a site s that a Selection names, that is not blocked,
// and whose rest is over; or, where $4 says all, that has anything to ask again.
const dueSites = selectSites + ` AND CASE WHEN $4 THEN s.due_at IS NOT NULL OR EXISTS (SELECT 1 FROM urls u WHERE u.site_id=s.id AND u.due_at IS NOT NULL)
		ELSE s.due_at <= now() AND s.parked_until <= now() END
	AND NOT ` + blocked

// DueSites lists hosts whose rest is over, those of the best domains first, after a
// place in this order; at most limit. It returns the place of the last as well. all
// lists those that have anything to ask again, due or not.
func (db SiteRecords) DueSites(ctx context.Context, of Selection, all bool, after string, limit int) (hosts []string, last string, err error) {
	at := placeOf(after)
	rows, _ := db.Pool.Query(ctx, `SELECT host, rank FROM (SELECT s.host, `+rankSQL+` AS rank FROM sites s WHERE `+dueSites+`) due
		WHERE (rank, host COLLATE "C") > ($5, $6) ORDER BY rank, host COLLATE "C" LIMIT $7`, of.Venue, of.Harvest, of.Host, all, at.rank, at.host, limit)
	last = after
	_, err = pgx.ForEachRow(rows, []any{&at.host, &at.rank}, func() error {
		hosts, last = append(hosts, at.host), at.String()
		return nil
	})
	return hosts, last, err
}

// PutBack says what of a site is to be asked again.
type PutBack struct {
	All    bool      // whatever was asked, due or not
	Before time.Time // only what was last asked before; zero is no bound
	WARC   bool      // keep what is exchanged in WARC files
	For    string    // the recrawl that wants it; "" for none
}

// guardTime is when a site whose crawl was begun and never ended is due again.
const guardTime = "1 day"

// RequeueDue puts the URLs of a site that are due back among the waiting, but
// for those in its to-be-avoided directories, which are asked every Revisit-th
// time; so are files that were read and are no papers. What was accepted, and the
// pages that link to it, are never passed over.
// It returns how many URLs wait, and 0 where a crawl is under way. Of many, some are put
// back at a time: leases of the site are renewed meanwhile, and a crawl that begins takes the rest.
func (db SiteRecords) RequeueDue(ctx context.Context, host string, what PutBack, p recrawl.Policy) (waiting int, err error) {
	part, put, before := hashes{after: []byte{}}, 0, 0
	step := func(tx pgx.Tx) error {
		waiting, part.to = 0, nil
		var id, recrawls int
		var state gleaner.SiteState
		err := tx.QueryRow(ctx, `SELECT id, recrawls, state FROM sites WHERE host=$1 FOR NO KEY UPDATE`, host).Scan(&id, &recrawls, &state)
		if errors.Is(err, pgx.ErrNoRows) || state == gleaner.SiteCrawling && len(part.after) == 0 {
			return nil
		}
		if err != nil {
			return err
		}
		part.to, err = Get[[]byte](ctx, tx, `SELECT (SELECT hash FROM urls WHERE site_id=$1 AND hash > $2 ORDER BY hash OFFSET $3 LIMIT 1)`, id, part.after, retriedAtOnce-1)
		if err == nil {
			put, err = putBack(ctx, tx, id, host, what, p.Revisits(recrawls+1), part)
		}
		if err != nil {
			return err
		}
		// What one user of the host made too much of is as good as what waits.
		if _, err := tx.Exec(ctx, `UPDATE urls SET state=0, outcome='' WHERE site_id=$1 AND state=5 AND outcome IN ('trap', 'byte-limit', 'pause-limit')
			AND hash > $2 AND hash <= coalesce($3, `+noHash+`)`, id, part.after, part.to); err != nil || part.to != nil {
			return err
		}
		err = tx.QueryRow(ctx, `SELECT count(*) FROM (SELECT 1 FROM urls WHERE site_id=$1 AND (state=0 OR state=3 AND next_try <= now()) LIMIT 100000) w`, id).Scan(&waiting)
		if err != nil {
			return err
		}
		if waiting == 0 { // nothing to do here before the next page is due
			_, err = tx.Exec(ctx, `UPDATE sites SET due_at=(SELECT min(due_at) FROM urls WHERE site_id=$1 AND due_at > now()) WHERE id=$1 AND due_at <= now()`, id)
			return err
		}
		_, err = tx.Exec(ctx, `UPDATE sites SET state=CASE state WHEN 'crawling' THEN state ELSE 'new' END, reason='', trap_seq=0,
			due_at=now() + interval '`+guardTime+`', recrawls=recrawls + CASE WHEN $2 THEN 1 ELSE 0 END,
			recrawled_for=CASE WHEN $3='' THEN recrawled_for ELSE array_append(array_remove(recrawled_for, $3), $3) END, warc=warc OR $4 WHERE id=$1`, id, before+put > 0, what.For, what.WARC)
		return err
	}
	for {
		if err := db.Tx(ctx, step); err != nil {
			return 0, fmt.Errorf("store: requeue %s: %w", host, err)
		}
		if part.to == nil {
			return waiting, nil
		}
		part.after, before = part.to, before+put
	}
}

// hashes are those of some URLs of a site in their order: to is the last, nil that of all.
type hashes struct{ after, to []byte }

// noHash sorts after every hash. A bound that is never null lets Postgres read a part by the index.
const noHash = `decode(repeat('ff', 33), 'hex')`

// putBack puts URLs of a site back, and at a revisit what is passed over else.
// edge holds the directories where a verdict begins or ends; the innermost decides.
func putBack(ctx context.Context, tx pgx.Tx, siteID int, host string, what PutBack, revisit bool, of hashes) (int, error) {
	tag, err := tx.Exec(ctx, `
		WITH edge AS MATERIALIZED (SELECT a.scheme || s.host || d.path AS prefix, d.avoid
				FROM directory_stats d JOIN sites s ON s.id=d.site_id CROSS JOIN (VALUES ('http://'), ('https://')) a (scheme)
				LEFT JOIN directory_stats up ON up.site_id=d.site_id AND up.path=regexp_replace(d.path, '[^/]+/$', '')
				WHERE d.site_id=$1 AND d.path <> '/' AND d.avoid <> coalesce(up.avoid, false) AND NOT $4),
		good AS (SELECT l.hash FROM locations l JOIN documents d ON d.sha256=l.sha256 WHERE l.site_id=$1 AND d.state='accepted'),
		parent AS (`+parentsSQL("$1", "$5")+`),
		idle AS (SELECT l.hash FROM locations l JOIN documents d ON d.sha256=l.sha256 WHERE l.site_id=$1 AND l.current AND d.state='rejected' AND d.class <> '' AND NOT $4)
		UPDATE urls u SET state=0, tries=0, next_try=NULL
		WHERE u.site_id=$1 AND u.hash > $6 AND u.hash <= coalesce($7, `+noHash+`) AND u.due_at IS NOT NULL
			AND ($2 OR u.due_at <= now()) AND ($3::timestamptz IS NULL OR u.fetched_at < $3)
			AND u.state IN (1, 2, 3, 4, 6)
			AND (NOT coalesce((SELECT avoid FROM edge WHERE starts_with(u.url, prefix) ORDER BY length(prefix) DESC LIMIT 1), false) AND u.hash NOT IN (SELECT hash FROM idle)
				OR u.hash IN (SELECT hash FROM good) OR u.url IN (SELECT parent FROM parent))`, siteID, what.All, UnlessZero(what.Before), revisit, host, of.after, of.to)
	return int(tag.RowsAffected()), err
}

// RequeueHarvest puts back what is due of each of a harvest's sites, those after
// a host, and tells of each.
func (db SiteRecords) RequeueHarvest(ctx context.Context, harvest string, what PutBack, p recrawl.Policy, after string, did func(host string)) error {
	for {
		hosts, err := Column[string](ctx, db, `SELECT s.host FROM sites s WHERE `+dueSites+` AND s.host > $5 COLLATE "C" ORDER BY s.host COLLATE "C" LIMIT 200`,
			"", harvest, "", what.All, after)
		if err != nil || len(hosts) == 0 {
			return err
		}
		for _, h := range hosts {
			if _, err := db.RequeueDue(ctx, h, what, p); err != nil {
				return err
			}
			did(h)
			after = h
		}
	}
}

// LeaveSites takes the name of a recrawl that was cancelled from those of the sites
// whose crawl has not ended. One that nobody wants any more hears of it by Attention.
func (db SiteRecords) LeaveSites(ctx context.Context, name string, hosts []string) error {
	return db.Exec(ctx, `WITH held AS (SELECT id FROM sites WHERE host = ANY($2) AND state IN ('new', 'crawling') ORDER BY host COLLATE "C" FOR NO KEY UPDATE)
		UPDATE sites s SET recrawled_for=coalesce(array_remove(recrawled_for, $1), '{}') FROM held WHERE s.id=held.id`, name, hosts)
}

// NotWanted is the reason of a crawl that ended since whoever wanted it was cancelled.
const NotWanted = "nobody wants it any more"

// FinishCrawl ends a crawl of a site: it records its numbers and when the site
// is due again. A second call for the same crawl changes nothing: somebody may have asked
// for the next, and it may have begun. One that ended as not wanted, and that somebody has
// come to want meanwhile, is not stopped for it.
func (db SiteRecords) FinishCrawl(ctx context.Context, host string, e CrawlEnd, p recrawl.Policy) error {
	return db.Tx(ctx, func(tx pgx.Tx) error { return finishCrawl(ctx, tx, host, e, p) })
}

// CrawlEnd is how a crawl ended.
type CrawlEnd struct {
	Crawl          int // its number; 0 where none was begun, or the last one is meant
	State          gleaner.SiteState
	Reason, Policy string
	Barren         bool
}

func finishCrawl(ctx context.Context, tx pgx.Tx, host string, e CrawlEnd, p recrawl.Policy) error {
	c, err := crawlOf(ctx, tx, host)
	if err != nil {
		return fmt.Errorf("store: finish %s: %w", host, err)
	}
	if e.Crawl > 0 && (c.Finished || c.Crawl != e.Crawl) {
		return nil
	}
	if c.Started != nil && !c.Finished {
		if err := saveCrawl(ctx, tx, c, e.Policy); err != nil {
			return err
		}
	}
	paused := e.Reason == gleaner.SitePaused
	if e.Reason == NotWanted && c.Watched || paused && !c.Paused {
		e.State, e.Reason = gleaner.SiteDone, ""
	}
	trap := e.State == gleaner.SiteTrap
	o := recrawl.Outcome{Ended: e.State == gleaner.SiteDone || trap, Soon: c.Since < c.Interval/2,
		Gained: c.Gained, Changed: c.Changed, Wanted: c.Wanted, Barren: e.Barren || trap, Retries: c.Retries + 1}
	// Failures before the rest of the last one was over are the same one.
	if last, _ := p.Site(0, recrawl.Outcome{Retries: c.Retries}); c.Retries > 0 && c.Since < last {
		o.Retries = c.Retries
	}
	rest, interval := p.Site(c.Interval, o)
	retries := o.Retries
	switch {
	case paused: // which is no failure: the site is due as soon as it may be asked
		retries, rest, interval = c.Retries, 0, c.Interval
	case o.Ended:
		retries = 0
	}
	if c.Finished { // no crawl began since
		_, err = tx.Exec(ctx, `UPDATE sites SET state=$2, reason=$3, recrawled_for=NULL, warc=false,
			due_at=CASE WHEN $4 THEN due_at ELSE least(due_at, now() + $5 * interval '1 second') END WHERE id=$1`,
			c.ID, e.State, e.Reason, o.Ended, int64(rest/time.Second))
		return err
	}
	// A trap ends when it has taken all that was given to it: what is left of that came after the verdict.
	_, err = tx.Exec(ctx, `UPDATE sites SET state=$2, reason=$3, crawl_finished=now(), retries=$4, interval_s=$5, due_at=now() + $6 * interval '1 second',
		recrawled_for=NULL, warc=false,
		trap_seq=CASE WHEN $2='trap' THEN coalesce((SELECT min(seq) - 1 FROM urls WHERE site_id=$1 AND state=0 AND (source='seed' OR role > 0)),
			(SELECT last_value FROM urls_seq)) ELSE 0 END WHERE id=$1`,
		c.ID, e.State, e.Reason, retries, int64(interval/time.Second), int64(rest/time.Second))
	return err
}

// ended is what the record says of the crawl of a site that ends.
type ended struct {
	ID, Crawl, Retries int
	Interval           time.Duration
	Started            *time.Time
	Finished           bool
	Since              time.Duration // from the end of the last crawl to the beginning of this one
	Gained, Changed    int
	Wanted             bool
	Watched            bool // a harvest or a recrawl waits for it that goes on
	Paused             bool // by a person, still
}

func crawlOf(ctx context.Context, tx pgx.Tx, host string) (ended, error) {
	return One(ctx, tx, pgx.RowToStructByPos[ended], pgx.ErrNoRows, `SELECT s.id, s.crawl, s.retries,
			make_interval(secs => s.interval_s), s.crawl_started, coalesce(s.crawl_finished >= s.crawl_started, false),
			coalesce(s.crawl_started - s.crawl_finished, make_interval(years => 30)),
			(SELECT count(DISTINCT d.sha256) FROM locations l JOIN documents d ON d.sha256=l.sha256
				WHERE l.site_id=s.id AND d.state='accepted' AND d.discovered_at >= s.crawl_started),
			(SELECT count(*) FROM urls u WHERE u.site_id=s.id AND u.crawl=s.crawl AND u.state=1 AND u.outcome='success'),
			EXISTS (SELECT 1 FROM homepages g JOIN paper_authors pa ON pa.author_id=g.author_id JOIN harvest_papers h ON h.paper_key=pa.paper_key
				WHERE g.host=s.host AND `+wantedSQL+` AND `+missingSQL+`),
			`+recrawlSQL+` OR EXISTS (SELECT 1 FROM harvest_sites hs JOIN harvests h ON h.id=hs.harvest_id WHERE hs.site_id=s.id AND h.completed_at IS NULL AND NOT h.cancelled),
			s.paused <> ''
		FROM sites s WHERE s.host=$1 FOR NO KEY UPDATE`, host)
}

// saveCrawl writes the numbers of the crawl: the requests that its slices counted,
// each try of a URL by itself, but for what robots.txt kept from being sent; and the
// URLs that came, which carry the number of the crawl that asked for them last.
func saveCrawl(ctx context.Context, tx pgx.Tx, c ended, policy string) error {
	_, err := tx.Exec(ctx, `INSERT INTO crawls (site_id, crawl, policy, started_at, finished_at, requests, fetched)
		SELECT $1, $2, $3, $4, now(), greatest(0, (SELECT crawl_pages FROM sites WHERE id=$1) - count(*) FILTER (WHERE outcome='robots-denied'))::int,
			count(*) FILTER (WHERE state IN (1, 2)) FROM urls WHERE site_id=$1 AND crawl=$2
		ON CONFLICT (site_id, crawl) DO UPDATE SET finished_at=EXCLUDED.finished_at, requests=EXCLUDED.requests, fetched=EXCLUDED.fetched`, c.ID, c.Crawl, policy, *c.Started)
	return err
}

// Brought is what was found on some sites since a moment.
type Brought struct {
	Asked     int `json:"asked"` // URLs
	Unchanged int `json:"unchanged"`
	Changed   int `json:"changed"`   // or new
	Failed    int `json:"failed"`    // or moved
	Documents int `json:"documents"` // not known before
	Accepted  int `json:"accepted"`  // of these
	Versions  int `json:"versions"`  // documents in the place of others
	Vanished  int `json:"vanished"`
}

// Brought counts what was found on some sites since a moment.
func (db SiteRecords) Brought(ctx context.Context, of Selection, since time.Time) (Brought, error) {
	return One(ctx, db, pgx.RowToStructByPos[Brought], nil, `WITH sel AS MATERIALIZED (SELECT s.id FROM sites s WHERE `+selectSites+`),
			new AS (SELECT DISTINCT d.sha256, d.state FROM documents d JOIN locations l ON l.sha256=d.sha256
				WHERE d.discovered_at >= $4 AND l.site_id IN (SELECT id FROM sel))
		SELECT u.*, d.*,
			(SELECT count(*) FROM locations n WHERE n.site_id IN (SELECT id FROM sel) AND n.current AND n.found_at >= $4
				AND EXISTS (SELECT 1 FROM locations o WHERE o.hash=n.hash AND o.sha256<>n.sha256)),
			(SELECT count(*) FROM locations WHERE site_id IN (SELECT id FROM sel) AND gone_at >= $4)
		FROM (SELECT count(*), count(*) FILTER (WHERE outcome='not-modified'), count(*) FILTER (WHERE outcome='success' AND state IN (1, 2)),
				count(*) FILTER (WHERE outcome<>'not-modified' AND NOT (outcome='success' AND state IN (1, 2)))
				FROM urls WHERE fetched_at >= $4 AND site_id IN (SELECT id FROM sel)) u,
			(SELECT count(*), count(*) FILTER (WHERE state='accepted') FROM new) d`, of.Venue, of.Harvest, of.Host, since)
}

// AnySite reports whether a Selection names a site at all.
func (db SiteRecords) AnySite(ctx context.Context, of Selection) (bool, error) {
	return Get[bool](ctx, db, `SELECT EXISTS (SELECT 1 FROM sites s WHERE `+selectSites+`)`, of.Venue, of.Harvest, of.Host)
}

// Rest is when sites are to be asked again.
type Rest struct {
	Sites, Blocked int
	Next           *time.Time // of those not blocked; nil where none is
}

// Rests says when some sites are to be asked again.
func (db SiteRecords) Rests(ctx context.Context, of Selection) (Rest, error) {
	return One(ctx, db, pgx.RowToStructByPos[Rest], nil, `SELECT count(*), count(*) FILTER (WHERE b.is),
			min(greatest(s.due_at, s.parked_until)) FILTER (WHERE NOT b.is AND s.due_at IS NOT NULL)
		FROM sites s CROSS JOIN LATERAL (SELECT `+blocked+` AS is) b
		WHERE `+selectSites, of.Venue, of.Harvest, of.Host)
}

// ErrNoURL is returned for a URL that was never met.
var ErrNoURL = errors.New("this URL was never met")

// URLRecord is what the record holds of one URL.
type URLRecord struct {
	URL       string        `json:"url"`
	Host      string        `json:"host"`
	State     int           `json:"-"`
	StateName string        `json:"state" db:"-"`
	Parent    string        `json:"parent_url,omitempty"`
	Source    string        `json:"source"`
	Anchor    string        `json:"anchor,omitempty"`
	Context   string        `json:"context,omitempty"`
	Heading   string        `json:"heading,omitempty"`
	TagPath   string        `json:"tag_path,omitempty"`
	Depth     int           `json:"depth"`
	Queue     int           `json:"queue"`
	Mark      int           `json:"mark"`
	Priority  float64       `json:"priority"`
	Wanted    float64       `json:"wanted"` // how like a title it read that was wanted when it was met
	Reason    string        `json:"reason,omitempty"`
	Outcome   string        `json:"outcome,omitempty"`
	Status    int           `json:"status,omitempty"`
	Tries     int           `json:"tries"`
	Crawl     int           `json:"crawl"`
	Rank      int           `json:"rank,omitempty"` // the how-manieth URL of its crawl it was
	FetchedAt *time.Time    `json:"fetched_at,omitempty"`
	NextTry   *time.Time    `json:"next_try,omitempty"` // of what failed; nil for never
	Bytes     int64         `json:"bytes,omitempty"`
	SHA256    []string      `json:"documents,omitempty"`
	Pace      `json:"pace"` // of its site
}

var stateNames = []string{"waiting", "page", "document", "failed for now", "failed for good", "skipped", "moved"}

// ExplainURL returns what is known of a URL of a host, by its identity: of one that no crawl
// met what an import recorded of its documents.
func (db SiteRecords) ExplainURL(ctx context.Context, host string, hash []byte) (URLRecord, error) {
	r, err := One(ctx, db, pgx.RowToStructByPos[URLRecord], pgx.ErrNoRows, `SELECT u.url, s.host, CASE WHEN u.state=4 AND `+nextTry+` IS NOT NULL THEN 3 ELSE u.state END,
			u.parent, u.source, u.anchor, u.context, u.heading, u.tag_path, u.depth, u.queue, u.mark,
			u.priority, u.wanted, u.reason, u.outcome, u.status, u.tries, u.crawl,
			CASE WHEN u.fetched_at IS NULL THEN 0 ELSE (SELECT count(*) FROM urls e WHERE e.site_id=u.site_id AND e.crawl=u.crawl AND e.fetched_at <= u.fetched_at) END,
			u.fetched_at, CASE WHEN u.state IN (3, 4) THEN `+nextTry+` END, u.bytes,
			ARRAY(SELECT l.sha256 FROM locations l WHERE l.site_id=u.site_id AND l.url=u.url ORDER BY l.current DESC, l.member), `+paceColumns+`
		FROM urls u JOIN sites s ON s.id=u.site_id WHERE s.host=$1 AND u.hash=$2`, host, hash)
	if errors.Is(err, pgx.ErrNoRows) {
		r = URLRecord{Host: host, State: 2, Source: "import"} // no crawl met it
		err = db.Pool.QueryRow(ctx, `SELECT l.url, l.parent, l.anchor, l.context, l.heading, l.found_at,
				ARRAY(SELECT k.sha256 FROM locations k WHERE k.asked=$1 ORDER BY k.current DESC, k.member)
			FROM locations l WHERE l.asked=$1 ORDER BY l.current DESC LIMIT 1`, hash).
			Scan(&r.URL, &r.Parent, &r.Anchor, &r.Context, &r.Heading, &r.FetchedAt, &r.SHA256)
	}
	if errors.Is(err, pgx.ErrNoRows) {
		return r, fmt.Errorf("%w on %s", ErrNoURL, host)
	}
	if err == nil && r.State >= 0 && r.State < len(stateNames) {
		r.StateName = stateNames[r.State]
	}
	return r, err
}
