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
	"gleaner/internal/devstack/storetest"
	"gleaner/internal/each"
	"gleaner/internal/lab/sampleweb"
	"gleaner/internal/record/frontier"
	"gleaner/internal/record/store"
)

// deadly has what reads a page, or the answer of a catalogue, panic over one and run out of memory
// over another.
const deadly = `
import "os"
var all []byte
func die(url string) {
	if url == os.Getenv("PANICS") { panic("it nests too deep") }
	if url == os.Getenv("KILLS") || strings.Contains(url, os.Getenv("KILLS_OF_CATALOGUE")) { all = make([]byte, 1<<47) }
}
`

// TestPagesThatKillWorkers: the worker program dies over the answer of a catalogue and over one
// author's homepage, panics over another's, and is started again. The harvest ends, what it dies
// over is set aside by name and nothing else, and what others wrote is found.
func TestPagesThatKillWorkers(t *testing.T) {
	devtest.Soak(t, "a worker program of its own is built and run")
	t.Parallel()
	dir, files := t.TempDir(), map[string]string{}
	write := func(name, text string) string {
		file := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
		return file
	}
	for path, c := range map[string]struct{ before, dies string }{
		"web/page/parse.go":   {"	canonical, err := weburl.Canonical(\"\", pageURL)\n", "	die(pageURL)\n"},
		"metadata/service.go": {"	err = guard.Logged(ctx, s.log, s.secrets.hide(addr),", "	die(addr)\n"},
	} {
		file, err := filepath.Abs("../../internal/" + path)
		require.NoError(t, err)
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		require.Contains(t, string(text), c.before)
		pkg := filepath.Base(filepath.Dir(file))
		files[file] = write(pkg+".go", strings.Replace(string(text), c.before, c.dies+c.before, 1))
		die := filepath.Join(filepath.Dir(file), "die.go")
		files[die] = write("die_"+pkg+".go", "package "+pkg+"\nimport \"strings\"\n"+deadly)
	}
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
			child := w.startWorker(t, program, "PANICS="+bad[0].Homepage, "KILLS="+bad[1].Homepage,
				"KILLS_OF_CATALOGUE=/search/publ/api?")
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
	require.GreaterOrEqual(t, n, 2*frontier.MaxDeaths)
	aside := storetest.Column[string](t, w.db.Pool,
		`SELECT url FROM page_cache WHERE host='' AND deaths>=$1`, frontier.MaxDeaths)
	require.NotEmpty(t, aside)
	require.Contains(t, aside[0], "/search/publ/api?")
	set := storetest.Column[string](t, w.db.Pool,
		`SELECT outcome || ' ' || url FROM page_cache WHERE outcome LIKE 'crawler-%' ORDER BY outcome`)
	require.Equal(t, []string{"crawler-killed " + bad[1].Homepage, "crawler-panic " + bad[0].Homepage}, set)
	found, err := w.db.Export(t.Context(), h.Venue, h.Years)
	require.NoError(t, err)
	keys := each.Set(found, func(f store.Exported) string { return f.Paper })
	for _, p := range truth.Papers {
		if p.Missing == "" && !slices.Contains(p.Authors, bad[0].Name) && !slices.Contains(p.Authors, bad[1].Name) {
			require.True(t, keys[p.Key], p.Title)
		}
	}
}
