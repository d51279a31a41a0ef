package pool_test

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"

	"gleaner/activities"
	"gleaner/internal/gleaner"
	"gleaner/internal/lab/sampleweb"
	"gleaner/internal/record/frontier"
	"gleaner/internal/record/store"
	"gleaner/internal/web/page"
	"gleaner/workflows"
)

// line leads to a server, and can stand still for a while: nothing comes through,
// and nothing is cut.
type line struct {
	listener net.Listener
	to       string
	passing  sync.RWMutex // held while something passes
}

func newLine(t *testing.T, to string) *line {
	t.Helper()
	l := &line{to: to}
	var err error
	l.listener, err = net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = l.listener.Close() })
	go func() {
		for {
			in, err := l.listener.Accept()
			if err != nil {
				return
			}
			out, err := net.Dial("tcp", l.to)
			if err != nil {
				_ = in.Close()
				continue
			}
			go l.pass(in, out)
			go l.pass(out, in)
		}
	}()
	return l
}

func (l *line) pass(from, to net.Conn) {
	defer func() { _ = from.Close(); _ = to.Close() }()
	buf := make([]byte, 32<<10)
	for {
		n, err := from.Read(buf)
		l.passing.RLock()
		_, werr := to.Write(buf[:n])
		l.passing.RUnlock()
		if err != nil || werr != nil {
			return
		}
	}
}

// pages is a site of so many pages, each of which leads to the next; meanwhile is
// told of each request before it is answered.
type pages struct {
	n         int
	meanwhile func(path string)

	mu    sync.Mutex
	asked map[string]int
}

func (p *pages) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var i int
	if _, err := fmt.Sscanf(r.URL.Path, "/%d.html", &i); err != nil {
		http.NotFound(w, r)
		return
	}
	p.mu.Lock()
	p.asked[r.URL.Path]++
	p.mu.Unlock()
	p.meanwhile(r.URL.Path)
	w.Header().Set("Content-Type", "text/html")
	fmt.Fprintf(w, `<title>Page %d</title><p>Number %d of %d.`, i, i, p.n)
	if i < p.n {
		fmt.Fprintf(w, `<a href="/%d.html">the next one</a>`, i+1)
	}
}

// seed has a site crawled from its first page on.
func (w *world) seed(t *testing.T, host string) {
	t.Helper()
	require.NoError(t, w.db.Tx(t.Context(), func(tx pgx.Tx) error {
		id, err := store.HoldSite(t.Context(), tx, host)
		if err != nil {
			return err
		}
		_, err = frontier.Add(t.Context(), tx, id, []frontier.Entry{{Candidate: page.Candidate{Link: page.Link{URL: "http://" + host + "/1.html", Source: page.SourceSeed}}}})
		return errors.Join(err, store.AddScope(t.Context(), tx, id, "/", "a test"))
	}))
}

// TestAStallOfTemporalRepeatsNothing: while a page is under way the Temporal server
// says nothing, for so long that it takes the worker for dead and hands its work out
// again. Nothing is asked for twice.
func TestAStallOfTemporalRepeatsNothing(t *testing.T) {
	t.Parallel()
	var l *line
	var once sync.Once
	web := &pages{n: 8, asked: map[string]int{}, meanwhile: func(path string) {
		if path == "/4.html" {
			once.Do(func() {
				l.passing.Lock()
				time.AfterFunc(9*time.Second, l.passing.Unlock)
				time.Sleep(4 * time.Second)
			})
		}
	}}
	w := newWorldOf(t, sampleweb.Options{Authors: 1, Papers: 1}, nil, func(http.Handler) http.Handler { return web })
	l = newLine(t, w.cfg.Servers.Temporal)
	w.cfg.Servers.Temporal = l.listener.Addr().String()
	w.seed(t, "ada.example")
	defer w.work(t)()
	run, err := w.client.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{ID: workflows.SiteID("ada.example"), TaskQueue: activities.QueueHarvest},
		workflows.CrawlSite, workflows.SiteParams{Host: "ada.example"})
	require.NoError(t, err)
	var end activities.SiteEnd
	require.NoError(t, run.Get(t.Context(), &end))
	require.Equal(t, gleaner.SiteDone, end.State)
	web.mu.Lock()
	defer web.mu.Unlock()
	require.Len(t, web.asked, web.n)
	for path, n := range web.asked {
		require.Equal(t, 1, n, path)
	}
}
