package harvest_test

import (
	"context"
	"flag"
	"fmt"
	"html"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"gleaner/internal/devstack/devtest"
	"gleaner/internal/devstack/storetest"
	"gleaner/internal/document/documenttest"
	"gleaner/internal/each"
	"gleaner/internal/gleaner"
	"gleaner/internal/harvest"
	"gleaner/internal/harvest/report"
	"gleaner/internal/lab/catalogues"
	"gleaner/internal/lab/sampleweb"
	"gleaner/internal/record/store"
	"gleaner/internal/service/app"
	"gleaner/internal/service/config"
)

func TestMain(m *testing.M) { os.Exit(devtest.Main(m)) }

// outside is the web beyond the program, behind one proxy: catalogues in their
// recorded shapes, and people's pages.
type outside struct {
	*catalogues.Service
	catalogue catalogues.Catalogue
	pages     map[string]string  // URL → body
	people    *sampleweb.Journal // serves these

	mu    sync.Mutex
	down  map[string]int    // host → status that it answers everything with
	moved map[string]string // URL → where it redirects to

	hosts map[string]http.HandlerFunc // hosts that answer in their own way
	log   *slog.Logger                // of what is opened; nil is none
}

// set makes a host answer with a status; 0 mends it.
func (o *outside) set(host string, status int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.down[host] = status
}

// pagesAsked is how many requests a host saw.
func (o *outside) pagesAsked(host string) int {
	return each.Count(o.people.Log(), func(r sampleweb.Request) bool { return r.Host == host })
}

func newOutside(c catalogues.Catalogue) *outside {
	o := &outside{Service: catalogues.New(c), catalogue: c, pages: map[string]string{}, down: map[string]int{}, moved: map[string]string{}, hosts: map[string]http.HandlerFunc{}}
	o.people = sampleweb.NewJournal(http.HandlerFunc(o.page))
	return o
}

// ServeHTTP answers as a proxy.
func (o *outside) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if o.catalogueHost(r.URL.Host) {
		o.Service.ServeHTTP(w, r)
		return
	}
	o.people.ServeHTTP(w, r)
}

func (o *outside) page(w http.ResponseWriter, r *http.Request) {
	body, ok := o.pages[r.URL.String()]
	o.mu.Lock()
	status, to, own := o.down[r.URL.Host], o.moved[r.URL.String()], o.hosts[r.URL.Host]
	o.mu.Unlock()
	switch {
	case status != 0:
		w.WriteHeader(status)
	case own != nil:
		own(w, r)
	case to != "":
		http.Redirect(w, r, to, http.StatusFound)
	case ok:
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprint(w, body)
	default:
		w.WriteHeader(http.StatusNotFound)
	}
}

func (o *outside) catalogueHost(host string) bool {
	switch host {
	case "dblp.org", "api.crossref.org", "api.openalex.org", "api.semanticscholar.org", "api.unpaywall.org", "export.arxiv.org":
		return true
	}
	return false
}

// home writes a person's page with the titles of their papers.
func (o *outside) home(url, name string, titles ...string) {
	var b strings.Builder
	fmt.Fprintf(&b, "<html><head><title>%s's home page</title></head><body><h1>%s</h1><p>Department of Computer Science, research on examples.</p><h2>Publications</h2><ul>", html.EscapeString(name), html.EscapeString(name))
	for i, t := range titles {
		fmt.Fprintf(&b, "<li>%s <a href=\"p%d.pdf\">pdf</a></li>", html.EscapeString(t), i)
	}
	o.pages[url] = b.String() + "</ul></body></html>"
}

// open makes an application over the outside; dsn "" is a database of its own.
func (o *outside) open(t *testing.T, dsn string, settings map[string]string, policy ...func(*config.Policy)) *app.App {
	proxy := httptest.NewServer(o)
	t.Cleanup(proxy.Close)
	if dsn == "" {
		dsn = devtest.Postgres(t)
	}
	given := map[string]string{"database-url": dsn, "data-dir": t.TempDir(), "proxy": proxy.URL, "dblp-url": "http://dblp.org", "dblp-delay": "1ms",
		"delay": "1ms", "min-delay": "0s", "contact": "librarian@library.example.org"}
	maps.Copy(given, settings)
	cfg, err := config.Load(given, os.DevNull, nil)
	require.NoError(t, err)
	cfg.Policy.Services = config.ServicesPolicy{Crossref: "http://api.crossref.org", OpenAlex: "http://api.openalex.org", SemanticScholar: "http://api.semanticscholar.org",
		Unpaywall: "http://api.unpaywall.org/v2", ArXiv: "http://export.arxiv.org"}
	for _, change := range policy {
		change(&cfg.Policy)
	}
	a, err := app.Open(t.Context(), cfg, app.Options{Log: o.log, Reader: documenttest.Shared()})
	require.NoError(t, err)
	t.Cleanup(a.Close)
	return a
}

