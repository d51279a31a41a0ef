package collections

import (
	"context"
	"encoding/json"

	"github.com/jackc/pgx/v5"

	"gleaner/internal/record/frontier"
)

// Linked is a page with its words and links.
type Linked struct {
	URL, Host   string
	Hash        frontier.Hash
	Alias       frontier.Hash // of the address to which it redirected; zero for none
	Anchor      string        // words of the link to it
	Words       string        // of its text, separated by spaces
	Correlation float64       // with the most similar topic
	Links       []Lead
}

// Lead is a recorded link of a page, followed or not.
type Lead struct {
	To     frontier.Hash
	Anchor string
}

// linked records the links of a page.
func linked(ctx context.Context, tx pgx.Tx, id int, v *Visit) error {
	if v.Leads == nil {
		return nil
	}
	var alias *frontier.Hash
	if v.Alias != "" {
		a := frontier.HashOf(v.Alias)
		alias = &a
	}
	targets, anchors := make([]frontier.Hash, len(v.Leads)), make([]string, len(v.Leads))
	for i, l := range v.Leads {
		targets[i], anchors[i] = l.To, l.Anchor
	}
	_, err := tx.Exec(ctx, `INSERT INTO collection_links (collection, hash, alias, targets, anchors) VALUES ($1,$2,$3,$4,$5)
		ON CONFLICT (collection, hash) DO UPDATE SET alias=EXCLUDED.alias, targets=EXCLUDED.targets, anchors=EXCLUDED.anchors`, id, v.Hash(), alias, targets, anchors)
	return err
}

// Linked returns at most most of the latest pages with recorded links, in the order of their
// requests.
func (c Crawl) Linked(ctx context.Context, most int) (out []Linked, err error) {
	rows, _ := c.db.Pool.Query(ctx, `WITH last AS (SELECT u.url, u.host, u.hash, u.anchor, u.correlation, u.n FROM collection_urls u
			WHERE u.collection=$1 AND NOT u.waiting AND EXISTS (SELECT FROM collection_links l WHERE l.collection=u.collection AND l.hash=u.hash) ORDER BY u.n DESC LIMIT $2)
		SELECT u.url, u.host, u.hash, l.alias, u.anchor, coalesce(w.words, ''), u.correlation, l.targets, l.anchors FROM last u
		JOIN collection_links l ON l.collection=$1 AND l.hash=u.hash LEFT JOIN collection_words w ON w.collection=$1 AND w.hash=u.hash ORDER BY u.n`, c.ID, most)
	var p Linked
	var targets []frontier.Hash
	var anchors []string
	_, err = pgx.ForEachRow(rows, []any{&p.URL, &p.Host, &p.Hash, &p.Alias, &p.Anchor, &p.Words, &p.Correlation, &targets, &anchors}, func() error {
		p.Links = make([]Lead, len(targets))
		for i := range targets {
			p.Links[i] = Lead{targets[i], anchors[i]}
		}
		out = append(out, p)
		return nil
	})
	return out, err
}

// ForgetLinks deletes the links of all pages except the latest but.
func (r *Record) ForgetLinks(ctx context.Context, id, but int) error {
	return r.db.Exec(ctx, `WITH old AS (SELECT l.hash FROM collection_links l WHERE l.collection=$1 AND l.hash NOT IN (
			SELECT k.hash FROM collection_links k JOIN collection_urls u ON u.collection=k.collection AND u.hash=k.hash
			WHERE k.collection=$1 ORDER BY u.n DESC LIMIT $2) FOR UPDATE OF l SKIP LOCKED)
		DELETE FROM collection_links l USING old WHERE l.collection=$1 AND l.hash=old.hash`, id, but)
}

// BeginTraining reports whether the caller must learn from the crawl's links now, at this number of
// requests. Exactly one of the callers since the last training gets true; if it dies, the next one
// does.
func (c Crawl) BeginTraining(ctx context.Context, last, requests int) (mine bool, err error) {
	tag, err := c.db.Pool.Exec(ctx, `UPDATE collections SET lesson=$3 WHERE id=$1 AND lesson = $2 AND lesson < $3`, c.ID, last, requests)
	return tag.RowsAffected() == 1, err
}

// SaveTraining stores the result of a training.
func (c Crawl) SaveTraining(ctx context.Context, requests int, what json.RawMessage) error {
	return c.db.Exec(ctx, `UPDATE collections SET learnt=$3, learnt_at=$2 WHERE id=$1 AND learnt_at < $2`, c.ID, requests, what)
}

// LastTraining returns the result of the last training, nil for none, and its number of requests.
func (c Crawl) LastTraining(ctx context.Context) (what json.RawMessage, requests int, err error) {
	err = c.db.Pool.QueryRow(ctx, `SELECT learnt, learnt_at FROM collections WHERE id=$1`, c.ID).Scan(&what, &requests)
	return what, requests, err
}
