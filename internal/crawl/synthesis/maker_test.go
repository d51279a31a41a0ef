package synthesis_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	. "gleaner/internal/crawl/synthesis"
	"gleaner/internal/devstack/devtest"
	"gleaner/internal/devstack/storetest"
	"gleaner/internal/gleaner"
	"gleaner/internal/gleaner/evidence"
	"gleaner/internal/homepage"
	"gleaner/internal/record/collections"
	"gleaner/internal/record/frontier"
	"gleaner/internal/record/store"
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

// getting and searching are a getter and a search engine in a function.
type (
	getting   func(url string) (*page.Page, string, error)
	searching func(query string, n int) ([]evidence.Result, error)
)

func (get getting) Get(_ context.Context, url string) (*page.Page, string, error) { return get(url) }

func (search searching) Search(_ context.Context, query string, n int) ([]evidence.Result, error) {
	return search(query, n)
}

// getBefore is the engine's getter before which something is done.
func getBefore(t *testing.T, do func() error) getting {
	return func(url string) (*page.Page, string, error) {
		if err := do(); err != nil {
			return nil, "", err
		}
		return engine{}.Get(t.Context(), url)
	}
}

// prepares asks for collections and makes their centroids.
func prepares(t *testing.T, db *store.DB, ask func(*Request), topics ...topic.Topic) (Prepared, collections.Collection, error) {
	t.Helper()
	return preparesBy(t, db, engine{}, ask, topics...)
}

func preparesBy(t *testing.T, db *store.DB, searcher Searcher, ask func(*Request), topics ...topic.Topic) (Prepared, collections.Collection, error) {
	a := defaultAsk(t)
	ask(&a)
	record := collections.In(db)
	require.NoError(t, record.End(t.Context(), "some", 0, collections.Ended, ""))
	_, _, err := record.Submit(t.Context(), "some", a, topics)
	require.NoError(t, err)
	cfg := Defaults()
	cfg.Links = rules.Lists{Ignore: []string{"two6.example"}}
	m := New(Tools{DB: db, Searcher: searcher, Getter: engine{}, Config: cfg, Log: slog.New(slog.DiscardHandler)})
	p, err := m.Prepare(t.Context(), "some", func(int) {})
	c, gone := record.Get(t.Context(), "some")
	require.NoError(t, gone)
	return p, c, err
}

func open(t *testing.T) *store.DB { return storetest.Open(t, 4) }

func maker(db *store.DB, by Searcher, get homepage.Getter) *Maker {
	return New(Tools{
		DB:       db,
		Searcher: by,
		Getter:   get,
		Config:   Defaults(),
		Log:      slog.New(slog.DiscardHandler),
	})
}

// TestPreparePaused with its first search, and with its third page: neither a search nor a page
// is asked for any more, and later those alone that are left.
func TestPreparePaused(t *testing.T) {
	t.Parallel()
	db := open(t)
	record, asked, searched := collections.In(db), 0, 0
	pauses := func(n *int, at int) error {
		if *n++; *n != at {
			return nil
		}
		return record.Pause(t.Context(), "some", true)
	}
	search := searching(func(query string, n int) ([]evidence.Result, error) {
		if err := pauses(&searched, 1); err != nil {
			return nil, err
		}
		return engine{}.Search(t.Context(), query, n)
	})
	topics := []topic.Topic{{ID: "two", Query: "two"}, {ID: "three", Query: "three"}}
	_, _, err := record.Submit(t.Context(), "some", Request{Bounds: Bounds{Options: topic.Defaults()}}, topics)
	require.NoError(t, err)
	m, all := maker(db, search, getBefore(t, func() error { return pauses(&asked, 3) })), 2*topic.Defaults().Results
	for _, want := range [][]int{{1, 0}, {2, 3}, {2, all}} { // searches, pages
		p := devtest.Must(m.Prepare(t.Context(), "some", func(int) {}))(t)
		require.Equal(t, want, []int{searched, asked})
		if p.Paused {
			require.Equal(t, Prepared{Paused: true}, p)
		} else {
			require.Equal(t, []int{all, 2}, []int{asked, p.Centroids})
		}
		require.NoError(t, record.Pause(t.Context(), "some", false))
	}
}

