package render

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"gleaner/internal/gleaner"
)

// chromium is one that can be shut in here. Its pages have less than they would.
func chromium(t *testing.T) *Browser {
	t.Helper()
	b, err := Find()
	if err != nil {
		t.Skip(err) // no Chromium is installed
	}
	if err := b.Check(); err != nil {
		t.Skip("no browser can be shut in here: ", err)
	}
	b.limits.cpu, b.limits.wall, b.limits.grace = 8*time.Second, time.Minute, 40*time.Second
	return b
}

// site answers for a page's files by their paths, and notes what was asked.
type site struct {
	files map[string]string
	asked []string
}

func (s *site) get(ctx context.Context, r Request) (*Answer, error) {
	s.asked = append(s.asked, r.URL)
	path, ok := strings.CutPrefix(r.URL, "http://www.example.org")
	if path == "/never" {
		<-ctx.Done()
	}
	for name, body := range s.files {
		if ok && (name == path || strings.HasSuffix(name, "*") && strings.HasPrefix(path, name[:len(name)-1])) {
			media := "application/json"
			if strings.HasSuffix(name, ".js") {
				media = "text/javascript"
			}
			h := http.Header{"Content-Type": {media}, "Set-Cookie": {"a=b"}}
			return &Answer{Status: http.StatusOK, Header: h, Body: []byte(body)}, nil
		}
	}
	return nil, errors.New("refused")
}

func (s *site) show(t *testing.T, b *Browser, body string) Shown {
	t.Helper()
	p := Page{URL: "http://www.example.org/", Header: http.Header{"Content-Type": {"text/html"}}, Body: []byte(body)}
	clear(b.rests)
	shown := b.Show(t.Context(), p, time.Minute, s.get)
	took := shown.Took.Round(time.Millisecond)
	t.Logf("%s: %d requests, %d refused, %s, %q", shown.Outcome, shown.Requests, shown.Refused, took, s.asked)
	return shown
}

// adds is a script that adds a link to a list, by which the pages of the tests show something.
const (
	adds = `function show(h) { document.getElementById("list").innerHTML += "<li><a href='" + h + "'>" + h + "</a>" }`
	list = `<ul id="list"></ul><script>` + adds + `</script>`
)

// TestShow shows pages whose scripts ask for more.
func TestShow(t *testing.T) {
	b := chromium(t)
	for name, c := range map[string]struct {
		body    string
		files   map[string]string
		has     []string
		asked   int
		outcome gleaner.Outcome
	}{
		"an application": {
			body: `<div id="list"></div><script src="/app.js"></script><img src="a.png"><link rel="stylesheet" href="a">`,
			files: map[string]string{
				"/app.js": adds + `; fetch("/api").then(r => r.json()).then(l => l.forEach(show))`,
				"/api":    `["a.pdf", "b.pdf"]`,
			},
			has: []string{`<a href="a.pdf">`, `<a href="b.pdf">`}, asked: 2,
		},
		"one that asks again and again": {
			body: list + `<script>setInterval(() =>
				fetch("/api").then(r => r.json()).then(l => show(l[0])), 50)</script>`,
			files: map[string]string{"/api": `["a.pdf"]`}, has: []string{`<a href="a.pdf">`}, asked: 1,
		},
		"a list that grows": {
			body: list + `<div style="height:3000px"></div><script>let n = 0; addEventListener("scroll", () =>
				fetch("/more/" + n++).then(r => r.json()).then(l => {
					show(l[0] + n); document.body.style.height = 3000 * (n + 1) + "px" }))</script>`,
			files: map[string]string{"/more/*": `["a.pdf?"]`},
			has:   []string{`<a href="a.pdf?1">`, `<a href="a.pdf?3">`}, asked: 7,
		},
		"one that asks for ever": {
			body: list + `<script>let n = 0; (function more() {
				fetch("/" + n++).then(r => r.json()).then(l => { show(l[0]); more() }) })()</script>`,
			files: map[string]string{"/*": `["a.pdf"]`}, has: []string{`<a href="a.pdf">`}, asked: 30, outcome: Cut,
		},
		"what others may not see, and what is not asked for": {
			body: list + `<script>
				for (const to of ["https://www.google-analytics.com/a.js", "http://10.0.0.1/b", "file:///etc/passwd"])
					fetch(to).catch(() => 0)
				fetch("/d", {method: "POST", body: "x"}).catch(() => 0)
				try { new WebSocket("ws://www.example.org/e") } catch {}
				try { new EventSource("/f") } catch {}
				navigator.sendBeacon("/g")
				navigator.serviceWorker && navigator.serviceWorker.register("/h.js").catch(() => 0)
				try { new RTCPeerConnection({iceServers: [{urls: "stun:h"}]}).createDataChannel("i") } catch {}
				open("/j"); location = "/k"; new Image().src = "/l"
				document.cookie = "m=n"; alert("o"); print()
				show("a.pdf")</script><meta http-equiv="refresh" content="0;url=/p">
				<a id="q" download href="/q">q</a><script>document.getElementById("q").click()</script>`,
			has: []string{`<a href="a.pdf">`}, asked: 1,
		},
		"a frame and a worker": {
			body: list + `<iframe src="/frame"></iframe>
				<script>new Worker("/worker.js").onmessage = e => show(e.data)</script>`,
			files: map[string]string{"/frame": "{}", "/worker.js": `postMessage("a.pdf"); fetch("http://10.0.0.1/")`},
			has:   []string{`<iframe src="/frame">`}, asked: 2,
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := &site{files: c.files}
			shown := s.show(t, b, c.body)
			require.Equal(t, c.outcome, shown.Outcome)
			for _, has := range c.has {
				require.Contains(t, string(shown.HTML), has)
			}
			require.LessOrEqual(t, len(s.asked), c.asked)
			require.Equal(t, len(s.asked), shown.Requests)
		})
	}
}

