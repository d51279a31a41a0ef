package crawl

import (
	"fmt"
	"maps"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gleaner/internal/devstack/storetest"
	"gleaner/internal/harvest/stats"
	"gleaner/internal/rank"
	"gleaner/internal/record/store"
	"gleaner/internal/web/page"
)

// home is a site with something of everything. The scope is /~ada/.
func home() map[string]any {
	return map[string]any{
		"/robots.txt": func(w http.ResponseWriter, r *http.Request) {
			_, _ = w.Write([]byte("User-agent: *\nDisallow: /~ada/private/\nSitemap: http://" + r.Host + "/map.xml\n"))
		},
		"/map.xml": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/xml")
			_, _ = w.Write([]byte(`<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><url><loc>http://` + r.Host + `/~ada/orphan.html</loc></url>
				<url><loc>http://` + r.Host + `/dept/x.html</loc></url><url><loc>http://` + r.Host + `/dept/y.pdf</loc></url></urlset>`))
		},
		"/~ada/": links("pubs.html", "/dept/", "/dept/report.pdf", "old.html", "new.html", "around1.html", "private/diary.html", "login.html", "missing.html",
			"gone.html", "calendar.html?year=2077", "a/a/a/a/", "busy.html", "meta.html", "photo.png", "data.html", "landing.html", "mail.pdf", "forever.html",
			"http://other.test/paper.pdf", "http://other.test/index.html", "http://other.test/b/b/b/b/trap.pdf", "astray.html") + `<a rel=nofollow href=secret.html>x</a>`,
		"/~ada/pubs.html":    links("p1.pdf", "p2.pdf", "p1.pdf", "./", "pubs.html#top"),
		"/~ada/p1.pdf":       "one",
		"/~ada/p2.pdf":       "two",
		"/dept/report.pdf":   "three",
		"/~ada/old.html":     redirect("new.html"),
		"/~ada/new.html":     links("old.html"),
		"/~ada/around1.html": redirect("around2.html"),
		"/~ada/around2.html": redirect("around1.html"),
		"/~ada/forever.html": redirect("http://third.test/~ada/"),
		"/~ada/astray.html":  redirect("http://third.test/calendar/2077/"),
		"/~ada/login.html":   `<title>Login</title><form action=login method=post>User <input name=u> Password <input type=password name=p></form>`,
		"/~ada/missing.html": `<title>404 Not Found</title><h1>Not Found</h1>`,
		"/~ada/meta.html":    `<meta name=robots content=nofollow>` + links("hidden.html"),
		"/~ada/busy.html":    busyThen("3600", "<title>At last</title>"+links("late.html")),
		"/~ada/late.html":    links(),
		"/~ada/data.html":    typed("application/octet-stream", "\x89PNG\r\n\x1a\n\x00\x00\x00\x0dIHDR\x00\x00"),
		"/~ada/landing.html": `<meta name=citation_pdf_url content="/cgi/get?id=7"><title>A paper</title>` + links("./"),
		"/cgi/get?id=7":      func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("%PDF-1.4\nfour")) },
		"/~ada/mail.pdf":     links("deep.html"),
		"/~ada/deep.html":    links(),
		"/~ada/orphan.html":  links(),
	}
}

var homeRecord = map[string]string{
	"/map.xml": "page success", "/~ada/": "page success", "/~ada/pubs.html": "page success", "/~ada/p1.pdf": "document success", "/~ada/p2.pdf": "document success",
	"/dept/report.pdf": "document success", "/~ada/old.html": "page success", "/~ada/new.html": "moved success", "/~ada/around1.html": "gone redirect-loop",
	"/~ada/forever.html": "moved redirect-off-host", "/~ada/astray.html": "gone calendar-trap", "/~ada/private/diary.html": "gone robots-denied", "/~ada/login.html": "gone blocked-wall",
	"/~ada/missing.html": "gone soft-not-found", "/~ada/gone.html": "gone not-found", "/~ada/calendar.html?year=2077": "skipped calendar-trap",
	"/~ada/a/a/a/a/": "skipped repeated-segments", "/~ada/busy.html": "page success", "/~ada/late.html": "page success", "/~ada/meta.html": "page success",
	"/~ada/data.html": "gone wrong-mimetype", "/~ada/landing.html": "page success", "/cgi/get?id=7": "document success", "/~ada/mail.pdf": "page success",
	"/~ada/deep.html": "page success", "/~ada/orphan.html": "page success",
}

