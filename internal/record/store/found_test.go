package store_test

import (
	"encoding/json"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gleaner/internal/devstack/devtest"
	"gleaner/internal/devstack/storetest"
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
		storetest.Exec(t, db.Pool, sql)
	}
	exec(`WITH s AS (INSERT INTO sites (host) VALUES ('a.test') RETURNING id),
		d AS (INSERT INTO documents (sha256, sha1, md5, bytes, kind, state) VALUES ('a', '', '', 1, 'pdf', 'accepted'))
		INSERT INTO locations (hash, asked, sha256, site_id, url, found_at) SELECT '\x01', '\x01', 'a', id, 'http://a.test/1.pdf', now() - interval '9 days' FROM s`)
	is := func(verdict string, form string) {
		require.NoError(t, db.SaveMatches(ctx, "a", []store.Found{{Paper: paper.Key, Verdict: verdict, Score: 1, Form: form}}, false, 0))
	}
	foundAt := func(id string) time.Time {
		h := devtest.Must(db.FindHarvest(ctx, id))(t)
		all := devtest.Must(db.Changes(ctx, h, time.Time{}))(t)
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
	tallies := devtest.Must(db.SiteTallies(ctx, "conf/x/1"))(t)
	require.Zero(t, tallies[0].Pages, "a redirect is none")
	require.Equal(t, []int{1, 1, 1}, []int{tallies[0].Documents, tallies[0].Accepted, tallies[0].Found}, "imported, and gone since")
	require.Equal(t, map[string]int{"a.test": 1}, devtest.Must(db.SitePapers(ctx, []string{"a.test"}))(t))

	exports := func() int {
		require.NoError(t, db.SaveMatches(ctx, "a", nil, false, 0)) // it is compared with what is wanted
		return len(devtest.Must(db.Export(ctx, "conf/x", gleaner.Years{}))(t))
	}
	held := map[string]string{paper.Key: "exact"}
	want("conf/x/1", []gleaner.Paper{paper}, held)
	want("conf/x/2", []gleaner.Paper{paper}, held)
	require.Equal(t, 1, exports(), "the library holds it")
	want("conf/x/1", nil, nil)
	want("conf/x/2", nil, nil)
	require.Zero(t, exports(), "nobody lists it")
}

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

	of := devtest.Must(db.Export(ctx, goal, gleaner.Years{}))(t)
	academic := devtest.Must(db.ExportAcademic(ctx, goal))(t)
	listed := devtest.Must(db.HarvestPapers(ctx, store.PaperQuery{Harvest: harvest, Limit: 100}))(t)
	require.Len(t, of, len(papers))
	require.Len(t, academic, len(papers))
	require.Len(t, listed, len(papers))
	for i, p := range papers {
		best := fmt.Sprintf("%s-%d", p.Key, want[p.Key])
		require.Equal(t, []string{best, best, best}, []string{of[i].SHA256, academic[i].SHA256, listed[i].SHA256}, "printed on %q", p.Pages)
	}
}

// TestAPaperOfASiteKeepsItsIdentity when a better file of it is found, and when it is
// found to be a paper that somebody wants: who harvested it would have it twice.
func TestAPaperOfASiteKeepsItsIdentity(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	db := open(t)
	const goal = "site:http://a.example/"
	exec := func(sql string, args ...any) { storetest.Exec(t, db.Pool, sql, args...) }
	exec(`INSERT INTO sites (id, host) OVERRIDING SYSTEM VALUE VALUES (1, 'a.example')`)
	require.NoError(t, db.SaveHarvest(ctx, store.Harvest{ID: goal, Venue: goal, Options: []byte("{}"), Stage: "complete"}))
	exec(`INSERT INTO harvest_sites (harvest_id, site_id, origin) VALUES ($1, 1, 'homepage')`, goal)
	file := func(sha, kind, name, day string) {
		exec(`INSERT INTO documents (sha256, sha1, md5, bytes, kind, state, outcome, updated_at) VALUES ($1, $1, $1, 1, $2, 'accepted', 'ok', $3::timestamptz)`, sha, kind, day)
		exec(`INSERT INTO locations (hash, sha256, site_id, url, found_at) VALUES ($1::text::bytea, $1, 1, 'http://a.example/' || $2, $3::timestamptz)`, sha, name, day)
	}
	only := func() store.Exported {
		all := devtest.Must(db.ExportAcademic(ctx, goal))(t)
		require.Len(t, all, 1)
		return all[0]
	}
	file("b", "postscript", "p.ps", "2026-03-02Z")
	require.Equal(t, "b", only().Identity)
	file("a", "pdf", "p.pdf", "2026-02-02Z") // as a worker dates it whose clock is late
	got := only()
	require.Equal(t, "a", got.SHA256)
	require.Equal(t, "b", got.Identity)
	require.Equal(t, time.March, got.ChangedAt.UTC().Month())
	require.NoError(t, db.SavePapers(ctx, []gleaner.Paper{{Key: "conf/x/1", Venue: "conf/x", Year: 2001, Title: "Sorting"}}, nil))
	exec(`INSERT INTO matches (paper_key, sha256, verdict, score) VALUES ('conf/x/1', 'a', 'exact', 1)`)
	got = only()
	require.Equal(t, []string{"conf/x/1", "b"}, []string{got.Paper, got.Identity})

	of := devtest.Must(db.Export(ctx, "conf/x", gleaner.Years{}))(t)
	require.Equal(t, "conf/x/1", of[0].Identity)
}

