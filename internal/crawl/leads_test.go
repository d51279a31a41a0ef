package crawl

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestAPageCannotFloodOthers: what it names of other hosts is bounded, for each
// host, for the number of hosts and in all; what is left out is recorded with the
// limit's name.
func TestAPageCannotFloodOthers(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var one, many []string
	for i := range maxLeadsPerHost + 50 {
		one = append(one, fmt.Sprintf("http://victim.test/%d.pdf", i))
	}
	for i := range maxLeadHosts + 50 {
		many = append(many, fmt.Sprintf("http://h%d.test/1.pdf", i))
	}
	s := serve(t, map[string]any{"/": links("one.html", "many.html"), "/one.html": links(one...), "/many.html": links(many...)})
	w.seed(t, s.host, "/", "/")
	require.Equal(t, Exhausted, w.finish(t, w.crawler(w.client), s.host).Ending)
	require.Len(t, w.record(t, "victim.test"), maxLeadsPerHost)
	var hosts int
	require.NoError(t, w.db.Pool.QueryRow(t.Context(), `SELECT count(*) FROM sites`).Scan(&hosts))
	require.Equal(t, maxLeadHosts+1, hosts)
	is := map[string]int{}
	for url, outcome := range w.record(t, s.host) {
		if strings.Contains(url, ".test/") {
			is[outcome]++
		}
	}
	require.Equal(t, map[string]int{"skipped leads-per-host-limit": 50, "skipped lead-hosts-limit": 51}, is)
}
