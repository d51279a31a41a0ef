package crawl

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gleaner/internal/devstack/storetest"
	"gleaner/internal/fetch"
	"gleaner/internal/gleaner"
	"gleaner/internal/politeness"
	"gleaner/internal/record/store"
	"gleaner/internal/render"
	"gleaner/internal/web/weburl"
)

// acting is a browser that does as a test says.
type acting func(ctx context.Context, p render.Page, get render.Get) render.Shown

func (b acting) Show(ctx context.Context, p render.Page, _ time.Duration, get render.Get) render.Shown {
	return b(ctx, p, get)
}

// application serves a page whose paper only a script shows.
func application(t *testing.T) (*world, *site) {
	w := newWorld(t)
	s := serve(t, map[string]any{
		"/":      `<div id="root"></div><script src="/main.js"></script><script src="http://cdn.example/lib.js"></script>`,
		"/a.pdf": "one", "/main.js": tagged("text/javascript", `fetch("/api")`), "/api": `["a.pdf"]`,
	})
	w.seed(t, s.host, "/", "/")
	return w, s
}

// TestAPageIsShownAnewAfterAStop: where a crawl ends over a page that is shown, or has to
// leave a request of it, the page is shown in the next slice.
func TestAPageIsShownAnewAfterAStop(t *testing.T) {
	t.Parallel()
	for name, stop := range map[string]func(w *world, s *site, cancel func()){
		"a worker that stops": func(_ *world, _ *site, cancel func()) { cancel() },
		"another that waits": func(w *world, s *site, _ func()) {
			go func() {
				if done, err := w.keeper.Turn(t.Context(), s.host, 0); err == nil {
					done(fetch.Visit{Status: 200})
				}
			}()
		},
		"no browser at the time": nil,
		"data that is busy":      func(_ *world, s *site, _ func()) { s.busyOnce("/api", "") },
		"data of a host that asks for an hour": func(_ *world, s *site, _ func()) {
			s.busyOnce("/api", "3600")
		},
		"a worker that is killed": func(w *world, _ *site, _ func()) {
			storetest.Exec(t, w.db.Pool, `UPDATE sites SET token=token+1, expires_at='-infinity'`) // it writes no more
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, s := application(t)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			shown := 0
			w.cfg.Browser = acting(func(ctx context.Context, _ render.Page, get render.Get) render.Shown {
				if shown++; shown == 1 && stop == nil {
					return render.Shown{Outcome: render.Busy}
				} else if shown == 1 {
					stop(w, s, cancel)
					time.Sleep(500 * time.Millisecond)
				}
				if _, err := get(ctx, render.Request{URL: "http://" + s.host + "/api"}); err != nil {
					return render.Shown{HTML: []byte("<p>nothing")}
				}
				return render.Shown{HTML: []byte(links("a.pdf"))}
			})
			c := w.crawler(w.client)
			_, _ = c.Slice(ctx, s.host, func(Progress) {})
			w.hurry(t, s.host)
			require.Equal(t, Exhausted, w.finish(t, c, s.host).Ending)
			require.Equal(t, "document success", w.record(t, s.host)["/a.pdf"])
			require.InDelta(t, 2, shown, map[string]float64{"another that waits": 1}[name], "it may come late, or go on waiting")
		})
	}
}

// busyOnce has a page answer once that it is busy.
func (s *site) busyOnce(path, retryAfter string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pages[path] = busyThen(retryAfter, "a.pdf")
}

