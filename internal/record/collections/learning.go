package collections

import (
	"context"
	"encoding/json"
	"time"

	"github.com/jackc/pgx/v5"

	"gleaner/internal/record/frontier"
	"gleaner/internal/record/store"
)

// Example is a page of which a person said whether it is about a topic.
type Example struct {
	URL   string
	About bool
	Words string // parted by blanks
}

// SetExamples has a topic learnt from labelled pages, and from no others but those that a
// person judges.
func (r *Record) SetExamples(ctx context.Context, id int, topic string, pages []Example) error {
	n := len(pages)
	hashes, urls, words, about := make([]frontier.Hash, n), make([]string, n), make([]string, n), make([]bool, n)
	for i, p := range pages {
		hashes[i], urls[i], words[i], about[i] = frontier.HashOf(p.URL), p.URL, p.Words, p.About
	}
	return r.db.Tx(ctx, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, `DELETE FROM collection_examples WHERE collection=$1 AND topic=$2 AND NOT judged`, id, topic); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, `INSERT INTO collection_examples (collection, topic, hash, url, about, judged, words)
			SELECT $1, $2, hash, url, about, false, words FROM unnest($3::bytea[], $4::text[], $5::bool[], $6::text[]) AS p(hash, url, about, words)
			ON CONFLICT DO NOTHING`, id, topic, hashes, urls, about, words)
		return err
	})
}

// Judged is what a person said of a page that was read.
type Judged struct {
	Topic string
	Hash  frontier.Hash
	About bool
}

// Judge makes examples of pages that a person judged, each once, and says of how many:
// the words of the others are not kept.
func (r *Record) Judge(ctx context.Context, id int, all []Judged) (kept int, err error) {
	topics, hashes, about := make([]string, len(all)), make([]frontier.Hash, len(all)), make([]bool, len(all))
	for i, j := range all {
		topics[i], hashes[i], about[i] = j.Topic, j.Hash, j.About
	}
	return store.Get[int](ctx, r.db, `WITH j AS (SELECT * FROM unnest($2::text[], $3::bytea[], $4::bool[]) AS j(topic, hash, about)),
		again AS (UPDATE collection_examples e SET about=j.about, judged=true FROM j WHERE e.collection=$1 AND e.topic=j.topic AND e.hash=j.hash RETURNING 1),
		made AS (INSERT INTO collection_examples (collection, topic, hash, url, about, judged, words)
			SELECT $1, j.topic, j.hash, u.url, j.about, true, w.words FROM j
			JOIN collection_words w ON w.collection=$1 AND w.hash=j.hash JOIN collection_urls u ON u.collection=$1 AND u.hash=j.hash
			WHERE NOT EXISTS (SELECT FROM collection_examples e WHERE e.collection=$1 AND e.topic=j.topic AND e.hash=j.hash)
			ON CONFLICT (collection, topic, hash) DO UPDATE SET about=EXCLUDED.about, judged=true RETURNING 1)
		SELECT (SELECT count(*) FROM again) + (SELECT count(*) FROM made)`, id, topics, hashes, about)
}

// Examples are the pages of which a person said whether they are about a topic.
func (r *Record) Examples(ctx context.Context, id int, topic string) ([]Example, error) {
	return store.List[Example](ctx, r.db, `SELECT url, about, words FROM collection_examples WHERE collection=$1 AND topic=$2 ORDER BY url COLLATE "C"`, id, topic)
}

// Read are pages that were read and are no example of a topic, the latest first, at most
// so many.
func (r *Record) Read(ctx context.Context, id int, topic string, most int) ([]Example, error) {
	return store.List[Example](ctx, r.db, `SELECT u.url, false, w.words FROM collection_words w JOIN collection_urls u ON u.collection=w.collection AND u.hash=w.hash
		WHERE w.collection=$1 AND NOT EXISTS (SELECT FROM collection_examples e WHERE e.collection=$1 AND e.topic=$2 AND e.hash=w.hash)
		ORDER BY u.n DESC LIMIT $3`, id, topic, most)
}

// ForgetWords forgets the words of all but so many of the latest pages, and of what is in a
// collection. Two that do so at once do not wait for each other.
func (r *Record) ForgetWords(ctx context.Context, id, but int) error {
	return r.db.Exec(ctx, `WITH old AS (SELECT w.hash FROM collection_words w WHERE w.collection=$1
		AND NOT EXISTS (SELECT FROM collection_entries e WHERE e.collection=$1 AND e.hash=w.hash)
		AND w.hash NOT IN (SELECT l.hash FROM collection_words l JOIN collection_urls u ON u.collection=l.collection AND u.hash=l.hash
			WHERE l.collection=$1 ORDER BY u.n DESC LIMIT $2) FOR UPDATE OF w SKIP LOCKED)
		DELETE FROM collection_words w USING old WHERE w.collection=$1 AND w.hash=old.hash`, id, but)
}

