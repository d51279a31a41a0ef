package crawl

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"gleaner/internal/devstack/devtest"
	"gleaner/internal/devstack/storetest"
	"gleaner/internal/document"
	"gleaner/internal/document/documenttest"
	"gleaner/internal/fetch"
	"gleaner/internal/library/collection"
	"gleaner/internal/library/repository"
	"gleaner/internal/politeness"
	"gleaner/internal/rank"
	"gleaner/internal/record/frontier"
	"gleaner/internal/record/store"
	"gleaner/internal/web/page"
)

// world is a record and a crawler on it.
type world struct {
	dsn    string
	files  string // the folder of the blob store
	db     *store.DB
	keeper *politeness.Keeper
	client *fetch.Client
	coll   *collection.Collection
	cfg    Config
}

func newWorld(t testing.TB) *world {
	t.Helper()
	return newWorldOn(t, devtest.Postgres(t))
}

func newWorldOn(t testing.TB, dsn string) *world {
	t.Helper()
	ctx := t.Context()
	db := storetest.At(t, dsn, 8)
	w := &world{dsn: dsn, files: filepath.Join(t.TempDir(), "files"), db: db,
		keeper: politeness.NewKeeper(db.Pool, unpaced, "test"), cfg: Defaults()}
	w.client = w.connect(t, fetch.Config{Blocked: db.Blocked})
	repo, err := repository.Open(ctx, "file://"+w.files)
	require.NoError(t, err)
	repo.BelongTo(db)
	t.Cleanup(func() { _ = repo.Close() })
	w.coll = collection.New(collection.Parts{DB: db, Repo: repo, Reader: documenttest.Shared(), Log: slog.New(slog.DiscardHandler)})
	w.cfg.Strategy, w.cfg.Leads, w.cfg.Batch = rank.BreadthFirst, "all", 1
	return w
}

// unpaced is the pacing of hosts that are asked at once.
var unpaced = fetch.Pacing{Unpaced: true, BackoffBase: time.Millisecond, BackoffMax: time.Millisecond}

// connect makes a client with the turns and the robots.txt of the record, for the hosts behind a
// proxy, or else for those on this machine.
func (w *world) connect(t testing.TB, cfg fetch.Config) *fetch.Client {
	t.Helper()
	cfg.Gate, cfg.Robots, cfg.Pacing = w.keeper, politeness.NewRobots(w.db.Pool), unpaced
	if cfg.Contact = "test@example.org"; cfg.Proxy == "" {
		cfg.AllowLoopback, cfg.Proxy, cfg.Contact = true, "none", ""
	}
	client, err := fetch.New(cfg)
	require.NoError(t, err)
	t.Cleanup(client.Close)
	return client
}

// filters has documents read and filtered, where they else are kept unread (nil).
func (w *world) filters(f *document.Filter) {
	w.coll = collection.New(collection.Parts{DB: w.db, Repo: w.coll.Repository(), Reader: documenttest.Shared(), Filter: f, Log: slog.New(slog.DiscardHandler)})
}

func (w *world) crawler(f Fetcher) *Crawler {
	c := New(w.db, w.keeper, f, w.coll, w.cfg, slog.New(slog.DiscardHandler))
	c.look, c.patience = 5*time.Millisecond, 0
	return c
}

// seed gives a site its first page and its scope.
func (w *world) seed(t *testing.T, host, path, scope string) int {
	t.Helper()
	var id int
	err := pgx.BeginFunc(t.Context(), w.db.Pool, func(tx pgx.Tx) (err error) {
		if id, err = store.EnsureSite(t.Context(), tx, host); err != nil {
			return err
		}
		if err = store.AddScope(t.Context(), tx, id, scope, "ada"); err != nil {
			return err
		}
		e := frontier.Entry{Candidate: page.Candidate{Link: page.Link{URL: "http://" + host + path, Source: page.SourceSeed}, Queue: 3, Priority: 1}}
		_, err = frontier.Add(t.Context(), tx, id, []frontier.Entry{e})
		return err
	})
	require.NoError(t, err)
	return id
}

// hurry lets what waits for a time wait no more.
func (w *world) hurry(t *testing.T, host string) {
	t.Helper()
	w.rested(t, host)
	storetest.Exec(t, w.db.Pool, `UPDATE urls SET next_try=now() WHERE state=3 AND next_try IS NOT NULL AND site_id=(SELECT id FROM sites WHERE host=$1)`, host)
}

// rested lets the host itself be asked at once.
func (w *world) rested(t *testing.T, host string) {
	t.Helper()
	storetest.Exec(t, w.db.Pool, `UPDATE sites SET next_allowed_at='-infinity', paced_until='-infinity', asked_until='-infinity', parked_until='-infinity' WHERE host=$1`, host)
}

// sliced is what one slice came to.
func sliced(t *testing.T, c *Crawler, host string) Result {
	t.Helper()
	r, err := c.Slice(t.Context(), host, func(Progress) {})
	require.NoError(t, err)
	return r
}

// finish crawls slice by slice until the crawl ends for good.
func (w *world) finish(t *testing.T, c *Crawler, host string) Result {
	t.Helper()
	return w.slices(t, host, func() *Crawler { return c }, func(r Result) bool { return r.Ending == Waiting })
}

// exhaust crawls a site from a page, which is its scope, until nothing waits.
func (w *world) exhaust(t *testing.T, host, path string) {
	t.Helper()
	w.seed(t, host, path, path)
	require.Equal(t, Exhausted, w.finish(t, w.crawler(w.client), host).Ending)
}

