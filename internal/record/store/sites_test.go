package store_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"gleaner/internal/devstack/devtest"
	"gleaner/internal/devstack/storetest"
	"gleaner/internal/each"
	"gleaner/internal/fetch"
	"gleaner/internal/gleaner"
	"gleaner/internal/gleaner/evidence"
	"gleaner/internal/politeness"
	"gleaner/internal/record/store"
	"gleaner/internal/recrawl"
)

func open(t *testing.T) *store.DB { return storetest.Open(t, 8) }

// watch makes a harvest with options one that wants a host, and returns the
// host's number.
func watch(t *testing.T, db *store.DB, harvest, options, host string) int {
	h := store.Harvest{ID: harvest, Venue: "v", Options: json.RawMessage(options), Years: gleaner.Years{From: 2000, To: 2000}}
	require.NoError(t, db.SaveHarvest(t.Context(), h))
	var id int
	require.NoError(t, pgx.BeginFunc(t.Context(), db.Pool, func(tx pgx.Tx) (err error) {
		if id, err = store.EnsureSite(t.Context(), tx, host); err != nil {
			return err
		}
		return store.JoinSite(t.Context(), tx, harvest, id, "test")
	}))
	return id
}

// TestAHarvestGetsTheSitesThatOthersLeft: what one harvest, or its cancellation, left
// of a site is crawled for another that joins it, whether it joins before the end of
// the crawl is recorded or after.
func TestAHarvestGetsTheSitesThatOthersLeft(t *testing.T) {
	t.Parallel()
	db := open(t)
	for name, c := range map[string]struct {
		reason string
		late   bool
	}{"of one cancelled, joined before its end": {store.NotWanted, false}, "of one cancelled, joined after": {store.NotWanted, true}, "of one that gave up": {"the host is parked", true}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			host := strings.ReplaceAll(name, " ", "-") + ".test"
			first, second := "first/"+host, "second/"+host
			id := watch(t, db, first, `{}`, host)
			storetest.Exec(t, db.Pool, `INSERT INTO urls (site_id, hash, url) VALUES ($1, '\x01', 'http://' || $2 || '/')`, id, host)
			require.NoError(t, db.BeginCrawl(t.Context(), store.Slice{SiteID: id, Crawl: 1}))
			if c.reason == store.NotWanted {
				require.NoError(t, db.SetStage(t.Context(), first, gleaner.StageCancelled, ""))
			}
			if !c.late {
				watch(t, db, second, `{}`, host)
			}
			require.NoError(t, db.FinishCrawl(t.Context(), host, store.CrawlEnd{State: gleaner.SiteStopped, Reason: c.reason}, recrawl.Defaults()))
			require.Equal(t, []string{host}, devtest.Must(db.EndedSites(t.Context(), []string{host}, ""))(t))
			if c.late {
				watch(t, db, second, `{}`, host)
			}
			hosts, _, err := db.SitesToCrawl(t.Context(), second, "", 10)
			require.NoError(t, err)
			require.Equal(t, []string{host}, hosts)
			// It is not asked for over and over by one harvest.
			require.NoError(t, db.BeginCrawl(t.Context(), store.Slice{SiteID: id, Crawl: 2}))
			require.NoError(t, db.FinishCrawl(t.Context(), host, store.CrawlEnd{State: gleaner.SiteStopped, Reason: "the host is parked"}, recrawl.Defaults()))
			require.NoError(t, pgx.BeginFunc(t.Context(), db.Pool, func(tx pgx.Tx) error { return store.JoinSite(t.Context(), tx, second, id, "test") }))
			hosts, _, err = db.SitesToCrawl(t.Context(), second, "", 10)
			require.NoError(t, err)
			require.Empty(t, hosts)
		})
	}
}

