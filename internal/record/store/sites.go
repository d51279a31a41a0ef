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
	"gleaner/internal/web/weburl"
)

// Site is one host as the record knows it.
type Site struct {
	ID         int               `json:"-"`
	Host       string            `json:"host"`
	State      gleaner.SiteState `json:"state"`
	Reason     string            `json:"reason,omitempty"`
	Crawl      int               `json:"crawl"`
	CrawlPages int               `json:"crawl_pages"`
	Failures   int               `json:"failures"`
	Parked     *time.Time        `json:"parked_until,omitempty"`
	Started    *time.Time        `json:"crawl_started,omitempty"`
	Finished   *time.Time        `json:"crawl_finished,omitempty"`
	Pace       `json:"pace"`
	Learnt     json.RawMessage `json:"-"`
	WARC       bool            `json:"-"` // a recrawl wants what is exchanged kept
	View       string          `json:"-"` // the options under which links of its pages were taken; "" before any
}

// EnsureSite returns the id of a host's row, making it where it is new.
func EnsureSite(ctx context.Context, db source, host string) (id int, err error) {
	const find = `SELECT id FROM sites WHERE host=$1`
	// Three statements: each sees what others have committed meanwhile, and a row
	// that is there is found without using up a number.
	for _, sql := range []string{find, `INSERT INTO sites (host) VALUES ($1) ON CONFLICT (host) DO NOTHING RETURNING id`, find} {
		if id, err = Get[int](ctx, db, sql, host); !errors.Is(err, pgx.ErrNoRows) {
			break
		}
	}
	if err != nil {
		return 0, fmt.Errorf("store: site %s: %w", host, err)
	}
	return id, nil
}

// HoldSite is EnsureSite, and holds the row until the transaction ends: who adds
// URLs to a site does it alone. Rows of several sites are taken in the order of
// their hosts, COLLATE "C", before anything else of these sites.
func HoldSite(ctx context.Context, tx pgx.Tx, host string) (int, error) {
	id, err := EnsureSite(ctx, tx, host)
	if err == nil {
		_, err = tx.Exec(ctx, `SELECT FROM sites WHERE id=$1 FOR NO KEY UPDATE`, id)
	}
	return id, err
}

const siteColumns = `s.id, s.host, s.state, s.reason, s.crawl, s.crawl_pages, s.failures,
	CASE WHEN s.parked_until > now() THEN s.parked_until END, s.crawl_started, s.crawl_finished, ` + paceColumns + `, s.learnt, s.warc, s.view`

// Site returns one host's row.
func (db SiteRecords) Site(ctx context.Context, host string) (Site, error) {
	return One(ctx, db, pgx.RowToStructByPos[Site], pgx.ErrNoRows, `SELECT `+siteColumns+` FROM sites s WHERE s.host=$1`, host)
}

// SiteByID returns the row of one host by its id.
func (db SiteRecords) SiteByID(ctx context.Context, id int) (Site, error) {
	return One(ctx, db, pgx.RowToStructByPos[Site], pgx.ErrNoRows, `SELECT `+siteColumns+` FROM sites s WHERE s.id=$1`, id)
}

// takenUp goes after an INSERT named joined: a site of which a harvest had not heard
// may be asked for it though its crawl was stopped or refused before, as the sites
// of a harvest that begins again may (SaveHarvest).
const takenUp = ` RETURNING site_id, xmax = 0 AS is_new)
	UPDATE sites s SET state='new', reason='' FROM (SELECT DISTINCT site_id FROM joined WHERE is_new) j WHERE s.id=j.site_id AND s.state IN ('stopped', 'refused')`

// JoinSite makes a site, whose row is locked, one of a harvest's own.
func JoinSite(ctx context.Context, tx pgx.Tx, harvest string, siteID int, origin string) error {
	_, err := tx.Exec(ctx, `WITH joined AS (INSERT INTO harvest_sites (harvest_id, site_id, origin) VALUES ($1,$2,$3)
		ON CONFLICT (harvest_id, site_id) DO UPDATE SET origin=EXCLUDED.origin, turn=0, given_by=NULL WHERE harvest_sites.turn > 0`+takenUp, harvest, siteID, origin)
	return err
}