// slices crawls slice by slice, each by what crawler returns, until one ends neither full nor such that it waits.
func (w *world) slices(t *testing.T, host string, crawler func() *Crawler, waits func(Result) bool) Result {
	t.Helper()
	for range 200 {
		r, err := crawler().Slice(t.Context(), host, func(Progress) {})
		require.NoError(t, err)
		switch {
		case waits(r):
			w.hurry(t, host)
		case r.Ending != SliceFull:
			return r
		}
	}
	t.Fatal("the crawl does not end")
	return Result{}
}

// record is what became of each URL of a host, by path: "state outcome".
func (w *world) record(t *testing.T, host string) map[string]string {
	t.Helper()
	return w.rows(t, host, `(ARRAY['waiting','page','document','failed','gone','skipped','moved'])[state+1] || ' ' || outcome`)
}

// outcomes counts what became of the URLs of a host that have a part.
func (w *world) outcomes(t *testing.T, host, part string) map[string]int {
	t.Helper()
	is := map[string]int{}
	for path, outcome := range w.record(t, host) {
		if strings.Contains(path, part) {
			is[outcome]++
		}
	}
	return is
}

func (w *world) rows(t *testing.T, host, column string) map[string]string {
	t.Helper()
	return storetest.Map[string, string](t, w.db.Pool,
		`SELECT regexp_replace(url, '^http://' || $1, ''), `+column+` FROM urls WHERE site_id=(SELECT id FROM sites WHERE host=$1)`, host)
}

// site is a server whose pages are functions or strings, by path; a string is
// HTML, or a PDF if its path says so.
type site struct {
	host  string
	pages map[string]any

	mu    sync.Mutex
	hits  map[string]int
	order []string // of requests, robots.txt left out
	total int
	// otherwise makes the pages that are not in pages, "" for none.
	otherwise func(path string) string
	// at is told of each request, with its number, before it is answered.
	at func(n int)
}

func serve(t *testing.T, pages map[string]any) *site {
	t.Helper()
	return serveAt(t, "127.0.0.1", pages)
}

// serveAt serves at an address of its own: another domain.
func serveAt(t *testing.T, address string, pages map[string]any) *site {
	t.Helper()
	s := &site{pages: pages, hits: map[string]int{}}
	listener, err := net.Listen("tcp", address+":0")
	require.NoError(t, err)
	srv := &httptest.Server{Listener: listener, Config: &http.Server{Handler: s}}
	srv.Start()
	t.Cleanup(srv.Close)
	s.host = listener.Addr().String()
	return s
}

func (s *site) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.hits[r.URL.RequestURI()]++
	if s.total++; r.URL.Path != "/robots.txt" {
		s.order = append(s.order, r.URL.RequestURI())
	}
	n, at := s.total, s.at
	s.mu.Unlock()
	if at != nil {
		at(n)
	}
	answer := s.pages[r.URL.RequestURI()]
	if s.otherwise != nil && answer == nil && s.otherwise(r.URL.Path) != "" {
		answer = s.otherwise(r.URL.Path)
	}
	switch p := answer.(type) {
	case string:
		if strings.HasSuffix(r.URL.Path, ".pdf") && !strings.HasPrefix(p, "<") {
			rw.Header().Set("Content-Type", "application/pdf")
			p = "%PDF-1.4\n" + p
		} else {
			rw.Header().Set("Content-Type", "text/html; charset=utf-8")
		}
		_, _ = rw.Write([]byte(p))
	case func(http.ResponseWriter, *http.Request):
		p(rw, r)
	default:
		http.NotFound(rw, r)
	}
}

func (s *site) asked() map[string]int {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := map[string]int{}
	for p, n := range s.hits {
		if p != "/robots.txt" {
			out[p] = n
		}
	}
	return out
}

// links is a page of links.
func links(to ...string) string {
	var b strings.Builder
	b.WriteString("<title>A page</title><h1>A page</h1>")
	for _, l := range to {
		fmt.Fprintf(&b, "<p><a href=%q>%s</a> and what is said of it</p>", l, l)
	}
	return b.String()
}

// numbered are pages of so many numbers, and a first page that links to all of them.
func numbered(first, format string, n int, page func(i int) any) map[string]any {
	pages, all := map[string]any{}, []string{}
	for i := range n {
		path := fmt.Sprintf(format, i)
		all, pages[path] = append(all, path), page(i)
	}
	pages[first] = links(all...)
	return pages
}

// busy asks to be left alone for so many seconds.
func busy(seconds string) func(http.ResponseWriter, *http.Request) {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", seconds)
		w.WriteHeader(http.StatusServiceUnavailable)
	}
}

// typed answers with a media type.
func typed(media, body string) func(http.ResponseWriter, *http.Request) {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", media)
		_, _ = w.Write([]byte(body))
	}
}

func redirect(to string) func(http.ResponseWriter, *http.Request) {
	return func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, to, http.StatusFound) }
}

// busyThen is busy once, and answers then.
func busyThen(seconds, body string) func(http.ResponseWriter, *http.Request) {
	first := true
	return func(w http.ResponseWriter, r *http.Request) {
		if !first {
			_, _ = w.Write([]byte(body))
			return
		}
		first = false
		busy(seconds)(w, r)
	}
}

// fetcher is the client with something to do after each request.
type fetcher struct {
	*fetch.Client
	after func(n int)
	n     int
}

func (f *fetcher) Fetch(ctx context.Context, r fetch.Request) (*fetch.Response, error) {
	resp, err := f.Client.Fetch(ctx, r)
	f.n++
	f.after(f.n)
	return resp, err
}
