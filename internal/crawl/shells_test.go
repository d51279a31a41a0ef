package crawl

import (
	"cmp"
	"context"
	"encoding/base64"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gleaner/internal/devstack/storetest"
	"gleaner/internal/document"
	"gleaner/internal/fetch"
	"gleaner/internal/gleaner"
	"gleaner/internal/lab/sampleweb"
	"gleaner/internal/politeness"
	"gleaner/internal/rank"
	"gleaner/internal/record/frontier"
	"gleaner/internal/render"
)

const shownPapers = 3 // of each site that has some

// shownWeb has sites that only a browser shows. It answers as a proxy does, and notes who
// asked for what.
type shownWeb struct {
	pile  *sampleweb.Pile
	files map[string]string // by host and path, or by host, for what its application routes
	tries int               // that pages have behind them

	mu  sync.Mutex
	log []shownRequest
}

type shownRequest struct {
	host, path, agent string
	at                time.Time
}

// newShownWeb has a routed application, one that another host's script fills, a list that
// grows, and pages that want the browser to fail or to ask where nobody may.
func newShownWeb() *shownWeb {
	w := &shownWeb{pile: sampleweb.NewPile(1), files: map[string]string{}}
	shell := func(host, body string) {
		w.files[host] = `<!DOCTYPE html><title>Homepage</title>
			<noscript>You need to enable JavaScript to run this app.</noscript><div id="root"></div>` + body
	}
	shell("app.example", `<script type="module" src="/assets/index-4f2a.js"></script>`)
	w.files["app.example/assets/index-4f2a.js"] = `const root = document.getElementById("root"), add = (to, words) => {
			const a = document.createElement("a"); a.href = to; a.textContent = words; root.append(a, " ") }
		const at = location.pathname
		if (at == "/") { add("/" + ["list", "of", "works"].join("-"), "Publications"); add("/me", "About me") }
		else if (at == "/list-of-works")
			fetch("/api/" + btoa("works")).then(r => r.json()).then(all =>
				all.forEach(w => add("/f/" + w[0] + ".p" + "df", w[1])))
		else add("/", "Home")`
	w.files["app.example/api/d29ya3M="] = w.works(0, func(n int) string {
		return fmt.Sprintf("[%d,%q]", n, w.pile.Paper(n).Title)
	})
	hidden := func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }
	shell("embed.example", `<script src="http://widget.example.org/show?of=ada"></script>
		<script src="http://closed.example.org/show"></script>
		<script src="https://www.google-analytics.com/analytics.js"></script>`)
	w.files["widget.example.org/show?of=ada"] = `root.innerHTML = atob("` + hidden(w.works(1, w.link)) + `")`
	w.files["closed.example.org/robots.txt"] = "User-agent: *\nDisallow: /\n"
	shell("scroll.example", `<script>let n = 0
		const end = document.createElement("p"); document.body.append(end)
		new IntersectionObserver(() => fetch("/part/" + n++).then(r => r.text()).then(t => {
			const more = document.createElement("div"); more.style.height = "2000px"; more.innerHTML = atob(t)
			end.before(more) })).observe(end)</script>`)
	for i := range shownPapers {
		w.files[fmt.Sprintf("scroll.example/part/%d", i)] = hidden(w.link(1 + 2*shownPapers + i))
	}
	shell("inside.example", `<script>fetch("http://api.example.net/data").then(r => r.text()).then(t => root.append(t))
		for (const to of ["http://10.0.0.1/a", "http://169.254.169.254/b", "http://localhost/c", "http://[::1]/d"]) {
			fetch(to).then(r => r.text()).then(t => root.append(t))
			const s = document.createElement("script"); s.src = to + ".js"; document.body.append(s) }</script>`)
	shell("loop.example", `<script>for (;;);</script>`)
	shell("mine.example", `<script>const w = URL.createObjectURL(new Blob(["for (;;);"]))
		for (let i = 0; i < 4; i++) new Worker(w)
		setInterval(() => fetch("/" + Math.random()).catch(() => 0), 100)</script>`)
	shell("crash.example", `<script>const all = []; for (;;) all.push(new Uint8Array(5e7).fill(1))</script>`)
	shell("bib.example", `<script>load("/own.bib")</script>`)
	w.files["bib.example/own.bib"] = w.works(4, func(n int) string {
		return fmt.Sprintf("@article{a%d, title={%s}, pdf={/f/%d.pdf}}", n, w.pile.Paper(n).Title, n)
	})
	shell("json.example", `<script>fetch("/own.json")</script>`)
	w.files["json.example/own.json"] = "[" + strings.ReplaceAll(w.works(5, func(n int) string {
		return fmt.Sprintf(`{"title":%q,"pdf":"/f/%d.pdf"},`, w.pile.Paper(n).Title, n)
	})+"{}", ", {", ",{") + "]"
	shell("bibbase.example", `<script src="https://bibbase.org/show?bib=http://bibbase.example/own.bib&jsonp=1"></script>`)
	w.files["bibbase.example/own.bib"] = w.files["bib.example/own.bib"]
	w.files["plain.example"] = `<title>Homepage</title><h1>Papers</h1>` + w.link(1+3*shownPapers) +
		`<script>fetch("/more")</script>`
	return w
}