// TestASiteMadeByTwo: who comes second finds the row that the first made while
// he waited for it.
func TestASiteMadeByTwo(t *testing.T) {
	t.Parallel()
	db := open(t)
	tx := devtest.Must(db.Pool.Begin(t.Context()))(t)
	first := devtest.Must(store.EnsureSite(t.Context(), tx, "host.test"))(t)
	got := make(chan int, 1)
	go func() {
		id, err := store.EnsureSite(context.Background(), db.Pool, "host.test")
		if err != nil {
			t.Error(err)
		}
		got <- id
	}()
	storetest.AwaitLock(t, db.Pool)
	require.NoError(t, tx.Commit(t.Context()))
	require.Equal(t, first, <-got)
}

// TestAHarvestsWishesEndWithIt: what is asked of a site is asked by those who
// want it now, each with what it left open filled in.
func TestAHarvestsWishesEndWithIt(t *testing.T) {
	t.Parallel()
	db := open(t)
	worker := store.SiteOptions{Delay: time.Second, MaxPages: 100, Strategy: "gleaner", Leads: "wanted"}
	id := watch(t, db, "quick", `{"delay": 50000000, "max_pages": 5, "budget": 3, "strategy": "bfs"}`, "host.test")
	is := func(want store.SiteOptions, watched bool) {
		got, w, err := db.SiteOptions(t.Context(), id, worker)
		require.NoError(t, err)
		require.Equal(t, want, got)
		require.Equal(t, watched, w)
	}
	quick := store.SiteOptions{Delay: 50 * time.Millisecond, MaxPages: 5, Budget: 3, Strategy: "bfs", Leads: "wanted"}
	is(quick, true)
	watch(t, db, "plain", `{"leads": "all"}`, "host.test")
	is(store.SiteOptions{Delay: time.Second, MaxPages: 100, Strategy: "bfs", Leads: "all"}, true)
	require.NoError(t, db.SetPaused(t.Context(), "plain", true))
	is(store.SiteOptions{Delay: time.Second, MaxPages: 100, Strategy: "bfs", Leads: "all"}, true)
	require.NoError(t, db.SetStage(t.Context(), "plain", "complete", ""))
	is(quick, true)
	watch(t, db, "slow", `{"delay": 60000000000, "budget": 9}`, "host.test")
	is(store.SiteOptions{Delay: time.Minute, MaxPages: 100, Budget: 9, Strategy: "bfs", Leads: "wanted"}, true)
	require.NoError(t, db.SetStage(t.Context(), "slow", "cancelled", ""))
	require.NoError(t, db.SetStage(t.Context(), "quick", "complete", ""))
	is(worker, false)
	d, any, err := db.SiteDelay(t.Context(), id, time.Second)
	require.NoError(t, err)
	require.False(t, any)
	require.Equal(t, time.Second, d)
}

// TestRetryReachesAParkedHost: its failures are forgotten, and so is the pause
// they brought; what the host asked for itself is not, and is said.
func TestRetryReachesAParkedHost(t *testing.T) {
	t.Parallel()
	db := open(t)
	p := fetch.Pacing{MinDelay: time.Second, BackoffBase: time.Hour, BackoffMax: time.Hour, ParkAfter: 2}
	k := politeness.NewKeeper(db.Pool, p, "a")
	fail := func(host string, v fetch.Visit) {
		watch(t, db, "h", `{}`, host)
		l := devtest.Must(k.Acquire(t.Context(), host))(t)
		done := devtest.Must(k.Under(l).Turn(t.Context(), host, 0))(t)
		done(v)
		require.NoError(t, l.Release(t.Context()))
	}
	for range 2 {
		storetest.Exec(t, db.Pool, `UPDATE sites SET next_allowed_at = '-infinity'`)
		fail("broken.test", fetch.Visit{Status: 500, Failed: true})
	}
	fail("asks.test", fetch.Visit{Status: 503, Failed: true, RetryAfter: 2 * time.Hour})
	_, err := k.Acquire(t.Context(), "broken.test")
	var busy *politeness.BusyError
	require.ErrorAs(t, err, &busy)
	require.Contains(t, busy.Error(), "failures in a row: 2")
	require.NotContains(t, busy.Error(), "asked for")

	_, err = db.RequeueFailed(t.Context(), store.RetryFilter{Harvest: "h"})
	require.NoError(t, err)
	l := devtest.Must(k.Acquire(t.Context(), "broken.test"))(t)
	require.Less(t, l.Ready(), time.Minute, "the pause was for its failures")
	require.Zero(t, l.Failures())
	l = devtest.Must(k.Acquire(t.Context(), "asks.test"))(t)
	require.Greater(t, l.Ready(), time.Hour, "the pause was its own wish")
	_, err = k.Under(l).Turn(t.Context(), "asks.test", 0)
	require.ErrorAs(t, err, &busy)
	require.Contains(t, busy.Error(), "it asked for the pause (Retry-After)")
	asked := devtest.Must(db.AskedSites(t.Context(), store.RetryFilter{Harvest: "h"}))(t)
	require.Len(t, asked, 1)
	require.Equal(t, "asks.test", asked[0].Host)
}

