package store

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"gleaner/internal/gleaner"
)

// Change is what became of a paper, or of a document of a site, since a time.
type Change struct {
	What    string    `json:"what"` // found, lost or changed
	At      time.Time `json:"at"`
	Paper   string    `json:"paper,omitempty"`
	Title   string    `json:"title"`
	Year    int       `json:"year,omitempty"`
	Authors []string  `json:"authors,omitempty"`
	SHA256  string    `json:"sha256"`
	URL     string    `json:"url"`
}

// GoalTitle is what people call the goal of a harvest: the title of a venue, the name of
// a person; the goal's own name where neither is known.
func (db HarvestRecords) GoalTitle(ctx context.Context, goal string) (string, error) {
	return Get[string](ctx, db, `SELECT coalesce((SELECT coalesce(nullif(title, ''), nullif(name, '')) FROM venues WHERE key=$1),
		(SELECT name FROM authors WHERE pid<>'' AND 'author:' || pid=$1 LIMIT 1), $1)`, goal)
}

// Changes lists what became since a time of what a harvest wants: what was found
// first, at the earliest when the harvest came to want it, what is at none of its places any more (its file stays), and what was found
// before and has a new version at a known place. All come by time.
func (db HarvestRecords) Changes(ctx context.Context, h Harvest, since time.Time) ([]Change, error) {
	item := `SELECT p.key, p.key AS paper, p.title, p.year, p.authors, m.sha256, greatest(m.matched_at, hp.wanted_at) AS at, NULL::text AS url
		FROM harvest_papers hp JOIN papers p ON p.key=hp.paper_key JOIN matches m ON m.paper_key=p.key WHERE hp.harvest_id=$1 AND NOT hp.held AND ` + FoundSQL
	if gleaner.ParseGoal(h.Venue).Site != "" {
		item = `SELECT l.url, '', d.meta_title, 0, '[]'::jsonb, d.sha256, l.found_at, l.url
			FROM documents d JOIN locations l USING (sha256) JOIN harvest_sites hs USING (site_id) WHERE hs.harvest_id=$1 AND d.state='accepted' AND d.same_as=''`
	}
	out, err := List[Change](ctx, db, fmt.Sprintf(`
		WITH item (key, paper, title, year, authors, sha256, at, url) AS (%s),
		place AS (SELECT i.*, l.url AS place, l.current, l.found_at, n.old, coalesce(l.gone_at, n.replaced, l.seen_at) AS ended
			FROM item i JOIN locations l ON l.sha256=i.sha256 AND (i.url IS NULL OR i.url=l.url)
			CROSS JOIN LATERAL (SELECT coalesce(bool_or(o.found_at < l.found_at), false) AS old, max(o.found_at) FILTER (WHERE o.found_at > l.found_at) AS replaced
				FROM locations o WHERE o.hash=l.hash AND o.sha256<>l.sha256) n),
		of AS (SELECT key, min(at) AS first, bool_or(current) AS there, max(ended) AS ended,
			max(found_at) FILTER (WHERE current AND old) AS renewed FROM place GROUP BY key),
		told AS (SELECT key, CASE WHEN NOT there THEN 'lost' WHEN first >= $2 THEN 'found' ELSE 'changed' END AS what,
			CASE WHEN NOT there THEN ended WHEN first >= $2 THEN first ELSE renewed END AS at FROM of)
		SELECT DISTINCT ON (t.key) t.what, t.at, p.paper, p.title, p.year, ARRAY(SELECT a->>'name' FROM jsonb_array_elements(p.authors) a), p.sha256, p.place
		FROM told t JOIN place p ON p.key=t.key WHERE t.at >= $2
		ORDER BY t.key, p.current DESC, p.found_at DESC, p.place`, item), h.ID, since)
	slices.SortStableFunc(out, func(a, b Change) int { return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.Title, b.Title)) })
	return out, err
}
