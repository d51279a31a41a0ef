package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"gleaner/internal/gleaner"
)

// ErrNoHarvest is returned for a harvest that the record does not know.
var ErrNoHarvest = errors.New("no such harvest")

// Harvest is one row of harvests.
type Harvest struct {
	ID          string          `json:"harvest"`
	Venue       string          `json:"venue"`
	Years       gleaner.Years   `json:"years"`
	Options     json.RawMessage `json:"options,omitempty"`
	Stage       gleaner.Stage   `json:"stage"`
	Paused      bool            `json:"paused"`
	Cancelled   bool            `json:"cancelled"`
	Note        string          `json:"note,omitempty"`
	BegunAt     time.Time       `json:"begun_at"`   // started first
	StartedAt   time.Time       `json:"started_at"` // last
	UpdatedAt   time.Time       `json:"updated_at"`
	CompletedAt *time.Time      `json:"completed_at,omitempty"`
}

// Command is the command that starts the harvest.
func (h Harvest) Command() string {
	if h.Years == (gleaner.Years{}) {
		return "starter harvest " + h.Venue
	}
	return "starter harvest " + h.Venue + " --years " + h.Years.String()
}

// SaveHarvest begins a harvest, or begins it again with new options: then its
// sites whose crawl was stopped or refused may be asked again, each when its own
// pause is over.
func (db HarvestRecords) SaveHarvest(ctx context.Context, h Harvest) error {
	err := db.Exec(ctx, `WITH of AS (SELECT id FROM sites WHERE state IN ('stopped', 'refused')
			AND id IN (SELECT site_id FROM harvest_sites WHERE harvest_id=$1) ORDER BY host COLLATE "C" FOR NO KEY UPDATE)
		UPDATE sites s SET state='new', reason='' FROM of WHERE s.id=of.id`, h.ID)
	if err != nil {
		return err
	}
	return db.Tx(ctx, func(tx pgx.Tx) error {
		again, err := Column[string](ctx, tx, `WITH saved AS (
				INSERT INTO harvests (id, venue, year_from, year_to, years, options, stage) VALUES ($1,$2,$3,$4,$5,$6,$7)
				ON CONFLICT (id) DO UPDATE SET options=EXCLUDED.options, stage=EXCLUDED.stage, paused=false, cancelled=false, note='',
					started_at=CASE WHEN harvests.completed_at IS NULL THEN harvests.started_at ELSE now() END, updated_at=now(), completed_at=NULL, counts=NULL, documents_judged=0)
			SELECT w.paper_key FROM harvests v JOIN harvest_papers w ON w.harvest_id=v.id
			WHERE v.id=$1 AND v.stage='cancelled' AND NOT w.held`,
			h.ID, h.Venue, h.Years.From, h.Years.To, h.Years.List, h.Options, h.Stage)
		if err != nil || len(again) == 0 {
			return err
		}
		return changeWanted(ctx, tx, again)
	})
}

// SetStage moves a harvest to a stage; note is one line for a person. The stages
// "complete", "cancelled" and "failed" end it, and what it came to is kept. One that was
// cancelled wants no papers until it is saved again; what documents are matched with stays.
func (db HarvestRecords) SetStage(ctx context.Context, id string, stage gleaner.Stage, note string) error {
	var counts *Counts
	if stage == gleaner.StageComplete || stage == gleaner.StageCancelled || stage == gleaner.StageFailed {
		c, err := db.countsNow(ctx, id)
		if err != nil {
			return err
		}
		counts = &c
	}
	return unlessNone(fmt.Errorf("%s: %w", id, ErrNoHarvest))(db.Pool.Exec(ctx, `
		WITH wants AS (UPDATE record SET wanted=wanted+1 WHERE $2='cancelled')
		UPDATE harvests SET stage=$2, note=$3, counts=$4, updated_at=now(), paused = paused AND $4::jsonb IS NULL,
		completed_at = CASE WHEN $2 IN ('complete', 'cancelled', 'failed') THEN now() END,
		cancelled = cancelled OR $2 = 'cancelled' OR $2 = 'failed' AND paused WHERE id=$1`, id, stage, note, counts))
}

