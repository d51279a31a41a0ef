package crawl

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gleaner/internal/devstack/storetest"
	"gleaner/internal/fetch"
	"gleaner/internal/gleaner"
	"gleaner/internal/harvest/report"
	"gleaner/internal/lab/sampleweb"
	"gleaner/internal/politeness"
	"gleaner/internal/rank"
	"gleaner/internal/record/frontier"
	"gleaner/internal/record/store"
	"gleaner/internal/web/page"
)

// TestALargeSiteIsKnownAsAWhole: a slice that keeps few URLs in memory comes to
// the record that one comes to which keeps them all, over many slices: the same
// directories are full, the same links left out, and no link counts as new twice.
func TestALargeSiteIsKnownAsAWhole(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.cfg.DirPages, w.cfg.TrapPages, w.cfg.SlicePages = 12, 0, 4
	crawl := func(known int) (map[string]string, []int) {
		pages := map[string]any{"/": links("/a/", "/b/", "/calendar?year=2100")}
		for _, dir := range []string{"/a/", "/b/"} {
			var all []string
			for i := range 20 {
				p := fmt.Sprintf("%sp%02d.html", dir, i)
				all = append(all, p)
				pages[p] = links("/", dir, fmt.Sprintf("%sp%02d.html", dir, (i+7)%20), fmt.Sprintf("%sd%d.pdf", dir, i%3), fmt.Sprintf("/calendar?year=%d", 2101+i))
			}
			pages[dir] = links(all...)
			for i := range 3 {
				pages[fmt.Sprintf("%sd%d.pdf", dir, i)] = fmt.Sprint(dir, i)
			}
		}
		s := serve(t, pages)
		w.seed(t, s.host, "/", "/")
		w.cfg.KnownURLs = known
		c := w.crawler(w.client)
		require.Equal(t, Exhausted, w.finish(t, c, s.host).Ending)
		for p, n := range s.asked() {
			require.Equal(t, 1, n, p)
		}
		return w.record(t, s.host), storetest.Column[int](t, w.db.Pool,
			`SELECT count(*) FROM urls WHERE site_id=(SELECT id FROM sites WHERE host=$1) GROUP BY interval_s ORDER BY interval_s`, s.host)
	}
	all, gained := crawl(Defaults().KnownURLs)
	require.Contains(t, fmt.Sprint(all), "skipped directory-limit")
	few, gainedOfFew := crawl(8)
	require.Equal(t, all, few)
	require.Equal(t, gained, gainedOfFew, "pages with new documents are worth asking again sooner")
}

// TestDocumentsAreNoPagesOfADirectory: they do not count for its limit, in later slices
// neither.
func TestDocumentsAreNoPagesOfADirectory(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.cfg.DirPages, w.cfg.SlicePages = 3, 1
	s := serve(t, map[string]any{
		"/": links("/a/1.pdf", "/a/2.pdf", "/a/3.pdf", "/a/"), "/a/": links("/a/p.html"), "/a/p.html": links("/"),
		"/a/1.pdf": "1", "/a/2.pdf": "2", "/a/3.pdf": "3",
	})
	w.exhaust(t, s.host, "/")
	require.Equal(t, 1, s.asked()["/a/p.html"])
}

// TestASiteCannotFillTheRecord: pages that name ever new documents in ever new
// directories come to an end of what is entered, over all slices.
func TestASiteCannotFillTheRecord(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.cfg.SlicePages = 5
	s := serve(t, map[string]any{})
	s.otherwise = func(path string) string {
		var all []string
		for i := range 20 {
			all = append(all, fmt.Sprintf("/d%d%s/p.html", i, strings.ReplaceAll(path, "/", "-")), fmt.Sprintf("/d%d%s/p.pdf", i, strings.ReplaceAll(path, "/", "-")))
		}
		if strings.HasSuffix(path, ".pdf") || path == "/robots.txt" || len(path) > 60 {
			return ""
		}
		return links(all...)
	}
	w.seed(t, s.host, "/", "/")
	w.cfg.MaxURLs = 100
	c := w.crawler(w.client)
	require.Equal(t, Exhausted, w.finish(t, c, s.host).Ending)
	is := w.outcomes(t, s.host, "")
	require.Equal(t, maxSkipped, is["skipped url-limit"])
	delete(is, "skipped url-limit")
	n := 0
	for _, k := range is {
		n += k
	}
	require.Equal(t, w.cfg.MaxURLs, n, "%v", is)
}