// TestWhatAPageTakesOfTheHeap: neither what it says nor what it is answered is held beyond its
// bounds.
func TestWhatAPageTakesOfTheHeap(t *testing.T) {
	b := chromium(t)
	large := strings.Repeat("x", 60<<20)
	for name, script := range map[string]string{
		"words":     `const a = Array(60000).fill(1); for (let i = 0; i < 25; i++) console.log(...a)`,
		"an answer": `fetch("/large").then(r => r.text())`,
	} {
		t.Run(name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			s := &site{files: map[string]string{"/large": large}}
			s.show(t, b, "<script>"+script+"</script>")
			runtime.ReadMemStats(&after)
			require.Less(t, (after.TotalAlloc-before.TotalAlloc)>>20, uint64(200), "MB")
		})
	}
}

// TestOneAnswerIsGivenSoOften that all of it is what a page may have.
func TestOneAnswerIsGivenSoOften(t *testing.T) {
	b := chromium(t)
	s := &site{files: map[string]string{"/a": strings.Repeat("x", 1<<19)}}
	shown := s.show(t, b, list+`<script>function more() {
		fetch("/a").then(r => r.text()).then(() => { show("a.pdf"); more() }) }
		for (let i = 0; i < 50; i++) more()</script>`)
	require.Equal(t, Cut, shown.Outcome)
	require.LessOrEqual(t, int64(strings.Count(string(shown.HTML), `<a href="a.pdf">`)), b.limits.bytes>>19)
}

// TestAPageUsesUpItsTime with an answer that never comes.
func TestAPageUsesUpItsTime(t *testing.T) {
	b := chromium(t)
	b.limits.wall, b.limits.grace = 14*time.Second, 10*time.Second
	shown := (&site{}).show(t, b, `<script>fetch("/never")</script>`)
	require.Equal(t, Limit, shown.Outcome)
}

// TestAnOwnerLeavesOthersATurn: several of its hosts have pages that take all the time there is.
func TestAnOwnerLeavesOthersATurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &Browser{limits: bounds(), slots: make(chan struct{}, 1), rests: map[string]time.Time{}}
		shows := func(owner string, took time.Duration) bool {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			is := b.enter(ctx, owner)
			if is {
				select {
				case <-time.After(took):
				case <-t.Context().Done():
				}
				b.leave(owner, took)
			}
			return is
		}
		for range 3 {
			require.True(t, shows("a.example", b.limits.wall), "nobody else wants the browser")
		}
		for range 4 {
			go func() {
				for t.Context().Err() == nil {
					_ = shows("a.example", b.limits.wall)
				}
			}()
		}
		busy := 0
		for range 60 {
			time.Sleep(9 * time.Minute)
			if !shows("b.example", 5*time.Second) {
				busy++
			}
		}
		require.Less(t, busy, 60/2)
	})
}

// TestPagesThatAreNotShown: what crashes, mines or floods costs its bound, is named, and
// leaves nothing.
func TestPagesThatAreNotShown(t *testing.T) {
	b := chromium(t)
	for name, c := range map[string]struct {
		body     string
		outcomes []gleaner.Outcome
	}{
		"a loop": {`for (;;);`, []gleaner.Outcome{Limit, crashed}},
		"a miner": {`const w = URL.createObjectURL(new Blob(["for (;;);"])); for (let i = 0; i < 4; i++) new Worker(w)
			setInterval(() => fetch("/" + Math.random()).catch(() => 0), 100)`, []gleaner.Outcome{Limit, crashed, Cut}},
		"memory": {`const a = []; for (;;) a.push(new Uint8Array(5e7).fill(1))`,
			[]gleaner.Outcome{Limit, crashed, ""}},
		"words": {`for (let i = 0; i < 50; i++) fetch("/" + i, {headers: {a: "x".repeat(1e6)}}).catch(() => 0)`,
			[]gleaner.Outcome{Limit, crashed}},
		"dialogs": {`for (;;) alert("x")`, []gleaner.Outcome{Limit, crashed}},
	} {
		t.Run(name, func(t *testing.T) {
			shown := (&site{}).show(t, b, "<script>"+c.body+"</script>")
			require.Contains(t, c.outcomes, shown.Outcome)
			require.Less(t, shown.Took, 70*time.Second)
		})
	}
	files, err := filepath.Glob("/proc/[0-9]*/stat")
	require.NoError(t, err)
	for _, f := range files {
		stat, _ := os.ReadFile(f)
		require.NotRegexp(t, fmt.Sprintf(`\) [A-Z] %d `, os.Getpid()), string(stat), "a browser is left")
	}
}