// works joins the papers of a site.
func (w *shownWeb) works(site int, each func(n int) string) string {
	var all []string
	for i := range shownPapers {
		all = append(all, each(1+site*shownPapers+i))
	}
	if site == 0 {
		return "[" + strings.Join(all, ",") + "]"
	}
	return strings.Join(all, " ")
}

func (w *shownWeb) link(n int) string {
	return fmt.Sprintf(`<a href="/f/%d.pdf">%s</a>`, n, w.pile.Paper(n).Title)
}

func (w *shownWeb) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	host, path := r.Host, r.URL.RequestURI()
	if r.URL.Host != "" {
		host = r.URL.Host
	}
	if _, rest, ok := strings.Cut(path, "://"); ok {
		path = rest[strings.IndexByte(rest, '/'):]
	}
	w.mu.Lock()
	w.log = append(w.log, shownRequest{host, path, r.UserAgent(), time.Now()})
	w.mu.Unlock()
	var n int
	body, ok := w.files[host+path]
	switch _, err := fmt.Sscanf(path, "/f/%d.pdf", &n); {
	case err == nil:
		rw.Header().Set("Content-Type", "application/pdf")
		_, _ = rw.Write(w.pile.File(n, sampleweb.AsPDF))
		return
	case strings.HasSuffix(path, ".bib") && ok:
		rw.Header().Set("Content-Type", "text/x-bibtex")
	case ok && (strings.HasSuffix(path, ".js") || strings.Contains(path, "show")):
		rw.Header().Set("Content-Type", "text/javascript")
	case ok:
		rw.Header().Set("Content-Type", "text/plain")
	default:
		absent := path == "/robots.txt" || strings.HasPrefix(path, "/part/") || strings.Contains(path, "sitemap")
		if body, ok = w.files[host]; !ok || absent {
			http.NotFound(rw, r)
			return
		}
		rw.Header().Set("Content-Type", "text/html")
	}
	_, _ = rw.Write([]byte(body))
}

// chromium is one that can be shut in here.
func chromium(t *testing.T) *render.Browser {
	t.Helper()
	b, err := render.Find()
	if err != nil {
		t.Skip(err) // no Chromium is installed
	}
	if err := b.Check(); err != nil {
		t.Skip("no browser can be shut in here: ", err)
	}
	return b
}

// crawled are the papers that are found on a host, and the requests of its crawl.
func (w *shownWeb) crawled(
	t *testing.T, browser Browser, pace time.Duration, hosts ...string,
) (found map[string]int, requests map[string]int) {
	t.Helper()
	world := newWorld(t)
	world.cfg.Strategy, world.cfg.Leads, world.cfg.Browser = rank.Gleaner, "wanted", browser
	world.filters(document.NewFilter(document.Balanced))
	proxy := httptest.NewServer(w)
	t.Cleanup(proxy.Close)
	pacing := fetch.Pacing{Unpaced: pace == 0, MinDelay: pace, BackoffBase: 1, BackoffMax: 1}
	world.keeper = politeness.NewKeeper(world.db.Pool, pacing, "test")
	client := world.connect(t, fetch.Config{Proxy: proxy.URL})
	var wanted []gleaner.Paper
	for n := range 1 + 6*shownPapers {
		wanted = append(wanted, w.pile.Paper(n))
	}
	world.want(t, "h", "{}", wanted)
	c := world.crawler(client)
	found, requests = map[string]int{}, map[string]int{}
	for _, host := range hosts {
		world.seed(t, host, "/", "/")
		storetest.Exec(t, world.db.Pool, `UPDATE urls SET tries=$1 WHERE state=0`, w.tries)
		began, before := time.Now(), len(w.log)
		r := world.finish(t, c, host)
		require.Equal(t, Exhausted, r.Ending, "%s: %s", host, r.Reason)
		for path, is := range world.record(t, host) {
			if strings.HasPrefix(path, "/f/") && is == "document success" {
				found[host]++
			}
		}
		requests[host] = len(w.log) - before
		took := time.Since(began).Round(time.Millisecond)
		t.Logf("%-15s %d papers, %d requests, %s", host, found[host], requests[host], took)
		for _, asked := range w.log {
			require.Equal(t, client.UserAgent(), asked.agent, "nobody but the crawl's own client asks")
		}
	}
	return found, requests
}

