package reconcile

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gleaner/internal/gleaner"
	"gleaner/internal/record/store"
)

func TestDecide(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	old := now.Add(-time.Hour)
	crawl := func(state gleaner.SiteState, change func(*store.OpenCrawl)) store.OpenCrawl {
		c := store.OpenCrawl{Host: "www.example.edu", State: state, Crawl: 1, Since: old}
		if change != nil {
			change(&c)
		}
		return c
	}
	for name, c := range map[string]struct {
		crawl  store.OpenCrawl
		status Status
		wanted bool
		want   Kind
	}{
		"a crawl that runs is left":                          {crawl("crawling", nil), Runs, true, ""},
		"one that was terminated is stopped":                 {crawl("crawling", nil), Terminated, false, StopSite},
		"one that was cancelled is stopped":                  {crawl("crawling", nil), Cancelled, true, StopSite},
		"one that failed is stopped":                         {crawl("crawling", nil), Failed, true, StopSite},
		"one that Temporal lost waits again":                 {crawl("crawling", nil), Unknown, true, RequeueSite},
		"one that ended without its record waits again":      {crawl("crawling", nil), Completed, false, RequeueSite},
		"one with a live lease is left":                      {crawl("crawling", func(c *store.OpenCrawl) { c.Leased = true }), Terminated, true, ""},
		"one that began just now is left":                    {crawl("crawling", func(c *store.OpenCrawl) { c.Since = now.Add(-time.Second) }), Unknown, true, ""},
		"a new site waits for its turn":                      {crawl("new", nil), Unknown, false, ""},
		"a new site that a harvest waits for was lost":       {crawl("new", nil), Unknown, true, RequeueSite},
		"a new site whose first slice was never reached":     {crawl("new", func(c *store.OpenCrawl) { c.Since = time.Time{} }), Terminated, true, StopSite},
		"a site that ended as it was joined waits again":     {crawl("new", nil), Completed, true, RequeueSite},
		"a site put back after its crawl waits for the next": {crawl("new", nil), Completed, false, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := State{Now: now, Crawls: []store.OpenCrawl{c.crawl}, Sites: map[string]Status{c.crawl.Host: c.status}, Wanted: map[string]bool{c.crawl.Host: c.wanted}}
			got := decide(s, false)
			if c.want == "" {
				require.Empty(t, got)
				return
			}
			require.Len(t, got, 1)
			require.Equal(t, c.want, got[0].Kind)
			require.Contains(t, got[0].Reason, string(c.status))
		})
	}
}

func TestDecideOnHarvests(t *testing.T) {
	t.Parallel()
	now := time.Now()
	s := State{Now: now, Runs: map[string]Status{"a": Runs, "b": Terminated, "c": Unknown, "d": Unknown}, Harvests: []store.Harvest{
		{ID: "a"}, {ID: "b", Stage: "crawl"}, {ID: "c"}, {ID: "d", UpdatedAt: now.Add(-time.Second)}}}
	ended := decide(s, false)
	require.Len(t, ended, 2)
	require.Equal(t, EndHarvest, ended[0].Kind)
	require.Equal(t, "its workflow was terminated in stage crawl", ended[0].Reason)
	started := decide(s, true)
	require.Len(t, started, 3, "asked for by a person, who need not wait")
	for _, r := range started {
		require.Equal(t, StartHarvest, r.Kind)
	}
}
