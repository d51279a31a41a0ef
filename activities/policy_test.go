package activities_test

import (
	"slices"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"gleaner/internal/harvest/stats"
	"gleaner/internal/record/store"
)

// crawlDue crawls what is due, and returns where that was something.
func (l *library) crawlDue(t *testing.T) (hosts []string) {
	t.Helper()
	_, hosts = l.recrawl(t, store.Selection{}, false)
	return hosts
}

func (l *library) yield(t *testing.T) store.Yield {
	t.Helper()
	ys, err := l.DB.PolicyYields(t.Context(), time.Now().Add(-24*time.Hour), time.Now().Add(time.Hour))
	require.NoError(t, err)
	require.Len(t, ys, 1)
	return ys[0]
}

// Table 2 of Wu et al. (WebSci 2012): a crawl of the whitelist that another
// crawl's history gave asks less for each accepted document.
func TestWhitelistCrawlAsksLessForAPaper(t *testing.T) {
	t.Parallel()
	broad := newHarvested(t)
	g, err := stats.Generate(t.Context(), broad.DB, nil, stats.Lists{Domains: 8000}, nil)
	require.NoError(t, err)
	require.Positive(t, g.URLs)
	urls, err := broad.DB.Whitelist(t.Context(), -1, "", 0)
	require.NoError(t, err)
	black := broad.yield(t)
	require.Equal(t, "blacklist", black.Policy)

	narrow := newLibrary(t, 40, map[string]string{"crawl-policy": "whitelist"})
	require.NoError(t, narrow.DB.ImportWhitelist(t.Context(), urls))
	_, err = narrow.DB.SeedWhitelist(t.Context(), 0)
	require.NoError(t, err)
	listed, _, err := narrow.DB.DueSites(t.Context(), store.Selection{}, false, "", 1000)
	require.NoError(t, err)
	require.NotEmpty(t, narrow.crawlDue(t))
	narrow.compareOrders(t, listed)
	white := narrow.yield(t)
	require.Equal(t, "whitelist", white.Policy)
	t.Logf("blacklist %+v", black)
	t.Logf("whitelist %+v", white)
	require.Greater(t, float64(white.Good)/float64(white.Requests), 1.2*float64(black.Good)/float64(black.Requests))
	require.GreaterOrEqual(t, float64(white.Fetched)/float64(white.Requests), float64(black.Fetched)/float64(black.Requests))

	// Two steps from a listed page at most, and nothing but listed domains.
	var deep, strange int
	require.NoError(t, narrow.DB.Pool.QueryRow(t.Context(), `SELECT count(*) FILTER (WHERE u.depth > 2 AND u.role=0 AND u.state=1),
		count(*) FILTER (WHERE u.state=1 AND NOT EXISTS (SELECT 1 FROM whitelist w WHERE s.host = w.domain OR s.host LIKE '%.' || w.domain))
		FROM urls u JOIN sites s ON s.id=u.site_id`).Scan(&deep, &strange))
	require.Zero(t, deep)
	require.Zero(t, strange)
}

// compareOrders says how many accepted documents there are after so many requests
// where sites are crawled one after the other, in the order given and by name.
func (l *library) compareOrders(t *testing.T, listed []string) {
	t.Helper()
	rows, err := l.DB.Pool.Query(t.Context(), `SELECT s.host, sum(c.requests)::int, (SELECT count(DISTINCT l.sha256) FROM locations l JOIN documents d ON d.sha256=l.sha256
		WHERE l.site_id=s.id AND d.state='accepted') FROM sites s JOIN crawls c ON c.site_id=s.id GROUP BY s.id`)
	require.NoError(t, err)
	requests, good, all := map[string]int{}, map[string]int{}, 0
	var host string
	var r, g int
	_, err = pgx.ForEachRow(rows, []any{&host, &r, &g}, func() error {
		requests[host], good[host], all = r, g, all+r
		return nil
	})
	require.NoError(t, err)
	after := func(hosts []string, n float64) (documents float64) { // of a site in part its share
		for _, h := range hosts {
			share := min(1, n/float64(max(1, requests[h])))
			documents, n = documents+share*float64(good[h]), n-share*float64(requests[h])
		}
		return documents
	}
	byName := slices.Sorted(slices.Values(listed))
	for percent := 10; percent <= 100; percent += 10 {
		n := float64(all*percent) / 100
		t.Logf("after %4.0f requests (%3d %%): %5.1f documents in the order of the whitelist, %5.1f by name", n, percent, after(listed, n), after(byName, n))
	}
	require.Positive(t, after(listed, float64(all)))
	require.InDelta(t, after(byName, float64(all)), after(listed, float64(all)), 1e-6, "the order is of time alone")
}
