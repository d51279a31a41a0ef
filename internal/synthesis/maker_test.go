package synthesis_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"gleaner/internal/devstack/devtest"
	"gleaner/internal/gleaner/evidence"
	"gleaner/internal/record/collections"
	"gleaner/internal/record/store"
	. "gleaner/internal/synthesis"
	"gleaner/internal/topic"
	"gleaner/internal/web/page"
	"gleaner/internal/web/rules"
)

func TestMain(m *testing.M) { os.Exit(devtest.Main(m)) }

// engine finds pages 0, 1, 2 … of a topic; a query that says so it refuses.
type engine struct{}

type refusal struct{ error }

func (refusal) Refused() bool { return true }

func (engine) Search(_ context.Context, query string, n int) (out []evidence.Result, err error) {
	switch {
	case query == "refused":
		return nil, refusal{errors.New("status 400")}
	case strings.HasPrefix(query, "none"):
		return nil, nil
	}
	for i := range n {
		out = append(out, evidence.Result{URL: fmt.Sprintf("http://%s%d.example/", query, i)})
	}
	return out, nil
}

// Get gives a page with some words of its topic.
func (engine) Get(_ context.Context, url string) (*page.Page, string, error) {
	name := strings.TrimRight(strings.TrimSuffix(strings.TrimPrefix(url, "http://"), ".example/"), "0123456789")
	return &page.Page{URL: url, Text: strings.Repeat(name+" prime ring field group lattice ", 3)}, url, nil
}

// prepares asks for collections and makes their centroids.
func prepares(t *testing.T, db *store.DB, ask func(*Ask), topics ...topic.Topic) (Prepared, collections.Collection, error) {
	t.Helper()
	a, err := DefaultAsk()
	require.NoError(t, err)
	ask(&a)
	record := collections.In(db)
	require.NoError(t, record.End(t.Context(), "some", collections.Ended, ""))
	_, err = record.Ask(t.Context(), "some", a, topics)
	require.NoError(t, err)
	cfg := Defaults()
	cfg.Rules = rules.Sets{rules.New(rules.Lists{Ignore: []string{"two6.example"}}, nil)}
	m := New(Tools{DB: db, Searcher: engine{}, Getter: engine{}, Passing: func(error) bool { return false }, Config: cfg, Log: slog.New(slog.DiscardHandler)})
	p, err := m.Prepare(t.Context(), "some", func(int) {})
	c, gone := record.Get(t.Context(), "some")
	require.NoError(t, gone)
	return p, c, err
}

func open(t *testing.T) *store.DB {
	t.Helper()
	db, err := store.Open(t.Context(), devtest.Postgres(t), 4)
	require.NoError(t, err)
	t.Cleanup(db.Close)
	return db
}

// TestPrepareUnderOtherOptions makes the centroids anew of what was found, and searches
// again where more results are asked for. What the operator's lists leave out is not crawled.
func TestPrepareUnderOtherOptions(t *testing.T) {
	t.Parallel()
	db := open(t)
	two := topic.Topic{ID: "two", Query: "two"}
	_, c, err := prepares(t, db, func(*Ask) {}, two)
	require.NoError(t, err)
	counts, err := collections.In(db).Counts(t.Context(), c.ID)
	require.NoError(t, err)
	require.Equal(t, 6, counts.Waiting, "two6.example is on a list")
	_, c, err = prepares(t, db, func(a *Ask) { a.Terms, a.Overlap, a.Results = 3, 2, 9 }, two)
	require.NoError(t, err)
	var m topic.Model
	require.NoError(t, json.Unmarshal(c.Model, &m))
	require.Len(t, m.Centroids[0].Weights, 3)
	require.Equal(t, 2, m.Options.Overlap)
	require.Equal(t, 9, m.Centroids[0].Pages)
}

// TestPrepareTellsLittle: what a workflow is told is bounded, however many topics have
// no centroid.
func TestPrepareTellsLittle(t *testing.T) {
	t.Parallel()
	topics := []topic.Topic{{ID: "two", Query: "two"}}
	for i := range 900 {
		topics = append(topics, topic.Topic{ID: fmt.Sprint(strings.Repeat("n", 400), i), Query: fmt.Sprint("none", i)})
	}
	p, _, err := prepares(t, open(t), func(*Ask) {}, topics...)
	require.NoError(t, err)
	require.Len(t, p.Without, 21)
	require.Equal(t, "and 880 more", p.Without[20])
}

// TestPrepareWhereTheSearchRefuses says so, and is not tried again for ever.
func TestPrepareWhereTheSearchRefuses(t *testing.T) {
	t.Parallel()
	_, _, err := prepares(t, open(t), func(*Ask) {}, topic.Topic{ID: "bad", Query: "refused"})
	require.ErrorIs(t, err, ErrInput)
	require.ErrorContains(t, err, `topic "bad"`)
}