// SetPaused pauses a harvest or lets it go on, also one that EndHarvest ended though it runs.
// Its sites that were ended for that wait again.
func (db HarvestRecords) SetPaused(ctx context.Context, id string, paused bool) error {
	return db.Exec(ctx, `WITH of AS (SELECT s.id FROM sites s JOIN harvest_sites hs ON hs.site_id=s.id
			JOIN harvests h ON h.id=hs.harvest_id WHERE h.id=$1 AND NOT $2 AND h.stage='failed'
				AND s.state='stopped' AND s.reason='`+NotWanted+`'
			ORDER BY s.host COLLATE "C" FOR NO KEY UPDATE OF s),
		again AS (UPDATE sites s SET state='new', reason='' FROM of WHERE s.id=of.id)
		UPDATE harvests SET paused=$2, updated_at=now(), cancelled = cancelled AND ($2 OR stage<>'failed'),
		completed_at = CASE WHEN $2 OR stage<>'failed' THEN completed_at END WHERE id=$1`, id, paused)
}

// Paused reports whether a harvest is paused; one that the record does not know
// is not.
func (db HarvestRecords) Paused(ctx context.Context, id string) (bool, error) {
	return Get[bool](ctx, db, `SELECT coalesce((SELECT paused FROM harvests WHERE id=$1), false)`, id)
}

// ErrHarvestRuns is returned by RemoveHarvest for one that has not ended.
var ErrHarvestRuns = errors.New("the harvest has not ended; cancel it first")

// HarvestRemoval is what goes with a harvest. Documents, sites and homepages stay, and what is known of papers.
type HarvestRemoval struct {
	Papers int `json:"papers"` // of its list
	Alone  int `json:"alone"`  // of these, on the list of no other harvest: nobody looks for them any more
	Sites  int `json:"sites"`  // that it wanted
}

// RemoveHarvest removes a harvest that ended with its list of papers and its report, or only says what would go.
func RemoveHarvest(ctx context.Context, db *DB, id string, dry bool) (r HarvestRemoval, err error) {
	lock := ` FOR UPDATE`
	if dry {
		lock = ""
	}
	err = db.Tx(ctx, func(tx pgx.Tx) error {
		var ended bool
		err := tx.QueryRow(ctx, `SELECT completed_at IS NOT NULL FROM harvests WHERE id=$1`+lock, id).Scan(&ended)
		switch {
		case errors.Is(err, pgx.ErrNoRows):
			return fmt.Errorf("%s: %w", id, ErrNoHarvest)
		case err != nil:
			return err
		case !ended:
			return fmt.Errorf("%s: %w", id, ErrHarvestRuns)
		}
		err = tx.QueryRow(ctx, `SELECT count(*), count(*) FILTER (WHERE NOT EXISTS
				(SELECT 1 FROM harvest_papers o WHERE o.paper_key=h.paper_key AND o.harvest_id<>h.harvest_id)),
				(SELECT count(*) FROM harvest_sites WHERE harvest_id=$1)
			FROM harvest_papers h WHERE harvest_id=$1`, id).Scan(&r.Papers, &r.Alone, &r.Sites)
		if err != nil || dry {
			return err
		}
		if _, err = tx.Exec(ctx, `DELETE FROM harvests WHERE id=$1`, id); err != nil {
			return err
		}
		return nobodyWants(ctx, tx)
	})
	return r, err
}

// harvestColumns are the fields of a Harvest.
const harvestColumns = `id, venue, ROW(year_from, year_to, years), options, stage, paused, cancelled, note, begun_at, started_at, updated_at, completed_at`

// yearsSQL is the set of years of a row h of harvests.
const yearsSQL = `CASE WHEN h.year_from=0 THEN '{(,)}'::int4multirange WHEN h.years='' THEN int4multirange(int4range(h.year_from, h.year_to, '[]'))
	ELSE (SELECT range_agg(int4range(split_part(y, '-', 1)::int, coalesce(nullif(split_part(y, '-', 2), ''), y)::int, '[]')) FROM unnest(string_to_array(h.years, ',')) y) END`

