package pool_test

import (
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"gleaner/internal/devstack/devtest"
	"gleaner/internal/lab/sampleweb"
	"gleaner/internal/record/frontier"
	"gleaner/internal/record/store"
)

// deadlyParser has the parser panic over one page and run out of memory over another.
const deadlyParser = `package page
import "os"
var all []byte
func die(url string) {
	if url == os.Getenv("PANICS") { panic("it nests too deep") }
	if url == os.Getenv("KILLS") { all = make([]byte, 1<<47) }
}
`

// TestPagesThatKillWorkers: the worker program dies over one author's homepage and panics over
// another's, and is started again. The harvest ends, these two pages are set aside by name and
// no other, and what others wrote is found.
func TestPagesThatKillWorkers(t *testing.T) {
	devtest.Soak(t, "a worker program of its own is built and run")
	t.Parallel()
	dir, files := t.TempDir(), map[string]string{}
	parse, err := filepath.Abs("../../internal/web/page/parse.go")
	require.NoError(t, err)
	text, err := os.ReadFile(parse)
	require.NoError(t, err)
	const first = "	canonical, err := weburl.Canonical(\"\", pageURL)\n"
	require.Contains(t, string(text), first)
	write := func(name, text string) string {
		file := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
		return file
	}
	files[parse] = write("parse.go", strings.Replace(string(text), first, "	die(pageURL)\n"+first, 1))
	files[filepath.Join(filepath.Dir(parse), "die.go")] = write("die.go", deadlyParser)
	overlay, err := json.Marshal(map[string]any{"Replace": files})
	require.NoError(t, err)
	program := filepath.Join(dir, "worker")
	out, err := exec.Command("go", "build", "-overlay", write("overlay.json", string(overlay)), "-o", program, "gleaner/worker").CombinedOutput()
	require.NoError(t, err, "%s", out)

	w := newWorldOf(t, sampleweb.Options{Seed: 7, Years: 2, Papers: 16, PagesPerSite: 3}, nil, func(web http.Handler) http.Handler { return web })
	truth := w.web.Truth()
	var bad []sampleweb.AuthorTruth
	for _, p := range truth.Papers {
		i := slices.IndexFunc(truth.Authors, func(a sampleweb.AuthorTruth) bool { return a.Name == p.Authors[0] })
		if a := truth.Authors[i]; strings.Contains(a.Homepage, "/~") && len(bad) < 2 && !slices.Contains(bad, a) {
			bad = append(bad, a)
		}
	}
	over, deaths := make(chan struct{}), make(chan int)
	go func() {
		for n := 0; ; n++ {
			child := w.startWorker(t, program, "PANICS="+bad[0].Homepage, "KILLS="+bad[1].Homepage)
			ended := make(chan error, 1)
			go func() { ended <- child.Wait() }()
			select {
			case <-over:
				deaths <- n
				return
			case <-ended:
			}
		}
	}()
	h := w.harvest(t)
	w.wait(t, h)
	close(over)
	n := <-deaths
	require.GreaterOrEqual(t, n, frontier.MaxDeaths)
	set, err := store.Column[string](t.Context(), w.db.HarvestRecords, `SELECT outcome || ' ' || url FROM page_cache WHERE outcome LIKE 'crawler-%' ORDER BY outcome`)
	require.NoError(t, err)
	require.Equal(t, []string{"crawler-killed " + bad[1].Homepage, "crawler-panic " + bad[0].Homepage}, set)
	found, err := w.db.Export(t.Context(), h.Venue, h.Years)
	require.NoError(t, err)
	keys := map[string]bool{}
	for _, f := range found {
		keys[f.Paper] = true
	}
	for _, p := range truth.Papers {
		if p.Missing == "" && !slices.Contains(p.Authors, bad[0].Name) && !slices.Contains(p.Authors, bad[1].Name) {
			require.True(t, keys[p.Key], p.Title)
		}
	}
}
