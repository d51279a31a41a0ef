package document

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
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