// Listed reports whether harvests of a venue listed all that it published in these years.
func (db HarvestRecords) Listed(ctx context.Context, venue string, years gleaner.Years) (bool, error) {
	return Get[bool](ctx, db, `SELECT coalesce((SELECT range_agg(r) FROM harvests h, unnest(`+yearsSQL+`) r
			WHERE h.venue=$1 AND h.stage NOT IN ('papers', 'cancelled', 'failed')
				AND NOT EXISTS (SELECT 1 FROM unanswered q WHERE q.harvest_id=h.id AND q.stage='papers'))
		@> (SELECT `+yearsSQL+` FROM (SELECT $2::int AS year_from, $3::int AS year_to, $4::text AS years) h), false)`,
		venue, years.From, years.To, years.List)
}

// Harvests lists all harvests, the latest first.
func (db HarvestRecords) Harvests(ctx context.Context) ([]Harvest, error) {
	return List[Harvest](ctx, db, `SELECT `+harvestColumns+` FROM harvests ORDER BY started_at DESC, id`)
}

// harvestsSQL finds the harvests that began before one, the latest first; before "" all.
const harvestsSQL = `SELECT ` + harvestColumns + ` FROM harvests WHERE $1='' OR (started_at, id) < (SELECT h.started_at, h.id FROM harvests h WHERE h.id=$1) ORDER BY started_at DESC, id DESC LIMIT $2`

// HarvestsBefore lists the harvests that began before one, the latest first; before ""
// it is the latest of all.
func (db HarvestRecords) HarvestsBefore(ctx context.Context, id string, limit int) ([]Harvest, error) {
	return List[Harvest](ctx, db, harvestsSQL, id, limit)
}

// FindHarvest returns the harvest of that id, or the latest whose venue it names. The
// last part of either is enough, and case does not matter where nothing has the very name.
func (db HarvestRecords) FindHarvest(ctx context.Context, name string) (Harvest, error) {
	return One(ctx, db, pgx.RowToStructByPos[Harvest], fmt.Errorf("%s: %w", name, ErrNoHarvest), `SELECT `+harvestColumns+` FROM harvests
		WHERE lower(id)=lower($1) OR lower(venue)=lower($1)
			OR venue !~ '^(site|author|papers):' AND '/'||lower($1) IN (right(lower(id), length($1)+1), right(lower(venue), length($1)+1))
		ORDER BY (id=$1) DESC, (venue=$1) DESC, started_at DESC LIMIT 1`, name)
}

// Counts sums up how far a harvest is.
type Counts struct {
	Published  int `json:"published"`
	Held       int `json:"held"`
	Wanted     int `json:"wanted"`
	Found      int `json:"found"`
	Authors    int `json:"authors"`   // of wanted papers
	Decided    int `json:"decided"`   // of these, looked for
	Homepages  int `json:"homepages"` // of these, found
	Sites      int `json:"sites"`
	SitesDone  int `json:"sites_done"`
	Refused    int `json:"sites_refused"`
	Stopped    int `json:"sites_stopped"`
	Paused     int `json:"sites_paused"` // by a person, before they were done
	Parked     int `json:"parked"`       // of the others, left alone for a while
	Pages      int `json:"pages"`
	Waiting    int `json:"waiting"`
	Failures   int `json:"failures"`
	Unasked    int `json:"unasked"` // URLs that wait at sites that were refused or stopped, or when it ended
	Documents  int `json:"documents"`
	Accepted   int `json:"accepted"`
	Unexamined int `json:"unexamined"`
	Scans      int `json:"scans"` // of these, pictures of pages that wait to be recognised

	FoundNow int `json:"found_now" db:"-"` // of the wanted papers, whoever found them

	Kept bool `json:"-" db:"-"` // they were kept when the harvest ended
}

// SiteWords says how many of the sites are done, and why others are not crawled.
func (c Counts) SiteWords() string {
	words := fmt.Sprintf("%d of %d done", c.SitesDone, c.Sites)
	for i, n := range []int{c.Refused, c.Stopped, c.Paused} {
		if n > 0 {
			words += fmt.Sprintf(", %d %s", n, []string{"refused", "stopped", "paused"}[i])
		}
	}
	return words
}

// URLWords says what became of the URLs on its sites.
func (c Counts) URLWords() string {
	words := fmt.Sprintf("pages %d, waiting %d, failed %d", c.Pages, c.Waiting, c.Failures)
	if c.Unasked > 0 {
		words += fmt.Sprintf(", not asked %d", c.Unasked)
	}
	return words
}