// TestRetryOfWhatRobotsForbade has the rules asked for again, which other reasons do not.
func TestRetryOfWhatRobotsForbade(t *testing.T) {
	t.Parallel()
	db := open(t)
	watch(t, db, "h", `{}`, "closed.test")
	storetest.Exec(t, db.Pool, `
		INSERT INTO robots (host, status, available, failures, fetched_at, expires_at)
		VALUES ('closed.test', 200, true, 0, now(), now() + interval '1 day');
		INSERT INTO urls (site_id, hash, url, depth, role, state, outcome, fetched_at)
		SELECT id, '\x01', 'http://closed.test/1', 0, 0, 4, 'robots-denied', now() FROM sites WHERE host='closed.test'`)
	for due, is := range map[string]string{"NULL": "failed for good", "now() + interval '1 day'": "failed for now"} {
		storetest.Exec(t, db.Pool, `UPDATE urls SET due_at=`+due)
		u := devtest.Must(db.ExplainURL(t.Context(), "closed.test", []byte{1}))(t)
		require.Equal(t, is, u.StateName, "asked again: "+due)
	}
	for _, reason := range []gleaner.Outcome{"timeout", "robots-denied"} {
		n := devtest.Must(db.RequeueFailed(t.Context(), store.RetryFilter{Harvest: "h", Reason: string(reason)}))(t)
		var expired bool
		row := db.Pool.QueryRow(t.Context(), `SELECT expires_at <= now() FROM robots WHERE host='closed.test'`)
		require.NoError(t, row.Scan(&expired))
		require.Equal(t, reason == "robots-denied", n == 1 && expired, reason)
		require.Equal(t, reason == "robots-denied", n == 1 || expired, reason)
	}
}

