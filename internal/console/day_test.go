package console

import (
	"encoding/csv"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"

	"gleaner/internal/record/store"
)

// TestAHarvestIsPreviewedByEnter: the key that ends a search starts no harvest. One that
// is started is started once, however often its page is loaded.
func TestAHarvestIsPreviewedByEnter(t *testing.T) {
	t.Parallel()
	d := sampled(t, nil)
	w := d.window()
	w.size(360, "dark")
	w.open("/")
	w.write("#goal", "conf/x"+kb.Enter)
	w.until(`document.querySelector("main").innerText.includes("Engines of")`)
	require.Empty(t, see[string](w, looks))
	w.picture("preview")
	require.Empty(t, d.ear.heard)
	w.do(chromedp.Click("main form button"))
	w.until(`document.querySelector("[role=status]")?.textContent == "conf/webdb/1998-1999 started."`)
	require.Empty(t, see[string](w, looks))
	w.picture("notice")
	w.do(chromedp.Reload())
	w.until(`!document.querySelector("[role=status]")`)
	require.Equal(t, []string{"start conf/x  0s"}, d.ear.heard)
}

// TestNothingIsLostUnasked: what cannot be taken back is done by a second click, beside the
// words that say what will be lost, and never by Enter in a field.
func TestNothingIsLostUnasked(t *testing.T) {
	t.Parallel()
	h := &clock{told: &told{}, all: []Scheduled{{Schedule: "conf/webdb", Every: "90d"}}}
	d := open(t, func(o *Options) { o.Harvests, o.Jobs, o.Schedules = h, jobTold{h.told}, h }, true)
	d.sample()
	for _, name := range []string{"ada", "bob"} {
		require.NoError(t, AddUser(t.Context(), d.DB, name, password, ""))
	}
	w := d.window()
	w.size(360, "light")
	w.open("/login")
	w.write("#user", "ada")
	w.write("#password", password+kb.Enter)
	w.until(`location.pathname == "/"`)
	const dangers = `[...document.querySelectorAll("button")].filter(b => ["cancel", "remove", "forget", "confirm", "add"].includes(b.value))`
	asked := map[string]int{}
	for _, path := range []string{
		"/harvests/" + url.PathEscape(sampleHarvest), "/jobs/1", "/jobs/2", "/schedules", "/holdings", "/blacklist", "/users",
	} {
		w.open(path)
		asked[path] = see[int](w, dangers+".length")
		require.Zero(t, see[int](w, dangers+`.filter(b => b.checkVisibility() || !(b.closest(".ask")?.innerText)).length`), path)
		see[chromedp.Void](w, `document.querySelectorAll(".ask").forEach(a => a.open = true)`)
		require.Empty(t, see[string](w, looks), path)
		w.picture("asked-" + filepath.Base(path))
	}
	require.Equal(t, map[string]int{
		"/harvests/conf%2Fwebdb%2F1998-1999": 1, "/jobs/1": 1, "/jobs/2": 1, "/schedules": 1, "/holdings": 1, "/blacklist": 2, "/users": 1,
	}, asked)
	require.Contains(t, d.blockedByEnter(w), "Nobody asks this host any more")
	w.do(chromedp.Click("main form:first-of-type .ask button"))
	w.until(`document.querySelector("[role=status]")?.textContent.startsWith("rude.example is on the blacklist")`)
	require.Empty(t, h.heard)
}

// blockedByEnter presses Enter in the form of the blacklist, which does nothing, and then
// opens what asks.
func (d *desk) blockedByEnter(w *window) string {
	w.open("/blacklist")
	w.write("#host", "rude.example")
	w.write("#reason", "asked us"+kb.Enter)
	w.do(chromedp.Click("main form:first-of-type .ask summary"))
	why, err := d.Blocked(d.t.Context(), "rude.example")
	require.NoError(d.t, err)
	require.Empty(d.t, why)
	require.Equal(d.t, "/blacklist", see[string](w, "location.pathname"))
	return see[string](w, `document.querySelector(".ask").innerText`)
}

// table reads a list that was saved, without its heads.
func (d *desk) table(path string) [][]string {
	d.t.Helper()
	res, body := d.do("GET", path, "")
	require.Equal(d.t, http.StatusOK, res.StatusCode, body)
	require.Equal(d.t, "text/csv; charset=utf-8", res.Header.Get("Content-Type"))
	require.Contains(d.t, res.Header.Get("Content-Disposition"), "attachment; filename=")
	rows, err := csv.NewReader(strings.NewReader(strings.TrimPrefix(body, "\ufeff"))).ReadAll()
	require.NoError(d.t, err)
	return rows[1:]
}