func nothing(string) {}

func noCount(int, int) {}

// begin records a harvest.
func begin(t *testing.T, a *app.App, key string, years gleaner.Years) string {
	id := key + "/" + years.String()
	require.NoError(t, a.DB.SaveHarvest(t.Context(), store.Harvest{ID: id, Venue: key, Years: years, Options: []byte("{}"), Stage: "papers"}))
	return id
}

// lists gives a harvest its papers.
func lists(t *testing.T, a *app.App, id, key string, years gleaner.Years) harvest.Listing {
	t.Helper()
	l, err := a.Stages.ListPapers(t.Context(), id, key, years, nothing)
	require.NoError(t, err)
	return l
}

// reported is the report of a harvest.
func reported(t *testing.T, a *app.App, id string) *report.Report {
	t.Helper()
	r, err := report.Build(t.Context(), a.DB, id)
	require.NoError(t, err)
	return r
}

// findAll does what the workflow FindHomepages does: batches side by side, and
// with others than a in turn.
func findAll(t *testing.T, a *app.App, id, key string, batch int, others ...*app.App) (looked, found int) {
	on := append([]*app.App{a}, others...)
	var settled time.Time
	for pass := 1; pass <= 2; pass++ {
		in := store.AuthorRange{Limit: 4}
		for more := true; more; {
			var batches []string
			var err error
			batches, more, err = a.Stages.AuthorBatches(t.Context(), id, in, batch, pass, settled)
			require.NoError(t, err)
			g, ctx := errgroup.WithContext(t.Context())
			var mu sync.Mutex
			for i, last := range batches {
				part := store.AuthorRange{After: in.After, UpTo: last}
				in.After = last
				g.Go(func() error {
					l, err := on[i%len(on)].Stages.FindHomepages(ctx, id, key, harvest.Part{Authors: part, Pass: pass, Since: settled}, noCount)
					mu.Lock()
					defer mu.Unlock()
					looked, found = looked+l.Looked, found+l.Found
					return err
				})
			}
			require.NoError(t, g.Wait())
		}
		s, err := a.Stages.SettleHomepages(t.Context(), id)
		require.NoError(t, err)
		settled = s.At
	}
	return looked, found
}

// TestAReportTalliesWhileCrawlsGoOn: a paper that is found while the report is made is
// either missing in its numbers and its lists, or in neither.
func TestAReportTalliesWhileCrawlsGoOn(t *testing.T) {
	t.Parallel()
	a, id := circled(t)
	ctx := t.Context()
	tx, err := a.DB.Pool.Begin(ctx)
	require.NoError(t, err)
	defer func() { _ = tx.Rollback(context.WithoutCancel(ctx)) }()
	_, err = tx.Exec(ctx, `LOCK TABLE url_counts`)
	require.NoError(t, err)
	made := make(chan *report.Report, 1)
	go func() {
		r, err := report.Build(ctx, a.DB, id)
		assert.NoError(t, err)
		made <- r
	}()
	storetest.AwaitLock(t, a.DB.Pool)
	_, err = tx.Exec(ctx, `WITH d AS (INSERT INTO documents (sha256, sha1, md5, bytes, kind, state) VALUES ('s', '', '', 1, 'pdf', 'accepted') RETURNING sha256),
		l AS (INSERT INTO locations (hash, sha256, site_id, url) VALUES ('h', 's', 1, 'http://a.example/p.pdf'))
		INSERT INTO matches (paper_key, sha256, verdict, score) SELECT 'conf/exa/RoeP03', 's', 'exact', 1 FROM d`)
	require.NoError(t, err)
	require.NoError(t, tx.Commit(ctx))
	r := <-made
	require.Len(t, r.Missing, r.Summary.Missing)
	require.Len(t, r.Found, r.Summary.Found)
	require.Equal(t, r.Summary.Missing, r.Years[0].Missing)
	require.Equal(t, 3, r.Summary.Wanted)
}

// bigVenue is a venue-year of papers with three authors each. Nine in ten have a
// homepage in DBLP, of which one in ten does not answer.
func bigVenue(papers int) *outside {
	c := catalogues.Large(papers)
	for n := 9; n < 3*papers; n += 10 {
		delete(c.Homepages, fmt.Sprintf("%d/%d", n/3, n%3))
	}
	o := newOutside(c)
	for i, p := range c.Volumes[0].Papers {
		for j, a := range p.Authors {
			if urls := c.Homepages[a.PID]; urls != nil && (3*i+j)%10 != 8 {
				o.home(urls[1], a.Name, p.Title)
			}
		}
	}
	return o
}

