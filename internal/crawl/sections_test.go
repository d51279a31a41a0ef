package crawl

import (
	"archive/zip"
	"bytes"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gleaner/internal/devstack/storetest"
	"gleaner/internal/gleaner"
	"gleaner/internal/record/store"
	"gleaner/internal/recrawl"
)

// shared is a host with the pages of two people, of whom one makes pages, or files,
// without end.
func shared(t *testing.T, files bool) *site {
	t.Helper()
	pages := map[string]any{"/~ada/": links("1.html")}
	for n := range 30 {
		pages[fmt.Sprintf("/~ada/%d.html", n)] = links(fmt.Sprintf("%d.html", n+1), fmt.Sprintf("%d.pdf", n))
		pages[fmt.Sprintf("/~ada/%d.pdf", n)] = fmt.Sprint(n)
	}
	s := serve(t, pages)
	s.otherwise = func(path string) string {
		var n int
		if _, err := fmt.Sscanf(path, "/~mallory/d/%d.html", &n); err != nil && path != "/~mallory/" {
			return ""
		}
		if files {
			return links(fmt.Sprintf("/~mallory/d/%d.html", n+1), fmt.Sprintf("/~mallory/%d.pdf", n))
		}
		return links(fmt.Sprintf("/~mallory/d/%d.html", 2*n+1), fmt.Sprintf("/~mallory/d/%d.html", 2*n+2))
	}
	if files {
		for n := range 60 {
			noise := make([]byte, 10_000)
			_, _ = rand.NewChaCha8([32]byte{byte(n)}).Read(noise)
			pages[fmt.Sprintf("/~mallory/%d.pdf", n)] = func(rw http.ResponseWriter, _ *http.Request) { _, _ = fmt.Fprintf(rw, "%%PDF-1.4\n%x", noise) }
		}
	}
	return s
}

// TestOneUserEndsNoOthersCrawl: on a host of many users one who makes pages that
// lead nowhere, or bytes without end, is left out by name, in however many slices,
// and the others are crawled to their end. The next visit goes on with him.
func TestOneUserEndsNoOthersCrawl(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(*Config)
		files  bool
		left   string
		most   int
	}{
		"trap":  {func(c *Config) { c.TrapPages = 20 }, false, "skipped trap", 40},
		"bytes": {func(c *Config) { c.MaxBytes = 200_000 }, true, "skipped byte-limit", 40},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, s := newWorld(t), shared(t, c.files)
			w.cfg.TrapPages, w.cfg.SlicePages, w.cfg.MaxPages, w.cfg.MaxDepth = 0, 7, 400, 100
			c.change(&w.cfg)
			w.seed(t, s.host, "/~ada/", "/~ada/")
			w.seed(t, s.host, "/~mallory/", "/~mallory/")
			of := func(user string) (n int) {
				for p := range s.asked() {
					if strings.HasPrefix(p, "/~"+user+"/") {
						n++
					}
				}
				return n
			}
			cr := w.crawler(w.client)
			r := w.finish(t, cr, s.host)
			require.Equal(t, Exhausted, r.Ending, r.Reason)
			require.Equal(t, "document success", w.record(t, s.host)["/~ada/29.pdf"])
			require.LessOrEqual(t, of("mallory"), c.most)
			require.Contains(t, r.Reason, "links within /~mallory/ were left out: ")
			require.Contains(t, fmt.Sprint(w.record(t, s.host)), c.left)

			had := of("mallory")
			require.NoError(t, w.db.FinishCrawl(t.Context(), s.host, store.CrawlEnd{State: "done", Reason: r.Reason}, w.cfg.Recrawl))
			waiting, err := w.db.RequeueDue(t.Context(), s.host, store.PutBack{}, recrawl.Defaults())
			require.NoError(t, err)
			require.Positive(t, waiting)
			require.Equal(t, Exhausted, w.finish(t, cr, s.host).Ending)
			require.Greater(t, of("mallory"), had)
			require.LessOrEqual(t, of("mallory"), had+c.most)
		})
	}
}

// TestOneUserPausesNoOthersCrawl: answers that ask for long pauses have the host left alone
// for as long. After the first one a retry takes the others' pages first, and whoever has
// the host paused again and again is left out.
func TestOneUserPausesNoOthersCrawl(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	pages := numbered("/~mallory/", "/~mallory/%d.html", 20, func(int) any { return busy("21600") })
	maps.Copy(pages, map[string]any{"/~ada/": links("1.html"), "/~ada/1.html": links("1.pdf"), "/~ada/1.pdf": "one"})
	s := serve(t, pages)
	w.seed(t, s.host, "/~mallory/", "/~mallory/")
	w.seed(t, s.host, "/~ada/", "/~ada/")
	c := w.crawler(w.client)
	paused := func() {
		for {
			r := sliced(t, c, s.host)
			if r.Ending != SliceFull {
				require.Equal(t, Waiting, r.Ending, r.Reason)
				break
			}
		}
		require.NoError(t, w.db.FinishCrawl(t.Context(), s.host, store.CrawlEnd{State: gleaner.SiteStopped}, w.cfg.Recrawl))
		w.rested(t, s.host)
	}
	paused()
	require.Equal(t, "waiting ", w.record(t, s.host)["/~ada/1.html"])
	paused()
	require.Equal(t, "document success", w.record(t, s.host)["/~ada/1.pdf"])
	require.Len(t, s.asked(), 3+1+2, "two of his pages were asked for")
	require.Equal(t, Exhausted, w.finish(t, c, s.host).Ending)
	require.LessOrEqual(t, len(s.asked()), 3+1+2+maxPauses)
	require.Contains(t, w.record(t, s.host)["/~mallory/19.html"], "skipped "+string(outcomePauses))
}