// InheritSite makes the harvests of one site harvests of another, whose row is locked: of
// a lead's host. They are those that go on, or all of a site that a recrawl asks for.
// The turn of the other is after those that the same giver named before.
func InheritSite(ctx context.Context, tx pgx.Tx, from, to int, origin string) error {
	_, err := tx.Exec(ctx, `WITH joined AS (INSERT INTO harvest_sites (harvest_id, site_id, origin, given_by, turn)
		SELECT h.harvest_id, $2, $3, giver, 1 + (SELECT count(*) FROM harvest_sites g WHERE g.harvest_id=h.harvest_id AND g.given_by=giver)
		FROM harvest_sites h JOIN harvests v ON v.id=h.harvest_id CROSS JOIN LATERAL (SELECT coalesce(h.given_by, h.site_id) AS giver) g
		WHERE h.site_id=$1 AND (v.completed_at IS NULL OR NOT EXISTS (SELECT 1 FROM harvest_sites o JOIN harvests r ON r.id=o.harvest_id
			WHERE o.site_id=$1 AND r.completed_at IS NULL)) ORDER BY h.harvest_id
		ON CONFLICT (harvest_id, site_id) DO UPDATE SET given_by=EXCLUDED.given_by, turn=EXCLUDED.turn WHERE harvest_sites.turn > EXCLUDED.turn`+takenUp, from, to, origin)
	return err
}

// JoinLeads makes the hosts a harvest's own to which its sites gave links that wait still. Where
// it follows wanted leads alone, which def says unless its options do, they are those that are
// so like a wanted title at least: others were given for who wants all documents of a site.
func (db SiteRecords) JoinLeads(ctx context.Context, harvest, def string, least float64) error {
	return db.Exec(ctx, `WITH given AS (SELECT l.to_site, min(l.from_site) AS giver FROM harvest_sites h
			JOIN harvests v ON v.id=h.harvest_id
			JOIN leads l ON l.from_site=h.site_id AND (l.wanted >= $3 OR coalesce(nullif(v.options->>'leads', ''), $2)='all')
			JOIN urls u ON u.site_id=l.to_site AND u.hash=l.hash AND u.state=0
			WHERE h.harvest_id=$1 AND l.to_site NOT IN (SELECT site_id FROM harvest_sites WHERE harvest_id=$1) GROUP BY l.to_site),
		held AS (SELECT s.id FROM sites s WHERE id IN (SELECT to_site FROM given) ORDER BY s.host COLLATE "C" FOR NO KEY UPDATE),
		joined AS (INSERT INTO harvest_sites (harvest_id, site_id, origin, given_by, turn) SELECT $1, g.to_site, 'lead', g.giver, 1
			FROM given g JOIN held ON held.id=g.to_site ON CONFLICT DO NOTHING`+takenUp, harvest, def, least)
}

// SitesToCrawl lists hosts of a harvest with URLs that wait or whose next try
// has come, after a place in their order; at most limit. It returns the place of
// the last as well. Those that the harvest knows itself come first, then of each
// site that names others the first, the second and so on; each time those of the
// best domains first. They are marked as not
// ended, so that EndedSites tells when they are. Of a site that ended as a trap
// only what was given to it since counts: homepages, and leads of other hosts.
func (db SiteRecords) SitesToCrawl(ctx context.Context, harvest, after string, limit int) (hosts []string, last string, err error) {
	at := placeOf(after)
	rows, _ := db.Pool.Query(ctx, `WITH due AS (
			SELECT s.id, h.turn, r.rank FROM sites s JOIN harvest_sites h ON h.site_id=s.id CROSS JOIN LATERAL (SELECT `+rankSQL+` AS rank) r
			WHERE h.harvest_id=$1 AND (h.turn, r.rank, s.host COLLATE "C") > ($2, $3, $4) AND s.parked_until <= now() AND CASE WHEN s.state='trap'
				THEN EXISTS (SELECT 1 FROM urls u WHERE u.site_id=s.id AND u.state=0 AND u.seq > s.trap_seq AND (u.source='seed' OR u.role > 0))
				ELSE s.state IN ('new', 'crawling', 'done')
					AND (EXISTS (SELECT 1 FROM urls u WHERE u.site_id=s.id AND u.state=0)
					  OR EXISTS (SELECT 1 FROM urls u WHERE u.site_id=s.id AND u.state=3 AND u.next_try <= now())) END
			ORDER BY h.turn, r.rank, s.host COLLATE "C" LIMIT $5),
		held AS (SELECT id FROM sites WHERE id IN (SELECT id FROM due) AND state IN ('done', 'trap') ORDER BY host COLLATE "C" FOR NO KEY UPDATE),
		mark AS (UPDATE sites s SET state='new' FROM held WHERE s.id=held.id)
		SELECT s.host, due.turn, due.rank FROM sites s JOIN due ON due.id=s.id ORDER BY due.turn, due.rank, s.host COLLATE "C"`, harvest, at.turn, at.rank, at.host, limit)
	_, err = pgx.ForEachRow(rows, []any{&at.host, &at.turn, &at.rank}, func() error {
		hosts, last = append(hosts, at.host), at.String()
		return nil
	})
	return hosts, last, err
}