// TestFilesOfASiteAreItsOwn counts and exports what lies in the directory of a site, and
// nothing that others found on its host, unless the whole host was asked for.
func TestFilesOfASiteAreItsOwn(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	db := open(t)
	const goal = "site:http://a.example/ada/"
	exec := func(sql string, args ...any) { storetest.Exec(t, db.Pool, sql, args...) }
	exec(`INSERT INTO sites (id, host) OVERRIDING SYSTEM VALUE VALUES (1, 'a.example'), (2, 'files.example')`)
	require.NoError(t, db.SaveHarvest(ctx, store.Harvest{ID: goal, Venue: goal, Options: []byte(`{"scope":"prefix"}`), Stage: "complete"}))
	exec(`INSERT INTO harvest_sites (harvest_id, site_id, origin) VALUES ($1, 1, 'homepage'), ($1, 2, 'link')`, goal)
	for i, f := range []struct{ url, parent, state string }{
		{"http://a.example/ada/1.pdf", "", "accepted"},
		{"http://a.example/pdf/2.pdf", "http://a.example/ada/", "rejected"},
		{"http://files.example/3.pdf", "", "new"},
		{"http://a.example/bob/4.pdf", "http://a.example/bob/", "accepted"},
	} {
		sha := fmt.Sprint(i)
		exec(`INSERT INTO documents (sha256, sha1, md5, bytes, kind, state, outcome) VALUES ($1, $1, $1, 1, 'pdf', $2, 'ok')`, sha, f.state)
		exec(`INSERT INTO locations (hash, sha256, site_id, url, parent) VALUES ($1::text::bytea, $1, CASE WHEN $2::text LIKE '%files%' THEN 2 ELSE 1 END, $2, $3)`, sha, f.url, f.parent)
	}
	counts := func() [4]int {
		t.Helper()
		c := devtest.Must(db.HarvestCounts(ctx, goal))(t)
		return [4]int{c.Documents, c.Accepted, c.Unexamined, devtest.Must(db.AcademicPapers(ctx, goal))(t)}
	}
	require.Equal(t, [4]int{3, 1, 1, 1}, counts())
	exec(`UPDATE harvests SET options='{"scope":"host"}'`)
	require.Equal(t, [4]int{4, 2, 1, 2}, counts())

	hash := []byte("of the address")
	answer := func() string {
		t.Helper()
		return devtest.Must(db.AnswerOf(ctx, "a.example", hash))(t)
	}
	require.Empty(t, answer(), "not asked yet")
	exec(`INSERT INTO urls (site_id, hash, url, state, outcome, status) VALUES (1, $1, 'http://a.example/ada/', 4, 'not-found', 404)`, hash)
	require.Equal(t, "404, not-found", answer())
	exec(`UPDATE urls SET status=0, outcome='address-denied'`)
	require.Equal(t, "address-denied", answer())
	exec(`UPDATE urls SET state=1, status=200, outcome='ok'`)
	require.Empty(t, answer(), "a page")
}

