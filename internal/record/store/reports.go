package store

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"gleaner/internal/each"
	"gleaner/internal/gleaner"
	"gleaner/internal/gleaner/evidence"
)

// KeptReport is the latest report of a harvest that was kept: in numbers, without its
// lists.
type KeptReport struct {
	Made   time.Time
	Took   time.Duration // to work it out
	Report json.RawMessage
}

// MissingReason says why a paper of a harvest was missing.
type MissingReason struct {
	Paper    string   `json:"paper_key"`
	Reason   string   `json:"reason"`
	Evidence []string `json:"evidence"`
}

// KeepReport keeps a harvest's report, and why each of its papers is missing, in the
// place of the one before. One that was made earlier than what is kept is dropped.
func (db ReportRecords) KeepReport(ctx context.Context, harvest string, k KeptReport, missing []MissingReason) error {
	keys := each.Of(missing, func(m MissingReason) string { return m.Paper })
	return db.Tx(ctx, func(tx pgx.Tx) error {
		tag, err := tx.Exec(ctx, `INSERT INTO harvest_reports (harvest_id, made_at, took, report) VALUES ($1,$2,$3,$4)
			ON CONFLICT (harvest_id) DO UPDATE SET made_at=EXCLUDED.made_at, took=EXCLUDED.took, report=EXCLUDED.report
			WHERE harvest_reports.made_at <= EXCLUDED.made_at`, harvest, k.Made, k.Took, k.Report)
		if err != nil || tag.RowsAffected() == 0 {
			return err
		}
		if _, err := tx.Exec(ctx, `DELETE FROM missing_papers WHERE harvest_id=$1 AND NOT paper_key = ANY($2)`, harvest, keys); err != nil {
			return err
		}
		_, err = tx.Exec(ctx, `WITH now AS (SELECT paper_key, reason, coalesce(evidence, '[]') AS evidence
					FROM jsonb_to_recordset($2::jsonb) n (paper_key text, reason text, evidence jsonb)),
				of AS (SELECT h.paper_key FROM harvest_papers h JOIN now USING (paper_key) WHERE h.harvest_id=$1 ORDER BY h.paper_key FOR KEY SHARE OF h)
			INSERT INTO missing_papers (harvest_id, paper_key, reason, evidence) SELECT $1, paper_key, reason, evidence FROM now JOIN of USING (paper_key)
			ON CONFLICT (harvest_id, paper_key) DO UPDATE SET reason=EXCLUDED.reason, evidence=EXCLUDED.evidence
			WHERE (missing_papers.reason, missing_papers.evidence) IS DISTINCT FROM (EXCLUDED.reason, EXCLUDED.evidence)`, harvest, missing)
		return err
	})
}

// KeptReport returns the report of a harvest that was kept, nil where none was.
func (db ReportRecords) KeptReport(ctx context.Context, harvest string) (*KeptReport, error) {
	return One(ctx, db, pgx.RowToAddrOfStructByPos[KeptReport], nil,
		`SELECT made_at, took, report FROM harvest_reports WHERE harvest_id=$1`, harvest)
}

const missingForSQL = `
	SELECT p.key, p.title, p.year, ARRAY(SELECT a->>'name' FROM jsonb_array_elements(p.authors) a), 'missing', h.held_why, '', w.reason, w.evidence
	FROM missing_papers w JOIN harvest_papers h ON h.harvest_id=w.harvest_id AND h.paper_key=w.paper_key JOIN papers p ON p.key=w.paper_key
	WHERE w.harvest_id=$1 AND w.reason=$3 AND w.paper_key > $2 AND NOT h.held AND ` + missingSQL + ` AND ($4::int[] IS NULL OR p.year = ANY($4))
	ORDER BY w.paper_key LIMIT $5`

// MissingFor lists by key the papers of a harvest that are missing for one reason, as
// the report says that was kept last.
func (db ReportRecords) MissingFor(ctx context.Context, q PaperQuery, reason string) ([]HarvestPaper, error) {
	return List[HarvestPaper](ctx, db, missingForSQL, q.Harvest, q.After, reason, q.Years.All(), q.Limit)
}

// urlCounts are the pages that were fetched among url_counts u, also those that wait to be
// asked again or are gone, and the URLs that failed or wait.
const urlCounts = `coalesce(sum(u.n) FILTER (WHERE u.was=1 OR u.state=1), 0)::int AS pages,
	coalesce(sum(u.n) FILTER (WHERE u.state IN (3, 4)), 0)::int AS failed,
	coalesce(sum(u.n) FILTER (WHERE u.state=0), 0)::int AS waiting`