// TestDataThatAPageDoesNotGet since it leads to another user's, is too large, or never comes,
// of which what may have papers is named.
func TestDataThatAPageDoesNotGet(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]struct {
		unread string
		shown  int
	}{
		"/~eve/moved": {"", 1}, "/~eve/large": {"render-cut", 1}, "/~eve/busy": {"render-cut", 3}, "/~eve/empty": {"", 1},
	} {
		t.Run(path, func(t *testing.T) {
			t.Parallel()
			w, read := newWorld(t), 0
			s := serve(t, map[string]any{"/~eve/": `<div id="root"></div>`, "/~ada/members": "theirs",
				"/~eve/moved": func(rw http.ResponseWriter, r *http.Request) { http.Redirect(rw, r, "/~ada/members", http.StatusFound) },
				"/~eve/busy":  func(rw http.ResponseWriter, _ *http.Request) { rw.WriteHeader(http.StatusServiceUnavailable) },
				"/~eve/empty": func(rw http.ResponseWriter, _ *http.Request) { rw.WriteHeader(http.StatusNoContent) },
				"/~eve/large": func(rw http.ResponseWriter, _ *http.Request) {
					rw.Header().Set("Content-Type", "text/plain")
					for range 40 {
						n, _ := rw.Write(make([]byte, 1<<20))
						read += n
					}
				}})
			w.seed(t, s.host, "/~eve/", "/~eve/")
			shown := 0
			w.cfg.Browser = acting(func(ctx context.Context, _ render.Page, get render.Get) render.Shown {
				shown++
				_, err := get(ctx, render.Request{URL: "http://" + s.host + path})
				require.Error(t, err)
				return render.Shown{HTML: []byte("<p>nothing")}
			})
			require.Equal(t, Exhausted, w.finish(t, w.crawler(w.client), s.host).Ending)
			require.Equal(t, "page success", w.record(t, s.host)["/~eve/"])
			require.Equal(t, want.shown, shown)
			require.Zero(t, s.asked()["/~ada/members"])
			require.Less(t, read, 30<<20)
			unread := storetest.Get[string](t, w.db.Pool, `SELECT coalesce(string_agg(unread, ''), '') FROM kept_links`)
			require.Equal(t, want.unread, unread)
		})
	}
}

// TestPagesAreShownOnceThereIsABrowser by a recrawl of a site that was crawled without one.
func TestPagesAreShownOnceThereIsABrowser(t *testing.T) {
	t.Parallel()
	for _, tag := range []string{"", `"x"`} {
		w, s := application(t)
		page := s.pages["/"].(string)
		s.pages["/"] = func(rw http.ResponseWriter, r *http.Request) {
			rw.Header().Set("Content-Type", "text/html")
			if rw.Header().Set("Etag", tag); tag != "" && r.Header.Get("If-None-Match") == tag {
				rw.WriteHeader(http.StatusNotModified)
				return
			}
			_, _ = fmt.Fprint(rw, page)
		}
		for range 2 {
			w.finish(t, w.crawler(w.client), s.host)
			require.Contains(t, w.record(t, s.host)["/"], "page ")
			w.recrawl(t, s)
		}
		w.cfg.Browser = &shower{answer: render.Shown{HTML: []byte(links("a.pdf"))}}
		w.finish(t, w.crawler(w.client), s.host)
		require.Equal(t, "document success", w.record(t, s.host)["/a.pdf"], tag)
	}
}

// TestAPageThatKillsItsWorkersIsSetAside by its name, after as many deaths as any URL.
func TestAPageThatKillsItsWorkersIsSetAside(t *testing.T) {
	t.Parallel()
	w, s := application(t)
	shown := 0
	w.cfg.Browser = acting(func(context.Context, render.Page, render.Get) render.Shown {
		shown++
		storetest.Exec(t, w.db.Pool, `UPDATE sites SET token=token+1, expires_at='-infinity'`)
		return render.Shown{HTML: []byte(links("a.pdf"))}
	})
	c := w.crawler(w.client)
	for range 20 {
		r, err := c.Slice(t.Context(), s.host, func(Progress) {})
		if w.hurry(t, s.host); err == nil && r.Ending == Exhausted {
			break
		}
	}
	require.Equal(t, "failed crawler-killed", w.record(t, s.host)["/"])
	require.Equal(t, 4, shown, "the first death is charged to nobody")
}

// recrawl puts all of a site back.
func (w *world) recrawl(t *testing.T, s *site) {
	t.Helper()
	require.NoError(t, w.db.FinishCrawl(t.Context(), s.host, store.CrawlEnd{State: "done"}, w.cfg.Recrawl))
	_, err := w.db.RequeueDue(t.Context(), s.host, store.PutBack{All: true, For: "recrawl/all"}, w.cfg.Recrawl)
	require.NoError(t, err)
	w.rested(t, s.host)
}