// NeverCrawled lists those of the hosts that no crawl was begun of and that may be asked
// now, at most limit.
func (db SiteRecords) NeverCrawled(ctx context.Context, hosts []string, limit int) ([]string, error) {
	return Column[string](ctx, db, `SELECT h FROM unnest($1::text[]) WITH ORDINALITY AS of(h, n) LEFT JOIN sites s ON s.host=h
		WHERE s.id IS NULL OR s.crawl=0 AND s.state='new' AND s.parked_until <= now() ORDER BY n LIMIT $2`, hosts, limit)
}

// EndedSites lists those of the hosts that are neither being crawled nor about to be; for a
// recrawl, by its name, those too that are about to be crawled for others alone.
func (db SiteRecords) EndedSites(ctx context.Context, hosts []string, recrawl string) ([]string, error) {
	return Column[string](ctx, db, `SELECT host FROM sites WHERE host = ANY($1) AND (state NOT IN ('new', 'crawling')
		OR $2 <> '' AND NOT $2 = ANY(coalesce(recrawled_for, '{}'))) ORDER BY host`, hosts, recrawl)
}

// SiteWatchers lists the harvests that want a site and are neither complete nor
// cancelled.
func (db SiteRecords) SiteWatchers(ctx context.Context, host string) ([]string, error) {
	return Column[string](ctx, db, watchersSQL+` ORDER BY h.id`, host)
}

const watchersSQL = `SELECT h.id FROM harvests h JOIN harvest_sites hs ON hs.harvest_id=h.id JOIN sites s ON s.id=hs.site_id
	WHERE s.host=$1 AND h.completed_at IS NULL`

// AwaitingEnd lists those of SiteWatchers that wait for crawls to end now. Others would only
// have longer histories: they ask when they go on.
func (db SiteRecords) AwaitingEnd(ctx context.Context, host string) ([]string, error) {
	return Column[string](ctx, db, watchersSQL+` AND h.stage IN ('copies', 'crawl') AND NOT h.paused ORDER BY h.id`, host)
}

// SiteVenues lists what the harvests that want a site, or did, are after, those that
// run first: a hundred at most, as many as are indexed.
func (db SiteRecords) SiteVenues(ctx context.Context, host string) ([]string, error) {
	return Column[string](ctx, db, `SELECT h.venue FROM harvests h JOIN harvest_sites hs ON hs.harvest_id=h.id JOIN sites s ON s.id=hs.site_id
		WHERE s.host=$1 GROUP BY 1 ORDER BY bool_or(h.completed_at IS NULL) DESC, 1 LIMIT 100`, host)
}

// recrawlSQL is true of a site s that a recrawl wants crawled now.
const recrawlSQL = `coalesce(cardinality(s.recrawled_for) > 0, false)`

// Attention is what a crawl under way has to know. A crawl goes on for a recrawl or a
// harvest that runs. With all harvests paused it waits; with all cancelled, or no harvest
// and all recrawls cancelled, it stops. A harvest that was cancelled before the last crawl
// ended has no say; one that was cancelled since may have begun this crawl.
type Attention struct {
	Paused    bool // by all harvests that want the site
	Cancelled bool // nobody wants it any more
	Stopped   bool // a person has the site not asked
}

// Attention returns what is asked of the crawls of sites, by their numbers.
func (db SiteRecords) Attention(ctx context.Context, sites ...int) (map[int]Attention, error) {
	return Map[int, Attention](ctx, db, `SELECT s.id, ROW(coalesce(of.paused, false) AND NOT `+recrawlSQL+`,
			coalesce(of.cancelled, s.recrawled_for IS NOT NULL) AND NOT `+recrawlSQL+`, s.paused <> '')
		FROM sites s CROSS JOIN LATERAL (
			SELECT bool_and(h.paused OR h.cancelled) AND bool_or(h.paused AND NOT h.cancelled) AS paused, bool_and(h.cancelled) AS cancelled
			FROM harvests h JOIN harvest_sites hs ON hs.harvest_id=h.id
			WHERE hs.site_id=s.id AND (h.completed_at IS NULL OR h.cancelled AND h.completed_at >= coalesce(s.crawl_finished, '-infinity'))) of
		WHERE s.id = ANY($1)`, sites)
}

