package crawl

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"gleaner/internal/devstack/storetest"
	"gleaner/internal/gleaner"
	"gleaner/internal/rank"
	"gleaner/internal/record/store"
	"gleaner/internal/web/rules"
)

// wanted makes a site one of a harvest with lists of its own.
func (w *world) wanted(t *testing.T, harvest string, site int, links *rules.Lists) {
	t.Helper()
	options, err := json.Marshal(store.SiteOptions{Links: links})
	require.NoError(t, err)
	require.NoError(t, w.db.SaveHarvest(t.Context(), store.Harvest{ID: harvest, Venue: harvest, Options: options, Stage: gleaner.StageCrawl}))
	storetest.Exec(t, w.db.Pool, `INSERT INTO harvest_sites (harvest_id, site_id, origin) VALUES ($1,$2,'homepage')`, harvest, site)
}

// TestLists: what the lists of a harvest keep out is not asked for and is named in
// the record; with other lists it is asked for after all.
func TestLists(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := serve(t, map[string]any{
		"/~ada/":             links("courses.html", "pubs.html", "old/blog/1.html", "src/a.java.html", "a/b/c/deep.html", "/dept/"),
		"/~ada/pubs.html":    links("one.pdf", "blog/two.pdf"),
		"/~ada/one.pdf":      "one",
		"/~ada/courses.html": links("three.pdf"),
		"/~ada/three.pdf":    "three",
		"/dept/":             links("/~bob/"),
	})
	s.otherwise = func(string) string { return links() }
	w.cfg.Links = rules.Lists{Levels: 3}
	id := w.seed(t, s.host, "/~ada/", "/~ada/")
	w.wanted(t, "conf/a/2001", id, &rules.Lists{Ignore: []string{"*/courses.html"}, Allow: []string{s.host + "/~ada/*", s.host + "/dept/"}, StopDirectories: []string{"blog"}})
	asked := func() []string {
		return slices.DeleteFunc(slices.Sorted(maps.Keys(s.asked())), func(p string) bool { return p == "/sitemap.xml" })
	}
	require.Equal(t, Exhausted, w.finish(t, w.crawler(w.client), s.host).Ending)
	require.Equal(t, []string{"/dept/", "/~ada/", "/~ada/one.pdf", "/~ada/pubs.html", "/~ada/src/a.java.html"}, asked())
	record := w.record(t, s.host)
	for path, why := range map[string]string{"/~ada/courses.html": "ignore-list", "/~ada/old/blog/1.html": "stop-directory",
		"/~ada/blog/two.pdf": "stop-directory", "/~ada/a/b/c/deep.html": "directory-levels"} {
		require.Equal(t, "skipped "+why, record[path], path)
	}
	left, err := w.db.LeftOut(t.Context(), "conf/a/2001")
	require.NoError(t, err)
	require.Equal(t, map[string]int{"ignore-list": 1, "stop-directory": 2, "directory-levels": 1}, left)

	// Another harvest has none: what any wants is asked for.
	w.wanted(t, "conf/b/2001", id, &rules.Lists{Levels: -1})
	require.Equal(t, Exhausted, w.finish(t, w.crawler(w.client), s.host).Ending)
	require.Subset(t, asked(), []string{"/~ada/courses.html", "/~ada/three.pdf", "/~ada/a/b/c/deep.html", "/~ada/blog/two.pdf"})
	require.NotContains(t, asked(), "/~bob/")
}

// TestListsHoldForWhatWaits: also for homepages, which nobody linked to.
func TestListsHoldForWhatWaits(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := serve(t, map[string]any{"/~ada/": links("one.pdf")})
	w.cfg.Links = rules.Lists{Ignore: []string{"127.0.0.1"}}
	w.exhaust(t, s.host, "/~ada/")
	require.Equal(t, "skipped ignore-list", w.record(t, s.host)["/~ada/"])
	require.Empty(t, slices.DeleteFunc(slices.Collect(maps.Keys(s.asked())), func(p string) bool { return p == "/sitemap.xml" }))
}

// TestLearntStopDirectories: names that gave nothing on other sites are passed over
// on one that was never seen, where the lists say so.
func TestLearntStopDirectories(t *testing.T) {
	t.Parallel()
	for name, on := range map[string]bool{"on": true, "off": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			s := serve(t, map[string]any{"/": links("blog/1.html", "papers/1.html")})
			s.otherwise = func(string) string { return links() }
			storetest.Exec(t, w.db.Pool, `WITH s AS (INSERT INTO sites (host) SELECT 'dept' || i || '.example' FROM generate_series(1, 6) i RETURNING id)
				INSERT INTO directory_stats (site_id, path, name, pages, relevant, documents, accepted, avoid, judged, about) SELECT id, '/blog/', 'blog', 30, 0, 0, 0, true, 0, 0 FROM s`)
			if on {
				w.cfg.Links = rules.Lists{StopDirectories: []string{rules.Learnt}}
			}
			w.seed(t, s.host, "/", "/")
			w.finish(t, w.crawler(w.client), s.host)
			_, asked := s.asked()["/blog/1.html"]
			require.Equal(t, !on, asked)
			require.Contains(t, s.asked(), "/papers/1.html")
		})
	}
}

