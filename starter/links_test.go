package main

import (
	"testing"

	"github.com/stretchr/testify/require"

	"gleaner/internal/record/store"
	"gleaner/internal/service/program"
	"gleaner/internal/web/rules"
)

// explain names the entry that leaves a URL out, and whose it is; also of one that
// was never met.
func TestExplainNamesTheList(t *testing.T) {
	t.Parallel()
	c := newConsole(t)
	policy := c.file("policy.yaml", "links:\n  ignore: ['*/courses.html']\n  levels: 7\n")
	require.NoError(t, c.SaveHarvest(t.Context(), store.Harvest{ID: "conf/a/2001", Venue: "conf/a", Options: []byte(`{"links": {"ignore": ["ads.example"]}}`), Stage: "crawl"}))
	_, err := c.Pool.Exec(t.Context(), `WITH s AS (INSERT INTO sites (host) VALUES ('x.ads.example') RETURNING id)
		INSERT INTO harvest_sites (harvest_id, site_id, origin) SELECT 'conf/a/2001', id, 'lead' FROM s`)
	require.NoError(t, err)
	require.Contains(t, c.wrong(program.ExitUnknown, "explain", "http://x.ads.example/a.pdf", "--policy", policy), "ignore-list ads.example (conf/a/2001)")
	require.Contains(t, c.wrong(program.ExitUnknown, "explain", "http://x.ads.example/1/2/3/4/5/6/7/8/a.pdf", "--policy", policy), "ignore-list")
	require.Contains(t, c.wrong(program.ExitUnknown, "explain", "http://a.example/courses.html", "--policy", policy), "ignore-list */courses.html (the policy)")
}

// What a harvest leaves out is read from a file, and flags are in the place of its lists.
func TestLinkLists(t *testing.T) {
	t.Parallel()
	c := newConsole(t)
	file := c.file("links.yaml", "ignore: [a.example]\nallow: [b.example]\nlevels: 7\n")
	f := linkFlags{file: file, ignore: []string{"*/courses.html"}}
	l, err := f.lists()
	require.NoError(t, err)
	require.Equal(t, &rules.Lists{Ignore: []string{"*/courses.html"}, Allow: []string{"b.example"}, Levels: 7}, l)
	none, err := (&linkFlags{}).lists()
	require.NoError(t, err)
	require.Nil(t, none)
	for _, args := range [][]string{{"--links", c.file("bad.yaml", "ignroe: [a]\n")}, {"--links", "/nowhere"}, {"--ignore", "*"}, {"--allow", "http://a.example/"}} {
		c.wrong(program.ExitUsage, append([]string{"harvest", "conf/a", "--years", "2001"}, args...)...)
	}
}