// TestCachedHomepageGoesBeforeTheSitemap: what a homepage links is known before
// the first request is made, where the page itself was fetched to look for it.
func TestCachedHomepageGoesBeforeTheSitemap(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.cfg.Batch = 100
	s := serve(t, map[string]any{
		"/robots.txt": func(rw http.ResponseWriter, r *http.Request) {
			_, _ = fmt.Fprintf(rw, "Sitemap: http://%s/map.xml", r.Host)
		},
		"/": "never asked for", "/a.html": "a", "/b.html": "b",
		"/map.xml": `<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"></urlset>`,
	})
	w.seed(t, s.host, "/", "/")
	home := "http://" + s.host + "/"
	h, at := frontier.HashOf(home), time.Now().Add(-time.Hour)
	require.NoError(t, w.db.SavePage(t.Context(), store.CachedPage{Hash: h[:], Host: s.host, URL: home, FinalURL: home, Outcome: string(gleaner.OK), Status: 200,
		Header: http.Header{"Content-Type": {"text/html"}}, Body: []byte(`<a href="a.html">a</a> <a href="b.html">b</a>`), At: at}))
	require.Equal(t, Exhausted, w.finish(t, w.crawler(w.client), s.host).Ending)
	require.WithinDuration(t, at, storetest.Get[time.Time](t, w.db.Pool, `SELECT fetched_at FROM urls WHERE hash=$1`, h), time.Minute, "when the server was asked")
	require.Equal(t, []string{"/a.html", "/b.html", "/map.xml"}, s.order)
}

// TestPagesAreLentWhileHomepagesAreLookedFor: what a crawl fetched need not be asked for
// again as evidence, and the local index, which answers those who look, learns nothing
// of it; nothing more is kept of a host that filled its room, nor when the search is over, and
// then pages are indexed.
func TestPagesAreLentWhileHomepagesAreLookedFor(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var indexed []string
	w.cfg.SlicePages, w.cfg.Index = 1, func(_ context.Context, pages []*page.Page) error {
		for _, p := range pages {
			indexed = append(indexed, p.Text)
		}
		panic("over their words") // which is not the crawl's
	}
	s := serve(t, map[string]any{"/": `home <a href="b.html"></a>`, "/b.html": `b <a href="c.html"></a>`, "/c.html": "c",
		"/cite.html": "@inproceedings{roe03, title={Sorting}}"})
	w.harvest(t, "h", w.seed(t, s.host, "/", "/"))
	w.seed(t, s.host, "/cite.html", "/")
	require.NoError(t, w.db.SetStage(t.Context(), "h", gleaner.StageHomepages, ""))
	c := w.crawler(w.client)
	require.Equal(t, SliceFull, sliced(t, c, s.host).Ending)
	require.Equal(t, SliceFull, sliced(t, c, s.host).Ending)
	storetest.Exec(t, w.db.Pool, `INSERT INTO page_cache SELECT substr(sha256(''), 1, 16), host, '', '', 'success', 200, '{}', convert_to(repeat('x', $1::int), 'UTF8')
		FROM sites`, maxCachedHost-10)
	require.Equal(t, SliceFull, sliced(t, c, s.host).Ending)
	require.NoError(t, w.db.SetStage(t.Context(), "h", gleaner.StageCrawl, ""))
	require.Equal(t, Exhausted, w.finish(t, c, s.host).Ending)
	for path, cached := range map[string]bool{"/": true, "/cite.html": true, "/b.html": false, "/c.html": false} {
		h := frontier.HashOf("http://" + s.host + path)
		p, is, err := w.db.CachedPage(t.Context(), h[:], time.Hour)
		require.NoError(t, err)
		require.Equal(t, cached, is, path)
		require.Equal(t, cached, len(p.Body) > 0)
	}
	unindexed := storetest.Get[int](t, w.db.Pool, `SELECT count(*) FROM page_cache WHERE NOT indexed`)
	require.Equal(t, 1, unindexed, "but what filled the room")
	require.Equal(t, []string{"c"}, indexed)
}