// siteDocuments counts the documents of a site s: files by their SHA-256, at however many of
// its addresses, in each version.
const siteDocuments = `(SELECT count(DISTINCT l.sha256)::int FROM locations l WHERE l.site_id=s.id)`

// YearTally is one year of a harvest in numbers.
type YearTally struct{ Year, Published, Held int }

// YearTallies lists a harvest's years.
func (db ReportRecords) YearTallies(ctx context.Context, harvest string) ([]YearTally, error) {
	return List[YearTally](ctx, db, `SELECT p.year, count(*), count(*) FILTER (WHERE h.held)
		FROM harvest_papers h JOIN papers p ON p.key=h.paper_key WHERE h.harvest_id=$1 GROUP BY p.year ORDER BY p.year`, harvest)
}

// whatSQL is Document.What of a document d.
const whatSQL = `CASE WHEN d.class='' OR d.outcome='` + gleaner.OtherDiscipline + `' THEN d.outcome ELSE d.class END`

// DocumentTally counts documents of one state and class, or what they are instead.
type DocumentTally struct {
	State, Class string
	Documents    int
}

// DocumentTallies counts the documents found on a harvest's sites.
func (db ReportRecords) DocumentTallies(ctx context.Context, harvest string) ([]DocumentTally, error) {
	return List[DocumentTally](ctx, db, `SELECT d.state, `+whatSQL+`, count(*) FROM documents d
		WHERE EXISTS (SELECT 1 FROM locations l JOIN harvest_sites hs ON hs.site_id=l.site_id WHERE l.sha256=d.sha256 AND hs.harvest_id=$1)
		GROUP BY 1, 2 ORDER BY 1, 3 DESC, 2`, harvest)
}

// SiteTally is one site of a harvest in numbers.
type SiteTally struct {
	Host                                               string
	State                                              gleaner.SiteState
	Reason                                             string
	Pages, Documents, Accepted, Found, Failed, Waiting int
	Pace
}

// SiteTallies lists a harvest's sites, those with the most documents first.
func (db ReportRecords) SiteTallies(ctx context.Context, harvest string) ([]SiteTally, error) {
	return List[SiteTally](ctx, db, `
		WITH s AS (SELECT s.* FROM sites s JOIN harvest_sites h ON h.site_id=s.id WHERE h.harvest_id=$1),
		u AS (SELECT u.site_id, `+urlCounts+` FROM url_counts u WHERE u.site_id IN (SELECT id FROM s) GROUP BY u.site_id),
		d AS (SELECT l.site_id, count(DISTINCT d.sha256) AS documents,
				count(DISTINCT d.sha256) FILTER (WHERE d.state='accepted') AS accepted, count(DISTINCT m.paper_key) AS found
			FROM locations l JOIN documents d ON d.sha256=l.sha256
			LEFT JOIN matches m ON m.sha256=d.sha256 AND `+FoundSQL+` AND m.paper_key IN (SELECT paper_key FROM harvest_papers WHERE harvest_id=$1 AND NOT held)
			WHERE l.site_id IN (SELECT id FROM s) GROUP BY l.site_id)
		SELECT s.host, s.state, coalesce(nullif(s.paused, ''), `+blockedSQL+` b.host=s.host), s.reason),
			coalesce(u.pages,0), coalesce(d.documents,0), coalesce(d.accepted,0), coalesce(d.found,0), coalesce(u.failed,0), coalesce(u.waiting,0), `+paceColumns+`
		FROM s LEFT JOIN u ON u.site_id=s.id LEFT JOIN d ON d.site_id=s.id ORDER BY coalesce(d.documents,0) DESC, s.host`, harvest)
}

// LeftOut counts the links on a harvest's sites that were met and not asked for, by
// the name of the limit or list that kept them out. Of each site the first 500 are
// on record.
func (db ReportRecords) LeftOut(ctx context.Context, harvest string) (map[string]int, error) {
	return Map[string, int](ctx, db, `SELECT u.outcome, count(*) FROM urls u JOIN harvest_sites h ON h.site_id=u.site_id
		WHERE h.harvest_id=$1 AND u.state=5 GROUP BY u.outcome`, harvest)
}

// MatchClue is a document that was compared with a missing paper and not taken.
type MatchClue struct {
	Paper, Verdict, Form, Settled, URL string
	Score                              float64
	Reasons                            []string
}

