package store

import (
	"context"
	"fmt"
	"time"

	"gleaner/internal/gleaner"
)

// SiteRow is a site with what was met there, and when it may be asked again.
type SiteRow struct {
	Host      string            `json:"host"`
	State     gleaner.SiteState `json:"state"`
	Reason    string            `json:"reason,omitempty"`
	Pages     int               `json:"pages"`
	Documents int               `json:"documents"`
	Failed    int               `json:"failed"`
	Waiting   int               `json:"waiting"`
	Next      *time.Time        `json:"next_allowed_at,omitempty"`     // by its pace and pauses; nil for at once
	First     *time.Time        `json:"first_crawl_started,omitempty"` // where that was another than the last
	Started   *time.Time        `json:"crawl_started,omitempty"`
	Finished  *time.Time        `json:"crawl_finished,omitempty"`
	Due       *time.Time        `json:"recrawl_due_at,omitempty"`
	Paused    string            `json:"paused,omitempty"` // why a person has it not asked
	PausedAt  *time.Time        `json:"paused_at,omitempty"`
	Blocked   string            `json:"blacklisted,omitempty"`     // why
	Halted    bool              `json:"harvests_paused,omitempty"` // every harvest under way that wants it is paused
	Idle      bool              `json:"idle,omitempty"`            // no harvest under way wants it, and it is not being crawled

	Pace `json:"pace"`
}

// NextWords says when the site may be asked next, in a form for times. One that refused or
// was stopped is asked by a recrawl, or when a person has it asked.
func (r SiteRow) NextWords(form string) string {
	out := r.State == gleaner.SiteRefused || r.State == gleaner.SiteStopped
	done := r.State == gleaner.SiteDone && r.Waiting == 0
	switch {
	case r.Blocked != "":
		return "never while it is on the blacklist"
	case r.Paused != "":
		return "never while it is paused"
	case out && r.Due == nil:
		return "never by itself"
	case done && r.Due == nil:
		return "nothing waits"
	case out || done || r.Idle && r.Due != nil:
		return "by a recrawl, from " + r.Due.Local().Format(form)
	case r.Halted:
		return "none while its harvest is paused"
	case r.Idle:
		return "no harvest asks it"
	case r.Next == nil && r.State != gleaner.SiteCrawling:
		return "when its crawl goes on"
	case r.Next == nil:
		return "at once"
	}
	return r.Next.Local().Format(form)
}

// PauseWords says since when, why and until when a person has the site not asked, in a form for times; it is "" of
// others.
func (r SiteRow) PauseWords(form string) string {
	if r.Paused == "" {
		return ""
	}
	return fmt.Sprintf("%s is %s, since %s and until `starter resume %[1]s`", r.Host, r.Paused,
		r.PausedAt.Local().Format(form))
}

// listedSite is true of a site s that was crawled, or of which a URL is known.
const listedSite = `(s.state<>'new' OR EXISTS (SELECT 1 FROM url_counts c WHERE c.site_id=s.id OFFSET 0))`

// SiteQuery are conditions on sites; zero fields are none.
type SiteQuery struct {
	Host    string // that one alone
	Harvest string // sites of that harvest
	Begins  string // hosts that begin so, with www. or without
	Failing bool   // with URLs that failed, or refused or stopped as a whole
	Barred  bool   // that are paused or on the blacklist
	State   string
	After   string // the host before the first
	Limit   int
}

// sql finds what args describe. OFFSET keeps the planner from reading the counts of all sites.
func (q SiteQuery) sql() string {
	of := ``
	if q.Harvest != "" {
		of = `JOIN harvest_sites h ON h.site_id=s.id AND h.harvest_id=$2`
	}
	return `
	SELECT s.host, s.state, CASE WHEN s.paused <> '' THEN s.paused
		WHEN s.reason='' AND s.state='done' AND u.pages=0 AND u.failed > 0 AND ` + siteDocuments + `=0
			THEN 'no page: ' || (SELECT f.outcome FROM urls f WHERE f.site_id=s.id AND f.state IN (3, 4) LIMIT 1) ELSE s.reason END, u.pages, ` + siteDocuments + `, u.failed, u.waiting,
		CASE WHEN greatest(s.next_allowed_at, s.asked_until, s.parked_until) > now() THEN greatest(s.next_allowed_at, s.asked_until, s.parked_until) END,
		(SELECT nullif(min(c.started_at), s.crawl_started) FROM crawls c WHERE c.site_id=s.id),
		s.crawl_started, s.crawl_finished, s.due_at, s.paused, s.paused_at, coalesce(` + blockedSQL + ` b.host=s.host), ''),
		coalesce(w.paused, false), w.paused IS NULL AND s.state <> 'crawling', ` + paceColumns + `
	FROM (SELECT s.* FROM sites s ` + of + ` WHERE s.host > $3 AND ($1='' OR s.host=$1) AND ($4='' OR s.state=$4)
			AND ($1<>'' OR $6<>'' OR $8 OR ` + listedSite + `)
			AND ($6='' OR starts_with(s.host, $6) OR starts_with(s.host, 'www.' || $6))
			AND (NOT $8 OR (s.paused <> '' OR EXISTS (SELECT 1 FROM blacklist b WHERE b.host=s.host))
				AND ($2='' OR s.state <> 'done' OR EXISTS (SELECT 1 FROM url_counts c WHERE c.site_id=s.id AND c.state=0)))
			AND (NOT $7 OR s.state IN ('refused', 'stopped') OR EXISTS (SELECT 1 FROM urls u WHERE u.site_id=s.id AND u.state IN (3, 4))) AND $2::text IS NOT NULL
			ORDER BY s.host LIMIT $5) s
		CROSS JOIN LATERAL (SELECT ` + urlCounts + ` FROM url_counts u WHERE u.site_id=s.id) u
		CROSS JOIN LATERAL (SELECT bool_and(r.paused) AS paused FROM harvest_sites hs JOIN harvests r ON r.id=hs.harvest_id
			WHERE hs.site_id=s.id AND r.completed_at IS NULL) w
	ORDER BY s.host`
}

func (q SiteQuery) args() []any {
	return []any{q.Host, q.Harvest, q.After, q.State, q.Limit, q.Begins, q.Failing, q.Barred}
}

// Sites lists sites, by host: those of which a URL is known, or that are asked for by name.
func (db SiteRecords) Sites(ctx context.Context, q SiteQuery) ([]SiteRow, error) {
	return List[SiteRow](ctx, db, q.sql(), q.args()...)
}
