package activities_test

import (
	"bufio"
	"encoding/json"
	"maps"
	"net/http"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"gleaner/internal/gleaner"
	"gleaner/internal/lab/realdata"
	"gleaner/internal/record/store"
)

// farmVenue is ten people's papers on seventeen real sites.
var farmVenue = gleaner.Years{From: 1994, To: 2026}

// farm is a library over real websites whose files a test may change.
type farm struct {
	*library
	web    realdata.Farm
	root   string // a folder a host
	marked int    // requests of the log that were counted
}

// newFarm links the files of the real sites into a folder, so that a test can
// put others in their places, and serves that.
func newFarm(t *testing.T, settings map[string]string) *farm {
	t.Helper()
	f := &farm{root: t.TempDir()}
	from := realdata.Path(t, "farm")
	require.NoError(t, filepath.WalkDir(from, func(path string, e os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		if e.IsDir() {
			return os.MkdirAll(filepath.Join(f.root, rel), 0o755)
		}
		return os.Symlink(path, filepath.Join(f.root, rel))
	}))
	f.web = realdata.StartFarm(t, f.root)
	given := map[string]string{"proxy": f.web.Proxy.String(), "ca-file": f.web.CA, "dblp-url": "http://dblp.org", "searxng-url": "http://search.farm"}
	maps.Copy(given, settings)
	f.library = openLibrary(t, "conf/farm", farmVenue, given)
	return f
}

// asked is one request as the farm saw it.
type asked struct {
	Host   string `json:"host"`
	URI    string `json:"uri"`
	Status int    `json:"status"`
	Bytes  int64  `json:"bytes"`
}

// asked returns the requests to websites since the last call, outside services
// left out.
func (f *farm) asked(t *testing.T) (requests []asked, bytes int64) {
	t.Helper()
	resp, err := f.web.Client().Get("http://ctl.farm/log")
	require.NoError(t, err)
	defer func() { _ = resp.Body.Close() }()
	require.Equal(t, http.StatusOK, resp.StatusCode)
	n := 0
	for sc := bufio.NewScanner(resp.Body); sc.Scan(); {
		n++
		var a asked
		require.NoError(t, json.Unmarshal(sc.Bytes(), &a))
		if n > f.marked && a.Host != "dblp.org" && a.Host != "search.farm" {
			requests = append(requests, a)
			bytes += a.Bytes
		}
	}
	f.marked = n
	return requests, bytes
}

// everything asks for all that was ever asked, as "starter recrawl --all" does;
// revisit asks to-be-avoided directories too.
func (f *farm) everything(t *testing.T, revisit bool) (requests []asked, bytes int64) {
	t.Helper()
	f.Recrawl.Revisit = 0
	if revisit {
		f.Recrawl.Revisit = 1
	}
	f.recrawl(t, store.Selection{}, true)
	return f.asked(t)
}

// hidden is a paper whose file, and the links to it, a test took from the web.
type hidden struct {
	url, sha256 string
	files       map[string]string // file of the farm → where the real one is
}

// hide takes every nth wanted paper from the web: its file, and with unlink, as
// the number of the paper says, the links to it, too.
func (f *farm) hide(t *testing.T, nth int, unlink func(n int) bool) (out []hidden) {
	t.Helper()
	n := 0
	for _, row := range realdata.Table(t, "truth", "wanted.tsv") {
		urls := realdata.List(row["urls"])
		if row["venue"] != "farm" || len(urls) == 0 {
			continue
		}
		if n++; n%nth != 0 {
			continue
		}
		h := hidden{url: urls[0], sha256: row["sha256"], files: map[string]string{}}
		for _, u := range urls {
			f.take(t, h, f.file(t, u), nil)
			if unlink(n / nth) {
				f.relink(t, h, u, `data-later=""`)
			}
		}
		out = append(out, h)
	}
	return out
}

// file is where the farm keeps what it answers with at an address.
func (f *farm) file(t *testing.T, address string) string {
	t.Helper()
	at, err := url.Parse(address)
	require.NoError(t, err)
	return filepath.Join(f.root, at.Host, filepath.FromSlash(at.Path))
}

