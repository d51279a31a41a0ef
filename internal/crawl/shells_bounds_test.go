package crawl

import (
	"context"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"gleaner/internal/devstack/storetest"
	"gleaner/internal/fetch"
	"gleaner/internal/record/frontier"
	"gleaner/internal/render"
	"gleaner/internal/web/page"
)

var scriptSources = regexp.MustCompile(`src="([^"]+)"`)

// asksForScripts asks for each script that a page names, and shows the page as it came.
func asksForScripts(ctx context.Context, p render.Page, get render.Get) render.Shown {
	for _, m := range scriptSources.FindAllStringSubmatch(string(p.Body), -1) {
		_, _ = get(ctx, render.Request{URL: m[1], Script: true})
	}
	return render.Shown{HTML: p.Body}
}

// TestPagesAskOtherHostsForLittle: what they ask counts with the links to other hosts, over all
// slices of a crawl, and a host that has no script for them is left alone.
func TestPagesAskOtherHostsForLittle(t *testing.T) {
	t.Parallel()
	for media, most := range map[string]int{"text/javascript": maxLeadsPerHost - maxLeadsPerHost/4, "text/html": 4} {
		t.Run(media, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.cfg.SlicePages, w.cfg.Leads = 100, "wanted"
			other := serveAt(t, "127.0.0.2", map[string]any{})
			for i := range 12 * 30 {
				other.pages[fmt.Sprintf("/search?q=%dx%d", i/30, i%30)] = typed(media, "x")
			}
			s := serve(t, map[string]any{})
			s.otherwise = func(path string) string {
				var n int
				if _, err := fmt.Sscanf(path, "/p/%d", &n); err != nil || n >= 12 {
					return ""
				}
				html := fmt.Sprintf(`<div id="root"></div><a href="/p/%d">a</a>`, n+1)
				for i := range 30 {
					html += fmt.Sprintf(`<script src="http://%s/search?q=%dx%d"></script>`, other.host, n, i)
				}
				return html
			}
			w.cfg.Browser = acting(asksForScripts)
			w.seed(t, s.host, "/p/0", "/")
			w.finish(t, w.crawler(w.client), s.host)
			require.LessOrEqual(t, len(other.asked()), most)
			require.NotEmpty(t, other.asked())
		})
	}
}

// TestAUserLeavesOthersTheirScripts: what the pages of one ask of another host takes neither
// scripts nor links from those of another.
func TestAUserLeavesOthersTheirScripts(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.cfg.SlicePages, w.cfg.Leads = 400, "all"
	other := serveAt(t, "127.0.0.2", map[string]any{})
	script := typed("text/javascript", "x")
	other.pages["/app.js"], other.pages["/paper.pdf"] = script, script
	s := serve(t, map[string]any{
		"/~bob/":  `<a href="/~bob/1">a</a>`,
		"/~bob/1": fmt.Sprintf(`<a href="http://%s/paper.pdf">A paper</a><a href="/~bob/2">a</a>`, other.host),
		"/~bob/2": fmt.Sprintf(`<div id="root"></div><script src="http://%s/app.js"></script>`, other.host),
	})
	for n := range 9 {
		html := fmt.Sprintf(`<div id="root"></div><a href="/~ada/%d">a</a><script src="http://%s/paper.pdf"></script>`, n+1, other.host)
		for i := range 29 {
			path := fmt.Sprintf("/lib.js?q=%dx%d", n, i)
			other.pages[path] = script
			html += fmt.Sprintf(`<script src="http://%s%s"></script>`, other.host, path)
		}
		s.pages[fmt.Sprintf("/~ada/%d", n)] = html
	}
	w.cfg.Browser = acting(asksForScripts)
	w.seed(t, s.host, "/~ada/0", "/~ada/")
	w.seed(t, s.host, "/~bob/", "/~bob/")
	w.finish(t, w.crawler(w.client), s.host)
	require.Equal(t, 1, other.asked()["/app.js"])
	require.Equal(t, 1, storetest.Get[int](t, w.db.Pool, `SELECT count(*) FROM urls WHERE url LIKE '%/paper.pdf'`))
	require.LessOrEqual(t, len(other.asked()), 2+maxLeadsPerHost/sharedHost)
}

