package collections

import (
	"context"
	"encoding/json"
	"time"

	"github.com/jackc/pgx/v5"

	"gleaner/internal/record/frontier"
	"gleaner/internal/record/store"
)

// Example is a page with a person's label for a topic.
type Example struct {
	URL   string
	About bool
	Words string // separated by spaces
}

// SetExamples sets the labelled pages of a topic. Its classifier learns only from these and from
// pages that a person judges.
func (r *Record) SetExamples(ctx context.Context, id int, topic string, pages []Example) error {
	n := len(pages)
	hashes, urls, words, about := make([]frontier.Hash, n), make([]string, n), make([]string, n), make([]bool, n)
	for i, p := range pages {
		hashes[i], urls[i], words[i], about[i] = frontier.HashOf(p.URL), p.URL, p.Words, p.About
	}
	b := &pgx.Batch{}
	b.Queue(`DELETE FROM collection_examples WHERE collection=$1 AND topic=$2 AND NOT judged`, id, topic)
	b.Queue(`INSERT INTO collection_examples (collection, topic, hash, url, about, judged, words)
		SELECT $1, $2, hash, url, about, false, words FROM unnest($3::bytea[], $4::text[], $5::bool[], $6::text[]) AS p(hash, url, about, words)
		ON CONFLICT DO NOTHING`, id, topic, hashes, urls, about, words)
	return r.db.Send(ctx, b)
}

// Judged is a person's verdict on a page of the crawl.
type Judged struct {
	Topic string
	Hash  frontier.Hash
	About bool
}

// Judge stores judged pages as examples without duplicates, and returns their number. It skips
// pages whose words are not stored.
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

// Examples returns the labelled pages of a topic.
func (r *Record) Examples(ctx context.Context, id int, topic string) ([]Example, error) {
	return store.List[Example](ctx, r.db, `SELECT url, about, words FROM collection_examples WHERE collection=$1 AND topic=$2 ORDER BY url COLLATE "C"`, id, topic)
}

// Read returns at most most of the latest pages that are no examples of a topic.
func (r *Record) Read(ctx context.Context, id int, topic string, most int) ([]Example, error) {
	return store.List[Example](ctx, r.db, `SELECT u.url, false, w.words FROM collection_words w JOIN collection_urls u ON u.collection=w.collection AND u.hash=w.hash
		WHERE w.collection=$1 AND NOT EXISTS (SELECT FROM collection_examples e WHERE e.collection=$1 AND e.topic=$2 AND e.hash=w.hash)
		ORDER BY u.n DESC LIMIT $3`, id, topic, most)
}

// ForgetWords deletes the words of all pages except the latest but pages and entries of
// collections. Concurrent calls do not block each other.
func (r *Record) ForgetWords(ctx context.Context, id, but int) error {
	return r.db.Exec(ctx, `WITH old AS (SELECT w.hash FROM collection_words w WHERE w.collection=$1
		AND NOT EXISTS (SELECT FROM collection_entries e WHERE e.collection=$1 AND e.hash=w.hash)
		AND w.hash NOT IN (SELECT l.hash FROM collection_words l JOIN collection_urls u ON u.collection=l.collection AND u.hash=l.hash
			WHERE l.collection=$1 ORDER BY u.n DESC LIMIT $2) FOR UPDATE OF w SKIP LOCKED)
		DELETE FROM collection_words w USING old WHERE w.collection=$1 AND w.hash=old.hash`, id, but)
}

// Learning is one training of a topic's classifier after a number of pages.
type Learning struct {
	Topic        string    `json:"topic"`
	Version      int       `json:"version"` // from 1, counts successful ones of the topic; a failed one repeats the last
	Pages        int       `json:"pages"`   // pages and documents read
	At           time.Time `json:"at"`
	Labelled     int       `json:"labelled"`           // examples labelled by a person
	SelfLabelled int       `json:"own"`                // examples labelled by the classifier
	Accuracy     *float64  `json:"accuracy,omitempty"` // on a person's labels of held-out sites; nil if not measurable
	Note         string    `json:"note,omitempty"`     // the failure; the last classifier stays
}

const (
	modelsKept = 10 // number of stored classifiers per topic
	notEnded   = "it is under way, or its process ended"
)

const pagesReadSQL = `SELECT count(*) FROM collection_urls WHERE collection=$1 AND kind<>''`

// PagesRead returns the number of pages and documents read, including those to be read again.
func (r *Record) PagesRead(ctx context.Context, id int) (int, error) {
	return store.Get[int](ctx, r.db, pagesReadSQL, id)
}

// BeginLearning records the start of a training, and reports whether the caller must do it.
// Exactly one of concurrent callers gets true; another does after that one's process ended or its
// answer was lost. It sets l.At, by which LeaveLearning matches the training.
func (r *Record) BeginLearning(ctx context.Context, id int, l *Learning) (mine bool, err error) {
	l.At, err = store.One(ctx, r.db, pgx.RowTo[time.Time], nil, `INSERT INTO collection_learnings (collection, topic, pages, note) VALUES ($1,$2,$3,$4)
		ON CONFLICT (collection, topic, pages) DO UPDATE SET at=now()
		WHERE collection_learnings.note=$4 AND collection_learnings.at < now() - interval '10 minutes' RETURNING at`, id, l.Topic, l.Pages, notEnded)
	return !l.At.IsZero(), err
}

// LeaveLearning returns a training to other callers, unless another caller has taken it over.
func (r *Record) LeaveLearning(ctx context.Context, id int, l Learning) error {
	return r.db.Exec(ctx, `DELETE FROM collection_learnings WHERE collection=$1 AND topic=$2 AND pages=$3 AND at=$4`,
		id, l.Topic, l.Pages, l.At)
}

// EndLearning records the result of a training with its classifier, nil after a failure. If another
// caller has taken the training over, the first result counts.
func (r *Record) EndLearning(ctx context.Context, id int, l Learning, model json.RawMessage) error {
	b := &pgx.Batch{}
	b.Queue(`UPDATE collection_learnings SET at=now(), told=$4, own=$5, accuracy=$6, note=$7, model=$8
		WHERE collection=$1 AND topic=$2 AND pages=$3 AND note=$9`, id, l.Topic, l.Pages, l.Labelled, l.SelfLabelled, l.Accuracy, l.Note, model, notEnded)
	b.Queue(`UPDATE collection_learnings SET model=NULL WHERE collection=$1 AND topic=$2 AND model IS NOT NULL AND pages NOT IN (
		SELECT pages FROM collection_learnings WHERE collection=$1 AND topic=$2 AND model IS NOT NULL ORDER BY at DESC, pages DESC LIMIT $3)`, id, l.Topic, modelsKept)
	return r.db.Send(ctx, b)
}

// Learnings returns all trainings by topic, the latest last.
func (r *Record) Learnings(ctx context.Context, id int) ([]Learning, error) {
	return store.List[Learning](ctx, r.db, `SELECT topic, (count(*) FILTER (WHERE note='') OVER (PARTITION BY topic ORDER BY at, pages))::int, pages, at, told, own, accuracy, note
		FROM collection_learnings WHERE collection=$1 ORDER BY topic COLLATE "C", at, pages`, id)
}

// Models returns the latest classifiers by topic.
func (r *Record) Models(ctx context.Context, id int) (map[string]json.RawMessage, error) {
	return store.Map[string, json.RawMessage](ctx, r.db, `SELECT DISTINCT ON (topic) topic, model FROM collection_learnings WHERE collection=$1 AND model IS NOT NULL ORDER BY topic, at DESC, pages DESC`, id)
}