// TestNewDataBehindAnUnchangedPage is found by a recrawl, which asks for what the page was
// made of by its tags. While none is another, the page is not shown.
func TestNewDataBehindAnUnchangedPage(t *testing.T) {
	t.Parallel()
	w, s := application(t)
	data, whole, asked := "a.pdf", 0, 0
	s.pages["/api"] = func(rw http.ResponseWriter, r *http.Request) {
		asked++
		rw.Header().Set("Content-Type", "application/json")
		rw.Header().Set("Etag", `"`+data+`"`)
		if r.Header.Get("If-None-Match") == `"`+data+`"` {
			rw.WriteHeader(http.StatusNotModified)
			return
		}
		whole++
		_, _ = fmt.Fprint(rw, data)
	}
	s.pages["/b.pdf"] = "two"
	shown := 0
	w.cfg.Browser = acting(func(ctx context.Context, _ render.Page, get render.Get) render.Shown {
		shown++
		a, err := get(ctx, render.Request{URL: "http://" + s.host + "/api"})
		require.NoError(t, err)
		_, err = get(ctx, render.Request{URL: "http://" + s.host + "/main.js", Script: true})
		require.NoError(t, err)
		return render.Shown{HTML: []byte(links(string(a.Body)))}
	})
	for n, want := range []struct {
		data                string
		shown, whole, asked int
	}{
		{"a.pdf", 1, 1, 1}, {"a.pdf", 1, 1, 2}, {"b.pdf", 2, 2, 3}, {"b.pdf", 2, 2, 4},
	} {
		data = want.data
		require.Equal(t, Exhausted, w.finish(t, w.crawler(w.client), s.host).Ending)
		require.Equal(t, want.shown, shown, n)
		require.Equal(t, []int{want.whole, want.asked}, []int{whole, asked}, n)
		require.Contains(t, w.record(t, s.host)["/"+data], "document ")
		linked := storetest.Get[int](t, w.db.Pool, `SELECT count(*) FROM links`)
		require.Equal(t, 1, linked, "to what is shown")
		w.recrawl(t, s)
	}
}

// TestPagesBeyondTheirBoundAreNamed: more of one crawl than a browser shows, and what a page
// asks for where no memory is left.
func TestPagesBeyondTheirBoundAreNamed(t *testing.T) {
	t.Parallel()
	failed := func(why gleaner.Outcome, users, each int) func(w *world, id int) {
		return func(w *world, id int) {
			storetest.Exec(t, w.db.Pool, `INSERT INTO urls (site_id, hash, url, state, crawl, outcome)
				SELECT $1, decode(lpad(u||'0'||n::text, 32, '0'), 'hex'),
					'http://h/'||CASE WHEN $2>1 THEN '~u'||u||'/' ELSE '' END||n, 3, 1, $4
				FROM generate_series(1, $2::int) u, generate_series(1, $3::int) n`, id, users, each, why)
		}
	}
	for name, prepare := range map[string]func(w *world, id int){
		"failed render-pages":                            failed("render-crashed", 1, 10),
		"page success, beside a user with too many":      failed("render-crashed", 2, 10),
		"failed render-pages, beside all that one may":   failed("render-crashed", 5, 10),
		"page success, beside those without a browser":   failed(render.Shut, 1, 300),
		"page success, beside those with a busy browser": failed(render.Busy, 1, 300),
		"failed render-pages, beside those that took all their time": func(w *world, id int) {
			storetest.Exec(t, w.db.Pool, `WITH slow AS (INSERT INTO urls (site_id, hash, url, state, crawl)
				SELECT $1, decode(lpad('0'||n::text, 32, '0'), 'hex'), 'http://h/'||n, 2, 1 FROM generate_series(1, 30) n RETURNING hash)
				INSERT INTO kept_links (site_id, page, unread, read_at) SELECT $1, hash, 'render-limit', now() + interval '1 hour' FROM slow`, id)
		},
		"failed render-busy": func(w *world, _ int) {
			require.True(t, w.cfg.Memory.Keep("others", 1<<20))
		},
		"failed render-busy, beside hosts of the same owner": func(w *world, _ int) {
			require.True(t, w.cfg.Memory.Keep("127.0.0.0/24", 1<<19))
		},
		"page success": func(*world, int) {},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			outcome, _, _ := strings.Cut(name, ",")
			w, s := application(t)
			w.cfg.Memory = fetch.NewMemory(12 << 20)
			prepare(w, storetest.Get[int](t, w.db.Pool, `SELECT id FROM sites`))
			held := 0
			w.cfg.Browser = acting(func(ctx context.Context, _ render.Page, get render.Get) render.Shown {
				_, err := get(ctx, render.Request{URL: "http://" + s.host + "/api"})
				if held = 0; err == nil && !w.cfg.Memory.Keep("others", 1<<20) {
					held = 1
				}
				return render.Shown{HTML: []byte(links("a.pdf"))}
			})
			w.finish(t, w.crawler(w.client), s.host)
			require.Equal(t, outcome, w.record(t, s.host)["/"])
			if outcome == "page success" {
				require.Equal(t, 1, held, "what a page asked for is in memory")
				require.True(t, w.cfg.Memory.Keep("others", 1<<20), "and is given back")
			}
		})
	}
}

