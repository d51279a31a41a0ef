package main

import (
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"go.temporal.io/api/workflowservice/v1"
	"google.golang.org/protobuf/encoding/protojson"

	"gleaner/activities"
	"gleaner/internal/devstack/storetest"
	"gleaner/internal/lab/sampleweb"
)

// leaksNothing looks for the secrets in everything printed, logged and stored. It
// finds what has to be there, so that it would find a secret too.
func (v *tour) leaksNothing() {
	v.t.Helper()
	for _, place := range []string{"what was printed", "the worker's log", "table harvests", "a history"} {
		require.Contains(v.t, v.places(v.venue), place)
	}
	for key, mark := range v.secrets {
		require.Empty(v.t, v.places(mark), key)
	}
}

// places are where a text turns up.
func (v *tour) places(text string) (found []string) {
	t := v.t
	look := func(where, in string) {
		if strings.Contains(in, text) && !slices.Contains(found, where) {
			found = append(found, where)
		}
	}
	look("what was printed", v.printed.String())
	look("the worker's log", v.log.String())
	const tables = `SELECT quote_ident(tablename) FROM pg_tables WHERE schemaname='public'`
	for _, table := range storetest.Column[string](t, v.Pool, tables) {
		n := storetest.Get[int](t, v.Pool, `SELECT count(*) FROM `+table+` AS row WHERE position($1 in row::text) > 0`, text)
		if n > 0 {
			found = append(found, "table "+table)
		}
	}
	for next := []byte(nil); ; {
		list, err := v.server.ListWorkflow(t.Context(), &workflowservice.ListWorkflowExecutionsRequest{NextPageToken: next})
		require.NoError(t, err)
		for _, e := range list.GetExecutions() {
			h := v.server.GetWorkflowHistory(t.Context(), e.GetExecution().GetWorkflowId(), e.GetExecution().GetRunId(), false, 0)
			for h.HasNext() {
				event, err := h.Next()
				require.NoError(t, err)
				look("a history", event.String()+protojson.Format(event))
			}
		}
		if next = list.GetNextPageToken(); len(next) == 0 {
			return found
		}
	}
}

// outage is a proxy to a web behind which services with keys fail in turn: they
// redirect to another site, are out, refuse, and hang up. What they are asked they
// repeat.
type outage struct {
	web http.Handler
	mu  sync.Mutex
	n   map[string]int
	met strings.Builder // what they were asked
}

func (o *outage) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodConnect && !strings.HasSuffix(r.Host, ".failing.example") {
		o.pass(w, r)
		return
	}
	if strings.HasSuffix(r.URL.Path, "/robots.txt") {
		http.NotFound(w, r)
		return
	}
	o.mu.Lock()
	n := o.n[r.Host]
	o.n[r.Host]++
	asked := r.URL.String() + " " + r.Header.Get("X-Api-Key") + " " + r.Header.Get("Proxy-Authorization")
	o.met.WriteString(asked + "\n")
	o.mu.Unlock()
	switch {
	case r.Method == http.MethodConnect || n%4 == 3:
		panic(http.ErrAbortHandler)
	case n%4 == 0:
		http.Error(w, asked, http.StatusServiceUnavailable)
	case n%4 == 1:
		http.Redirect(w, r, "http://elsewhere.example/"+r.Header.Get("X-Api-Key")+"?"+r.URL.RawQuery, http.StatusFound)
	default:
		http.Error(w, asked, http.StatusForbidden)
	}
}

// pass answers for the web, with names of papers by which services know them.
func (o *outage) pass(w http.ResponseWriter, r *http.Request) {
	got := httptest.NewRecorder()
	o.web.ServeHTTP(got, r)
	maps.Copy(w.Header(), got.Header())
	w.Header().Del("Content-Length")
	w.WriteHeader(got.Code)
	_, _ = strings.NewReplacer("http://dl.publisher.example/article/", "https://doi.org/10.5555/").WriteString(w, got.Body.String())
}

func (o *outage) asked() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.met.String()
}

// Services that fail with a key in their address or their headers put it into no
// error that is printed, logged or kept.
func TestFailingServicesShowNoSecret(t *testing.T) {
	t.Parallel()
	for engine, host := range map[string]string{"serper": "google.serper.dev:443", "brave": "api.search.brave.com:443"} {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			failingServicesShowNoSecret(t, engine, host)
		})
	}
}

// failingServicesShowNoSecret looks at a harvest that searches by one engine, which
// is asked at a host.
func failingServicesShowNoSecret(t *testing.T, engine, host string) {
	c := newConsole(t)
	v := newTour(c)
	v.web = sampleweb.New(sampleweb.Options{Seed: 7, Years: 2, Papers: 8, PagesPerSite: 3})
	out := &outage{web: v.web, n: map[string]int{}}
	proxy := httptest.NewServer(out)
	t.Cleanup(proxy.Close)
	c.args = append(c.args, "--proxy-file", secretFile(t, proxy.URL), "--contact", "test@example.org", "--delay", "20ms", "--min-delay", "20ms",
		"--dblp-url", sampleweb.DBLPURL, "--dblp-delay", "1ms",
		"--sources", "dblp,openalex", "--copies", "openalex,semanticscholar", "--directories", "semanticscholar", "--search", engine,
		"--policy", c.policy("{crawl: {retry-base: 100ms}, services: {openalex: http://openalex.failing.example, semantic-scholar: http://semantic.failing.example}}"))
	v.prepare()
	v.work(activities.Queues(), v.log)
	v.do("doctor")
	v.do("metadata", "show", v.venue, "--years", v.years)
	v.do("harvest", v.venue, "--years", v.years, "--wait")
	v.do("status", v.venue)
	v.do("report", v.venue)
	for key, mark := range v.secrets {
		if strings.HasPrefix(key, "openalex") || strings.HasPrefix(key, "semantic") {
			require.Contains(t, out.asked(), mark, "the service was never asked with its key")
		}
	}
	require.Positive(t, out.n[host], "no search was tried: %v", out.n)
	require.Contains(t, v.log.String(), "openalex.failing.example")
	v.leaksNothing()
}