// FoundSQL is true of a match m that settles its paper: a person said so, or the
// verdict is good and the file is a form of the paper itself.
const FoundSQL = `(m.settled = 'yes' OR (m.settled = '' AND m.verdict IN ('exact', 'strong') AND m.form IN ('paper', 'preprint', 'extended')))`

// foundIn is FoundSQL of a row of another name.
func foundIn(row string) string { return strings.ReplaceAll(FoundSQL, "m.", row+".") }

// soughtSQL is true of an author (pa.author_id) whose homepage the harvest $1 wants:
// of everybody who wrote its papers, or of the one whose papers they are.
const soughtSQL = `pa.author_id = coalesce((SELECT substring(v.venue FROM '^author:(.*)$') FROM harvests v WHERE v.id=$1), pa.author_id)`

// HarvestCounts says how far a harvest is; of one that ended how far it was then.
func (db HarvestRecords) HarvestCounts(ctx context.Context, id string) (Counts, error) {
	var then *Counts
	var found int
	err := db.Pool.QueryRow(ctx, `SELECT h.counts, CASE WHEN h.counts IS NULL THEN 0 ELSE (SELECT count(DISTINCT m.paper_key) FROM matches m
			JOIN harvest_papers w ON w.paper_key=m.paper_key AND w.harvest_id=h.id AND NOT w.held WHERE `+FoundSQL+`) END
		FROM harvests h WHERE h.id=$1`, id).Scan(&then, &found)
	switch {
	case errors.Is(err, pgx.ErrNoRows) || err == nil && then == nil:
		return db.countsNow(ctx, id)
	case err != nil:
		return Counts{}, err
	}
	then.FoundNow, then.Kept = found, true
	then.Waiting, then.Unasked = 0, then.Unasked+then.Waiting // it asks no more
	return *then, nil
}

// countsNow computes Counts from the record.
func (db HarvestRecords) countsNow(ctx context.Context, id string) (Counts, error) {
	c, err := One(ctx, db, pgx.RowToStructByPos[Counts], nil, `
		WITH hp AS (SELECT * FROM harvest_papers WHERE harvest_id=$1),
		wanted AS (SELECT paper_key FROM hp WHERE NOT held),
		who AS (SELECT DISTINCT pa.author_id FROM paper_authors pa JOIN wanted w ON w.paper_key=pa.paper_key WHERE `+soughtSQL+`),
		s AS (SELECT s.* FROM sites s JOIN harvest_sites hs ON hs.site_id=s.id WHERE hs.harvest_id=$1),
		u AS (SELECT `+urlCounts+`, coalesce(sum(u.n) FILTER (WHERE u.state=0 AND `+givenUp+`), 0)::int AS unasked
			FROM url_counts u JOIN s ON s.id=u.site_id),
		d AS (SELECT DISTINCT d.sha256, d.state,
			d.outcome FROM documents d JOIN locations l ON l.sha256=d.sha256 JOIN s ON s.id=l.site_id)
		SELECT (SELECT count(*) FROM hp), (SELECT count(*) FROM hp WHERE held), (SELECT count(*) FROM wanted),
			(SELECT count(DISTINCT m.paper_key) FROM matches m JOIN wanted w ON w.paper_key=m.paper_key WHERE `+FoundSQL+`),
			(SELECT count(*) FROM who),
			(SELECT count(*) FROM who JOIN homepage_decisions hd USING (author_id)),
			(SELECT count(DISTINCT author_id) FROM who JOIN homepages h USING (author_id)),
			(SELECT count(*) FROM s), (SELECT count(*) FROM s WHERE state='done'),
			(SELECT count(*) FROM s WHERE state='refused' AND paused=''), (SELECT count(*) FROM s WHERE state IN ('trap', 'stopped') AND paused=''),
			(SELECT count(*) FROM s WHERE state<>'done' AND paused<>''),
			(SELECT count(*) FROM s WHERE parked_until > now() AND paused='' AND state IN ('new', 'crawling')),
			(SELECT pages FROM u), (SELECT waiting-unasked FROM u), (SELECT failed FROM u), (SELECT unasked FROM u),
			(SELECT count(*) FROM d), (SELECT count(*) FROM d WHERE state='accepted'), (SELECT count(*) FROM d WHERE state='new'),
			(SELECT count(*) FROM d WHERE state='new' AND outcome IN `+putOff+`)`, id)
	if err == nil {
		err = db.countInScope(ctx, id, &c)
	}
	c.FoundNow = c.Found
	return c, err
}

