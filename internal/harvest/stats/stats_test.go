package stats

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gleaner/internal/devstack/storetest"
	"gleaner/internal/fetch"
	"gleaner/internal/gleaner"
	"gleaner/internal/record/frontier"
	"gleaner/internal/record/store"
	"gleaner/internal/recrawl"
	"gleaner/internal/web/page"
)

// record is a database with sites whose pages and documents a test lays down.
type record struct {
	*store.DB
	t *testing.T
}

func newRecord(t *testing.T) *record {
	t.Helper()
	db := storetest.Open(t, 4)
	return &record{db, t}
}

func (r *record) ctx() context.Context { return r.t.Context() }

func (r *record) exec(sql string, args ...any) {
	r.t.Helper()
	storetest.Exec(r.t, r.Pool, sql, args...)
}

// site begins the crawl of a host.
func (r *record) site(host string) int {
	r.t.Helper()
	id, err := store.EnsureSite(r.ctx(), r.Pool, host)
	require.NoError(r.t, err)
	r.exec(`UPDATE sites SET crawl=1, state='crawling', crawl_started=now() - interval '1 hour' WHERE id=$1`, id)
	return id
}

// visited lays a URL down as asked for.
func (r *record) visited(site int, url, parent string, state frontier.State, outcome gleaner.Outcome) {
	r.t.Helper()
	e := frontier.Entry{Candidate: page.Candidate{Link: page.Link{URL: url, Source: page.SourceAnchor}, Parent: parent}}
	_, err := frontier.Add(r.ctx(), r.Pool, site, []frontier.Entry{e})
	require.NoError(r.t, err)
	v := frontier.Visit{Entry: &e, State: state, Outcome: outcome, Status: 200, Crawl: 1, At: time.Now().Add(-30 * time.Minute), Interval: 14 * 24 * time.Hour}
	if outcome == gleaner.OK || fetch.Retryable(outcome) {
		v.Due = v.At.Add(v.Interval)
	}
	require.NoError(r.t, frontier.Done(r.ctx(), r.Pool, site, []frontier.Visit{v}))
}

func (r *record) page(site int, url, parent string) {
	r.t.Helper()
	r.visited(site, url, parent, frontier.Page, gleaner.OK)
}

// document lays a file down; its content is its name.
func (r *record) document(site int, url, parent, content string, accepted bool) {
	r.t.Helper()
	r.visited(site, url, parent, frontier.Document, gleaner.OK)
	h := frontier.HashOf(url)
	at := time.Now().Add(-30 * time.Minute)
	require.NoError(r.t, r.SaveFetched(r.ctx(), store.Document{SHA256: content, SHA1: content, MD5: content, Kind: "pdf"},
		store.Location{Hash: h[:], SiteID: site, URL: url, Parent: parent, Found: at}, nil))
	state := "rejected"
	if accepted {
		state = "accepted"
	}
	r.exec(`UPDATE documents SET state=$2, refs=7, discovered_at=$3 WHERE sha256=$1`, content, state, at)
}

// linked lays down that a page links to files.
func (r *record) linked(site int, page string, files ...string) {
	r.t.Helper()
	read := frontier.Reading{Page: frontier.HashOf(page)}
	for _, f := range files {
		read.Files = append(read.Files, frontier.HashOf(f))
	}
	require.NoError(r.t, frontier.Link(r.ctx(), r.Pool, site, []frontier.Reading{read}))
}

// homepage lays down a site of one person: two papers below /papers/, twelve
// pages of a course with a rejected file, a blog of thirty.
func (r *record) homepage(host string) int {
	at := func(path string) string { return "http://" + host + path }
	id := r.site(host)
	r.page(id, at("/"), "")
	r.page(id, at("/pubs.html"), at("/"))
	r.document(id, at("/papers/a.pdf"), at("/pubs.html"), host+"a", true)
	r.document(id, at("/papers/b.pdf"), at("/pubs.html"), host+"b", true)
	for i := range 12 {
		r.page(id, at(fmt.Sprintf("/teaching/w%d.html", i)), at("/"))
	}
	for i := range 30 {
		r.page(id, at(fmt.Sprintf("/blog/2003/%d.html", i)), at("/"))
	}
	return id
}

// homepages lays down such a site of each host.
func (r *record) homepages(hosts ...string) {
	for _, host := range hosts {
		r.homepage(host)
	}
}