// TestWhatFailedIsListed: each URL of a harvest that failed is on one page, with its host
// and reason, and in the file that the page leads to.
func TestWhatFailedIsListed(t *testing.T) {
	t.Parallel()
	d := sampled(t, nil)
	at := "/failures?harvest=" + url.QueryEscape(sampleHarvest)
	require.Contains(t, d.page("/harvests/"+url.PathEscape(sampleHarvest)),
		`failed 1: <a href="/failures?harvest=conf%2fwebdb%2f1998-1999">which failed, and why</a>`)
	require.Regexp(t, `(?s)timeout \(1\).*href="/failures.csv\?harvest=conf%2[Ff]webdb%2[Ff]1998-1999".*http://www.ada.example/gone</a>.*www.ada.example</a>.*timeout`, d.page(at))
	d.exec(`INSERT INTO urls (site_id, hash, url, state, outcome, fetched_at, next_try)
		SELECT s.id, int4send(n), 'http://www.ada.example/f' || n, 3, '=cmd', now(), now() + interval '1 day' FROM sites s, generate_series(101, 220) n WHERE s.host='www.ada.example'`)
	seen := map[string]bool{}
	for next := at + "&reason=%3Dcmd"; next != ""; {
		p := answer[failuresPage](d, next)
		for _, u := range p.URLs {
			require.False(t, seen[u.URL], u.URL)
			require.NotNil(t, u.Next)
			seen[u.URL] = true
		}
		next = follow(at+"&reason=%3Dcmd", p.Next)
	}
	require.Len(t, seen, 120)
	require.Len(t, d.table("/failures.csv?harvest="+url.QueryEscape(sampleHarvest)), 121)
	rows := d.table("/failures.csv?reason=%3Dcmd&harvest=" + url.QueryEscape(sampleHarvest))
	require.Len(t, rows, 120)
	require.Equal(t, []string{"http://www.ada.example/f101", "www.ada.example", "'=cmd"}, rows[0][:3])

	d.exec(`UPDATE sites SET state='refused'`)
	d.exec(`INSERT INTO urls (site_id, hash, url) SELECT id, sha256('x'), 'http://www.ada.example/x' FROM sites WHERE host='www.ada.example'`)
	p := answer[failuresPage](d, at+"&reason=refused")
	require.Equal(t, "http://www.ada.example/x", p.URLs[0].URL, "what waits at a site that refuses")
	require.Contains(t, d.page("/harvests/"+url.PathEscape(sampleHarvest)), "waiting 0, failed 121, not asked 1: ")
	require.Len(t, d.table("/failures.csv?harvest="+url.QueryEscape(sampleHarvest)), 121+1, "of both kinds")
	d.exec(`INSERT INTO crawls (site_id, crawl, started_at, finished_at, requests, fetched)
		SELECT id, 1, '2026-01-02', now(), 1, 1 FROM sites WHERE host='www.ada.example'`)
	require.Regexp(t, `(?s)waiting 1, failed 121<.*First crawl</dt><dd>from 2 Jan 2026.*Last crawl</dt><dd>from .* to –<`,
		d.page("/sites/www.ada.example"))
	for path, want := range map[string]int{"/failures.csv?harvest=none": 404, "/failures": 400, at + "&after=www.ada.example+x": 400, "/papers.csv": 400, "/papers.csv?harvest=none": 404} {
		d.gives(want, "GET", path, "")
	}
}

// TestMissingPapersAreSaved with why they are missing and the first clue, and those that
// were found likewise.
func TestMissingPapersAreSaved(t *testing.T) {
	t.Parallel()
	d := sampled(t, nil)
	of := "harvest=" + url.QueryEscape(sampleHarvest)
	rows := d.table("/papers.csv?state=missing&" + of)
	require.Len(t, rows, 2)
	require.Equal(t, []string{"Difference Engines in the Large", "Ada Lovelace", "1998", "missing", "ambiguous"}, rows[0][:5])
	require.Contains(t, rows[0][5], "http://www.ada.example/p1.pdf")
	found := d.table("/papers.csv?state=found&" + of)
	require.Len(t, found, 1)
	require.Equal(t, sampleSHA, found[0][6])
	require.Len(t, d.table("/papers.csv?"+of), 4)
	d.report(sampleHarvest, `href="/papers.csv\?harvest=conf%2Fwebdb%2F1998-1999&amp;state=missing"`)
	require.Contains(t, d.page("/papers?year=1998&"+of), `href="/papers.csv?harvest=conf%2Fwebdb%2F1998-1999&amp;year=1998"`)
}