// Scopes lists a site's path prefixes.
func (db SiteRecords) Scopes(ctx context.Context, siteID int) ([]string, error) {
	return Column[string](ctx, db, `SELECT prefix FROM scopes WHERE site_id=$1 ORDER BY prefix`, siteID)
}

// AddScope allows a path prefix on a site.
func AddScope(ctx context.Context, tx pgx.Tx, siteID int, prefix, origin string) error {
	_, err := tx.Exec(ctx, `INSERT INTO scopes (site_id, prefix, origin) VALUES ($1,$2,$3) ON CONFLICT DO NOTHING`, siteID, prefix, origin)
	return err
}

// ScopeHost is the scope, in a harvest's options, of a whole host. Every other is the path
// of a homepage or, of a site that a person named, its directory.
const ScopeHost = "host"

// inScope tells the documents of the site that a harvest is of, by URL and parent, from
// what others find on the same host. It is nil where all on its sites are its own.
func (h Harvest) inScope() func(url, parent string) bool {
	site := gleaner.ParseGoal(h.Venue).Site
	var options struct {
		Scope string `json:"scope"`
	}
	if site == "" || json.Unmarshal(h.Options, &options) == nil && options.Scope == ScopeHost {
		return nil
	}
	in := []string{weburl.DirectoryPrefix(site)}
	return func(url, parent string) bool {
		return weburl.Host(url) != weburl.Host(site) || weburl.InScope(url, in) || weburl.InScope(parent, in)
	}
}

// countInScope counts the documents of a site's harvest anew, without those that others
// found on its host.
func (db HarvestRecords) countInScope(ctx context.Context, id string, c *Counts) error {
	if gleaner.ParseGoal(id).Site == "" {
		return nil // its counts are asked for often
	}
	h, err := db.FindHarvest(ctx, id)
	if errors.Is(err, ErrNoHarvest) {
		return nil
	}
	in := h.inScope()
	if err != nil || in == nil {
		return err
	}
	type place struct{ SHA256, State, URL, Parent string }
	places, err := List[place](ctx, db, `SELECT d.sha256, CASE WHEN d.state='new' AND d.outcome IN `+putOff+` THEN 'scan' ELSE d.state END, l.url, l.parent FROM documents d JOIN locations l ON l.sha256=d.sha256
		JOIN harvest_sites hs ON hs.site_id=l.site_id WHERE hs.harvest_id=$1`, id)
	states := map[string]string{}
	for _, p := range places {
		if in(p.URL, p.Parent) {
			states[p.SHA256] = p.State
		}
	}
	c.Documents, c.Accepted, c.Unexamined, c.Scans = len(states), 0, 0, 0
	for _, state := range states {
		switch gleaner.DocumentState(state) {
		case gleaner.DocumentAccepted:
			c.Accepted++
		case gleaner.DocumentNew:
			c.Unexamined++
		case "scan":
			c.Unexamined, c.Scans = c.Unexamined+1, c.Scans+1
		}
	}
	return err
}

// AnswerOf says what the address of a site that a harvest is of answered where that was
// no page: "404, not-found". It is "" of a page, and of what was not asked yet.
func (db SiteRecords) AnswerOf(ctx context.Context, host string, hash []byte) (string, error) {
	said, err := Column[string](ctx, db, `SELECT concat_ws(', ', nullif(u.status, 0)::text, u.outcome) FROM urls u JOIN sites s ON s.id=u.site_id
		WHERE s.host=$1 AND u.hash=$2 AND u.state NOT IN (1, 2, 6) AND u.outcome NOT IN ('', 'ok')`, host, hash)
	return strings.Join(said, ""), err
}

// SiteHold is who asks a site now, and for whom.
type SiteHold struct {
	Holder  string     `json:"holder,omitempty"`       // the worker that has its turn; "" where none does
	Until   *time.Time `json:"held_until,omitempty"`   // unless it says again that it is at it
	Harvest string     `json:"last_harvest,omitempty"` // that wants it, or the last that did
}