func TestEveryURLEndsWithAName(t *testing.T) {
	t.Parallel()
	for _, strategy := range []string{"bfs", "zhuang", "gleaner"} {
		t.Run(strategy, func(t *testing.T) {
			t.Parallel()
			w, s := newWorld(t), serve(t, home())
			w.cfg.Strategy = strategy
			w.seed(t, s.host, "/~ada/", "/~ada/")
			r := w.finish(t, w.crawler(w.client), s.host)
			require.Equal(t, Exhausted, r.Ending, r.Reason)
			got, want := w.record(t, s.host), homeRecord
			if got["/~ada/new.html"] == "page success" { // asked for before what redirects to it
				want = map[string]string{}
				maps.Copy(want, homeRecord)
				want["/~ada/new.html"], want["/~ada/old.html"] = "page success", got["/~ada/old.html"]
				require.Contains(t, []string{"page success", "moved redirect-known"}, got["/~ada/old.html"])
			}
			require.Equal(t, want, got)
			require.Equal(t, map[string]string{"/paper.pdf": "waiting ", "/b/b/b/b/trap.pdf": "skipped repeated-segments"}, w.record(t, "other.test"), "a lead waits on its own host")
			require.Equal(t, map[string]string{"/~ada/": "waiting "}, w.record(t, "third.test"))
			for p, n := range s.asked() {
				most := 1
				if p == "/~ada/busy.html" || p == "/~ada/around1.html" {
					most = 2 // tried again; led around
				}
				if p == "/~ada/new.html" {
					continue // the end of a redirect
				}
				require.LessOrEqual(t, n, most, p)
			}
			for _, p := range []string{"/dept/", "/dept/x.html", "/dept/y.pdf", "/~ada/private/diary.html", "/~ada/secret.html", "/~ada/hidden.html", "/~ada/photo.png", "/~ada/a/a/a/a/"} {
				require.Zero(t, s.asked()[p], p)
			}
			w.checkProvenance(t, s)
		})
	}
}

// checkProvenance looks at where the record says that the URLs of home were found.
func (w *world) checkProvenance(t *testing.T, s *site) {
	t.Helper()
	depth, parent := w.rows(t, s.host, "depth::text"), w.rows(t, s.host, "parent")
	require.Equal(t, "2", depth["/~ada/p1.pdf"])
	require.Equal(t, "http://"+s.host+"/~ada/pubs.html", parent["/~ada/p1.pdf"])
	require.Equal(t, "0", depth["/~ada/"])
	require.Equal(t, "1", depth["/dept/report.pdf"])
	require.NotEmpty(t, w.rows(t, s.host, "reason")["/~ada/busy.html"])
	require.Equal(t, 4, storetest.Get[int](t, w.db.Pool, `SELECT count(*) FROM locations WHERE current`))
}

// TestHomepageInTheRoot: /ada.html has no directory of its own, so what it leads
// to is read for its documents.
func TestHomepageInTheRoot(t *testing.T) {
	t.Parallel()
	w, s := newWorld(t), serve(t, map[string]any{
		"/ada.html":         links("/papers/", "/ada-cv.html"),
		"/ada-cv.html":      links(),
		"/papers/":          links("p.pdf", "/papers/more.html"),
		"/papers/p.pdf":     "one",
		"/papers/more.html": links("q.pdf"),
	})
	w.seed(t, s.host, "/ada.html", "/ada")
	require.Equal(t, Exhausted, w.finish(t, w.crawler(w.client), s.host).Ending)
	require.Equal(t, map[string]string{"/ada.html": "page success", "/ada-cv.html": "page success", "/papers/": "page success", "/papers/p.pdf": "document success"}, w.record(t, s.host))
}

// TestPagesAreJudgedByTheirSubject: the rates of a site have how many of its pages are
// about a subject that is collected, also after a recrawl that finds them as they were.
func TestPagesAreJudgedByTheirSubject(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.cfg.About = func(p *page.Page) bool { return strings.Contains(p.Text, "databases") }
	s := serve(t, map[string]any{"/": links("/db/a.html", "/cv.html"), "/db/a.html": "<p>On databases</p>", "/cv.html": "<p>A life</p>"})
	w.seed(t, s.host, "/", "/")
	for range 2 {
		w.rested(t, s.host)
		require.Equal(t, Exhausted, w.finish(t, w.crawler(w.client), s.host).Ending)
		_, err := stats.Measure(t.Context(), w.db, s.host, stats.Thresholds{})
		require.NoError(t, err)
		dirs, err := w.db.DirectoryRatesList(t.Context(), s.host, false)
		require.NoError(t, err)
		require.Equal(t, store.Rates{Pages: 3, Judged: 3, About: 1}, dirs[0].Rates)
		_, err = w.db.RequeueDue(t.Context(), s.host, store.PutBack{All: true, For: "recrawl/all"}, w.cfg.Recrawl)
		require.NoError(t, err)
	}
}