// TestPapersThatABrowserShows crawls sites of which a browser alone shows the papers, with
// one and without.
func TestPapersThatABrowserShows(t *testing.T) {
	t.Parallel()
	browser := chromium(t)
	hosts := []string{"app.example", "embed.example", "scroll.example", "plain.example", "bib.example", "json.example",
		"bibbase.example"}
	found, without := newShownWeb().crawled(t, nil, 0, hosts...)
	readable := map[string]int{"plain.example": 1, "bib.example": 3, "json.example": 3, "bibbase.example": 3}
	require.Equal(t, readable, found)
	w := newShownWeb()
	const pace = 200 * time.Millisecond
	found, with := w.crawled(t, browser, pace, hosts...)
	for host := range readable {
		require.Equal(t, without[host], with[host], "a site that needs none costs what it did")
	}
	maps.Copy(readable, map[string]int{"app.example": 3, "embed.example": 3, "scroll.example": 3})
	require.Equal(t, readable, found)
	last := map[string]time.Time{}
	for _, r := range w.log {
		require.NotContains(t, []string{"www.google-analytics.com"}, r.host)
		require.False(t, r.host == "closed.example.org" && r.path != "/robots.txt", "robots.txt holds for scripts")
		if before, ok := last[r.host]; ok {
			require.GreaterOrEqual(t, r.at.Sub(before), pace-20*time.Millisecond, "%s%s", r.host, r.path)
		}
		last[r.host] = r.at
	}
}

// shower shows what it is told, by no browser.
type shower struct {
	shown  []string // URLs
	answer render.Shown
}

func (b *shower) Show(_ context.Context, p render.Page, _ time.Duration, _ render.Get) render.Shown {
	b.shown = append(b.shown, p.URL)
	return b.answer
}

// TestPagesWaitForTheirScripts: a page is shown when its scripts were read and have no
// documents, be that in a later slice, and not again while it is as it was.
func TestPagesWaitForTheirScripts(t *testing.T) {
	t.Parallel()
	shell := `<div id="root"></div><script src="/main.js"></script>`
	for name, c := range map[string]struct {
		script string
		slice  int
		answer render.Shown
		shown  int
		is     string
	}{
		"a list in the script":  {`[{title: "A paper of some length", pdf: "/a.pdf"}]`, 500, render.Shown{}, 0, ""},
		"none":                  {`fetch("/api")`, 500, render.Shown{HTML: []byte(links("a.pdf"))}, 1, ""},
		"none, in short slices": {`fetch("/api")`, 1, render.Shown{HTML: []byte(links("a.pdf"))}, 1, ""},
		"one that crashes":      {`fetch("/api")`, 500, render.Shown{Outcome: "render-crashed"}, 3, "failed render-crashed"},
		"no way to shut one in": {`fetch("/api")`, 500, render.Shown{Outcome: render.Shut}, 1, "failed render-off"},
		"none that is free":     {`fetch("/api")`, 500, render.Shown{Outcome: render.Busy}, 6, "failed render-busy"},
		"one that is cut": {`fetch("/api")`, 500,
			render.Shown{Outcome: render.Cut, HTML: []byte(links("a.pdf"))}, 1, ""},
	} {
		t.Run(name, func(t *testing.T) {
			w, s := newWorld(t), serve(t, map[string]any{"/": shell, "/a.pdf": "one",
				"/main.js": typed("text/javascript", c.script)})
			b := &shower{answer: c.answer}
			w.cfg.Browser, w.cfg.SlicePages = b, c.slice
			w.exhaust(t, s.host, "/")
			require.Len(t, b.shown, c.shown)
			if name == "a list in the script" {
				require.Equal(t, 1, s.asked()["/"], "it need not be shown, nor asked for again")
			}
			got := w.record(t, s.host)
			require.Equal(t, cmp.Or(c.is, "page success"), got["/"])
			require.Equal(t, c.is == "", got["/a.pdf"] == "document success")
			cut := storetest.Get[string](t, w.db.Pool, `SELECT coalesce(string_agg(unread, ''), '') FROM kept_links`)
			require.Equal(t, c.answer.Outcome == render.Cut, cut == "render-cut", cut)
		})
	}
}

// TestPagesThatWantABrowserToFail: none asks where nobody may, or costs more than its bound.
func TestPagesThatWantABrowserToFail(t *testing.T) {
	t.Parallel()
	browser := chromium(t)
	w := newShownWeb()
	w.tries = frontier.MaxDeaths // the next is the last
	found, _ := w.crawled(t, browser, 0, "inside.example", "loop.example", "mine.example", "crash.example")
	require.Empty(t, found)
	for _, r := range w.log {
		require.Contains(t, []string{"inside.example", "loop.example", "mine.example", "crash.example"}, r.host)
	}
	require.LessOrEqual(t, len(w.log), 60)
}