// Learning is what became of having a topic's classifier learn anew, after so many pages of
// its collection.
type Learning struct {
	Topic    string    `json:"topic"`
	Version  int       `json:"version"` // from 1 on, of those of the topic that did not fail; of one that failed that of before
	Pages    int       `json:"pages"`   // and documents that were read
	At       time.Time `json:"at"`
	Told     int       `json:"labelled"`           // pages learnt from that a person labelled
	Own      int       `json:"own"`                // of its own labelling
	Accuracy *float64  `json:"accuracy,omitempty"` // on those that a person labelled, their sites left out; nil where that cannot be measured
	Note     string    `json:"note,omitempty"`     // why it failed: what was learnt before stays
}

const (
	modelsKept = 10 // learnings of a topic whose classifiers are kept
	notEnded   = "it is under way, or its process ended"
)

const pagesReadSQL = `SELECT count(*) FROM collection_urls WHERE collection=$1 AND kind<>''`

// PagesRead counts the pages and documents that were read, also those to be read again.
func (r *Record) PagesRead(ctx context.Context, id int) (int, error) {
	return store.Get[int](ctx, r.db, pagesReadSQL, id)
}

// BeginLearning notes that a topic's classifier learns anew, and reports whether the caller
// is to do it: one of all who would after so many pages, or another where that one's process
// ended, or the answer to it was lost.
func (r *Record) BeginLearning(ctx context.Context, id int, l Learning) (mine bool, err error) {
	tag, err := r.db.Pool.Exec(ctx, `INSERT INTO collection_learnings (collection, topic, pages, note) VALUES ($1,$2,$3,$4)
		ON CONFLICT (collection, topic, pages) DO UPDATE SET at=now()
		WHERE collection_learnings.note=$4 AND collection_learnings.at < now() - interval '10 minutes'`, id, l.Topic, l.Pages, notEnded)
	return tag.RowsAffected() == 1, err
}

// LeaveLearning leaves one that was begun to others.
func (r *Record) LeaveLearning(ctx context.Context, id int, l Learning) error {
	return r.db.Exec(ctx, `DELETE FROM collection_learnings WHERE collection=$1 AND topic=$2 AND pages=$3`, id, l.Topic, l.Pages)
}

// EndLearning notes what one came to, with its classifier, nil where it failed.
func (r *Record) EndLearning(ctx context.Context, id int, l Learning, model json.RawMessage) error {
	return r.db.Tx(ctx, func(tx pgx.Tx) error {
		_, err := tx.Exec(ctx, `UPDATE collection_learnings SET at=now(), told=$4, own=$5, accuracy=$6, note=$7, model=$8
			WHERE collection=$1 AND topic=$2 AND pages=$3`, id, l.Topic, l.Pages, l.Told, l.Own, l.Accuracy, l.Note, model)
		if err != nil {
			return err
		}
		_, err = tx.Exec(ctx, `UPDATE collection_learnings SET model=NULL WHERE collection=$1 AND topic=$2 AND model IS NOT NULL AND pages NOT IN (
			SELECT pages FROM collection_learnings WHERE collection=$1 AND topic=$2 AND model IS NOT NULL ORDER BY at DESC, pages DESC LIMIT $3)`, id, l.Topic, modelsKept)
		return err
	})
}

// Learnings are all of them, by topic, the latest last.
func (r *Record) Learnings(ctx context.Context, id int) ([]Learning, error) {
	return store.List[Learning](ctx, r.db, `SELECT topic, (count(*) FILTER (WHERE note='') OVER (PARTITION BY topic ORDER BY at, pages))::int, pages, at, told, own, accuracy, note
		FROM collection_learnings WHERE collection=$1 ORDER BY topic COLLATE "C", at, pages`, id)
}

// Models are the classifiers that were learnt last, by topic.
func (r *Record) Models(ctx context.Context, id int) (map[string]json.RawMessage, error) {
	return store.Map[string, json.RawMessage](ctx, r.db, `SELECT DISTINCT ON (topic) topic, model FROM collection_learnings WHERE collection=$1 AND model IS NOT NULL ORDER BY topic, at DESC, pages DESC`, id)
}