// TestSlicesLookTogether: whoever asks within a moment is answered by one look for all,
// and who lost the host learns nothing else than that the lease was not renewed.
func TestSlicesLookTogether(t *testing.T) {
	t.Parallel()
	db := storetest.Open(t, 4)
	k := politeness.NewKeeper(db.Pool, fetch.Pacing{Unpaced: true}, "a")
	joined := make(chan struct{})
	all := &together{keeper: k, db: db, wait: func(time.Duration) { <-joined }}
	var wg sync.WaitGroup
	var renewed [12]bool
	for i := range renewed {
		l, err := k.Acquire(t.Context(), fmt.Sprintf("h%d.test", i))
		require.NoError(t, err)
		if i == 0 {
			storetest.Exec(t, db.Pool, `UPDATE sites SET token = token + 1 WHERE id = $1`, l.SiteID)
		}
		wg.Go(func() {
			var err error
			renewed[i], _, err = all.look(t.Context(), l, 0)
			if err != nil {
				t.Error(err)
			}
		})
	}
	require.Eventually(t, func() bool {
		all.mu.Lock()
		defer all.mu.Unlock()
		return all.next != nil && len(all.next.leases) == len(renewed)
	}, time.Minute, time.Millisecond)
	close(joined)
	wg.Wait()
	for i, is := range renewed {
		require.Equal(t, i > 0, is, "host %d", i)
	}
}

// reasons are why papers of a harvest are missing, by title, with the first evidence.
func (d *secondDay) reasons(t *testing.T, id string) map[string][2]string {
	t.Helper()
	r, err := report.Build(t.Context(), d.db, id)
	require.NoError(t, err)
	out := map[string][2]string{}
	for _, m := range r.Missing {
		out[m.Title] = [2]string{string(m.Reason), m.Evidence[0]}
	}
	return out
}

// TestReasonsAreTheSameOnARecordWithAPast: why papers are missing is said of what pages
// link to, whatever was wanted when they were read.
func TestReasonsAreTheSameOnARecordWithAPast(t *testing.T) {
	t.Parallel()
	const options = `{"leads": "none", "links": {"ignore": ["*/private/*"]}}`
	cases := []struct {
		link   string // with the paper's title
		reason report.Reason
	}{
		{`<a href="gone.pdf">%s</a>`, report.FetchFailed},
		{`<a href="private/1.pdf">%s</a>`, report.FetchFailed},
		{`<a href="http://files.test/2.pdf">%s</a>`, report.FetchFailed},
		{`<a rel="nofollow" href="3.pdf">%s</a>`, report.FetchFailed},
		{`%s. <a href="http://doi.test/4">doi</a>`, report.NotLinked},
		{`<a href="/papers/5.html">%s</a>`, report.NotLinked}, // outside the scope: read, and it has no document
		{`<a href="6.pdf">%s</a>`, report.Rejected},
		{`<a href="7.pptx">%s</a>`, report.NotLinked}, // slides
	}
	of := func() *secondDay {
		d := newSecondDay(t, rank.BreadthFirst)
		list, pages := "", map[string]any{"/papers/5.html": links(), "/~ada/6.pdf": "quite another text"}
		for i, c := range cases {
			list += "<p>" + fmt.Sprintf(c.link, secondDayTitles[i]) + "</p>"
		}
		pages["/~ada/"] = list
		d.home.pages = pages
		return d
	}
	fresh, again := of(), of()
	fresh.harvest(t, "conf/x", options, fresh.papers)
	want := fresh.reasons(t, "conf/x")
	for i, c := range cases {
		require.Equal(t, string(c.reason), want[secondDayTitles[i]][0], "%s: %v", c.link, want)
	}
	require.Contains(t, fresh.fetched(t), "home/papers/5.html")
	require.Contains(t, want[secondDayTitles[4]][1], "1 failed", "what was not read says nothing")
	again.harvest(t, "conf/x/1", options, []gleaner.Paper{again.unlinked()})
	again.harvest(t, "conf/x/2", options, again.papers)
	got := again.reasons(t, "conf/x/2")
	for title, why := range want {
		why[1] = strings.ReplaceAll(why[1], fresh.home.host, again.home.host)
		want[title] = why
	}
	require.Equal(t, want, got)
	storetest.Exec(t, again.db.Pool, `DELETE FROM documents`)
	require.Equal(t, string(report.Rejected), again.reasons(t, "conf/x/2")[secondDayTitles[6]][0], "its file was cleaned away")
}

