package crawl

import (
	"maps"
	"net/http"
	"testing"

	"gleaner/internal/devstack/storetest"

	"github.com/stretchr/testify/require"
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
		"/~ada/busy.html":    busyThen("<title>At last</title>" + links("late.html")),
		"/~ada/late.html":    links(),
		"/~ada/data.html": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/octet-stream")
			_, _ = w.Write([]byte("\x89PNG\r\n\x1a\n\x00\x00\x00\x0dIHDR\x00\x00"))
		},
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
		})
	}
}

func TestProvenance(t *testing.T) {
	t.Parallel()
	w, s := newWorld(t), serve(t, home())
	w.seed(t, s.host, "/~ada/", "/~ada/")
	w.finish(t, w.crawler(w.client), s.host)
	depth, parent := w.rows(t, s.host, "depth::text"), w.rows(t, s.host, "parent")
	require.Equal(t, "2", depth["/~ada/p1.pdf"])
	require.Equal(t, "http://"+s.host+"/~ada/pubs.html", parent["/~ada/p1.pdf"])
	require.Equal(t, "0", depth["/~ada/"])
	require.Equal(t, "1", depth["/dept/report.pdf"])
	require.NotEmpty(t, w.rows(t, s.host, "reason")["/~ada/busy.html"])
	documents := storetest.Get[int](t, w.db.Pool, `SELECT count(*) FROM locations WHERE current`)
	require.Equal(t, 4, documents)
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