// MatchClues lists documents that may be missing papers of a harvest.
func (db ReportRecords) MatchClues(ctx context.Context, harvest string) ([]MatchClue, error) {
	return List[MatchClue](ctx, db, `SELECT m.paper_key, m.verdict, m.form, m.settled, coalesce((SELECT url FROM locations l WHERE l.sha256=m.sha256 ORDER BY current DESC, url LIMIT 1), ''),
			m.score, m.reasons
		FROM matches m JOIN harvest_papers h ON h.paper_key=m.paper_key WHERE h.harvest_id=$1 AND NOT h.held AND `+missingSQL+`
		ORDER BY m.paper_key, m.verdict, m.score DESC, m.sha256`, harvest)
}

// LinkClue is a link whose words are like a wanted title.
type LinkClue struct {
	URL, Parent, Anchor, Context, Heading, Outcome string
	Waiting, Failed                                bool // Failed with no tries: a limit kept it out
	Tries                                          int
	Document                                       string // what came back: its state and class or outcome, "" if no document
}

const (
	LinkCleaned = "removed by a cleaning" // the Document of a link whose documents are on record no more
	LinkBarred  = "blacklisted"           // the Outcome of a link that waits, and whose host is on the blacklist
)

// EachLinkClue visits the links on a harvest's sites, and those to other hosts, that may be
// like a wanted title; one that was asked for may have been found before that was wanted.
func (db ReportRecords) EachLinkClue(ctx context.Context, harvest string, visit func(LinkClue)) error {
	return forEach(ctx, db, visit, `WITH s AS (SELECT site_id FROM harvest_sites WHERE harvest_id=$1),
		given AS (SELECT DISTINCT l.to_site, l.hash FROM s JOIN leads l ON l.from_site=s.site_id WHERE l.to_site NOT IN (SELECT site_id FROM s)),
		of AS (SELECT u.* FROM s JOIN urls u USING (site_id) UNION ALL SELECT u.* FROM given g JOIN urls u ON u.site_id=g.to_site AND u.hash=g.hash)
		SELECT u.url, u.parent, u.anchor, u.context, u.heading,
			CASE WHEN u.state=0 AND u.site_id IN (SELECT s.id FROM blacklist b JOIN sites s USING (host)) THEN '`+LinkBarred+`' ELSE u.outcome END, u.state=0, u.state IN (3, 4, 5), u.tries,
			CASE WHEN u.state=2 THEN coalesce((SELECT d.state || ' as ' || `+whatSQL+` FROM documents d JOIN locations l ON l.sha256=d.sha256
				WHERE l.asked=u.hash ORDER BY l.hash=u.hash DESC, l.current DESC LIMIT 1), '`+LinkCleaned+`') ELSE '' END
		FROM of u WHERE u.state=0 AND (u.wanted >= 0.6 OR u.role > 0) OR u.state IN (2, 3, 4, 5) ORDER BY u.seq`, harvest)
}

// SiteClue is how far the crawl of one homepage's site is.
type SiteClue struct {
	State                     gleaner.SiteState
	Reason                    string
	Pages, Documents, Waiting int
	Failed                    int    // requests, for good or for now
	Unasked                   bool   // the homepage itself was not asked for
	Unread                    string // the outcome for which it was not read; "" where it was
	Cut                       int    // pages of the homepage's of which not all links were looked at, or that were left out
	CutBy                     string // by which limits
}

// byLists makes a site that has more to ask what the lists make of it now, and gives a blacklisted one
// that reason: barred is why, nil where it is not; listed says that it came to be on the whitelist,
// paused that a person has it not asked.
func (s *SiteClue) byLists(barred *string, listed, paused bool) {
	switch {
	case barred == nil && paused && (s.State != gleaner.SiteDone || s.Waiting > 0):
		s.State, s.Reason = gleaner.SiteStopped, gleaner.SitePaused
	case barred != nil:
		s.Reason = gleaner.Blacklisted
		if s.State != gleaner.SiteDone || s.Waiting > 0 {
			s.State = gleaner.SiteStopped
		}
		if *barred != "" {
			s.Reason += ": " + *barred
		}
	case s.State == gleaner.SiteStopped && (listed || barred == nil &&
		(strings.HasPrefix(s.Reason, gleaner.Blacklisted) || strings.HasPrefix(s.Reason, gleaner.Unblocked))):
		s.State, s.Reason = gleaner.SiteNew, ""
	}
}