// TestAPauseIsForgotten after a crawl in which none of that user's answers asked for one.
func TestAPauseIsForgotten(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	down := true
	s := serve(t, map[string]any{"/~ada/": func(rw http.ResponseWriter, r *http.Request) {
		if down {
			busy("21600")(rw, r)
		}
	}})
	var got []bool
	w.seed(t, s.host, "/~ada/", "/~ada/")
	for i := range 3 {
		w.seed(t, s.host, fmt.Sprintf("/~ada/?%d", i), "/~ada/")
		sliced(t, w.crawler(w.client), s.host)
		got = append(got, storetest.Get[bool](t, w.db.Pool, `SELECT bool_or(pauses<>0) FROM crawl_sections WHERE dir<>''`))
		require.NoError(t, w.db.FinishCrawl(t.Context(), s.host, store.CrawlEnd{State: gleaner.SiteStopped}, w.cfg.Recrawl))
		w.hurry(t, s.host)
		down = false
	}
	require.Equal(t, []bool{true, true, false}, got)
}

// TestAHostThatIsDownIsNoUsersDoing: nobody is left out over a host that does not answer.
func TestAHostThatIsDownIsNoUsersDoing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	down := func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }
	s := serve(t, numbered("/~ada/", "/~ada/%d.html", 20, func(int) any { return down }))
	w.seed(t, s.host, "/~ada/", "/~ada/")
	w.seed(t, s.host, "/~bob/", "/~bob/")
	r := sliced(t, w.crawler(w.client), s.host)
	require.Equal(t, Waiting, r.Ending, r.Reason)
	require.Zero(t, storetest.Get[int](t, w.db.Pool, `SELECT coalesce(sum(pauses), 0) FROM crawl_sections`))
}

// TestUsersWithoutEndAreATrap: whoever owns a host can make as many users as they
// like.
func TestUsersWithoutEndAreATrap(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := serve(t, map[string]any{"/": links("/~0/")})
	s.otherwise = func(path string) string {
		var n int
		if _, err := fmt.Sscanf(path, "/~%d/", &n); err != nil {
			return ""
		}
		return links(fmt.Sprintf("/~%d/", 2*n+1), fmt.Sprintf("/~%d/", 2*n+2))
	}
	w.cfg.TrapPages, w.cfg.MaxPages = 20, 1000
	w.seed(t, s.host, "/", "/")
	r := w.finish(t, w.crawler(w.client), s.host)
	require.Equal(t, Trap, r.Ending, r.Reason)
	require.LessOrEqual(t, len(s.asked()), sharedHost*w.cfg.TrapPages)
}

// archiveOf is a zip file of so many documents.
func archiveOf(t *testing.T, members int, of func(i int) string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for i := range members {
		w, err := z.Create(fmt.Sprintf("%d.pdf", i))
		require.NoError(t, err)
		_, _ = io.WriteString(w, of(i))
	}
	require.NoError(t, z.Close())
	return b.Bytes()
}

// filesWithoutEnd is a site of files without end, each another one of so many bytes; or of
// archives, which bring more than they weigh.
func filesWithoutEnd(t *testing.T, size int, packed bool) *site {
	t.Helper()
	return serve(t, numbered("/", "/%d.pdf", 40, func(n int) any {
		noise := make([]byte, size/2)
		_, _ = rand.NewChaCha8([32]byte{byte(n)}).Read(noise)
		body := fmt.Appendf(nil, "%%PDF-1.4\n%x", noise)
		if packed {
			body = archiveOf(t, 3, func(i int) string { return fmt.Sprintf("%s %d", body, i) })
		}
		return func(rw http.ResponseWriter, _ *http.Request) { _, _ = rw.Write(body) }
	}))
}

// TestBytesOfASiteAreLimited: a site that offers files without end ends its crawl
// by name when it has brought what one may, in however many slices, and however
// small the archives are that they come in.
func TestBytesOfASiteAreLimited(t *testing.T) {
	t.Parallel()
	for name, packed := range map[string]bool{"plain": false, "packed": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const size = 20_000
			limit := 200_000
			if packed { // three of them, each counted as a MiB
				limit = 3 * leastMember * 3
			}
			w := newWorld(t)
			w.cfg.MaxBytes, w.cfg.SlicePages = int64(limit), 2
			s := filesWithoutEnd(t, size, packed)
			w.seed(t, s.host, "/", "/")
			c := w.crawler(w.client)
			r := w.finish(t, c, s.host)
			require.Equal(t, ByteLimit, r.Ending, w.record(t, s.host))
			require.Contains(t, r.Reason, "byte-limit: ")
			kept := storetest.Get[int](t, w.db.Pool, `SELECT sum(bytes) FROM documents`)
			if packed {
				require.Less(t, kept, 3*4*size)
				require.Greater(t, kept, 3*2*size)
			} else {
				require.Less(t, kept, limit+4*size)
				require.Greater(t, kept, limit/2)
			}
			before := len(s.asked())
			require.Equal(t, ByteLimit, w.finish(t, c, s.host).Ending)
			require.Len(t, s.asked(), before, "another slice of the crawl asks nothing")
		})
	}
}