// TestAScriptThatIsAsItWasIsAskedFor: the browser gets no empty body for it in a later crawl.
func TestAScriptThatIsAsItWasIsAskedFor(t *testing.T) {
	t.Parallel()
	w, s := application(t)
	var bodies []int
	w.cfg.Browser = acting(func(ctx context.Context, _ render.Page, get render.Get) render.Shown {
		a, err := get(ctx, render.Request{URL: "http://" + s.host + "/main.js", Script: true})
		require.NoError(t, err)
		bodies = append(bodies, len(a.Body))
		return render.Shown{HTML: []byte("<p>nothing")}
	})
	for day := range 2 {
		s.mu.Lock()
		s.pages["/"] = fmt.Sprintf(`<div id="root"></div><script src="/main.js"></script><!-- %d -->`, day)
		s.mu.Unlock()
		w.finish(t, w.crawler(w.client), s.host)
		w.recrawl(t, s)
	}
	require.Equal(t, []int{13, 13}, bodies)
}

// TestWhatAPageMayAsk that a browser shows: no data of another user's, and on other hosts
// only the scripts that it names itself, while these answer.
func TestWhatAPageMayAsk(t *testing.T) {
	t.Parallel()
	named := []string{"http://cdn.example/lib.js", "http://gone.example/lib.js"}
	for _, c := range []struct {
		scope, url    string
		script, leads bool
		may           bool
	}{
		{"/", "http://h.example/api", false, true, true},
		{"/", "http://data.h.example/api", false, true, true},
		{"/", "http://h.example.org/api", false, true, false},
		{"/~eve/", "http://h.example/~eve/api", false, true, true},
		{"/~eve/", "http://h.example/~ada/members", false, true, false},
		{"/~eve/", "http://data.h.example/api", false, true, false},
		{"/~eve/", "http://cdn.example/lib.js", true, true, true},
		{"/~eve/", "http://cdn.example/lib.js?d=secret", true, true, false},
		{"/~eve/", "http://cdn.example/lib.js", true, false, false},
		{"/~eve/", "http://gone.example/lib.js", true, true, false},
	} {
		cfg := Defaults()
		if !c.leads {
			cfg.Leads = "none"
		}
		l := newLoop(Site{Host: "h.example", Scopes: []string{c.scope}}, cfg, Parts{}, func(Progress) {})
		l.shells.failing["gone.example"] = true
		w := &shell{names: named, url: "http://h.example/~eve/"}
		require.Equal(t, c.may, l.shells.mayAsk(w, render.Request{URL: c.url, Script: c.script}) == nil, "%+v", c)
		for i := range maxForeign {
			l.shells.failing[fmt.Sprintf("%d.h.example", i)] = false
		}
		r := render.Request{URL: c.url, Script: c.script}
		require.Equal(t, c.may && weburl.Host(c.url) == "h.example", l.shells.mayAsk(w, r) == nil, "%+v", c)
	}
}

// TestAPauseOfAnotherHostIsWaitedFor: one to which robots.txt leads is not the site's own.
func TestAPauseOfAnotherHostIsWaitedFor(t *testing.T) {
	t.Parallel()
	w := &web{slice: &slice{site: store.Site{Host: "dept.example.edu"}}}
	for host, want := range map[string]Ending{"www.example.edu": Waiting, "www.dept.example.edu": Denied} {
		var stop *errStop
		require.ErrorAs(t, w.hostTrouble(&politeness.BusyError{Host: host, Wait: time.Hour, Parked: true, Paused: "by a person"}), &stop)
		require.Equal(t, want, stop.ending)
	}
}