// TestACompleteHarvestGetsNoSitesOfAnothersCrawl: a lead belongs to the harvests that go
// on, or to all where a recrawl gave it. One that waits is of whoever comes next.
func TestACompleteHarvestGetsNoSitesOfAnothersCrawl(t *testing.T) {
	t.Parallel()
	db := open(t)
	ctx := t.Context()
	from := watch(t, db, "first", `{}`, "a.test")
	watch(t, db, "second", `{}`, "a.test")
	give := func(host string) (id int) {
		require.NoError(t, pgx.BeginFunc(ctx, db.Pool, func(tx pgx.Tx) (err error) {
			if id, err = store.EnsureSite(ctx, tx, host); err != nil {
				return err
			}
			return store.InheritSite(ctx, tx, from, id, "lead")
		}))
		return id
	}
	sites := func(harvest string) (hosts []string) {
		all := devtest.Must(db.SiteTallies(ctx, harvest))(t)
		for _, s := range all {
			hosts = append(hosts, s.Host)
		}
		return hosts
	}
	give("both.test")
	require.NoError(t, db.SetStage(ctx, "first", gleaner.StageComplete, ""))
	late := give("late.test")
	require.Equal(t, []string{"a.test", "both.test"}, sites("first"))
	require.Equal(t, []string{"a.test", "both.test", "late.test"}, sites("second"))
	require.NoError(t, db.SetStage(ctx, "second", gleaner.StageCancelled, ""))
	give("recrawled.test")
	require.Equal(t, []string{"a.test", "both.test", "recrawled.test"}, sites("first"))
	storetest.Exec(t, db.Pool, `WITH u AS (INSERT INTO urls (site_id, hash, url) VALUES ($2, '\x01', 'http://late.test/1.pdf')),
		l AS (INSERT INTO leads (from_site, hash, to_site, wanted) VALUES ($1, '\x01', $2, 1)) UPDATE sites SET state='stopped' WHERE id=$2`, from, late)
	other := give("other.test")
	storetest.Exec(t, db.Pool, `DELETE FROM harvest_sites WHERE site_id=$1`, other)
	storetest.Exec(t, db.Pool, `WITH u AS (INSERT INTO urls (site_id, hash, url) VALUES ($2, '\x02', 'http://other.test/1.pdf'))
		INSERT INTO leads (from_site, hash, to_site, wanted) VALUES ($1, '\x02', $2, 0.2)`, from, other)
	joins := func(leads string, want ...string) {
		for range 2 {
			require.NoError(t, db.JoinLeads(ctx, "first", leads, 0.8))
		}
		hosts, _, err := db.SitesToCrawl(ctx, "first", "", 10)
		require.NoError(t, err)
		require.Equal(t, want, hosts)
	}
	joins("wanted", "late.test")
	joins("all", "late.test", "other.test")
}

// TestAfterABlacklistIsLifted authors are looked for again of whom it kept a page out.
func TestAfterABlacklistIsLifted(t *testing.T) {
	t.Parallel()
	db := open(t)
	ctx := t.Context()
	require.NoError(t, db.Block(ctx, []store.Blocked{{Host: "a.test"}, {Host: "b.test"}}))
	ada := gleaner.Author{PID: "1/1", Name: "Ada"}
	watch(t, db, "conf/x", "{}", "c.test")
	papers := []gleaner.Paper{{Key: "p", Venue: "conf/x", Title: "Sorting Measured Examples", Authors: []gleaner.Author{ada}}}
	require.NoError(t, db.SavePapers(ctx, papers, nil))
	require.NoError(t, db.SetHarvestPapers(ctx, "conf/x", papers, nil))
	out := func(url, source string) evidence.Candidate {
		return evidence.Candidate{URL: url, Title: "Ada", Source: source, Rule: evidence.OnBlacklist}
	}
	storetest.Exec(t, db.Pool, `INSERT INTO sites (host, state, reason) VALUES ('a.test', 'stopped', $1)`, gleaner.Blacklisted+": asked by mail")
	const a, b = "http://a.test/~ada/", "http://b.test/~ada/"
	require.NoError(t, db.SaveDecision(ctx, evidence.Decision{Author: ada, Candidates: []evidence.Candidate{
		out(a, "listed:dblp"), out(b, evidence.SourceVenue), {URL: "http://c.test/", Title: "Ada"}}}, nil))
	decided := devtest.Must(db.Decisions(ctx, []string{"1/1"}, time.Time{}))(t)
	titles := each.Of(decided[0].Candidates, func(c evidence.Candidate) string { return c.Title })
	require.Equal(t, []string{"", "", "Ada"}, titles, "the blacklist keeps texts of its hosts out")
	for _, c := range []struct {
		host        string
		out, lifted []string
	}{{"c.test", []string{a, b}, nil}, {"a.test", []string{b}, []string{a}}, {"b.test", nil, []string{a, b}}} {
		require.Equal(t, c.host != "c.test", devtest.Must(db.Unblock(ctx, c.host))(t))
		clues := devtest.Must(db.AuthorClues(ctx, "conf/x", false))(t)
		require.Equal(t, []any{c.out, c.lifted}, []any{clues["1/1"].Barred, clues["1/1"].Lifted}, c.host)
	}
	sites := devtest.Must(db.Sites(ctx, store.SiteQuery{Host: "a.test", Limit: 1}))(t)
	require.Equal(t, "the host was on the blacklist: asked by mail", sites[0].Reason)
}

