package document

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"gleaner/internal/lab/realdata"
)

func TestMain(m *testing.M) {
	testChild = MaybeRunChild()
	maybeVictim()
	if os.Geteuid() == 0 {
		_ = syscall.Setgroups([]int{0}) // as a login does; later, threads of readers could not
	}
	os.Exit(m.Run())
}

// testChild lets tests read in children, as programs do.
var testChild Child

func goOnly() Options { return Options{PDFToText: "-", PDFInfo: "-", Child: testChild} }

func withPoppler(tb testing.TB) Options {
	tb.Helper()
	o := Options{}
	if NewReader(o).opt.PDFToText == "" {
		realdata.Skip(tb, "poppler's pdftotext is not installed")
	}
	return o
}

// eachFile calls do for every file on two workers.
func eachFile(files []string, do func(path string)) {
	var wg sync.WaitGroup
	ch := make(chan string)
	for range 2 {
		wg.Go(func() {
			for f := range ch {
				do(f)
			}
		})
	}
	for _, f := range files {
		ch <- f
	}
	close(ch)
	wg.Wait()
}

// TestYardstickText measures on how many real, text-bearing PDFs each reader
// finds the text: at least half of the words that were counted on the pages
// read, as found in all.
func TestYardstickText(t *testing.T) {
	for name, tc := range map[string]struct {
		opt  Options
		want float64
	}{"poppler": {withPoppler(t), 0.97}, "go": {goOnly(), 0}} {
		t.Run(name, func(t *testing.T) {
			farm := realdata.Path(t, "farm")
			words := map[string]int{}
			var files []string
			for _, row := range realdata.Table(t, "truth", "pdfs.tsv") {
				n, err := strconv.Atoi(row["words"])
				if err != nil || n < 30 {
					continue
				}
				f, err := localFile(farm, row["url"])
				require.NoError(t, err)
				words[f] = n
				files = append(files, f)
			}
			tc.opt.FirstPages, tc.opt.LastPages = 3, 1
			r := NewReader(tc.opt)
			var mu sync.Mutex
			good, start := 0, time.Now()
			outcomes := map[string]int{}
			eachFile(files, func(f string) {
				b, err := os.ReadFile(f)
				if err != nil {
					t.Error(err)
					return
				}
				got, err := r.Read(t.Context(), Part{Name: f, Body: b})
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				defer mu.Unlock()
				outcomes[got.Reader+" "+string(got.Outcome)]++
				if got.HasText() && got.Words()*2 >= min(words[f], 1000) {
					good++
				} else {
					t.Logf("%s: %d of %d words, %s %s", f, got.Words(), words[f], got.Outcome, got.Detail)
				}
			})
			share := float64(good) / float64(len(files))
			t.Logf("%s: text of %d of %d (%.1f %%), %.1f documents/s, %v", name, good, len(files), 100*share,
				float64(len(files))/time.Since(start).Seconds(), outcomes)
			assert.GreaterOrEqual(t, share, tc.want, name)
		})
	}
}

// TestYardstickBroken reads PDFs made to break readers.
func TestYardstickBroken(t *testing.T) {
	dir := realdata.Path(t, "data", "broken-pdfs")
	var files []string
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			files = append(files, p)
		}
		return err
	})
	require.NoError(t, err)
	for name, opt := range map[string]Options{"poppler": withPoppler(t), "go": goOnly()} {
		t.Run(name, func(t *testing.T) {
			r := NewReader(opt)
			var mu sync.Mutex
			outcomes, lines := map[Outcome]int{}, []string{}
			var slowest time.Duration
			eachFile(files, func(f string) {
				b, err := os.ReadFile(f)
				if err != nil {
					t.Error(err)
					return
				}
				got, err := r.Read(t.Context(), Part{Name: f, Body: b})
				if err != nil {
					t.Errorf("%s: %v", f, err)
					return
				}
				mu.Lock()
				defer mu.Unlock()
				outcomes[got.Outcome]++
				slowest = max(slowest, got.Elapsed)
				lines = append(lines, string(got.Outcome)+"\t"+filepath.Base(f)+"\t"+got.Reader+"\t"+got.Detail)
				assert.NotEmpty(t, got.Outcome, f)
				assert.LessOrEqual(t, got.Elapsed, 10*time.Second, f)
			})
			slices.Sort(lines)
			t.Logf("%s: %d files, slowest %v, %v\n%s", name, len(files), slowest.Round(time.Millisecond), outcomes, strings.Join(lines, "\n"))
		})
	}
}

// TestYardstickPostScript reads PostScript, where ghostscript is installed.
func TestYardstickPostScript(t *testing.T) {
	dir := realdata.Path(t, "data", "postscript")
	r := NewReader(Options{})
	if r.opt.Ghostscript == "" {
		t.Skip("ghostscript is not installed")
	}
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	require.NoError(t, err)
	for _, f := range files {
		b, err := os.ReadFile(f)
		require.NoError(t, err)
		got, err := r.Read(t.Context(), Part{Name: f, Body: b})
		require.NoError(t, err)
		t.Logf("%s: %s %s, %d words, %d pages, %v", filepath.Base(f), got.Outcome, got.Detail, got.Words(), got.PageCount, got.Elapsed.Round(time.Millisecond))
		require.NotEmpty(t, got.Outcome, f)
		assert.LessOrEqual(t, got.Elapsed, 10*time.Second, f)
	}
}