// TestAResultThatMakesTheProgramPanic is left out of its centroid, and the others make it.
func TestAResultThatMakesTheProgramPanic(t *testing.T) {
	t.Parallel()
	db := open(t)
	record := collections.In(db)
	ask := Request{Bounds: Bounds{Options: topic.Defaults()}}
	_, _, err := record.Submit(t.Context(), "some", ask, []topic.Topic{{ID: "two", Query: "two"}})
	require.NoError(t, err)
	m := maker(db, engine{}, getting(func(url string) (*page.Page, string, error) {
		if url == "http://two0.example/" {
			return nil, url, nil
		}
		return engine{}.Get(t.Context(), url)
	}))
	require.Equal(t, 1, devtest.Must(m.Prepare(t.Context(), "some", func(int) {}))(t).Centroids)
	c := devtest.Must(record.Get(t.Context(), "some"))(t)
	results := devtest.Must(record.Results(t.Context(), c.ID))(t)
	require.Equal(t, string(frontier.Panicked), results[0].Outcome)
	require.Equal(t, string(gleaner.OK), results[1].Outcome)
}

// TestPrepareUnderOtherOptions makes the centroids anew of what was found, and searches
// again where more results are asked for. What the operator's lists leave out is not crawled.
func TestPrepareUnderOtherOptions(t *testing.T) {
	t.Parallel()
	db := open(t)
	two := topic.Topic{ID: "two", Query: "two"}
	_, c, err := prepares(t, db, func(*Request) {}, two)
	require.NoError(t, err)
	counts := devtest.Must(collections.In(db).Counts(t.Context(), c.ID))(t)
	require.Equal(t, 6, counts.Waiting, "two6.example is on a list")
	_, c, err = prepares(t, db, func(a *Request) { a.Terms, a.Overlap, a.Results = 3, 2, 9 }, two)
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
	p, _, err := prepares(t, open(t), func(*Request) {}, topics...)
	require.NoError(t, err)
	require.Len(t, p.Without, 21)
	require.Equal(t, "and 880 more", p.Without[20])
}

// TestPrepareWhereTheSearchRefuses says so, and is not tried again for ever.
func TestPrepareWhereTheSearchRefuses(t *testing.T) {
	t.Parallel()
	_, _, err := prepares(t, open(t), func(*Request) {}, topic.Topic{ID: "bad", Query: "refused"})
	require.ErrorIs(t, err, ErrInput)
	require.ErrorContains(t, err, `topic "bad"`)
}