// TestSitesAreCrawledInTurns: a site that names a hundred hosts does not go before
// one that names two, nor before homepages; page by page nothing is listed twice
// or passed over.
func TestSitesAreCrawledInTurns(t *testing.T) {
	t.Parallel()
	db := open(t)
	flood := watch(t, db, "h", `{}`, "a-flood.test")
	good := watch(t, db, "h", `{}`, "z-good.test")
	lead := func(from int, host string) (id int) {
		require.NoError(t, pgx.BeginFunc(t.Context(), db.Pool, func(tx pgx.Tx) (err error) {
			if id, err = store.EnsureSite(t.Context(), tx, host); err != nil {
				return err
			}
			return store.InheritSite(t.Context(), tx, from, id, "lead")
		}))
		return id
	}
	want := []string{"a-flood.test", "z-good.test", "z-homepage.test", "b0.test", "z-lead1.test", "b1.test", "z-lead2.test"}
	first := lead(flood, "b0.test")
	for i := 1; i < 10; i++ {
		lead(first, fmt.Sprintf("b%d.test", i)) // each led to by the first: all are the flood's
		if i > 1 {
			want = append(want, fmt.Sprintf("b%d.test", i))
		}
	}
	lead(flood, "z-homepage.test")
	lead(good, "z-lead1.test")
	lead(flood, "z-lead2.test")
	lead(good, "z-lead2.test")
	watch(t, db, "h", `{}`, "z-homepage.test")
	storetest.Exec(t, db.Pool, `INSERT INTO urls (site_id, hash, url) SELECT id, int4send(id::int), 'http://' || host || '/' FROM sites`)
	for _, limit := range []int{100, 2, 1} {
		var got []string
		for after := ""; ; {
			hosts, last, err := db.SitesToCrawl(t.Context(), "h", after, limit)
			require.NoError(t, err)
			got, after = append(got, hosts...), last
			if len(hosts) < limit {
				break
			}
		}
		require.Equal(t, want, got, limit)
	}
}

// TestWhatRunsIsAmongAHundredGoals: of a site that more want than are listed, those
// that run are.
func TestWhatRunsIsAmongAHundredGoals(t *testing.T) {
	t.Parallel()
	db := open(t)
	watch(t, db, "first", `{}`, "a.example")
	storetest.Exec(t, db.Pool, `INSERT INTO harvests (id, venue, year_from, year_to, options, stage, completed_at)
		SELECT 'h' || lpad(n::text, 3, '0'), 'conf/' || lpad(n::text, 3, '0'), 2000, 2000, '{}', 'complete', CASE WHEN n < 150 THEN now() END FROM generate_series(1, 150) n`)
	storetest.Exec(t, db.Pool, `INSERT INTO harvest_sites (harvest_id, site_id, origin) SELECT h.id, s.id, 'copy' FROM harvests h, sites s ON CONFLICT DO NOTHING`)
	venues := devtest.Must(db.SiteVenues(t.Context(), "a.example"))(t)
	require.Len(t, venues, 100)
	require.Equal(t, []string{"conf/150", "v", "conf/001"}, venues[:3])
}

