package store_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"gleaner/internal/devstack/storetest"
	"gleaner/internal/gleaner"
	"gleaner/internal/record/store"
)

// TestTheBestFileIsOfThePublishedLength: of a report, a preprint and an abstract that
// are all the paper, the one is named that is as long as what was printed, in exports
// and lists; the longest where that is not known or none is like it.
func TestTheBestFileIsOfThePublishedLength(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	db := open(t)
	const harvest, goal = "conf/x/all", "conf/x"
	exec := func(sql string, args ...any) { storetest.Exec(t, db.Pool, sql, args...) }
	exec(`INSERT INTO sites (id, host) OVERRIDING SYSTEM VALUE VALUES (1, 'a.example')`)
	require.NoError(t, db.SaveHarvest(ctx, store.Harvest{ID: harvest, Venue: goal, Options: []byte("{}"), Stage: "complete"}))
	exec(`INSERT INTO harvest_sites (harvest_id, site_id, origin) VALUES ($1, 1, 'homepage')`, harvest)

	var papers []gleaner.Paper
	want := map[string]int{}
	for i, c := range []struct {
		printed string
		files   []int // how many pages they have
		best    int
	}{
		{"101-104", []int{41, 4}, 4},
		{"101–112", []int{41, 13, 10, 4}, 13},
		{"205:1-205:23", []int{20, 41}, 20},
		{"e7-e18", []int{30, 12}, 12},
		{"101-106", []int{41, 14}, 41}, // another form of the work, both
		{"17", []int{41, 4}, 41},       // its first page alone
		{"1:1", []int{41, 4}, 41},
		{"", []int{41, 4}, 41},
		{"112-101", []int{41, 4}, 41},
		{"12345678901-12345678904", []int{41, 4}, 41},
	} {
		p := gleaner.Paper{Key: fmt.Sprintf("conf/x/%d", i), Venue: goal, Year: 2001, Title: "Sorting", Pages: c.printed}
		papers = append(papers, p)
		require.NoError(t, db.SavePapers(ctx, []gleaner.Paper{p}, nil))
		for _, n := range c.files {
			sha := fmt.Sprintf("%s-%d", p.Key, n)
			exec(`INSERT INTO documents (sha256, sha1, md5, bytes, kind, state, outcome, pages) VALUES ($1, $1, $1, 1, 'pdf', 'accepted', 'ok', $2)`, sha, n)
			exec(`INSERT INTO locations (hash, sha256, site_id, url) VALUES ($1::text::bytea, $1, 1, 'http://a.example/' || $1)`, sha)
			exec(`INSERT INTO matches (paper_key, sha256, verdict, score) VALUES ($1, $2, CASE WHEN $3=41 THEN 'exact' ELSE 'strong' END, 1)`, p.Key, sha, n)
		}
		want[p.Key] = c.best
	}
	require.NoError(t, db.SetHarvestPapers(ctx, harvest, papers, nil))

	of, err := db.Export(ctx, goal, gleaner.Years{})
	require.NoError(t, err)
	academic, err := db.ExportAcademic(ctx, goal)
	require.NoError(t, err)
	listed, err := db.HarvestPapers(ctx, store.PaperQuery{Harvest: harvest, Limit: 100})
	require.NoError(t, err)
	require.Len(t, of, len(papers))
	require.Len(t, academic, len(papers))
	require.Len(t, listed, len(papers))
	for i, p := range papers {
		best := fmt.Sprintf("%s-%d", p.Key, want[p.Key])
		require.Equal(t, []string{best, best, best}, []string{of[i].SHA256, academic[i].SHA256, listed[i].SHA256}, "printed on %q", p.Pages)
	}
}