// TestBytesOfAHarvestAreLimited: what its sites bring together has a limit, too;
// what was brought before it began, and what no harvest wants, does not count.
func TestBytesOfAHarvestAreLimited(t *testing.T) {
	t.Parallel()
	const size = 20_000
	w := newWorld(t)
	w.cfg.HarvestBytes, w.cfg.MaxBytes = 15*size, 10*size
	c := w.crawler(w.client)
	crawl := func(harvest string) (Result, string) {
		s := filesWithoutEnd(t, size, false)
		id := w.seed(t, s.host, "/", "/")
		if harvest != "" {
			w.harvest(t, harvest, id)
		}
		return w.finish(t, c, s.host), s.host
	}
	_, before := crawl("")
	site, err := w.db.Site(t.Context(), before)
	require.NoError(t, err)
	w.harvest(t, "h", site.ID)

	first, _ := crawl("h")
	require.Contains(t, first.Reason, "the limit of a site")
	second, host := crawl("h")
	require.Equal(t, ByteLimit, second.Ending)
	require.Contains(t, second.Reason, "of all sites of the harvest")
	require.Less(t, second.Documents, first.Documents)
	require.Positive(t, second.Documents)
	third, _ := crawl("h")
	require.Zero(t, third.Requests)
	other, err := w.db.Site(t.Context(), host)
	require.NoError(t, err)
	w.harvest(t, "another", other.ID)
	require.Contains(t, w.finish(t, c, host).Reason, "the limit of a site", "one of its harvests may bring more")
}

// TestBytesOfAHarvestAreAddedUpOnce: of a harvest of many sites, a process asks the record for
// the bytes of all of them now and then, and not with each slice; meanwhile it counts its own.
func TestBytesOfAHarvestAreAddedUpOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c := w.crawler(w.client)
	a, b := w.seed(t, "a.test", "/", "/"), w.seed(t, "b.test", "/", "/")
	w.harvest(t, "h", a)
	storetest.Exec(t, w.db.Pool, `INSERT INTO harvest_sites (harvest_id, site_id, origin) VALUES ('h', $1, 'test')`, b)
	brought := func(bytes int) {
		storetest.Exec(t, w.db.Pool, `UPDATE sites SET crawl_bytes=$1, crawl_started=now()`, bytes)
	}
	least := func(site int) int64 {
		s, err := c.totals.of(t.Context(), w.db, site)
		require.NoError(t, err)
		s.addBytes(1)
		return s.least()
	}
	brought(5)
	require.EqualValues(t, 11, least(a))
	brought(50)
	require.EqualValues(t, 12, least(b))
	c.totals.harvests["h"].asked = time.Now().Add(-2 * totalsLast)
	require.EqualValues(t, 101, least(a))
	storetest.Exec(t, w.db.Pool, `UPDATE harvests SET cancelled=true`)
	require.Zero(t, least(a))
}

// TestBytesInVainCount: answers that are broken off as too large were sent all the
// same.
func TestBytesInVainCount(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.cfg.MaxBytes = 25 << 20
	endless := typed("text/html", strings.Repeat("a page without end ", 11<<20/19))
	s := serve(t, numbered("/", "/%d.html", 8, func(int) any { return endless }))
	w.seed(t, s.host, "/", "/")
	require.Equal(t, ByteLimit, w.finish(t, w.crawler(w.client), s.host).Ending)
	require.Len(t, s.asked(), 1+3, "%v", w.record(t, s.host))
}

// TestArchivesOfManyMembersEnd: a small archive with documents without number has the
// first of them kept, which its record says, and a site of such archives ends.
func TestArchivesOfManyMembersEnd(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.cfg.MaxBytes = 301 * leastMember
	s := serve(t, numbered("/", "/%d.pdf.zip", 5, func(n int) any {
		body := archiveOf(t, 310, func(i int) string { return fmt.Sprintf("%%PDF-1.4 %d of %d", i, n) })
		return func(rw http.ResponseWriter, _ *http.Request) { _, _ = rw.Write(body) }
	}))
	w.seed(t, s.host, "/", "/")
	require.Equal(t, ByteLimit, w.finish(t, w.crawler(w.client), s.host).Ending)
	require.Len(t, s.asked(), 1+2, "%v", w.record(t, s.host))
	require.Equal(t, 600, storetest.Get[int](t, w.db.Pool, `SELECT count(*) FROM documents`))
	require.Contains(t, w.rows(t, s.host, "reason")["/0.pdf.zip"], "too-large: limit on unpacking met: more than 300 documents")
}
