package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// ErrNoURL is returned for a URL that was never met.
var ErrNoURL = errors.New("this URL was never met")

// URLRecord is what the record holds of one URL.
type URLRecord struct {
	URL       string     `json:"url"`
	Host      string     `json:"host"`
	State     int        `json:"-"`
	StateName string     `json:"state"`
	Parent    string     `json:"parent_url,omitempty"`
	Source    string     `json:"source"`
	Anchor    string     `json:"anchor,omitempty"`
	Context   string     `json:"context,omitempty"`
	Heading   string     `json:"heading,omitempty"`
	TagPath   string     `json:"tag_path,omitempty"`
	Depth     int        `json:"depth"`
	Queue     int        `json:"queue"`
	Mark      int        `json:"mark"`
	Priority  float64    `json:"priority"`
	Wanted    float64    `json:"wanted"` // how like a title it read that was wanted when it was met
	Reason    string     `json:"reason,omitempty"`
	Outcome   string     `json:"outcome,omitempty"`
	Status    int        `json:"status,omitempty"`
	Tries     int        `json:"tries"`
	Crawl     int        `json:"crawl"`
	Rank      int        `json:"rank,omitempty"` // the how-manieth URL of its crawl it was
	FetchedAt *time.Time `json:"fetched_at,omitempty"`
	NextTry   *time.Time `json:"next_try,omitempty"` // of what failed; nil for never
	Bytes     int64      `json:"bytes,omitempty"`
	SHA256    []string   `json:"documents,omitempty"`
	Pace      Pace       `json:"pace"` // of its site
}

var stateNames = []string{"waiting", "page", "document", "failed for now", "failed for good", "skipped", "moved"}

// ExplainURL returns what is known of a URL of a host, by its identity: of one that no crawl
// met what an import recorded of its documents.
func (db SiteRecords) ExplainURL(ctx context.Context, host string, hash []byte) (URLRecord, error) {
	var r URLRecord
	err := db.Pool.QueryRow(ctx, `SELECT u.url, s.host, CASE WHEN u.state=4 AND `+nextTry+` IS NOT NULL THEN 3 ELSE u.state END,
			u.parent, u.source, u.anchor, u.context, u.heading, u.tag_path, u.depth, u.queue, u.mark,
			u.priority, u.wanted, u.reason, u.outcome, u.status, u.tries, u.crawl,
			CASE WHEN u.fetched_at IS NULL THEN 0 ELSE (SELECT count(*) FROM urls e WHERE e.site_id=u.site_id AND e.crawl=u.crawl AND e.fetched_at <= u.fetched_at) END,
			u.fetched_at, CASE WHEN u.state IN (3, 4) THEN `+nextTry+` END, u.bytes,
			ARRAY(SELECT l.sha256 FROM locations l WHERE l.site_id=u.site_id AND l.url=u.url ORDER BY l.current DESC, l.member), `+paceColumns+`
		FROM urls u JOIN sites s ON s.id=u.site_id WHERE s.host=$1 AND u.hash=$2`, host, hash).
		Scan(append([]any{&r.URL, &r.Host, &r.State, &r.Parent, &r.Source, &r.Anchor, &r.Context, &r.Heading, &r.TagPath, &r.Depth, &r.Queue, &r.Mark,
			&r.Priority, &r.Wanted, &r.Reason, &r.Outcome, &r.Status, &r.Tries, &r.Crawl, &r.Rank, &r.FetchedAt, &r.NextTry, &r.Bytes, &r.SHA256}, r.Pace.fields()...)...)
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