// AuthorClue is what is known of an author's homepages, and of the places of their papers
// beside them. Sites runs in parallel to Homepages.
type AuthorClue struct {
	NotFound  string
	NextTry   *time.Time // when they are looked for again; nil where nothing is open
	Barred    []string   // likely pages of theirs that were not asked for, their hosts being on the blacklist
	Lifted    []string   // those whose hosts are no longer, until they are looked at
	Homepages []Homepage // author, address and scope alone
	Sites     []SiteClue
}

// barredSQL begins to select the url of candidates of a decision d that a blacklist kept out.
const barredSQL = `SELECT v #>> '{}' AS url
	FROM jsonb_path_query(d.decision, '$.candidates[*] ? (@.rule == "` + evidence.OnBlacklist + `"`

// authorCluesSQL selects AuthorClues of the harvest $1. What a site has is counted once, and not
// for each author who has a homepage there.
const authorCluesSQL = `
	WITH who AS (SELECT DISTINCT pa.author_id FROM paper_authors pa JOIN harvest_papers h ON h.paper_key=pa.paper_key WHERE h.harvest_id=$1 AND NOT h.held AND ` + soughtSQL + `),
	theirs AS (SELECT DISTINCT s.id FROM who JOIN homepages g USING (author_id) JOIN sites s ON s.host=g.host),
	u AS (SELECT u.site_id, ` + urlCounts + ` FROM url_counts u WHERE u.site_id IN (SELECT id FROM theirs) GROUP BY u.site_id),
	f AS MATERIALIZED (SELECT s.id, ` + siteDocuments + ` AS documents FROM theirs s)
	SELECT w.author_id, coalesce(d.not_found, ''), d.next_try, coalesce(g.url, ''), coalesce(g.scope, ''), b.reason,
		CASE WHEN s.reason=$2 THEN EXISTS (SELECT 1 FROM whitelist l WHERE s.host=l.domain OR s.host LIKE '%.' || l.domain) ELSE false END,
			coalesce(s.state, ''), coalesce(s.reason, ''), coalesce(s.paused, '') <> '',
		coalesce(u.pages, 0), coalesce(f.documents, 0), coalesce(u.waiting, 0), coalesce(u.failed, 0),
		k.barred, k.lifted FROM who w LEFT JOIN homepage_decisions d USING (author_id) LEFT JOIN homepages g USING (author_id)
		LEFT JOIN sites s ON s.host=g.host LEFT JOIN u ON u.site_id=s.id LEFT JOIN f ON f.id=s.id LEFT JOIN blacklist b ON b.host=g.host
		CROSS JOIN LATERAL (SELECT array_agg(c.url) FILTER (WHERE o.host IS NOT NULL) AS barred,
				array_agg(c.url) FILTER (WHERE o.host IS NULL AND d.next_try <= now()) AS lifted
			FROM (` + barredSQL + `
				&& (@.source starts with "listed" || !exists($.not_found)
					|| $.not_found == "` + evidence.Barred + `")).url') v) c
				LEFT JOIN blacklist o ON o.host=split_part(c.url, '/', 3)) k
	ORDER BY w.author_id, g.rank`

// AuthorClues returns, by author id, what is known of the authors of a harvest's wanted
// papers; whole is Homepage.Prefix's.
func (db ReportRecords) AuthorClues(ctx context.Context, harvest string, whole bool) (map[string]AuthorClue, error) {
	rows, _ := db.Pool.Query(ctx, authorCluesSQL, harvest, gleaner.NotListed)
	out := map[string]AuthorClue{}
	var id, url, scope string
	var of AuthorClue
	var site SiteClue
	var barred *string
	var listed, paused bool
	_, err := pgx.ForEachRow(rows, []any{&id, &of.NotFound, &of.NextTry, &url, &scope, &barred, &listed, &site.State,
		&site.Reason, &paused, &site.Pages, &site.Documents, &site.Waiting, &site.Failed, &of.Barred, &of.Lifted}, func() error {
		c := of
		c.Homepages, c.Sites = out[id].Homepages, out[id].Sites
		if url != "" {
			site.byLists(barred, listed, paused)
			c.Homepages, c.Sites = append(c.Homepages, Homepage{AuthorID: id, URL: url, Scope: scope}), append(c.Sites, site)
		}
		out[id] = c
		return nil
	})
	if err != nil {
		return nil, err
	}
	return out, errors.Join(db.readHomepages(ctx, out), db.cutPages(ctx, out, whole))
}