// generate makes the whitelist, and returns what it came to and what is on it.
func (r *record) generate(o Lists) (Generated, []store.ListedURL) {
	r.t.Helper()
	o.Domains = 10
	g, err := Generate(r.ctx(), r.DB, nil, o, nil)
	require.NoError(r.t, err)
	urls, err := r.Whitelist(r.ctx(), -1, "", 0)
	require.NoError(r.t, err)
	return g, urls
}

func TestMeasure(t *testing.T) {
	t.Parallel()
	r := newRecord(t)
	id := r.homepage("ada.example")
	r.document(id, "http://ada.example/teaching/slides.pdf", "http://ada.example/teaching/w1.html", "slides", false)
	want := store.SiteRates{Host: "ada.example", Rates: store.Rates{Pages: 44, Relevant: 2, Documents: 3, Accepted: 2}, References: 21}
	for range 2 { // measuring again changes nothing
		got, err := Measure(t.Context(), r.DB, "ada.example", Defaults())
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
	require.InDelta(t, 2./44, PageYield(want.Rates), 1e-9)
	require.InDelta(t, 3./44, DDR(want.Rates), 1e-9, "of the pages, as CINDI has it")
	require.InDelta(t, 2./3, ADR(want.Rates), 1e-9)
	dirs, err := r.DirectoryRatesList(t.Context(), "ada.example", false)
	require.NoError(t, err)
	byPath := map[string]store.DirectoryRates{}
	for _, d := range dirs {
		byPath[d.Path] = d
	}
	require.Equal(t, store.Rates{Documents: 2, Accepted: 2}, byPath["/papers/"].Rates)
	require.Equal(t, store.Rates{Pages: 30}, byPath["/blog/"].Rates, "a directory counts what is below it")
	require.True(t, byPath["/blog/"].Avoid)
	require.True(t, byPath["/blog/2003/"].Avoid)
	require.True(t, byPath["/teaching/"].Avoid, "a file in thirteen, and not accepted")
	require.False(t, byPath["/papers/"].Avoid)
	require.False(t, byPath["/"].Avoid)

	// A document accepted later, as after an import, changes the rates.
	r.exec(`UPDATE documents SET state='accepted' WHERE sha256='slides'`)
	got, err := Measure(t.Context(), r.DB, "ada.example", Defaults())
	require.NoError(t, err)
	require.Equal(t, store.Rates{Pages: 44, Relevant: 3, Documents: 3, Accepted: 3}, got.Rates)
	dirs, err = r.DirectoryRatesList(t.Context(), "ada.example", true)
	require.NoError(t, err)
	require.Len(t, dirs, 2, "/teaching/ gave something now: %v", dirs)
}

// TestImportedSitesHaveRates checks that a site that only an import brought is measured by the
// pages on record, those that link to files, and gets no verdict by them.
func TestImportedSitesHaveRates(t *testing.T) {
	t.Parallel()
	r := newRecord(t)
	site := r.site("ada.example")
	for i := range 12 {
		r.document(site, fmt.Sprintf("http://ada.example/%d.pdf", i), "http://ada.example/pubs.html", fmt.Sprint("file", i), i == 0)
	}
	r.exec(`DELETE FROM urls`)
	r.exec(`UPDATE sites SET crawl=0, state='new'`)
	r.exec(`UPDATE parents SET first_crawl='2005-01-02', last_crawl='2005-01-02'`)
	r.exec(`UPDATE documents SET state='rejected' WHERE sha256 <> 'file0'`)
	n, err := MeasureStale(t.Context(), r.DB, Defaults())
	require.NoError(t, err)
	require.Equal(t, 1, n)
	all, err := r.SiteRatesList(t.Context(), "", 0)
	require.NoError(t, err)
	require.Len(t, all, 1)
	require.Equal(t, store.Rates{Pages: 1, Relevant: 1, Documents: 12, Accepted: 1}, all[0].Rates)
	poor := Defaults()
	poor.ADR, poor.Yield, poor.DDR = 1, 1, 1
	got, err := Measure(t.Context(), r.DB, "ada.example", poor)
	require.NoError(t, err)
	require.Empty(t, got.Verdict, "nobody knows of its other pages")
	n, err = MeasureAll(t.Context(), r.DB, Defaults(), func(int) {})
	require.NoError(t, err)
	require.Equal(t, 1, n)
}

func TestRelevantThroughAnotherHost(t *testing.T) {
	t.Parallel()
	r := newRecord(t)
	ada, press := r.site("ada.example"), r.site("press.example")
	r.page(ada, "http://ada.example/", "")
	r.page(ada, "http://ada.example/pubs.html", "http://ada.example/")
	r.document(press, "http://press.example/1.pdf", "http://ada.example/pubs.html", "one", true)
	got, err := Measure(t.Context(), r.DB, "ada.example", Defaults())
	require.NoError(t, err)
	require.Equal(t, store.Rates{Pages: 2, Relevant: 2}, got.Rates)
}

// Rates follow what changed: a visit of a crawl under way, a document that was
// judged later, and one on another host that is linked here.
func TestStaleRates(t *testing.T) {
	t.Parallel()
	r := newRecord(t)
	ada, press := r.site("ada.example"), r.site("press.example")
	r.page(ada, "http://ada.example/", "")
	r.document(press, "http://press.example/1.pdf", "http://ada.example/", "one", false)
	require.NoError(t, r.FinishCrawl(t.Context(), "ada.example", store.CrawlEnd{State: "done"}, recrawl.Defaults()))
	stale := func() []string {
		hosts, err := r.StaleHosts(t.Context())
		require.NoError(t, err)
		n, err := MeasureStale(t.Context(), r.DB, Defaults())
		require.NoError(t, err)
		require.Equal(t, len(hosts), n)
		return hosts
	}
	require.Equal(t, []string{"ada.example", "press.example"}, stale(), "never measured")
	require.Empty(t, stale())
	r.exec(`UPDATE documents SET state='accepted', updated_at=now()`)
	require.Equal(t, []string{"ada.example", "press.example"}, stale(), "accepted later")
	sites, err := r.SiteRatesList(t.Context(), "", 0)
	require.NoError(t, err)
	require.Equal(t, "press.example", sites[0].Host)
	require.Equal(t, 1, sites[0].Accepted)
	require.Equal(t, 1, sites[1].Relevant)
	r.exec(`UPDATE urls SET fetched_at=now() WHERE site_id=$1`, press)
	require.Equal(t, []string{"press.example"}, stale(), "being crawled")
	require.Empty(t, stale())
}

func TestVerdicts(t *testing.T) {
	t.Parallel()
	th := Defaults()
	for _, c := range []struct {
		name string
		r    store.Rates
		want string
	}{
		{"too small to say", store.Rates{Pages: 9}, ""},
		{"nothing came of it", store.Rates{Pages: 40}, Barren},
		{"many files, none of them accepted", store.Rates{Pages: 40, Documents: 30}, Barren},
		{"many files, enough of them accepted", store.Rates{Pages: 40, Documents: 30, Accepted: 2}, ""},
		{"few files, all accepted", store.Rates{Pages: 199, Documents: 1, Accepted: 1}, Barren},
		{"pages that lead to accepted documents elsewhere", store.Rates{Pages: 40, Relevant: 2}, ""},
		{"a trap", store.Rates{Pages: 200, Relevant: 9}, Trap},
		{"large, and relevant enough", store.Rates{Pages: 200, Relevant: 10, Documents: 1}, ""},
		{"large and fruitful", store.Rates{Pages: 2000, Relevant: 10, Documents: 60, Accepted: 40}, ""},
	} {
		require.Equal(t, c.want, th.verdict(c.r), c.name)
	}
}

func TestStopDirectories(t *testing.T) {
	t.Parallel()
	r := newRecord(t)
	for i := range 6 {
		r.homepage(fmt.Sprintf("p%d.example", i))
	}
	n, err := MeasureAll(t.Context(), r.DB, Defaults(), func(int) {})
	require.NoError(t, err)
	require.Equal(t, 6, n)
	stops, err := r.StopDirectories(t.Context(), 5, 0.05)
	require.NoError(t, err)
	var names []string
	for _, s := range stops {
		names = append(names, s.Name)
		require.Equal(t, 6, s.Barren)
		require.Len(t, s.Examples, 3)
	}
	require.Equal(t, []string{"2003", "blog", "teaching"}, names)
	stops, err = r.StopDirectories(t.Context(), 6, 0.05)
	require.NoError(t, err)
	require.Empty(t, stops, "more than, not as many as")

	// Three more sites gave something under that name: a third of nine.
	for host, doc := range map[string]string{"p6.example": "p6.example", "p7.example": "press.example"} {
		r.homepage(host)
		r.document(r.site(doc), "http://"+doc+"/teaching/lnai.pdf", "http://"+host+"/teaching/w1.html", host, true)
	}
	_, err = MeasureAll(t.Context(), r.DB, Defaults(), func(int) {})
	require.NoError(t, err)
	has := func(share float64) bool {
		stops, err := r.StopDirectories(t.Context(), 5, share)
		require.NoError(t, err)
		for _, s := range stops {
			if s.Name == "teaching" {
				require.Equal(t, 6, s.Barren)
				require.Equal(t, 3, s.Fruitful, "by a document, by a relevant page, by both")
				return true
			}
		}
		return false
	}
	require.False(t, has(0.05))
	require.True(t, has(0.4))
}

func TestFinishCrawl(t *testing.T) {
	t.Parallel()
	r := newRecord(t)
	r.document(r.homepage("ada.example"), "http://ada.example/teaching/slides.pdf", "http://ada.example/teaching/w1.html", "slides", false)
	p := recrawl.Defaults()
	due := func() (rest time.Duration, retries int) {
		var seconds float64
		require.NoError(t, r.Pool.QueryRow(t.Context(), `SELECT extract(epoch FROM due_at - crawl_finished), retries FROM sites WHERE host='ada.example'`).Scan(&seconds, &retries))
		return time.Duration(seconds * float64(time.Second)).Round(time.Minute), retries
	}
	reason := ""
	again := func(state gleaner.SiteState) {
		r.exec(`UPDATE sites SET crawl_started=now(), state='crawling' WHERE host='ada.example'`)
		for range 2 { // as an activity that is retried does
			require.NoError(t, r.FinishCrawl(t.Context(), "ada.example", store.CrawlEnd{State: state, Reason: reason, Policy: "blacklist"}, p))
		}
	}
	r.exec(`UPDATE sites SET crawl_pages=50`) // 47 URLs, some of them more than once
	require.NoError(t, r.FinishCrawl(t.Context(), "ada.example", store.CrawlEnd{State: "done", Policy: "blacklist"}, p))
	rest, _ := due()
	require.Equal(t, p.First, rest)
	yields, err := r.PolicyYields(t.Context(), time.Now().Add(-24*time.Hour), time.Now().Add(time.Hour))
	require.NoError(t, err)
	require.Equal(t, []store.Yield{{Policy: "blacklist", Crawls: 1, Days: 1, Requests: 50, Fetched: 47, New: 3, Good: 2, Parents: 2, GoodParents: 1}}, yields)
	// An import brings a file of years ago with the content of one that the crawl found.
	h := frontier.HashOf("http://old.example/slides.pdf")
	old := store.Location{Hash: h[:], SiteID: r.site("old.example"), URL: "http://old.example/slides.pdf"}
	old.Found = time.Now().AddDate(-5, 0, 0)
	slides := store.Document{SHA256: "slides", SHA1: "slides", MD5: "slides", Kind: "pdf"}
	require.NoError(t, r.SaveFetched(t.Context(), slides, old, nil))
	after, err := r.PolicyYields(t.Context(), time.Now().Add(-24*time.Hour), time.Now().Add(time.Hour))
	require.NoError(t, err)
	require.Equal(t, yields, after, "what was new to the record then")

	for i, want := range []time.Duration{time.Hour, 2 * time.Hour, 4 * time.Hour} {
		for range 3 { // those within the rest are one failure
			again("refused")
			rest, retries := due()
			require.Equal(t, want, rest)
			require.Equal(t, i+1, retries)
		}
		r.exec(`UPDATE sites SET crawl_finished=now() - interval '1 day' WHERE host='ada.example'`)
	}
	reason = gleaner.SitePaused // which is no failure, resumed meanwhile or not
	for _, paused := range []string{reason, ""} {
		r.exec(`UPDATE sites SET paused=$1 WHERE host='ada.example'`, paused)
		again("stopped")
		rest, retries := due()
		require.Equal(t, []any{time.Duration(0), 3}, []any{rest, retries}, "paused: %q", paused)
	}
	reason = ""
	r.exec(`UPDATE sites SET crawl_finished=now() - interval '1 day' WHERE host='ada.example'`)
	again("done")
	rest, retries := due()
	require.Equal(t, p.First*8/10, rest, "its pages were new or changed")
	require.Zero(t, retries)
	r.exec(`UPDATE sites SET crawl=crawl+1 WHERE host='ada.example'`) // nothing of it changes any more
	again("done")
	rest, _ = due()
	require.Equal(t, p.First*8/10, rest, "asked by hand long before it was due")
}

func TestDueSitesWaitOutTheirRest(t *testing.T) {
	t.Parallel()
	r := newRecord(t)
	r.homepage("ada.example")
	require.NoError(t, r.FinishCrawl(t.Context(), "ada.example", store.CrawlEnd{State: "done"}, recrawl.Defaults()))
	list := func(all bool) []string {
		hosts, _, err := r.DueSites(t.Context(), store.Selection{}, all, "", 10)
		require.NoError(t, err)
		return hosts
	}
	require.Empty(t, list(false))
	require.Equal(t, []string{"ada.example"}, list(true))
	r.exec(`UPDATE sites SET due_at=now()`)
	require.Equal(t, []string{"ada.example"}, list(false))
	for parked, want := range map[string][]string{"1 hour": nil, "-1 hour": {"ada.example"}} {
		r.exec(`UPDATE sites SET parked_until=now() + $1::text::interval`, parked)
		require.Equal(t, want, list(false), "parked for %s", parked)
	}
	require.NoError(t, r.Block(t.Context(), []store.Blocked{{Host: "ada.example"}}))
	require.Empty(t, list(true), "blacklisted")
}

func TestRetryByReasonAndAge(t *testing.T) {
	t.Parallel()
	r := newRecord(t)
	id := r.site("ada.example")
	for i, o := range []gleaner.Outcome{fetch.Timeout, fetch.Timeout, fetch.Busy, fetch.NotFound, fetch.RobotsDenied} {
		state := frontier.Failed
		if !fetch.Retryable(o) {
			state = frontier.Gone
		}
		r.visited(id, fmt.Sprintf("http://ada.example/%d", i), "", state, o)
	}
	failures, err := r.Failures(t.Context(), store.RetryFilter{})
	require.NoError(t, err)
	reasons := map[string]bool{}
	for _, f := range failures {
		reasons[f.Reason] = f.ForGood
	}
	require.Equal(t, map[string]bool{"timeout": false, "busy": false, "not-found": true, "robots-denied": true}, reasons)
	r.exec(`UPDATE urls SET etag='"1"', content=CASE WHEN outcome='timeout' THEN 'a'::bytea END`)
	for _, c := range []struct {
		name string
		f    store.RetryFilter
		want int
	}{
		{"younger than asked", store.RetryFilter{OlderThan: time.Hour}, 0},
		{"another host", store.RetryFilter{Host: "bob.example"}, 0},
		{"one reason", store.RetryFilter{Reason: "timeout", OlderThan: time.Minute}, 2},
		{"all but what is for good", store.RetryFilter{}, 1},
		{"for good, but named", store.RetryFilter{Reason: "robots-denied"}, 1},
	} {
		n, err := r.RequeueFailed(t.Context(), c.f)
		require.NoError(t, err)
		require.Equal(t, c.want, n, c.name)
	}
	kept, err := store.Get[string](t.Context(), r.DB, `SELECT string_agg(DISTINCT outcome, ' ') FROM urls WHERE state=0 AND etag<>'' AND tries=0`)
	require.NoError(t, err)
	require.Equal(t, "timeout", kept, "what was not read is not asked for by what it was")
}

func TestWhitelist(t *testing.T) {
	t.Parallel()
	r := newRecord(t)
	r.homepages("www.cs.many.edu", "math.many.edu", "cited.org")
	// A paper on two hosts of a domain is one of its documents.
	r.document(r.site("math.many.edu"), "http://math.many.edu/copy.pdf", "http://math.many.edu/pubs.html", "www.cs.many.edua", true)
	require.NoError(t, r.SaveCitations(t.Context(), "file", map[string]int64{"many.edu": 30, "cited.org": 90, "elsewhere.org": 1000}))
	g, urls := r.generate(Lists{})
	require.Equal(t, Generated{Domains: 2, Core: 2, Listed: 2, URLs: 3, Documents: 6, Citations: 120}, g)
	ranks, err := r.DomainRanks(t.Context(), 0)
	require.NoError(t, err)
	require.Equal(t, "cited.org", ranks[0].Domain)
	// p_d = 2/6, p_c = 90/120: F1 = 2·(1/3)·(3/4) / (1/3 + 3/4).
	require.InDelta(t, 2*(1./3)*(3./4)/(1./3+3./4), ranks[0].F1, 1e-12)
	require.Equal(t, "http://cited.org/pubs.html", urls[0].URL)
	require.Len(t, urls, 3)

	require.NoError(t, r.Block(t.Context(), []store.Blocked{{Host: "cited.org", Reason: "asked us to"}}))
	g, _ = r.generate(Lists{})
	require.Equal(t, 2, g.URLs)
	n, err := r.SeedWhitelist(t.Context(), 0)
	require.NoError(t, err)
	require.Equal(t, 2, n)
	at, err := r.ListStatus(t.Context(), "cited.org", "cited.org")
	require.NoError(t, err)
	require.Equal(t, store.ListStatus{Blocked: true, Reason: "asked us to"}, at)
}