// TestPrepareOfAVenue: its found papers make the centroid, without a request, and the
// crawl begins where they were found; of too few its titles are searched for.
func TestPrepareOfAVenue(t *testing.T) {
	t.Parallel()
	db := open(t)
	ctx := t.Context()
	webdb := topic.Topic{ID: "conf/webdb", Venue: "conf/webdb"}
	_, _, err := prepares(t, db, func(*Request) {}, webdb)
	require.ErrorIs(t, err, ErrInput)
	require.ErrorContains(t, err, "harvest it first")

	site := devtest.Must(store.EnsureSite(ctx, db.Pool, "ada.example"))(t)
	sql := `WITH p AS (INSERT INTO papers (key, venue, year, title) VALUES ($1::text, 'conf/webdb', 2001, 'Lattices')),
		d AS (INSERT INTO documents (sha256, sha1, md5, bytes, kind, state, class, first_pages) VALUES ($1, $1, $1, 1, 'pdf', 'accepted', 'paper', 'A lattice is a ring field group prime in a lattice.')),
		l AS (INSERT INTO locations (hash, sha256, site_id, url, parent) VALUES (decode(md5($1), 'hex'), $1, $2, 'http://ada.example/' || $1 || '.pdf', 'http://ada.example/pubs'))
		INSERT INTO matches (paper_key, sha256, verdict, score) VALUES ($1, $1, 'exact', 1)`
	found := func(i int) {
		storetest.Exec(t, db.Pool, sql, fmt.Sprint("k", i), site)
	}
	for i := range 5 {
		if i == 3 { // three are too few
			_, c, err := prepares(t, db, func(*Request) {}, webdb)
			require.NoError(t, err)
			results := devtest.Must(collections.In(db).Results(ctx, c.ID))(t)
			require.Equal(t, "http://lattices0.example/", results[0].URL)
			storetest.Exec(t, db.Pool, `DELETE FROM collections`)
		}
		found(i)
	}
	_, c, err := prepares(t, db, func(*Request) {}, webdb)
	require.NoError(t, err)
	var m topic.Model
	require.NoError(t, json.Unmarshal(c.Model, &m))
	require.Equal(t, 5, m.Centroids[0].Pages)
	require.Contains(t, m.Centroids[0].Weights, "lattice")
	host, _, err := collections.Crawl{Record: collections.In(db), ID: c.ID}.Host(ctx, nil)
	require.NoError(t, err)
	require.Equal(t, "ada.example", host)
	counts := devtest.Must(collections.In(db).Counts(ctx, c.ID))(t)
	require.Equal(t, 1, counts.Waiting, "the page that leads to all of them")

	for i := range 15 {
		found(5 + i)
	}
	_, c, err = prepares(t, db, func(a *Request) { a.Results *= 2 }, webdb)
	require.NoError(t, err)
	results := devtest.Must(collections.In(db).Results(ctx, c.ID))(t)
	papers := map[string]bool{}
	for _, r := range results {
		papers[r.URL] = true
	}
	require.Len(t, results, 14)
	require.Len(t, papers, 14, "each once")
}

// TestPrepareOfADirectory: the crawl begins at what a directory lists, too, and without a
// search engine the centroid is made of it.
func TestPrepareOfADirectory(t *testing.T) {
	t.Parallel()
	db := open(t)
	var pages []string
	for i := range 30 {
		pages = append(pages, fmt.Sprintf("http://two%d.example/", i))
	}
	seeds := func(a *Request) { a.Seeds = map[string][]string{"two": pages, "gone": {"http://gone0.example/"}} }
	waiting := func(c collections.Collection) map[string]float64 {
		out := storetest.Map[string, float64](t, db.Pool,
			`SELECT url, priority FROM collection_urls WHERE collection=$1 AND waiting`, c.ID)
		return out
	}

	for name, searcher := range map[string]Searcher{"searched": engine{}, "alone": nil} {
		two := topic.Topic{ID: "two", Query: "two"}
		_, c, err := preparesBy(t, db, searcher, seeds, two)
		require.NoError(t, err, name)
		got := waiting(c)
		require.Len(t, got, 29, "all but one that the operator's lists leave out: %s", name)
		require.Equal(t, 1.0, got["http://two0.example/"], "it made the centroid: %s", name)
		require.Equal(t, topic.Defaults().Threshold, got["http://two29.example/"], name)
		require.Len(t, devtest.Must(collections.In(db).Results(t.Context(), c.ID))(t), topic.Defaults().Results)
		storetest.Exec(t, db.Pool, `DELETE FROM collections`)
	}
	_, _, err := preparesBy(t, db, nil, seeds, topic.Topic{ID: "gone", Query: "gone"})
	require.ErrorContains(t, err, "no search engine is set (GLEANER_SEARCH); of 4 pages", "one page makes no centroid")
	require.ErrorContains(t, err, "list 1")
}