var yearPapers = flag.Int("papers", 60, "papers of TestVenueYear, each with three authors; a large venue-year has 500")

// TestVenueYear takes the papers of a venue-year and their authors through the stages
// before the crawl with two workers that share the record alone, and reads the
// paces from the log of the services. Paces are a fiftieth of the real ones.
func TestVenueYear(t *testing.T) {
	t.Parallel()
	papers := *yearPapers
	o := bigVenue(papers)
	o.Latency = 2 * time.Millisecond
	for _, f := range []catalogues.Fault{
		{Host: "dblp.org", Path: "/pid/", Every: 297, Status: 503, RetryAfter: time.Second},
		{Host: "dblp.org", Path: "/search/", Times: 1, Status: 429, RetryAfter: time.Second},
		{Host: "api.crossref.org", Times: 1, Status: 503, RetryAfter: time.Second},
	} {
		o.Fail(f)
	}
	const dblpDelay, siteDelay = 20 * time.Millisecond, 20 * time.Millisecond
	dsn := devtest.Postgres(t)
	settings := map[string]string{"sources": "dblp,crossref", "dblp-delay": dblpDelay.String(), "delay": siteDelay.String(), "min-delay": "0s", "copies": "links"}
	workers := []*app.App{o.open(t, dsn, settings), o.open(t, dsn, settings)}
	ctx := t.Context()
	years := gleaner.Years{From: 2003, To: 2003}
	require.NoError(t, workers[0].DB.DescribeVenue(ctx, smallKey, map[string]string{"issn": o.catalogue.ISSN}, ""))
	id := begin(t, workers[0], smallKey, years)
	start := time.Now()
	l := lists(t, workers[0], id, smallKey, years)
	require.Equal(t, papers, l.Wanted)
	require.Empty(t, l.Missing)
	merged := storetest.Get[int](t, workers[0].DB.Pool, `SELECT count(*) FROM papers
		WHERE origin->'sources' = '["dblp", "crossref"]' AND origin->'from'->'authors' @> '["dblp"]'`)
	assert.Equal(t, papers, merged, "papers of both sources")
	missing, err := workers[0].DB.Missing(ctx, id)
	require.NoError(t, err)
	require.NoError(t, workers[0].Stages.Locate(ctx, missing, noCount))
	listed := time.Since(start)

	// A second harvest of the same years runs at the other worker meanwhile; the
	// authors are the same, and so are the hosts.
	longer := gleaner.Years{From: 2003, To: 2004}
	other := begin(t, workers[1], smallKey, longer)
	lists(t, workers[1], other, smallKey, longer)
	var wg sync.WaitGroup
	wg.Go(func() { findAll(t, workers[0], id, smallKey, 48) })
	wg.Go(func() { findAll(t, workers[1], other, smallKey, 48) })
	wg.Wait()
	took := time.Since(start)

	count := func(sql string) int { return storetest.Get[int](t, workers[0].DB.Pool, `SELECT count(*) FROM `+sql) }
	found, decided := count(`homepages WHERE rank=0`), count(`homepage_decisions`)
	wrong := count(`homepages WHERE rank=0 AND split_part(url, '~person', 2) <>
		(split_part(author_id, '/', 1)::int * 3 + split_part(author_id, '/', 2)::int) || '/'`)
	t.Logf("%d papers, %d authors decided, %d homepages found, %d wrong; listed and located in %s, all in %s", papers, decided, found, wrong, listed.Round(time.Millisecond), took.Round(time.Millisecond))
	assert.Equal(t, 3*papers, decided)
	assert.Equal(t, len(o.pages), found)
	assert.Zero(t, wrong)

	limits := map[string]time.Duration{"dblp.org": dblpDelay, "api.crossref.org": 100 * time.Millisecond}
	for _, host := range o.Hosts() {
		p := o.Pace(host)
		t.Logf("%-18s %4d requests, %d in flight at most, least gap %s (limit %s), %d before Retry-After", host, p.Requests, p.InFlight, p.MinGap, limits[host], p.Hasty)
		assert.Equal(t, 1, p.InFlight, host)
		assert.GreaterOrEqual(t, p.MinGap, limits[host], host)
		assert.Zero(t, p.Hasty, host)
	}
	least := time.Hour
	for _, r := range o.people.Log() {
		if r.Gap >= 0 {
			least = min(least, r.Gap)
		}
	}
	t.Logf("%d requests for people's pages, least gap at one host %s (limit %s)", len(o.people.Log()), least, siteDelay)
	assert.GreaterOrEqual(t, least, siteDelay)
}