// Now is what is under way of a harvest.
type Now struct {
	Listed  int           // papers of its venue and years in the longest list of a source
	Waiting int           // URLs on sites that are crawled or will be
	Sites   int           // these
	Longest time.Duration // that the one with the most takes for its own, at its pace
	All     time.Duration // that they take together, one after the other
	At      []SiteNow     `db:"-"` // that are crawled, and those that fail or refuse
}

// SiteNow is a site of a harvest.
type SiteNow struct {
	Host                              string
	State                             gleaner.SiteState
	Reason                            string // why it failed last, or ended as it did
	Pages, Documents, Papers, Waiting int
	Failures                          int // in a row
	Next                              time.Time
}

// Fails reports whether a site does not answer as it should.
func (s SiteNow) Fails() bool { return s.Failures > 0 || s.State != gleaner.SiteCrawling }

// HarvestNow looks at what is under way of a harvest: its sites, so many at most, first
// those that fail. pace is that of a site of which nothing was asked yet.
func (db HarvestRecords) HarvestNow(ctx context.Context, id string, pace time.Duration, limit int) (Now, error) {
	n, err := One(ctx, db, pgx.RowToStructByPos[Now], nil, `
		WITH s AS (SELECT s.id, greatest(CASE WHEN s.pace_by='' THEN $2::float8 ELSE extract(epoch FROM s.pace)::float8 END, extract(epoch FROM s.min_delay)::float8) AS pace
				FROM sites s JOIN harvest_sites hs ON hs.site_id=s.id WHERE hs.harvest_id=$1 AND s.state IN ('new', 'crawling')),
			u AS (SELECT s.id, s.pace, sum(u.n)::int AS waiting FROM s JOIN url_counts u ON u.site_id=s.id AND u.state=0 GROUP BY s.id, s.pace)
		SELECT (SELECT coalesce(max(n), 0) FROM (SELECT count(*) AS n FROM listings l JOIN harvests h ON h.venue=l.venue
				WHERE h.id=$1 AND l.year <@ (`+yearsSQL+`) GROUP BY l.source) x),
			coalesce(sum(waiting), 0)::int, count(*) FILTER (WHERE waiting > 0),
			make_interval(secs => coalesce(max(waiting*pace), 0)), make_interval(secs => coalesce(sum(waiting*pace), 0)) FROM u`,
		id, pace.Seconds())
	if err != nil {
		return n, err
	}
	n.At, err = List[SiteNow](ctx, db, `
		WITH s AS (SELECT s.*, (SELECT coalesce(sum(n), 0)::int FROM url_counts u WHERE u.site_id=s.id AND u.state=0) AS waiting
				FROM sites s JOIN harvest_sites hs ON hs.site_id=s.id WHERE hs.harvest_id=$1 AND s.state IN ('crawling', 'refused', 'stopped')),
			shown AS (SELECT * FROM s ORDER BY state='crawling' AND failures=0, waiting DESC, host LIMIT $2)
		SELECT s.host, s.state, CASE WHEN s.state='crawling' AND s.failures > 0
				THEN coalesce((SELECT u.outcome FROM urls u WHERE u.site_id=s.id AND u.state=3 ORDER BY u.next_try DESC LIMIT 1), '') ELSE s.reason END,
			u.pages, `+siteDocuments+`,
			(SELECT count(DISTINCT m.paper_key)::int FROM locations l JOIN matches m ON m.sha256=l.sha256 JOIN harvest_papers hp ON hp.paper_key=m.paper_key
				WHERE l.site_id=s.id AND hp.harvest_id=$1 AND NOT hp.held AND `+FoundSQL+`),
			s.waiting, s.failures, greatest(s.next_allowed_at, s.asked_until, s.parked_until, s.crawl_started, '2000-01-01')
		FROM shown s CROSS JOIN LATERAL (SELECT `+urlCounts+` FROM url_counts u WHERE u.site_id=s.id) u
		ORDER BY s.state='crawling' AND s.failures=0, s.waiting DESC, s.host`, id, limit)
	return n, err
}