// TestReasonsNameWhatWasNotLookedAt: of a page whose links are more than a page may have,
// or are not to be followed, no reason claims that all were looked at, also when the page
// is as it was.
func TestReasonsNameWhatWasNotLookedAt(t *testing.T) {
	t.Parallel()
	d := newSecondDay(t, rank.BreadthFirst)
	d.home.pages = map[string]any{"/~ada/": links("all.html", "quiet.html"),
		"/~ada/all.html":   strings.Repeat(`<a href="1.png"></a>`, page.MaxLinks) + `<p><a href="late.pdf">` + secondDayTitles[0] + `</a>`,
		"/~ada/quiet.html": `<meta name="robots" content="nofollow"><a href="quiet.pdf">` + secondDayTitles[1] + `</a>`}
	bob := "http://" + d.home.host + "/~bob/"
	hash := frontier.HashOf(bob)
	none, _ := packLinks(nil)
	for range 2 {
		d.harvest(t, "conf/x", "{}", d.papers[:2])
		storetest.Exec(t, d.db.Pool, `WITH u AS (INSERT INTO urls (site_id, hash, state, url) SELECT id, $3, 1, $2 FROM sites WHERE host=$1 ON CONFLICT DO NOTHING RETURNING site_id, hash)
			INSERT INTO kept_links (site_id, page, data, unread) SELECT site_id, hash, $4, 'another user''s' FROM u`, d.home.host, bob, hash[:], none)
		authors, err := d.db.AuthorClues(t.Context(), "conf/x", false)
		require.NoError(t, err)
		for id, a := range authors {
			require.Equal(t, []any{2, page.CutLinks + ", nofollow"}, []any{a.Sites[0].Cut, a.Sites[0].CutBy}, id)
		}
		for _, why := range d.reasons(t, "conf/x") {
			require.Equal(t, string(report.CutShort), why[0])
			require.Contains(t, why[1], page.CutLinks+", nofollow")
		}
		d.recrawl(t)
	}
}

// TestReasonsSayWhatTheListsSayNow: what waits is not to come where its host was put on the
// blacklist since, and may come where a host was taken off it or put on the whitelist.
func TestReasonsSayWhatTheListsSayNow(t *testing.T) {
	t.Parallel()
	d := newSecondDay(t, rank.BreadthFirst)
	other := d.unlinked()
	d.harvest(t, "conf/x", "{}", []gleaner.Paper{other})
	is := func(why report.Reason, sql string, args ...any) {
		t.Helper()
		storetest.Exec(t, d.db.Pool, sql, args...)
		require.Equal(t, string(why), d.reasons(t, "conf/x")[other.Title][0], sql)
	}
	is(report.NotLinked, `INSERT INTO blacklist (host) VALUES ($1)`, d.home.host)
	is(report.LeftOut, `UPDATE urls SET state=0`)
	is(report.LeftOut, `UPDATE sites SET state='stopped', reason=$1`, gleaner.Blacklisted)
	is(report.NotYet, `DELETE FROM blacklist`)
	is(report.LeftOut, `UPDATE sites SET reason=$1`, gleaner.NotListed)
	is(report.NotYet, `INSERT INTO whitelist (url, domain, position, documents) SELECT 'http://' || host || '/', host, 1, 1 FROM sites`)
	is(report.NotLinked, `UPDATE sites SET state='done'; UPDATE urls SET state=CASE was WHEN 0 THEN 4 ELSE was END`)
	is(report.LeftOut, `WITH d AS (DELETE FROM locations), p AS (DELETE FROM links) INSERT INTO blacklist (host) VALUES ($1)`, d.home.host)
	lead := `WITH x AS (INSERT INTO sites (host, state) VALUES ('far.test', 'new') RETURNING id), l AS (INSERT INTO leads (from_site, hash, to_site, wanted) SELECT s.id, '\x01', x.id, 0 FROM x, sites s WHERE s.host=$1)
		INSERT INTO urls (site_id, hash, url, parent, anchor, role) SELECT id, '\x01', 'http://far.test/q.pdf', 'http://' || $1 || '/~ada/', $2, 2 FROM x`
	is(report.NotYet, lead, d.home.host, other.Title) // it was given before the paper was wanted
	is(report.LeftOut, `INSERT INTO blacklist (host) VALUES ('far.test')`)
}

