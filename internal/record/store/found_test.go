package store_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gleaner/internal/gleaner"
	"gleaner/internal/record/store"
)

// TestAPaperThatIsFoundStaysFound, as of the day on which it was found for a harvest:
// looked at again, or held by the library since, but not where no venue has it any more.
func TestAPaperThatIsFoundStaysFound(t *testing.T) {
	t.Parallel()
	db := open(t)
	ctx := t.Context()
	paper := gleaner.Paper{Key: "conf/x/P", Venue: "conf/x", Title: "Sorting Measured Examples by Weight", Year: 2000}
	require.NoError(t, db.SavePapers(ctx, []gleaner.Paper{paper}, nil))
	want := func(id string, papers []gleaner.Paper, held map[string]string) {
		require.NoError(t, db.SaveHarvest(ctx, store.Harvest{ID: id, Venue: "conf/x", Options: []byte("{}")}))
		require.NoError(t, db.SetHarvestPapers(ctx, id, papers, held))
	}
	want("conf/x/1", []gleaner.Paper{paper}, nil)
	exec := func(sql string) {
		_, err := db.Pool.Exec(ctx, sql)
		require.NoError(t, err)
	}
	exec(`WITH s AS (INSERT INTO sites (host) VALUES ('a.test') RETURNING id),
		d AS (INSERT INTO documents (sha256, sha1, md5, bytes, kind, state) VALUES ('a', '', '', 1, 'pdf', 'accepted'))
		INSERT INTO locations (hash, asked, sha256, site_id, url, found_at) SELECT '\x01', '\x01', 'a', id, 'http://a.test/1.pdf', now() - interval '9 days' FROM s`)
	is := func(verdict string, form string) {
		require.NoError(t, db.SaveMatches(ctx, "a", []store.Found{{Paper: paper.Key, Verdict: verdict, Score: 1, Form: form}}, false, 0))
	}
	foundAt := func(id string) time.Time {
		h, err := db.FindHarvest(ctx, id)
		require.NoError(t, err)
		all, err := db.Changes(ctx, h, time.Time{})
		require.NoError(t, err)
		require.Len(t, all, 1)
		return all[0].At
	}
	is("strong", "paper")
	exec(`UPDATE matches SET matched_at=now() - interval '5 days'`)
	exec(`UPDATE harvest_papers SET wanted_at=now() - interval '6 days'`)
	first := foundAt("conf/x/1")
	is("exact", "preprint")
	require.NoError(t, db.Settle(ctx, paper.Key, "a", "yes"))
	require.Equal(t, first, foundAt("conf/x/1"), "looked at again")
	require.NoError(t, db.Settle(ctx, paper.Key, "a", ""))
	want("conf/x/2", []gleaner.Paper{paper}, nil)
	require.WithinDuration(t, time.Now(), foundAt("conf/x/2"), time.Hour, "found for it when it came to want the paper")

	exec(`INSERT INTO harvest_sites (harvest_id, site_id, origin) SELECT 'conf/x/1', id, 'homepage' FROM sites`)
	exec(`UPDATE locations SET current=false, gone_at=now()`)
	exec(`INSERT INTO urls (site_id, hash, url, state, outcome) SELECT id, '\x02', 'http://a.test/~ada', 6, 'redirect-known' FROM sites`)
	tallies, err := db.SiteTallies(ctx, "conf/x/1")
	require.NoError(t, err)
	require.Zero(t, tallies[0].Pages, "a redirect is none")
	require.Equal(t, []int{1, 1, 1}, []int{tallies[0].Documents, tallies[0].Accepted, tallies[0].Found}, "imported, and gone since")
	papers, err := db.SitePapers(ctx, []string{"a.test"})
	require.NoError(t, err)
	require.Equal(t, map[string]int{"a.test": 1}, papers)

	exports := func() int {
		require.NoError(t, db.SaveMatches(ctx, "a", nil, false, 0)) // it is compared with what is wanted
		all, err := db.Export(ctx, "conf/x", gleaner.Years{})
		require.NoError(t, err)
		return len(all)
	}
	held := map[string]string{paper.Key: "exact"}
	want("conf/x/1", []gleaner.Paper{paper}, held)
	want("conf/x/2", []gleaner.Paper{paper}, held)
	require.Equal(t, 1, exports(), "the library holds it")
	want("conf/x/1", nil, nil)
	want("conf/x/2", nil, nil)
	require.Zero(t, exports(), "nobody lists it")
}