// TestPagesThatAskForLongAddressesAreCounted among those that were shown.
func TestPagesThatAskForLongAddressesAreCounted(t *testing.T) {
	t.Parallel()
	w, s := application(t)
	s.otherwise = func(string) string { return "data" }
	w.cfg.Browser = acting(func(ctx context.Context, _ render.Page, get render.Get) render.Shown {
		for i := range 30 {
			_, err := get(ctx, render.Request{URL: fmt.Sprintf("http://%s/d?%d=%s", s.host, i, strings.Repeat("&a", 900))})
			require.NoError(t, err)
		}
		return render.Shown{HTML: []byte(links("a.pdf"))}
	})
	w.finish(t, w.crawler(w.client), s.host)
	require.Equal(t, 1, storetest.Get[int](t, w.db.Pool, `SELECT count(*) FROM kept_links WHERE made_of='[]'`))
}

// TestAPageIsReadWithoutWhatComesTooSlowly, and is not shown again for it.
func TestAPageIsReadWithoutWhatComesTooSlowly(t *testing.T) {
	t.Parallel()
	w, s := application(t)
	s.pages["/slow"] = func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }
	shown := 0
	w.cfg.Browser = acting(func(ctx context.Context, _ render.Page, get render.Get) render.Shown {
		shown++
		serving, over := context.WithTimeout(ctx, 300*time.Millisecond)
		defer over()
		_, err := get(serving, render.Request{URL: "http://" + s.host + "/slow"})
		require.Error(t, err)
		return render.Shown{HTML: []byte(links("a.pdf")), Outcome: render.Cut}
	})
	w.finish(t, w.crawler(w.client), s.host)
	require.Equal(t, 1, shown)
	require.Equal(t, "document success", w.record(t, s.host)["/a.pdf"])
}

// TestDataOfTheSitesOwnDomainIsNoLink to another's host.
func TestDataOfTheSitesOwnDomainIsNoLink(t *testing.T) {
	t.Parallel()
	for scope, is := range map[string]int{"/": 0, "/~ada/": 1} {
		l := newLoop(Site{Host: "www.example.edu", Scopes: []string{scope}}, Defaults(), Parts{Source: stalledSource{}}, func(Progress) {})
		w := &shell{url: "http://www.example.edu/~ada/"}
		require.NoError(t, l.shells.note(t.Context(), w, "http://api.example.edu/a.json"))
		require.Len(t, l.links.leads.of, is, scope)
	}
}

// TestScriptsOfPagesThatWaitLeaveRoom for the pages of other sites, and what nobody asks of
// their headers is not kept.
func TestScriptsOfPagesThatWaitLeaveRoom(t *testing.T) {
	t.Parallel()
	l := newLoop(Site{Host: "h.example"}, Defaults(), Parts{}, func(Progress) {})
	l.shells.waiting = []waitingPage{{}}
	for i := range 9 {
		e := frontier.Entry{}
		e.Link.URL, e.Link.Source = fmt.Sprintf("http://h.example/%d.js", i), page.SourceList
		header := http.Header{"Content-Type": {"text/javascript"}, "Etag": {strings.Repeat("e", 1<<11)}, "X-A": {"a"}}
		r := &fetch.Response{Status: http.StatusOK, Header: header, Body: make([]byte, 1<<20-100)}
		l.shells.read(&e, &Answer{Response: r}, nil)
		if a := l.shells.answers[e.Link.URL]; a != nil {
			require.Equal(t, http.Header{"Content-Type": {"text/javascript"}}, a.Header)
		}
	}
	require.EqualValues(t, 4*(1<<20-100+len("Content-Type"+"text/javascript")), l.shells.bytes)
}

// stalledSource is a source whose answers never come.
type stalledSource struct{ Source }

func (stalledSource) Ready(context.Context) error { return nil }
func (stalledSource) resource(ctx context.Context, _ fetch.Request, _ string) (*fetch.Response, error) {
	<-ctx.Done()
	return nil, context.Cause(ctx)
}
func (stalledSource) foreign(context.Context, string) error                 { return nil }
func (stalledSource) madeOf(context.Context, frontier.Hash) ([]byte, error) { return nil, nil }

// readyJudge is one that is always ready.
type readyJudge struct{ library }

func (readyJudge) Ready(context.Context) error { return nil }

// TestAPageIsShownWhereItsPartsComeTooSlowly to tell whether they are as they were.
func TestAPageIsShownWhereItsPartsComeTooSlowly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		parts := Parts{Source: stalledSource{}, Judge: readyJudge{}}
		l := newLoop(Site{Host: "h.example", Scopes: []string{"/"}}, Defaults(), parts, func(Progress) {})
		w := &shell{entry: &frontier.Entry{}, url: "http://h.example/", made: []part{{Sum: []byte("a")}}}
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		made := `[{"Sum":"YQ=="},{"URL":"http://h.example/api","Sum":"YQ=="}]`
		require.False(t, l.shells.partsUnchanged(ctx, w, []byte(made)))
		require.Empty(t, w.halted)
		require.NoError(t, ctx.Err())
	})
}
