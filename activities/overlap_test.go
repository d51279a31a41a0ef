package activities_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"

	"gleaner/activities"
	"gleaner/internal/gleaner"
	"gleaner/internal/record/frontier"
	"gleaner/internal/record/store"
	"gleaner/internal/web/page"
	"gleaner/workflows"
)

// sharedSite is a site that several want: a page that links to many, each of which
// takes a moment.
type sharedSite struct {
	*library
	host string

	mu    sync.Mutex
	pages map[string]bool // that were asked for
	begun chan struct{}   // closed when the first was
}

const sharedPages = 150

func newSharedSite(t *testing.T) *sharedSite {
	t.Helper()
	s := &sharedSite{host: "ada.example", pages: map[string]bool{}, begun: make(chan struct{})}
	proxy := httptest.NewServer(s)
	t.Cleanup(proxy.Close)
	s.library = openLibrary(t, "conf/shared", gleaner.Years{From: 2000, To: 2001}, map[string]string{"proxy": proxy.URL, "search": "none"})
	e := frontier.Entry{Candidate: page.Candidate{Link: page.Link{URL: "http://" + s.host + "/", Source: page.SourceSeed}, Queue: 3, Priority: 1}}
	s.tx(t, func(tx pgx.Tx, site int) error {
		if err := store.AddScope(t.Context(), tx, site, "/", "ada"); err != nil {
			return err
		}
		if _, err := tx.Exec(t.Context(), `UPDATE sites SET due_at=now() WHERE id=$1`, site); err != nil {
			return err
		}
		_, err := frontier.Add(t.Context(), tx, site, []frontier.Entry{e})
		return err
	})
	return s
}

func (s *sharedSite) tx(t *testing.T, do func(tx pgx.Tx, site int) error) {
	t.Helper()
	require.NoError(t, s.DB.Tx(t.Context(), func(tx pgx.Tx) error {
		site, err := store.HoldSite(t.Context(), tx, s.host)
		if err != nil {
			return err
		}
		return do(tx, site)
	}))
}

func (s *sharedSite) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	n := 0
	if _, err := fmt.Sscanf(r.URL.Path, "/%d.html", &n); err != nil && r.URL.Path != "/" || r.URL.Host != s.host {
		http.NotFound(w, r)
		return
	}
	if n > 0 {
		time.Sleep(100 * time.Millisecond)
	}
	s.mu.Lock()
	if len(s.pages) == 0 {
		close(s.begun)
	}
	s.pages[r.URL.Path] = true
	s.mu.Unlock()
	w.Header().Set("Content-Type", "text/html")
	var links strings.Builder
	for i := 1; n == 0 && i < sharedPages; i++ {
		fmt.Fprintf(&links, `<a href="/%d.html">page %d</a> `, i, i)
	}
	_, _ = fmt.Fprintf(w, "<title>%d</title>%s", n, links.String())
}

func (s *sharedSite) asked() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.pages)
}

// recrawl begins a recrawl of the site, and returns when it waits for its end.
func (s *sharedSite) recrawl(t *testing.T, name string) client.WorkflowRun {
	t.Helper()
	run := s.begin(t, workflows.RecrawlID(name), workflows.RecrawlDue, workflows.RecrawlParams{Due: activities.Due{Of: store.Selection{Host: s.host}, All: true}})
	require.Eventually(t, func() bool {
		var now workflows.RecrawlState
		v, err := s.temporal.QueryWorkflow(t.Context(), run.GetID(), "", workflows.QueryStatus)
		return err == nil && v.Get(&now) == nil && len(now.Pending) == 1
	}, time.Minute, 50*time.Millisecond)
	return run
}

// join makes the site one of a harvest.
func (s *sharedSite) join(t *testing.T) {
	t.Helper()
	h := s.harvest
	require.NoError(t, s.DB.SaveHarvest(t.Context(), store.Harvest{ID: h.ID, Venue: h.Venue, Years: h.Years, Options: []byte("{}"), Stage: gleaner.StageCrawl}))
	s.tx(t, func(tx pgx.Tx, site int) error { return store.JoinSite(t.Context(), tx, h.ID, site, "a homepage") })
}

