package main

import (
	"os"
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
	require.NoError(t, c.SaveHarvest(t.Context(), store.Harvest{ID: "conf/x/2001", Venue: "conf/x", Years: gleaner.Years{From: 2001, To: 2001}, Options: []byte("{}"), Stage: "crawl"}))
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
	html := c.file("report.html", "")
	c.ok("report", "conf/x", "--html", html)
	page, err := os.ReadFile(html)
	require.NoError(t, err)
	require.Regexp(t, slow, string(page))

	var status []harvestStatus
	c.read(&status, "status", "conf/x")
	require.Len(t, status[0].Sites, 2)
	var rep report.Report
	c.read(&rep, "report", "conf/x")
	var rates []rated[store.SiteRates]
	c.read(&rates, "stats", "sites")
	var url app.Explanation
	c.read(&url, "explain", "http://slow.example/")
	paces := map[string][]store.Pace{"slow.example": {url.Pace}}
	for _, s := range status[0].Sites {
		paces[s.Host] = append(paces[s.Host], s.Pace)
	}
	for _, s := range rep.Sites {
		paces[s.Host] = append(paces[s.Host], s.Pace)
	}
	for _, r := range rates {
		paces[r.Row.Host] = append(paces[r.Row.Host], r.Row.Pace)
	}
	require.Len(t, paces["shy.example"], 3)
	require.Len(t, paces["slow.example"], 4)
	for _, p := range paces["slow.example"] {
		require.Equal(t, store.Pace{Seconds: 15, By: "slow answers"}, p)
	}
	for _, p := range paces["shy.example"] {
		require.NotNil(t, p.Until)
		require.WithinDuration(t, time.Now().Add(time.Hour), *p.Until, time.Minute)
		p.Until = nil
		require.Equal(t, store.Pace{Seconds: 1, By: "default", Rest: "Retry-After"}, p)
	}
}
