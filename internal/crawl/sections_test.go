package crawl

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"

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
	pages := map[string]any{"/~ada/": links("1.html"), "/~ada/1.html": links("1.pdf"), "/~ada/1.pdf": "one"}
	many := ""
	for n := range 20 {
		path := fmt.Sprintf("/~mallory/%d.html", n)
		many += links(path)
		pages[path] = func(rw http.ResponseWriter, _ *http.Request) {
			rw.Header().Set("Retry-After", "21600")
			rw.WriteHeader(http.StatusServiceUnavailable)
		}
	}
	pages["/~mallory/"] = many
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
	s := serve(t, map[string]any{"/~ada/": func(rw http.ResponseWriter, _ *http.Request) {
		if down {
			rw.Header().Set("Retry-After", "21600")
			rw.WriteHeader(http.StatusServiceUnavailable)
		}
	}})
	var got []bool
	w.seed(t, s.host, "/~ada/", "/~ada/")
	for i := range 3 {
		w.seed(t, s.host, fmt.Sprintf("/~ada/?%d", i), "/~ada/")
		sliced(t, w.crawler(w.client), s.host)
		var counts bool
		const any = `SELECT bool_or(pauses<>0) FROM crawl_sections WHERE dir<>''`
		require.NoError(t, w.db.Pool.QueryRow(t.Context(), any).Scan(&counts))
		got = append(got, counts)
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
	pages, many := map[string]any{}, ""
	for n := range 20 {
		path := fmt.Sprintf("/~ada/%d.html", n)
		many += links(path)
		pages[path] = down
	}
	pages["/~ada/"] = many
	s := serve(t, pages)
	w.seed(t, s.host, "/~ada/", "/~ada/")
	w.seed(t, s.host, "/~bob/", "/~bob/")
	r := sliced(t, w.crawler(w.client), s.host)
	require.Equal(t, Waiting, r.Ending, r.Reason)
	pauses := storetest.Get[int](t, w.db.Pool, `SELECT coalesce(sum(pauses), 0) FROM crawl_sections`)
	require.Zero(t, pauses)
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