// SiteHold says who has a site's turn, and which harvest wanted it last.
func (db SiteRecords) SiteHold(ctx context.Context, host string) (SiteHold, error) {
	return One(ctx, db, pgx.RowToStructByPos[SiteHold], nil, `SELECT CASE WHEN s.expires_at > now() THEN s.holder ELSE '' END, CASE WHEN s.expires_at > now() AND s.holder <> '' THEN s.expires_at END,
			coalesce((SELECT h.id FROM harvests h JOIN harvest_sites hs ON hs.harvest_id=h.id WHERE hs.site_id=s.id
				ORDER BY h.completed_at IS NULL DESC, h.started_at DESC, h.id LIMIT 1), '')
		FROM sites s WHERE s.host=$1`, host)
}

// SitePapers counts the papers that were found on hosts. One that a list names, too, has two
// keys and is one: its year and the letters of its title are the same.
func (db SiteRecords) SitePapers(ctx context.Context, hosts []string) (map[string]int, error) {
	return Map[string, int](ctx, db, `SELECT s.host, count(DISTINCT (p.year, `+lettersOf("p.title")+`))
		FROM sites s JOIN locations l ON l.site_id=s.id
		JOIN matches m ON m.sha256=l.sha256 AND `+FoundSQL+` JOIN papers p ON p.key=m.paper_key WHERE s.host = ANY($1) GROUP BY s.host`, hosts)
}

// Pace is how often a site is asked, and who set that. It is what was decided at
// the last request, as the record has it.
type Pace struct {
	Seconds float64    `json:"seconds"`                    // between an answer and the next request
	By      string     `json:"by,omitempty"`               // fetch.BySetting and its like; "" where nothing was asked yet
	Rest    string     `json:"rest,omitempty"`             // why it is left alone for longer: Retry-After or failures
	Until   *time.Time `json:"until,omitempty"`            // how long it is, then
	AtLeast float64    `json:"at_least_seconds,omitempty"` // what a person set, which holds where nothing longer does
}

// paceColumns are the fields of a Pace, of a site s.
const paceColumns = `extract(epoch FROM s.pace)::float8, s.pace_by,
	CASE WHEN s.asked_until > now() AND s.asked_until > s.paced_until THEN 'Retry-After' WHEN s.failures > 0 AND greatest(s.next_allowed_at, s.parked_until) > now() THEN 'failures' ELSE '' END,
	CASE WHEN s.asked_until > now() AND s.asked_until > s.paced_until OR s.failures > 0 AND greatest(s.next_allowed_at, s.parked_until) > now()
		THEN greatest(s.next_allowed_at, s.asked_until, s.parked_until) END, extract(epoch FROM s.min_delay)::float8`

// Words says a pace to a person: "every 1s (default)"; "" where nothing was asked
// of the site yet, and nobody set its delay. form is that of moments.
func (p Pace) Words(form string) string {
	words := func(seconds float64, by string) string {
		return fmt.Sprintf("%s (%s)", time.Duration(seconds*float64(time.Second)).Round(time.Millisecond), by)
	}
	s := "every " + words(p.Seconds, p.By)
	switch {
	case p.AtLeast > 0 && p.AtLeast >= p.Seconds:
		s = "every " + words(p.AtLeast, gleaner.SetByHand)
	case p.By == "":
		return ""
	case p.AtLeast > 0:
		s += ", at least " + words(p.AtLeast, gleaner.SetByHand)
	}
	if p.Until != nil {
		s += fmt.Sprintf(", not before %s (%s)", p.Until.Local().Format(form), p.Rest)
	}
	return s
}

// SitePace is the pace of a site that is being crawled.
type SitePace struct {
	Host string `json:"host"`
	Pace `json:"pace"`
}

// SitePaces lists the sites of a harvest that are being crawled, by host; none of one that was cancelled.
func (db StatisticRecords) SitePaces(ctx context.Context, harvest string) ([]SitePace, error) {
	return List[SitePace](ctx, db, `SELECT s.host, `+paceColumns+` FROM sites s
		JOIN harvest_sites h ON h.site_id=s.id JOIN harvests v ON v.id=h.harvest_id
		WHERE v.id=$1 AND v.stage<>'cancelled' AND s.state='crawling' AND NOT `+blocked+` ORDER BY s.host`, harvest)
}
