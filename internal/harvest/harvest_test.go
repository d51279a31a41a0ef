package harvest_test

import (
	"fmt"
	"html"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"gleaner/internal/devstack/devtest"
	"gleaner/internal/document/documenttest"
	"gleaner/internal/each"
	"gleaner/internal/gleaner"
	"gleaner/internal/harvest"
	"gleaner/internal/lab/catalogues"
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
	pages     map[string]string // URL → body

	mu    sync.Mutex
	asked []catalogues.Request // of pages
	down  map[string]int       // host → status that it answers everything with
	moved map[string]string    // URL → where it redirects to

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
	o.mu.Lock()
	defer o.mu.Unlock()
	return each.Count(o.asked, func(r catalogues.Request) bool { return r.Host == host })
}

func newOutside(c catalogues.Catalogue) *outside {
	return &outside{Service: catalogues.New(c), catalogue: c, pages: map[string]string{}, down: map[string]int{}, moved: map[string]string{}, hosts: map[string]http.HandlerFunc{}}
}

// ServeHTTP answers as a proxy.
func (o *outside) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if o.catalogueHost(r.URL.Host) {
		resp, err := o.RoundTrip(r)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadGateway)
			return
		}
		defer resp.Body.Close()
		maps.Copy(w.Header(), resp.Header)
		w.WriteHeader(resp.StatusCode)
		_, _ = io.Copy(w, resp.Body)
		return
	}
	begin := time.Now()
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
	o.mu.Lock()
	defer o.mu.Unlock()
	o.asked = append(o.asked, catalogues.Request{Begin: begin, End: time.Now(), Host: r.URL.Host, URL: r.URL.String()})
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

// paceOf is what one host of people's pages saw.
func (o *outside) paceOf() map[string]time.Duration {
	o.mu.Lock()
	defer o.mu.Unlock()
	least, last := map[string]time.Duration{}, map[string]time.Time{}
	for _, r := range o.asked {
		if end, ok := last[r.Host]; ok {
			if gap := r.Begin.Sub(end); least[r.Host] == 0 || gap < least[r.Host] {
				least[r.Host] = gap
			}
		}
		last[r.Host] = r.End
	}
	return least
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

// begin records a harvest of the catalogue and lists its papers.
func begin(t *testing.T, a *app.App, key string, years gleaner.Years) string {
	id := key + "/" + years.String()
	require.NoError(t, a.DB.SaveHarvest(t.Context(), store.Harvest{ID: id, Venue: key, Years: years, Options: []byte("{}"), Stage: "papers"}))
	return id
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
