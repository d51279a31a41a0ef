package crawl

import (
	"bytes"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gleaner/internal/devstack/storetest"
	"gleaner/internal/fetch"
	"gleaner/internal/lab/realdata"
)

// farmHost is a site of the farm program's; paths are as the record has them.
const farmHost = "www.ada.example.org"

var farmRecord = map[string]string{
	"/": "page success", "/pubs.html": "page success", "/talks/": "page success",
	"/a.pdf": "document success", "/b.pdf": "document success", "/talks/c.pdf": "document success",
}

// with is the record of the farm with changes: path and outcome in turns.
func with(changes ...string) map[string]string {
	out := maps.Clone(farmRecord)
	for i := 0; i < len(changes); i += 2 {
		out[changes[i]] = changes[i+1]
	}
	return out
}

func only(outcome string) map[string]string { return map[string]string{"/": outcome} }

// farmFaults are the farm's faults, and what becomes of a site that has them.
var farmFaults = []struct {
	name, fault string
	want        map[string]string // nil: looked at below
}{
	{"nothing wrong", `{}`, farmRecord},
	{"slow", `{"latency_ms":5}`, farmRecord},
	{"busy for a while", `{"error_every":1,"retry_after":30,"until_count":2}`, farmRecord},
	{"errors at times", `{"error_every":3,"error_code":500}`, farmRecord},
	{"drops at times", `{"drop_every":5}`, farmRecord},
	{"cut at times", `{"cut_every":4}`, farmRecord},
	{"hangs at times", `{"hang_every":5}`, farmRecord},
	{"robots.txt away for a while", `{"robots_code":503,"until_count":1}`, farmRecord},
	{"busy for ever", `{"error_every":1,"path":"/pubs"}`, map[string]string{"/": "page success", "/talks/": "page success", "/talks/c.pdf": "document success", "/pubs.html": "failed busy"}},
	{"endless and slow", `{"slow_body":3}`, only("failed slow-body")},
	{"a loop", `{"loop":true}`, only("gone redirect-loop")},
	{"a bomb", `{"bomb":true,"path":"/talks"}`, map[string]string{"/": "page success", "/pubs.html": "page success", "/a.pdf": "document success", "/b.pdf": "document success", "/talks/": "gone inflation-limit"}},
	{"a private network", `{"redirect_to":"http://10.0.0.1/"}`, only("gone address-denied")},
	{"a metadata service", `{"redirect_to":"http://169.254.169.254/latest/"}`, only("gone address-denied")},
	{"robots.txt says no", `{"robots_text":"User-agent: *\nDisallow: /talks"}`, map[string]string{"/": "page success", "/pubs.html": "page success", "/a.pdf": "document success", "/b.pdf": "document success", "/talks/": "gone robots-denied"}},
	{"a wall as PDF", `{"html_as_pdf":true}`, with("/a.pdf", "gone blocked-wall", "/b.pdf", "gone blocked-wall", "/talks/c.pdf", "gone blocked-wall")},
	{"an endless calendar", `{"trap":true,"path":"/talks"}`, nil},
}

func writeFarm(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, body := range map[string]string{
		"index.html": links("pubs.html", "talks/"), "pubs.html": links("a.pdf", "b.pdf"), "talks/index.html": links("c.pdf", "../pubs.html"),
		"a.pdf": "%PDF-1.4\none", "b.pdf": "%PDF-1.4\ntwo", "talks/c.pdf": "%PDF-1.4\nthree",
	} {
		file := filepath.Join(dir, farmHost, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
		require.NoError(t, os.WriteFile(file, []byte(body), 0o644))
	}
	return dir
}

// TestTheFarmsFaults crawls a site of the farm program with each of its faults.
// Where the fault passes, nothing is lost; where it stays, each URL has its name
// and the crawl its end.
func TestTheFarmsFaults(t *testing.T) {
	t.Parallel()
	farm := realdata.StartFarm(t, writeFarm(t), "-no-search")
	w := newWorld(t)
	limits := fetch.Limits{Header: 500 * time.Millisecond, Idle: 500 * time.Millisecond, Grace: 300 * time.Millisecond}
	w.cfg.Limits.MaxNumbers = 2
	w.cfg.MaxTries = 6 // a busy machine fails at times as well
	for _, tt := range farmFaults {
		// One after the other: all are the same host, new each time.
		storetest.Exec(t, w.db.Pool, `TRUNCATE sites, urls, robots CASCADE`)
		resp, err := farm.Client().Post("http://ctl.farm/faults", "application/json", bytes.NewReader([]byte(`{"`+farmHost+`":`+tt.fault+`}`)))
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
		require.Equal(t, http.StatusOK, resp.StatusCode)
		w.seed(t, farmHost, "/", "/")
		r := w.endure(t, w.connect(t, fetch.Config{Proxy: farm.Proxy.String(), Limits: limits}), farmHost)
		require.Equal(t, Exhausted, r.Ending, "%s: %s", tt.name, r.Reason)
		got := w.record(t, farmHost)
		if tt.want != nil {
			require.Equal(t, tt.want, got, tt.name)
			continue
		}
		for path := range got {
			require.LessOrEqual(t, strings.Count(path, "/"), 6, path)
		}
		count := w.outcomes(t, farmHost, "")
		require.Positive(t, count["skipped calendar-trap"], count)
		require.Equal(t, 2, count["document success"], "what lies beside the trap is found")
	}
}

// endure crawls until the crawl ends for good, however often the host fails:
// what waits for a time waits no more, and a robots.txt that could not be read
// is asked for again.
func (w *world) endure(t *testing.T, f Fetcher, host string) Result {
	t.Helper()
	return w.slices(t, host, func() *Crawler { return w.crawler(f) }, func(r Result) bool {
		waits := r.Ending == Waiting || r.Ending == Refused
		if waits {
			require.NotEmpty(t, r.Reason)
		}
		return waits
	})
}