// TestPrepareLeavesDocumentsOut: what makes a centroid, and begins a crawl, are pages.
func TestPrepareLeavesDocumentsOut(t *testing.T) {
	t.Parallel()
	db := open(t)
	_, c, err := preparesBy(t, db, searching(func(query string, n int) ([]evidence.Result, error) {
		out, err := engine{}.Search(t.Context(), query, n)
		for i := 1; i < len(out); i += 2 {
			out[i].URL += "paper.pdf"
		}
		return out, err
	}), func(*Request) {}, topic.Topic{ID: "two", Query: "two"})
	require.NoError(t, err)
	results := devtest.Must(collections.In(db).Results(t.Context(), c.ID))(t)
	require.Len(t, results, topic.Defaults().Results, "further results stand for the documents")
	for _, r := range results {
		require.NotContains(t, r.URL, ".pdf")
	}
}

// TestTheContextGraphBeginsAtWhatADirectoryLists: seeds are of high priority there.
func TestTheContextGraphBeginsAtWhatADirectoryLists(t *testing.T) {
	t.Parallel()
	db := open(t)
	_, c, err := prepares(t, db, func(a *Request) {
		a.Policy, a.Seeds = ContextGraph, map[string][]string{"two": {"http://listed.example/"}}
	}, topic.Topic{ID: "two", Query: "two"})
	require.NoError(t, err)
	low := storetest.Get[int](t, db.Pool, `SELECT count(*) FROM collection_urls WHERE collection=$1 AND priority < 1`, c.ID)
	require.Zero(t, low)
}

// TestMoreResults: a page that was found before counts once wherever it stands now, no more
// are read than were asked for, and an attempt that was cut off is gone on with without
// another search.
func TestMoreResults(t *testing.T) {
	t.Parallel()
	db := open(t)
	record, searches := collections.In(db), 0
	var away error // of the record
	m := maker(db, searching(func(query string, n int) ([]evidence.Result, error) {
		searches++
		out, err := engine{}.Search(t.Context(), query, n)
		if n > 7 { // the order changes with how much is asked for
			slices.Reverse(out)
		}
		return out, err
	}), getBefore(t, func() error { return away }))
	prepare := func() error { _, err := m.Prepare(t.Context(), "some", func(int) {}); return err }
	ask := func(results int) {
		require.NoError(t, record.End(t.Context(), "some", 0, collections.Ended, ""))
		a := defaultAsk(t)
		a.Results = results
		_, _, err := record.Submit(t.Context(), "some", a, []topic.Topic{{ID: "two", Query: "two"}})
		require.NoError(t, err)
	}
	ask(7)
	require.NoError(t, prepare())
	ask(10)
	away = homepage.ErrRecord
	require.Error(t, prepare())
	away = nil
	require.NoError(t, prepare())
	require.Equal(t, 2, searches)
	c := devtest.Must(record.Get(t.Context(), "some"))(t)
	results := devtest.Must(record.Results(t.Context(), c.ID))(t)
	met := map[string]bool{}
	for i, r := range results {
		require.False(t, met[r.URL], "%s stands there twice", r.URL)
		met[r.URL] = true
		require.Equal(t, i+1, r.Place)
	}
	require.Len(t, results, 10)
}

// TestCentroidsOfAnEarlierRun: who could not be reached while the collection was ended and
// asked for under other options does not put its centroids in the place of theirs.
func TestCentroidsOfAnEarlierRun(t *testing.T) {
	t.Parallel()
	db := open(t)
	record, two := collections.In(db), topic.Topic{ID: "two", Query: "two"}
	a := defaultAsk(t)
	_, _, err := record.Submit(t.Context(), "some", a, []topic.Topic{two})
	require.NoError(t, err)
	overtaken := sync.OnceValue(func() error {
		_, _, err := prepares(t, db, func(a *Request) { a.Terms, a.Overlap = 3, 2 }, two)
		return err
	})
	m := maker(db, engine{}, getBefore(t, overtaken))
	_, err = m.Prepare(t.Context(), "some", func(int) {})
	require.ErrorIs(t, err, ErrInput)
	c := devtest.Must(record.Get(t.Context(), "some"))(t)
	var made topic.Model
	require.NoError(t, json.Unmarshal(c.Model, &made))
	require.Equal(t, 3, made.Options.Terms)
}

func defaultAsk(t *testing.T) Request {
	return devtest.Must(DefaultRequest())(t)
}
