//go:build linux

package chaos

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"github.com/jackc/pgx/v5"

	"gleaner/internal/each"
	"gleaner/internal/fetch"
	"gleaner/internal/lab/sampleweb"
	"gleaner/internal/lab/topicweb"
	"gleaner/internal/record/store"
	"gleaner/internal/topic"
)

// topicWeb has the hosts of the collection, none of which the harvest asks.
func topicWeb(o Options) *topicweb.Web {
	return topicweb.New(topicweb.Options{Seed: o.Seed, Hosts: 24, Pages: 20, Topics: 2, Share: 4})
}

// beginBeside starts an import and a collection, which go on beside the harvest.
// The collection follows every link, so that what it holds does not depend on
// the order of its requests.
func (w *world) beginBeside(ctx context.Context) error {
	mirror, topics := filepath.Join(w.dir, "mirror"), filepath.Join(w.dir, "topics.yaml")
	if err := writeMirror(mirror, w.o); err != nil {
		return err
	}
	if err := w.writeTopics(topics); err != nil {
		return err
	}
	for _, args := range besideCommands(mirror, topics) {
		if _, err := w.starter(ctx, args...); err != nil {
			return err
		}
	}
	return nil
}

// besideCommands are the commands that begin what goes on beside the harvest. The record
// is migrated first, since the workers may still be at it.
func besideCommands(mirror, topics string) [][]string {
	return [][]string{{"migrate"}, {"import", mirror, "--format", "mirror"}, {"collect", topics}}
}

// harvestCommand begins the harvest and waits for its end.
func (w *world) harvestCommand() []string {
	return []string{"harvest", w.venue(), "--years", w.years(), "--again", "none", "--wait"}
}

// writeMirror lays the papers of another sample web out as wget does, on hosts that no
// crawl asks: what the import finds does not hang on who was first.
func writeMirror(dir string, o Options) error {
	web := sampleweb.New(sampleweb.Options{Seed: o.Seed + 1, Papers: 160, Authors: 100})
	for _, p := range web.Truth().Papers {
		for _, from := range p.URLs {
			u, err := url.Parse(from)
			if err != nil {
				return err
			}
			answer := httptest.NewRecorder()
			web.ServeHTTP(answer, httptest.NewRequest(http.MethodGet, from, nil))
			file := filepath.Join(dir, "kept."+u.Host, filepath.FromSlash(u.Path))
			if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
				return err
			}
			if err := os.WriteFile(file, answer.Body.Bytes(), 0o600); err != nil {
				return err
			}
		}
	}
	return nil
}

// writeTopics writes the file of topics, and of no limits; pages stand for each, since
// the search engine belongs to the harvest. JSON is YAML.
func (w *world) writeTopics(file string) error {
	var topics []map[string]any
	web := topicWeb(w.o)
	for _, t := range web.Topics() {
		topics = append(topics, map[string]any{"name": t.ID, "pages": web.Search(t.Query, topic.Defaults().Results)})
	}
	text, err := json.Marshal(map[string]any{"topics": topics, "size": 10000, "threshold": 0.5, "cutoff": 1000,
		"pages": 0, "host-pages": 0, "domain-pages": 0, "domain-share": 1})
	if err != nil {
		return err
	}
	return os.WriteFile(file, text, 0o600)
}

// awaitWork waits until the harvest, the import and the collection all work, or the
// harvest is over.
func (w *world) awaitWork(ctx context.Context) error {
	conn, err := pgx.Connect(ctx, w.postgres.stack.DatabaseURL)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(ctx) }()
	for work := false; !work; {
		if err := fetch.Wait(ctx, 100*time.Millisecond); err != nil {
			return err
		}
		err := conn.QueryRow(ctx, `SELECT EXISTS (SELECT FROM sites WHERE state = 'crawling' AND crawl > 0)
			AND EXISTS (SELECT FROM jobs WHERE done > 0) AND EXISTS (SELECT FROM collections WHERE requests > 10)
			OR EXISTS (SELECT FROM harvests WHERE stage IN ('complete', 'failed', 'cancelled'))`).Scan(&work)
		if err != nil {
			return err
		}
	}
	return nil
}

// lookBeside reads what the import and the collection hold.
func lookBeside(ctx context.Context, conn *pgx.Conn, o *outcome) (err error) {
	if o.imported, err = setOf(ctx, conn, `SELECT concat_ws(' ', url, outcome, sha256) FROM import_records`); err != nil {
		return err
	}
	o.collected, err = setOf(ctx, conn, `SELECT concat_ws(' ', e.topic, u.url)
		FROM collection_entries e JOIN collection_urls u USING (collection, hash)`)
	return err
}

// setOf are the texts that a query gives.
func setOf(ctx context.Context, conn *pgx.Conn, sql string) (map[string]bool, error) {
	all, err := store.Column[string](ctx, conn, sql)
	return each.Members(all), err
}
