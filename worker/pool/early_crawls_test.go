package pool_test

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/temporal"

	"gleaner/activities"
	"gleaner/internal/devstack/devtest"
	"gleaner/internal/lab/sampleweb"
	"gleaner/internal/record/store"
	"gleaner/workflows"
)

// gate is a search engine that says nothing more once a homepage is known that is a
// whole host, before it is opened.
type gate struct {
	*world
	opens  bool          // by a document of a site that is asked for meanwhile
	closed chan struct{} // when a question is held
	open   chan struct{}

	mu         sync.Mutex
	held, over bool
}

// gated is a sample web with a gate, and a harvest of it.
func gated(t *testing.T, opens bool) (*gate, activities.Harvest) {
	g := &gate{opens: opens, closed: make(chan struct{}), open: make(chan struct{})}
	w := newWorldOf(t, sampleweb.Options{Seed: 7, Years: 1, Papers: 16, PagesPerSite: 3}, nil, func(web http.Handler) http.Handler {
		return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
			switch {
			case r.Host == sampleweb.SearchHost && g.holds(r.Context()):
				select {
				case <-g.open:
				case <-r.Context().Done():
				}
			case strings.HasSuffix(r.URL.Path, ".pdf"):
				g.document()
			}
			web.ServeHTTP(rw, r)
		})
	})
	h := w.harvest(t)
	g.mu.Lock()
	defer g.mu.Unlock()
	g.world = w
	return g, h
}

// holds reports whether a question is held from now on.
func (g *gate) holds(ctx context.Context) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.held || g.world == nil {
		return g.held
	}
	var known bool
	err := g.db.Pool.QueryRow(ctx, `SELECT EXISTS (SELECT FROM homepages WHERE url = 'http://' || host || '/')`).Scan(&known)
	if g.held = err == nil && known; g.held {
		close(g.closed)
	}
	return g.held
}

// document opens the gate for a document that is asked for while a question is held.
func (g *gate) document() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.held && g.opens && !g.over {
		g.over = true
		close(g.open)
	}
}

// TestSitesAreCrawledWhileTheSearchEngineIsAsked: it answers no more until a document of
// a site was asked for. What is found is all that there is, and nothing is asked for
// twice, by search and crawl together.
func TestSitesAreCrawledWhileTheSearchEngineIsAsked(t *testing.T) {
	devtest.Soak(t, "the tests of the workflow have crawls that begin early")
	t.Parallel()
	w, h := gated(t, true)
	defer w.work(t)()
	r := w.wait(t, h)
	require.True(t, w.held, "every homepage of a whole host was found last")
	require.True(t, w.over, "no site was crawled while the search engine was asked")
	w.checkPapers(t, h, w.web.Truth(), r)
	w.checkManners(t)
}

// TestAHarvestIsPausedAndCancelledInItsSearch: the crawls that were begun in it rest
// when the harvest is paused, and end when it is cancelled.
func TestAHarvestIsPausedAndCancelledInItsSearch(t *testing.T) {
	devtest.Soak(t, "TestPauseHoldsAHarvest pauses one, later")
	t.Parallel()
	w, h := gated(t, false)
	defer w.work(t)()
	<-w.closed
	w.until(t, h, func(c store.Counts) bool { return c.Pages > 0 })
	w.update(t, h, workflows.UpdatePause)
	w.until(t, h, func(store.Counts) bool { return w.idle(t) })
	before := w.web.Requests()
	for host := range w.slices(t) { // each looks, and asks nothing
		require.NoError(t, w.client.SignalWorkflow(t.Context(), workflows.SiteID(host), "", workflows.SignalWake, nil))
	}
	require.NoError(t, w.client.CancelWorkflow(t.Context(), workflows.HarvestID(h.ID), ""))
	require.True(t, temporal.IsCanceledError(w.client.GetWorkflow(t.Context(), workflows.HarvestID(h.ID), "").Get(t.Context(), nil)))
	w.until(t, h, func(store.Counts) bool { return len(w.slices(t)) == 0 })
	require.Equal(t, before, w.web.Requests())
}