// TestACrawlBeginsWhollyOrNot: a worker that dies over it leaves no bytes of the last crawl
// to count against this one's limit.
func TestACrawlBeginsWhollyOrNot(t *testing.T) {
	t.Parallel()
	db := storetest.Open(t, 2)
	storetest.Exec(t, db.Pool, `INSERT INTO sites (host, state, crawl, crawl_read) VALUES ('a.example', 'new', 1, 3);
		INSERT INTO crawl_sections (site_id, dir, read, relevant, bytes, left_out) SELECT id, '/~ada/', 1, 0, 1000, 0 FROM sites;
		CREATE FUNCTION dies() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RAISE EXCEPTION ''dies''; END';
		CREATE TRIGGER dies BEFORE DELETE OR UPDATE ON crawl_sections FOR EACH ROW EXECUTE FUNCTION dies()`)
	site := devtest.Must(db.Site(t.Context(), "a.example"))(t)
	require.Error(t, db.BeginCrawl(t.Context(), store.Slice{SiteID: site.ID, Crawl: 2}))
	site = devtest.Must(db.Site(t.Context(), "a.example"))(t)
	require.Equal(t, gleaner.SiteNew, site.State)
}

// TestARecrawlThatEndsBeforeItBeginsIsOver: a site that a person paused before a recrawl began
// is not held for the recrawl any more, so that harvests that want it can pause it.
func TestARecrawlThatEndsBeforeItBeginsIsOver(t *testing.T) {
	t.Parallel()
	db := open(t)
	storetest.Exec(t, db.Pool, `INSERT INTO sites (host, state, crawl, crawl_started, crawl_finished, due_at) VALUES ('a.example', 'done', 1, now() - interval '9 days', now() - interval '8 days', now())`)
	storetest.Exec(t, db.Pool, `INSERT INTO urls (site_id, hash, url, state, crawl, fetched_at, due_at) SELECT id, '\x01', 'http://a.example/', 1, 1, now() - interval '8 days', now() FROM sites`)
	n, err := db.RequeueDue(t.Context(), "a.example", store.PutBack{For: "recrawl/due", WARC: true}, recrawl.Defaults())
	require.NoError(t, err)
	require.Equal(t, 1, n)
	storetest.Exec(t, db.Pool, `UPDATE sites SET paused='x'`)
	require.NoError(t, db.FinishCrawl(t.Context(), "a.example", store.CrawlEnd{State: gleaner.SiteStopped, Reason: gleaner.SitePaused}, recrawl.Defaults()))
	storetest.Exec(t, db.Pool, `UPDATE sites SET paused='', state='new'`)
	id := watch(t, db, "h", `{}`, "a.example")
	storetest.Exec(t, db.Pool, `UPDATE harvests SET paused=true`)
	a := devtest.Must(db.Attention(t.Context(), id))(t)
	require.True(t, a[id].Paused)
	require.False(t, storetest.Get[bool](t, db.Pool, `SELECT warc FROM sites`))
}

// TestASiteIsCrawledForThoseThatAreLeft of the recrawls and the harvest that wanted it, and
// for nobody once all are cancelled.
func TestASiteIsCrawledForThoseThatAreLeft(t *testing.T) {
	t.Parallel()
	db := open(t)
	id := watch(t, db, "h", `{}`, "a.example")
	storetest.Exec(t, db.Pool, `UPDATE sites SET recrawled_for='{recrawl/first,recrawl/second}', state='crawling', crawl=1, crawl_started=now()`)
	for _, leaves := range []struct {
		who       func() error
		cancelled bool
	}{
		{func() error { return db.LeaveSites(t.Context(), "recrawl/first", []string{"a.example"}) }, false},
		{func() error { return db.SetStage(t.Context(), "h", gleaner.StageCancelled, "") }, false},
		{func() error { return db.LeaveSites(t.Context(), "recrawl/second", []string{"a.example"}) }, true},
	} {
		require.NoError(t, leaves.who())
		a := devtest.Must(db.Attention(t.Context(), id))(t)
		require.Equal(t, store.Attention{Cancelled: leaves.cancelled}, a[id])
	}
}