// TestSeedsEnterLow: under zhuang a homepage lends its links no priority, whatever
// place the record gives it among what waits (§3.3).
func TestSeedsEnterLow(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := serve(t, map[string]any{
		"/~ada/":  `<a href="a">hobbies</a> <a href="b">people</a> <a href="c">publications</a>`,
		"/~ada/b": `<a href="b1">music</a>`,
		"/~ada/c": `<a href="c1">misc</a> <a href="c2.pdf">a file</a>`,
		"/~ada/a": "a", "/~ada/b1": "b1", "/~ada/c1": "c1", "/~ada/c2.pdf": "a file",
	})
	w.cfg.Strategy, w.cfg.Sitemaps = rank.Zhuang, false
	w.exhaust(t, s.host, "/~ada/")
	require.Equal(t, []string{"/~ada/", "/~ada/c", "/~ada/c2.pdf", "/~ada/b", "/~ada/c1", "/~ada/a", "/~ada/b1"}, s.order)
}

// TestNamesBeforeBodies: a file whose name speaks against it is not asked for, and of
// one whose header does nothing is read.
func TestNamesBeforeBodies(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.cfg.Names = true
	var wrote atomic.Int64
	file := func(size int, header ...string) func(http.ResponseWriter, *http.Request) {
		return func(rw http.ResponseWriter, _ *http.Request) {
			rw.Header().Set("Content-Type", "application/pdf")
			rw.Header().Set("Content-Length", strconv.Itoa(size))
			for i := 0; i < len(header); i += 2 {
				rw.Header().Set(header[i], header[i+1])
			}
			_, _ = rw.Write(append([]byte("%PDF-1.4\n"), bytes.Repeat([]byte("x"), size-9)...))
		}
	}
	const large = 64 << 20
	s := serve(t, map[string]any{
		"/~ada/":          links("hw3.pdf", "tiny.pdf", "named.pdf", "get.php?id=1", "paper.pdf"),
		"/~ada/hw3.pdf":   file(9000),
		"/~ada/tiny.pdf":  file(8191),
		"/~ada/paper.pdf": file(8192),
		"/~ada/named.pdf": func(rw http.ResponseWriter, r *http.Request) {
			rw.Header().Set("Content-Type", "application/pdf")
			rw.Header().Set("Content-Disposition", `attachment; filename="resume.pdf"`)
			rw.Header().Set("Content-Length", strconv.Itoa(large))
			for range large >> 16 {
				n, err := rw.Write(make([]byte, 1<<16))
				if wrote.Add(int64(n)); err != nil {
					return
				}
			}
		},
		"/~ada/get.php?id=1": file(100, "Content-Type", "application/pdf"),
	})
	w.exhaust(t, s.host, "/~ada/")
	record := w.record(t, s.host)
	require.NotContains(t, s.asked(), "/~ada/hw3.pdf")
	for path, want := range map[string]string{"hw3.pdf": "skipped unwelcome-name", "tiny.pdf": "gone unwanted", "named.pdf": "gone unwanted", "get.php?id=1": "gone unwanted", "paper.pdf": "document success"} {
		require.Equal(t, want, record["/~ada/"+path], path)
	}
	require.Contains(t, w.rows(t, s.host, "reason")["/~ada/named.pdf"], "its name is one of a CV")
	require.Less(t, wrote.Load(), int64(large), "the connection is closed before the body has come")
	n, err := w.db.HarvestCounters(t.Context(), "")
	require.NoError(t, err)
	require.Equal(t, 1, n.All)
}

// TestInspectedLinks: links are followed by their words where that is switched on.
func TestInspectedLinks(t *testing.T) {
	t.Parallel()
	for _, on := range []bool{true, false} {
		t.Run(fmt.Sprint(on), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.cfg.Inspect = on
			lists, err := rank.DefaultLists()
			require.NoError(t, err)
			w.cfg.Rank.Lists = &lists
			s := serve(t, map[string]any{
				"/":         `<title>Ada</title><a href="hobbies">Sailing</a> <a href="p">Publications</a> <a href="x.pdf">A file</a>`,
				"/p":        `<title>Publications</title><a href="2003">2003</a> <a href="/gallery">Photo gallery</a>`,
				"/hobbies":  "h",
				"/2003":     "2003",
				"/gallery":  "g",
				"/x.pdf":    "x",
				"/unlinked": "u",
			})
			w.seed(t, s.host, "/", "/")
			r := w.finish(t, w.crawler(w.client), s.host)
			require.Equal(t, Exhausted, r.Ending)
			asked := s.asked()
			for path, followed := range map[string]bool{"/p": true, "/2003": true, "/x.pdf": true, "/hobbies": !on, "/gallery": !on} {
				require.Equal(t, followed, asked[path] > 0, path)
			}
			require.Equal(t, on, strings.Contains(r.Reason, "2 links were left out for their words"), r.Reason)
		})
	}
}