// take puts a body in a file's place; nil leaves none.
func (f *farm) take(t *testing.T, h hidden, file string, body []byte) {
	t.Helper()
	if _, again := h.files[file]; !again {
		h.files[file] = f.original(t, file)
	}
	require.NoError(t, os.Remove(file))
	if body != nil {
		require.NoError(t, os.WriteFile(file, body, 0o600))
	}
}

// original is the real file in whose place something may stand by now: several
// papers may be linked on one page.
func (f *farm) original(t *testing.T, file string) string {
	t.Helper()
	rel, err := filepath.Rel(f.root, file)
	require.NoError(t, err)
	return filepath.Join(realdata.Path(t, "farm"), rel)
}

// relink puts another attribute in place of the href of every link to an
// address, on the pages of its host; $1 is the path before the file's name.
func (f *farm) relink(t *testing.T, h hidden, address, attribute string) {
	t.Helper()
	at, err := url.Parse(address)
	require.NoError(t, err)
	link := regexp.MustCompile(`href="([^"]*)\b` + regexp.QuoteMeta(path.Base(at.Path)) + `"`)
	require.NoError(t, filepath.WalkDir(filepath.Join(f.root, at.Host), func(file string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() || !strings.HasPrefix(filepath.Ext(file), ".htm") {
			return err
		}
		body, err := os.ReadFile(file)
		if err == nil && link.Match(body) {
			f.take(t, h, file, link.ReplaceAll(body, []byte(attribute)))
		}
		return err
	}))
}

// show puts everything back.
func (f *farm) show(t *testing.T, hs []hidden) {
	t.Helper()
	for _, h := range hs {
		for file, real := range h.files {
			_ = os.Remove(file)
			require.NoError(t, os.Symlink(real, file))
		}
	}
}

// found returns the wanted papers that the harvest found, by the file's SHA-256.
func (f *farm) found(t *testing.T) map[string]bool {
	t.Helper()
	papers, err := f.DB.Export(t.Context(), f.harvest.Venue, f.harvest.Years)
	require.NoError(t, err)
	out := map[string]bool{}
	for _, p := range papers {
		if p.SHA256 != "" {
			out[p.SHA256] = true
		}
	}
	return out
}

// A recrawl that passes over to-be-avoided directories asks less, and finds all
// that one finds which does not: every fourth wanted paper was not on the web at
// the first harvest. What is asked is counted by the web, not by the crawler.
func TestFarmAvoidedDirectoriesSaveRequests(t *testing.T) {
	t.Parallel()
	f := newFarm(t, nil)
	late := f.hide(t, 4, func(n int) bool { return n%2 == 0 })
	require.GreaterOrEqual(t, len(late), 20)
	f.collect(t, "")
	first, bytes := f.asked(t)
	before := f.found(t)
	t.Logf("harvest: %d requests, %d bytes, %d papers found", len(first), bytes, len(before))

	avoiding, _ := f.everything(t, false)
	all, again := f.everything(t, true)
	saved := 100 - 100*float64(len(avoiding))/float64(len(all))
	t.Logf("recrawl: %d requests avoiding, %d (%d bytes) with all: %.1f %% saved", len(avoiding), len(all), again, saved)
	require.Greater(t, saved, 30.)
	require.Less(t, float64(again), 0.01*float64(bytes), "unchanged pages cost a 304")
	require.Equal(t, before, f.found(t))

	f.show(t, late)
	f.everything(t, false)
	afterAvoiding := f.found(t)
	f.everything(t, true)
	afterAll := f.found(t)
	got := 0
	for _, h := range late {
		if afterAvoiding[h.sha256] {
			got++
		}
	}
	t.Logf("of %d papers that came later %d were found by a recrawl that avoids; %d found in all, %d by one that does not", len(late), got, len(afterAvoiding), len(afterAll))
	require.Greater(t, len(afterAvoiding), len(before))
	require.Equal(t, afterAll, afterAvoiding)
}
