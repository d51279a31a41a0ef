package synthesis_test

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gleaner/internal/crawl"
	. "gleaner/internal/crawl/synthesis"
	"gleaner/internal/devstack/devtest"
	"gleaner/internal/document/documenttest"
	"gleaner/internal/fetch"
	"gleaner/internal/library/collection"
	"gleaner/internal/library/repository"
	"gleaner/internal/politeness"
	"gleaner/internal/record/collections"
	"gleaner/internal/record/store"
	"gleaner/internal/web/page"
)

// smallWeb is pages by address without "http://", each with its words and its links
// ("anchor>address"); robots.txt by host. It remembers what was asked for.
type smallWeb struct {
	pages  map[string]string
	files  map[string]string // as they are
	robots map[string]string

	at func(n int) // is called with the number of each request before it is answered

	mu  sync.Mutex
	log []string
}

// ServeHTTP implements http.Handler, as a proxy does for all hosts.
func (s *smallWeb) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	address := r.Host + r.URL.Path
	if r.URL.Path == "/robots.txt" {
		fmt.Fprint(rw, s.robots[r.Host])
		return
	}
	s.mu.Lock()
	s.log = append(s.log, address)
	n, at := len(s.log), s.at
	s.mu.Unlock()
	if at != nil {
		at(n)
	}
	if to, is := strings.CutPrefix(s.pages[address], "redirects to "); is {
		http.Redirect(rw, r, "http://"+to, http.StatusFound)
		return
	}
	if raw, is := s.files[address]; is {
		fmt.Fprint(rw, raw)
		return
	}
	text, is := s.pages[address]
	if !is {
		http.NotFound(rw, r)
		return
	}
	rw.Header().Set("Content-Type", "text/html; charset=utf-8")
	fmt.Fprint(rw, "<html><head><title>x</title></head><body>")
	for _, word := range strings.Fields(text) {
		if anchor, to, link := strings.Cut(word, ">"); link {
			fmt.Fprintf(rw, "<a href=%q>%s</a>\n", "http://"+to, anchor)
		} else {
			fmt.Fprint(rw, word, " ")
		}
	}
	fmt.Fprint(rw, "</body></html>")
}

// asked is what was asked for, in order.
func (s *smallWeb) asked() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.log...)
}

// shop makes collections of a small web, with all that a worker has.
type shop struct {
	db     *store.DB
	record *collections.Record
	tools  Tools
	web    *smallWeb
}

// politely is the polite client as a Getter.
type politely struct{ crawl.Fetcher }

func (p politely) Get(ctx context.Context, url string) (*page.Page, string, error) {
	r, err := p.Fetch(ctx, fetch.Request{URL: url})
	if err != nil {
		return nil, "", err
	}
	defer r.Release()
	got, err := page.ParseContext(ctx, r.URL, r.Header, r.Body)
	return got, r.URL, err
}

func newShop(t *testing.T, web *smallWeb) *shop {
	db := open(t)
	server := httptest.NewServer(web)
	t.Cleanup(server.Close)
	pacing := fetch.Pacing{Unpaced: true, BackoffBase: time.Millisecond, BackoffMax: time.Millisecond}
	keeper := politeness.NewKeeper(db.Pool, pacing, "test")
	client, err := fetch.New(fetch.Config{AllowLoopback: true, Contact: "test@example.org", Proxy: server.URL, Gate: keeper, Robots: politeness.NewRobots(db.Pool), Blocked: db.Blocked, Pacing: pacing, Linger: time.Minute})
	require.NoError(t, err)
	t.Cleanup(client.Close)
	repo := devtest.Must(repository.Open(t.Context(), "file://"+t.TempDir()))(t)
	t.Cleanup(func() { _ = repo.Close() })
	log := slog.New(slog.DiscardHandler)
	coll := collection.New(collection.Parts{DB: db, Repo: repo, Reader: documenttest.Shared(), Log: log})
	cfg := Defaults()
	cfg.RetryBase, cfg.SlicePages = time.Millisecond, 3
	return &shop{db, collections.In(db), Tools{DB: db, Keeper: keeper, Fetch: client, Coll: coll, Getter: politely{client}, Config: cfg, Log: log}, web}
}

// opens enters a collection whose topics' pages are given, and makes their centroids.
func (s *shop) opens(t *testing.T, name string, topics map[string]string, change func(*Request)) int {
	ask := defaultAsk(t)
	ask.LeastResults = 1
	change(&ask)
	require.NoError(t, ask.Check())
	_, running, err := s.record.Submit(t.Context(), name, ask, asTopics(topics))
	require.NoError(t, err)
	require.False(t, running)
	_, err = New(s.tools).Prepare(t.Context(), name, func(int) {})
	require.NoError(t, err)
	return devtest.Must(s.record.Get(t.Context(), name))(t).ID
}

// ends crawls slice after slice until the last, and says what that one came to.
func (s *shop) ends(t *testing.T, name string) crawl.Result {
	for {
		r := devtest.Must(New(s.tools).Slice(t.Context(), name, func(crawl.Progress) {}))(t)
		switch r.Ending {
		case crawl.SliceFull:
		case crawl.Waiting:
			time.Sleep(min(r.Wait, 10*time.Millisecond))
		default:
			require.NoError(t, s.record.End(t.Context(), name, 0, collections.Ended, string(r.Ending)))
			return r
		}
	}
}

// outcomes are what became of each address.
func (s *shop) outcomes(t *testing.T, id int) map[string]string {
	out, err := store.Map[string, string](t.Context(), s.db, `SELECT substr(url, 8), outcome FROM collection_urls WHERE collection=$1 AND NOT waiting`, id)
	require.NoError(t, err)
	return out
}