// TestAParkedRecrawlIsNoRefusal: a site that was read once and is parked when it is asked
// again is one of which pages wait, and none that refused.
func TestAParkedRecrawlIsNoRefusal(t *testing.T) {
	t.Parallel()
	d := newSecondDay(t, rank.BreadthFirst)
	other := d.unlinked()
	d.harvest(t, "conf/x", "{}", []gleaner.Paper{other})
	_, err := d.db.RequeueDue(t.Context(), d.home.host, store.PutBack{All: true, For: "recrawl/all"}, d.cfg.Recrawl)
	require.NoError(t, err)
	err = d.db.FinishCrawl(t.Context(), d.home.host, store.CrawlEnd{State: "stopped", Reason: "the host is parked"}, d.cfg.Recrawl)
	require.NoError(t, err)
	require.Equal(t, string(report.NotYet), d.reasons(t, "conf/x")[other.Title][0])
	sites, err := d.db.SiteTallies(t.Context(), "conf/x")
	require.NoError(t, err)
	require.Equal(t, []int{2, 3}, []int{sites[0].Pages, sites[0].Documents}, "what was read is not unread")
	require.Positive(t, sites[0].Waiting)
}

// TestEveryPaperHasItsLinkAsTheReason, however many links of a page may not be taken.
func TestEveryPaperHasItsLinkAsTheReason(t *testing.T) {
	t.Parallel()
	d, pile := newSecondDay(t, rank.BreadthFirst), sampleweb.NewPile(3)
	list, papers := "", []gleaner.Paper{}
	for i := range maxSkipped + 10 {
		papers = append(papers, pile.Paper(i))
		list += fmt.Sprintf(`<p><a href="http://files.test/%d.pdf">%s</a></p>`, i, papers[i].Title)
	}
	d.home.pages = map[string]any{"/~ada/": list}
	const options = `{"leads": "none"}`
	d.harvest(t, "conf/x/1", options, d.papers[:1])
	d.harvest(t, "conf/x/2", options, papers)
	r, err := report.Build(t.Context(), d.db, "conf/x/2")
	require.NoError(t, err)
	require.Equal(t, map[report.Reason]int{report.FetchFailed: len(papers)}, r.Reasons)
}

// TestLinksBeyondTheLimitsAreKept for later questions, after a first crawl and a recrawl.
func TestLinksBeyondTheLimitsAreKept(t *testing.T) {
	t.Parallel()
	d := newSecondDay(t, rank.BreadthFirst)
	d.cfg.MaxURLs = 1
	list := ""
	for i := range maxSkipped + 10 {
		list += fmt.Sprintf(`<a href="%d.html">a page</a> `, i)
	}
	late := func(i int) string { return fmt.Sprintf(`<p><a href="late%d.pdf">%s</a></p>`, i, secondDayTitles[i]) }
	d.home.pages = map[string]any{"/~ada/": list + late(1)}
	d.harvest(t, "conf/x/1", "{}", d.papers[:1])
	d.harvest(t, "conf/x/2", "{}", d.papers[1:2])
	require.Equal(t, string(report.FetchFailed), d.reasons(t, "conf/x/2")[secondDayTitles[1]][0])
	d.home.pages["/~ada/"] = list + late(1) + late(2)
	d.recrawl(t)
	d.harvest(t, "conf/x/3", "{}", d.papers[2:3])
	require.Equal(t, string(report.FetchFailed), d.reasons(t, "conf/x/3")[secondDayTitles[2]][0])
	require.Equal(t, 2, d.requests(), "the page, twice")
}