// TestAFailureKeepsTheTag: a page that failed at one recrawl is asked for conditionally
// at the next.
func TestAFailureKeepsTheTag(t *testing.T) {
	t.Parallel()
	w, whole := newWorld(t), tagged("text/html", "<html><title>A page</title></html>")
	requests := make(chan string, 10)
	s := serve(t, map[string]any{"/": func(rw http.ResponseWriter, r *http.Request) {
		requests <- r.Header.Get("If-None-Match")
		if len(requests) == 2 {
			http.Error(rw, "", http.StatusInternalServerError)
			return
		}
		whole(rw, r)
	}})
	w.cfg.MaxTries = 1
	w.seed(t, s.host, "/", "/")
	for range 3 {
		w.finish(t, w.crawler(w.client), s.host)
		w.recrawl(t, s)
	}
	close(requests)
	var tags []string
	for tag := range requests {
		tags = append(tags, tag)
	}
	require.Equal(t, []string{"", `"1"`, `"1"`}, tags)
}

// TestAnArchiveDoesNotHoldItsSite: of its members a few are judged in the slice,
// and all are kept.
func TestAnArchiveDoesNotHoldItsSite(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	body := archiveOf(t, 3*judgedMembers, func(i int) string { return fmt.Sprintf("%%PDF-1.4\npaper %d", i) })
	s := serve(t, map[string]any{"/": links("all", "a.html"), "/a.html": links(),
		"/all": typed("application/zip", string(body))})
	w.exhaust(t, s.host, "/")
	counts := storetest.Map[bool, int](t, w.db.Pool, `SELECT state='new', count(*) FROM documents GROUP BY 1`)
	require.Equal(t, map[bool]int{false: judgedMembers, true: 2 * judgedMembers}, counts)
	require.Equal(t, "document success", w.record(t, s.host)["/all"])
}

// TestWhatWasLearntIsWrittenOnceAMinute, and when the slice ends, not with each
// page: it may be a quarter of a megabyte.
func TestWhatWasLearntIsWrittenOnceAMinute(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.cfg.Strategy = rank.Gleaner
	s := serve(t, small())
	w.seed(t, s.host, "/", "/")
	storetest.Exec(t, w.db.Pool, `CREATE TABLE writes (at timestamptz DEFAULT now());
		CREATE FUNCTION written() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN INSERT INTO writes DEFAULT VALUES; RETURN NEW; END';
		CREATE TRIGGER written AFTER UPDATE OF learnt ON sites FOR EACH ROW WHEN (NEW.learnt IS DISTINCT FROM OLD.learnt) EXECUTE FUNCTION written()`)
	writes := func() int {
		return storetest.Get[int](t, w.db.Pool, `SELECT count(*) FROM writes`)
	}
	var before []int // each request was answered
	clock := time.Now()
	w.cfg.Now = func() time.Time { return clock }
	c := w.crawler(&fetcher{Client: w.client, after: func(n int) {
		before = append(before, writes())
		if n == 4 {
			clock = clock.Add(learntEvery)
		}
	}})
	require.Equal(t, Exhausted, w.finish(t, c, s.host).Ending)
	require.Greater(t, len(before), 6)
	for i, n := range before {
		want := 0
		if i >= 4 {
			want = 1
		}
		require.Equal(t, want, n, "%v", before)
	}
	require.Equal(t, 2, writes(), "when the slice ends")
}

// TestABetterLinkIsAskedForNext: without a pace, too, a link of a higher queue comes
// before those that were found earlier.
func TestABetterLinkIsAskedForNext(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.cfg.Strategy, w.cfg.Batch = rank.Zhuang, 32
	s := serve(t, map[string]any{
		"/":        `<title>A page</title><a href="x1.html">program</a> <a href="x2.html">news</a> <a href="x3.html">photos</a>`,
		"/x1.html": `<title>A page</title><a href="x4.html">papers</a>`,
		"/x2.html": "nothing", "/x3.html": "nothing", "/x4.html": "nothing",
	})
	w.exhaust(t, s.host, "/")
	require.Equal(t, []string{"/", "/x1.html", "/x4.html"}, s.order[:3])
}
