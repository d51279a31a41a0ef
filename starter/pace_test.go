package main

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gleaner/internal/devstack/storetest"
	"gleaner/internal/fetch"
	"gleaner/internal/gleaner"
	"gleaner/internal/harvest/report"
	"gleaner/internal/politeness"
	"gleaner/internal/record/frontier"
	"gleaner/internal/record/store"
	"gleaner/internal/service/app"
)

// TestThePaceOfASiteIsShown: how often a site is asked, and who set that, wherever
// a person looks at a site.
func TestThePaceOfASiteIsShown(t *testing.T) {
	t.Parallel()
	c := newConsole(t)
	c.crawlsSites()
	keeper := politeness.NewKeeper(c.Pool, fetch.Pacing{MinDelay: time.Second}, "a worker")
	for host, visit := range map[string]fetch.Visit{"slow.example": {Status: 200, Elapsed: 3 * time.Second}, "shy.example": {Status: 429, Failed: true, RetryAfter: time.Hour}} {
		c.visited(host, "/", "", frontier.Page, gleaner.OK)
		done, err := keeper.Turn(t.Context(), host, 0)
		require.NoError(t, err)
		done(visit)
	}
	storetest.Exec(t, c.Pool, `INSERT INTO harvest_sites (harvest_id, site_id, origin) SELECT 'conf/x/2001', id, 'homepage' FROM sites`)
	storetest.Exec(t, c.Pool, `UPDATE sites SET state='crawling'`)

	shy, slow := `every 1s \(default\), not before \d{4}-.* \(Retry-After\)`, `every 15s \(slow answers\)`
	for _, args := range [][]string{{"status", "conf/x"}, {"report", "conf/x"}, {"stats", "sites"}} {
		out := c.ok(args...)
		require.Regexp(t, `shy\.example.* `+shy, out, "%v", args)
		require.Regexp(t, `slow\.example.* `+slow, out, "%v", args)
	}
	require.Regexp(t, slow, c.ok("explain", "http://slow.example/"))
	var url app.Explanation
	c.read(&url, "explain", "http://slow.example/")
	require.Equal(t, store.Pace{Seconds: 15, By: "slow answers"}, url.Pace)
	var rep report.Report
	c.read(&rep, "report", "conf/x")
	for _, s := range rep.Sites {
		if s.Host == "shy.example" {
			require.WithinDuration(t, time.Now().Add(time.Hour), *s.Pace.Until, time.Minute)
		}
	}
}