// TestPagesNameNoCommands: whoever works at a page has no command line.
func TestPagesNameNoCommands(t *testing.T) {
	t.Parallel()
	d, _ := jobDesk(t)
	d.Console.Harvests, d.Console.Schedules = &told{}, &clock{}
	d.exec(`TRUNCATE collections CASCADE`)
	aFlag := `[^!<]--[a-z]|\bstarter [a-z]`
	for _, path := range samplePages() {
		if path != "/collections/conf%2Fmaths" && path != "/collections/conf%2Fmaths?topic=knots" {
			require.NotRegexp(t, aFlag, d.page(path), path)
		}
	}
	d.exec(`UPDATE jobs SET options=jsonb_set(options, '{blacklist}', (SELECT jsonb_agg('h' || n || '.example') FROM generate_series(1, 10000) n)) WHERE id=2`)
	require.NotRegexp(t, aFlag, d.page("/jobs/2"))
	for _, headers := range [][]string{{"Host", "rebound.example"}, {"X-Forwarded-For", "10.0.0.1"}, {}} {
		d.client = &http.Client{}
		_, body := d.do("GET", "/", "", headers...)
		require.Contains(t, body, `role="alert"`)
		require.NotRegexp(t, aFlag, body)
	}
	for said, want := range map[string]string{
		"usage: --years: want 1998": "usage: years: want 1998",
		"conf/x does not run (it is complete); `starter retry conf/x` starts it again": "conf/x does not run (it is complete)",
		"runs already; --max-pages 7 is not taken; `starter cancel x` takes it":        "runs already; max-pages 7 is not taken",
		"a--b": "a--b",
	} {
		require.Equal(t, want, plainly(said))
	}
}

// TestSitesOfAPausedHarvestWait: nobody asks them, and no page says when somebody would.
func TestSitesOfAPausedHarvestWait(t *testing.T) {
	t.Parallel()
	d := sampled(t, nil)
	pages := []string{"/sites?harvest=" + url.QueryEscape(sampleHarvest), "/sites/www.ada.example", "/harvests/" + url.PathEscape(sampleHarvest)}
	for _, path := range pages {
		require.Contains(t, d.page(path), "Retry-After", path)
	}
	d.exec(`UPDATE harvests SET paused=true`)
	for _, path := range pages {
		require.NotContains(t, d.page(path), "Retry-After", path)
	}
	require.Contains(t, d.page("/sites/www.ada.example"), "none while its harvest is paused")
	other := store.Harvest{ID: "conf/other", Venue: "conf/other", Options: []byte("{}"), Stage: "crawl"}
	require.NoError(t, d.SaveHarvest(t.Context(), other))
	d.exec(`INSERT INTO harvest_sites (harvest_id, site_id, origin) SELECT 'conf/other', id, 'homepage' FROM sites WHERE host='www.ada.example'`)
	require.Contains(t, d.page("/sites/www.ada.example"), "Retry-After", "another harvest asks it")
}

// TestReportsShowRecallOnAPhone: the number that matters most needs no scrolling.
func TestReportsShowRecallOnAPhone(t *testing.T) {
	t.Parallel()
	d := sampled(t, nil)
	d.explained(sampleHarvest)
	w := d.window()
	w.size(360, "light")
	w.open("/reports/" + url.PathEscape(sampleHarvest))
	w.until(`[...document.querySelectorAll("th")].some(e => e.textContent == "Recall" && e.getBoundingClientRect().right < innerWidth)`)
	for _, path := range []string{"/reports/" + url.PathEscape(sampleHarvest), "/statistics"} {
		w.open(path)
		w.until(`document.querySelector("svg") && [...document.querySelectorAll("svg")].every(e => e.getBoundingClientRect().right <= innerWidth)`)
		w.picture("charts-" + filepath.Base(path))
	}
}

// TestATooLongListIsRefusedInWords: a browser that sends more than may be sent shows why
// it was refused, over the form.
func TestATooLongListIsRefusedInWords(t *testing.T) {
	t.Parallel()
	d := sampled(t, nil)
	file := filepath.Join(t.TempDir(), "long.csv")
	require.NoError(t, os.WriteFile(file, []byte("title\n"+strings.Repeat("A Paper of Many\n", 2<<20)), 0o600))
	w := d.window()
	w.size(360, "dark")
	w.open(holdingsPath)
	w.do(chromedp.SetUploadFiles("#file", []string{file}), chromedp.Click(`button[value=preview]`))
	w.until(fmt.Sprintf(`document.querySelector("[role=alert]")?.textContent.includes(%q) && document.querySelector("#file")`, "at most 8 MB"))
	require.Empty(t, see[string](w, looks))
}
