package collections

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"gleaner/internal/gleaner"
	"gleaner/internal/record/store"
)

// Entry is an entry of a collection for lists and exports.
type Entry struct {
	Topic       string    `json:"topic"`
	Correlation float64   `json:"correlation"`
	URL         string    `json:"url"`
	Title       string    `json:"title"`
	Kind        string    `json:"kind"`
	SHA256      string    `json:"sha256,omitempty"` // of a document, which is in the repository
	Parent      string    `json:"parent,omitempty"`
	Depth       int       `json:"depth"`
	N           int       `json:"n"` // number of the request
	At          time.Time `json:"at"`
}

const entriesSQL = `SELECT e.topic, e.correlation, u.url, u.title, u.kind, u.sha256, u.parent, u.depth, u.n, u.at
	FROM collection_entries e JOIN collection_urls u ON u.collection=e.collection AND u.hash=e.hash `

// Entries returns the entries of a collection by topic, or of one topic, the best first.
func (r *Record) Entries(ctx context.Context, id int, topic string) ([]Entry, error) {
	return store.List[Entry](ctx, r.db, entriesSQL+`WHERE e.collection=$1 AND ($2='' OR e.topic=$2) ORDER BY e.topic COLLATE "C", e.correlation DESC, u.n`, id, topic)
}

// Place is a place among the entries of a topic, the best of which come first.
type Place struct {
	Correlation float64
	N           int
}

// EntriesAfter lists entries of a topic behind a place, nil from the best on.
func (r *Record) EntriesAfter(ctx context.Context, id int, topic string, after *Place, limit int) ([]Entry, error) {
	correlation, n := 2.0, 0 // more than there is
	if after != nil {
		correlation, n = after.Correlation, after.N
	}
	return store.List[Entry](ctx, r.db, entriesSQL+`WHERE e.collection=$1 AND e.topic=$2 AND (e.correlation, -u.n) < ($3, -$4::bigint) ORDER BY e.correlation DESC, u.n LIMIT $5`, id, topic, correlation, n, limit)
}

// Counts counts the URLs of a collection's crawl.
type Counts struct {
	Waiting  int            `json:"waiting"`
	Hosts    int            `json:"hosts"`           // hosts with requests
	Outcomes map[string]int `json:"outcomes" db:"-"` // of requested URLs
}

// Counts counts them.
func (r *Record) Counts(ctx context.Context, id int) (Counts, error) {
	c, err := store.One(ctx, r.db, pgx.RowToStructByPos[Counts], nil, `SELECT (SELECT count(*) FROM collection_urls WHERE collection=$1 AND waiting),
		(SELECT count(*) FROM collection_hosts WHERE collection=$1 AND requests > 0)`, id)
	if err != nil {
		return c, err
	}
	c.Outcomes, err = store.Map[string, int](ctx, r.db, `SELECT outcome, count(*)::int FROM collection_urls
		WHERE collection=$1 AND NOT waiting GROUP BY outcome`, id)
	return c, err
}

// Trapped is a host that the crawl leaves as a trap.
type Trapped struct {
	Host     string `json:"host"`
	Pages    int    `json:"pages"`
	Relevant int    `json:"relevant"`
}

// Trapped returns these hosts, those with the most pages first.
func (r *Record) Trapped(ctx context.Context, id int, t gleaner.Trap) ([]Trapped, error) {
	return store.List[Trapped](ctx, r.db, `SELECT host, pages, relevant FROM collection_hosts
		WHERE collection=$1 AND $2::int > 0 AND pages >= $2::int AND relevant < $3::float8 * pages ORDER BY pages DESC, host COLLATE "C"`, id, t.After, t.Rate)
}

// Acceptance counts the documents that the library's filter accepted, each once for any number of
// addresses.
type Acceptance struct {
	Pages     int `json:"pages"`
	Documents int `json:"documents"`
	Accepted  int `json:"accepted"`
}

// Acceptance counts it by the topic that each page or document is most like, "" for what
// is like none, and over all. Only documents that belong to a collection come to the filter.
func (r *Record) Acceptance(ctx context.Context, id int) (all Acceptance, by map[string]Acceptance, err error) {
	type row struct {
		All   bool
		Topic string
		Acceptance
	}
	rows, err := store.List[row](ctx, r.db, `SELECT grouping(u.topic)=1, coalesce(u.topic, ''), (count(*) FILTER (WHERE u.kind=$2))::int, (count(*) FILTER (WHERE u.kind=$3))::int,
			(count(DISTINCT d.sha256) FILTER (WHERE d.state=$4))::int
		FROM collection_urls u LEFT JOIN documents d ON d.sha256=u.sha256 AND u.sha256<>''
		WHERE u.collection=$1 AND NOT u.waiting AND u.kind<>'' GROUP BY GROUPING SETS ((), (u.topic))`,
		id, Page, Document, string(gleaner.DocumentAccepted))
	by = map[string]Acceptance{}
	for _, a := range rows {
		if a.All {
			all = a.Acceptance
		} else {
			by[a.Topic] = a.Acceptance
		}
	}
	return all, by, err
}