// TestCountsOfURLs: whatever is done to URLs, by several at once and to several
// sites in one statement, what is counted of them is what a count would give.
func TestCountsOfURLs(t *testing.T) {
	t.Parallel()
	db := storetest.Open(t, 4)
	const sites = 3
	statements := []string{
		`INSERT INTO urls (site_id, hash, url, state, was) SELECT n % 3 + 1, sha256((random()::text || n)::bytea), 'u', n % 7, n % 3 FROM generate_series(1, 20) n`,
		`UPDATE urls SET state = (state + 1) % 7 WHERE hash IN (SELECT hash FROM urls WHERE site_id = 1 ORDER BY hash FOR UPDATE SKIP LOCKED)`,
		`UPDATE urls SET anchor = 'no other state' WHERE hash IN (SELECT hash FROM urls ORDER BY hash LIMIT 9 FOR UPDATE SKIP LOCKED)`,
		`DELETE FROM urls WHERE hash IN (SELECT hash FROM urls ORDER BY hash LIMIT 5 FOR UPDATE SKIP LOCKED)`,
		`UPDATE urls SET state = 0 WHERE hash IN (SELECT hash FROM urls WHERE state IN (3, 4) ORDER BY hash FOR UPDATE SKIP LOCKED)`,
	}
	var all sync.WaitGroup
	for worker := range 4 {
		all.Go(func() {
			for i := range 60 {
				_, err := db.Pool.Exec(t.Context(), statements[(i+worker)%len(statements)])
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	sums := func(sql string) (out []string) {
		rows := devtest.Must(db.Pool.Query(t.Context(), sql))(t)
		for rows.Next() {
			v := devtest.Must(rows.Values())(t)
			out = append(out, fmt.Sprintln(v...))
		}
		require.NoError(t, rows.Err())
		return out
	}
	counted := sums(`SELECT site_id, state, was, sum(n)::int FROM url_counts GROUP BY 1, 2, 3 HAVING sum(n) <> 0 ORDER BY 1, 2, 3`)
	require.Greater(t, len(counted), sites)
	require.Equal(t, sums(`SELECT site_id, state, was, count(*)::int FROM urls GROUP BY 1, 2, 3 ORDER BY 1, 2, 3`), counted)
}

// TestYearsWithGaps: a harvest of a list of years keeps it, papers of the years
// between are not among them, and it covers those years alone.
func TestYearsWithGaps(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	db := storetest.Open(t, 4)
	var papers []gleaner.Paper
	for y, key := range map[int]string{2001: "v/a", 2002: "v/b", 2004: "v/c"} {
		papers = append(papers, gleaner.Paper{Key: key, Venue: "v", Year: y, Title: "A Paper of " + key})
	}
	require.NoError(t, db.SaveListing(ctx, "dblp", "v", "all", papers))
	require.NoError(t, db.SaveRecords(ctx, papers, make([]gleaner.Origin, 3)))
	for name, n := range map[string]int{"2001,2004": 2, "2001-2004": 3, "2002": 1} {
		years := devtest.Must(gleaner.ParseYears(name))(t)
		id := gleaner.Goal{Venue: "v"}.Harvest(years)
		require.NoError(t, db.SaveHarvest(ctx, store.Harvest{ID: id, Venue: "v", Years: years, Options: json.RawMessage("{}"), Stage: gleaner.StagePapers}))
		h := devtest.Must(db.FindHarvest(ctx, id))(t)
		require.Equal(t, years, h.Years)
		require.Equal(t, "starter harvest v --years "+name, h.Command())
		require.Equal(t, n, devtest.Must(db.HarvestNow(ctx, id, time.Second, 1))(t).Listed, name)
		had := devtest.Must(db.Papers(ctx, "v", years))(t)
		require.Len(t, had, n, name)
		had = devtest.Must(db.Listing(ctx, "dblp", "v", years))(t)
		require.Len(t, had, n, name)
	}
	require.Len(t, devtest.Must(db.Papers(ctx, "v", gleaner.Years{}))(t), 3, "all years")

	prunes := func(id string) int {
		require.NoError(t, db.SetStage(ctx, id, gleaner.StageComplete, ""))
		storetest.Exec(t, db.Pool, `UPDATE harvests SET completed_at = now() - (CASE WHEN id=$1 THEN 1 ELSE 2 END) * interval '1 day', stage='complete'`, id)
		done, err := db.Prune(ctx, store.Retention{Harvests: time.Minute}, nil, store.PruneOptions{DryRun: true})
		require.NoError(t, err)
		for _, p := range done {
			if p.What == "harvests" {
				return p.Rows
			}
		}
		return 0
	}
	require.Equal(t, 0, prunes("v/2001,2004"), "it covers neither 2002 nor 2001-2004")
	require.Equal(t, 2, prunes("v/2001-2004"))
	require.NoError(t, db.SaveHarvest(ctx, store.Harvest{ID: "v", Venue: "v", Options: json.RawMessage("{}"), Stage: gleaner.StagePapers}))
	require.Equal(t, 3, prunes("v"), "all years cover every one")
}