// crawlStage begins the harvest where it crawls.
func (s *sharedSite) crawlStage(t *testing.T) client.WorkflowRun {
	t.Helper()
	return s.begin(t, workflows.HarvestID(s.harvest.ID), workflows.HarvestVenue, workflows.HarvestParams{Harvest: s.harvest, State: workflows.HarvestState{Stage: gleaner.StageCrawl}})
}

func (s *sharedSite) cancel(t *testing.T, run client.WorkflowRun) {
	t.Helper()
	require.NoError(t, s.temporal.CancelWorkflow(t.Context(), run.GetID(), ""))
	var canceled *temporal.CanceledError
	require.ErrorAs(t, run.Get(t.Context(), nil), &canceled)
}

func (s *sharedSite) state(t *testing.T) (state gleaner.SiteState) {
	t.Helper()
	site, err := s.DB.Site(t.Context(), s.host)
	require.NoError(t, err)
	return site.State
}

// ended waits for the end of the site's crawl.
func (s *sharedSite) ended(t *testing.T) {
	t.Helper()
	require.NoError(t, s.temporal.GetWorkflow(t.Context(), workflows.SiteID(s.host), "").Get(t.Context(), nil))
}

// wantedByTwo is a site that two recrawls wait for, and whose crawl has begun.
func wantedByTwo(t *testing.T) (s *sharedSite, first, second client.WorkflowRun) {
	s = newSharedSite(t)
	t.Cleanup(s.work(t, activities.QueueHarvest, activities.QueueMetadata, activities.QueueDocuments))
	first, second = s.recrawl(t, "first"), s.recrawl(t, "second")
	t.Cleanup(s.work(t, activities.QueueCrawl))
	<-s.begun
	return s, first, second
}

// TestOneWhoIsCancelledStopsNoOthersSite: recrawls and a harvest want one site at a
// time. It is crawled for those that are left, and for nobody else.
func TestOneWhoIsCancelledStopsNoOthersSite(t *testing.T) {
	t.Parallel()
	all := activities.Queues()
	t.Run("of two recrawls", func(t *testing.T) {
		t.Parallel()
		s, first, second := wantedByTwo(t)
		s.cancel(t, first)
		var r workflows.RecrawlResult
		require.NoError(t, second.Get(t.Context(), &r))
		require.Equal(t, sharedPages, s.asked())
		require.Equal(t, gleaner.SiteDone, s.state(t))
	})
	t.Run("both recrawls", func(t *testing.T) {
		t.Parallel()
		s, first, second := wantedByTwo(t)
		s.cancel(t, second)
		s.cancel(t, first)
		s.ended(t)
		require.Less(t, s.asked(), sharedPages)
		require.Equal(t, gleaner.SiteStopped, s.state(t))
	})
	t.Run("the harvest beside a recrawl", func(t *testing.T) {
		t.Parallel()
		s := newSharedSite(t)
		defer s.work(t, all...)()
		first := s.recrawl(t, "first")
		<-s.begun
		s.join(t)
		h := s.crawlStage(t)
		require.Eventually(t, func() bool {
			var now workflows.HarvestState
			v, err := s.temporal.QueryWorkflow(t.Context(), h.GetID(), "", workflows.QueryStatus)
			return err == nil && v.Get(&now) == nil && len(now.Pending) == 1
		}, time.Minute, 50*time.Millisecond)
		s.cancel(t, h)
		require.NoError(t, first.Get(t.Context(), nil))
		require.Equal(t, sharedPages, s.asked())
		require.Equal(t, gleaner.SiteDone, s.state(t))
	})
	t.Run("a recrawl before a harvest lists the site", func(t *testing.T) {
		t.Parallel()
		s := newSharedSite(t)
		defer s.work(t, all...)()
		first := s.recrawl(t, "first")
		<-s.begun
		s.cancel(t, first)
		s.join(t)
		s.ended(t)
		require.NoError(t, s.crawlStage(t).Get(t.Context(), nil))
		require.Equal(t, sharedPages, s.asked())
	})
}
