package document

import (
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"gleaner/internal/lab/realdata"
)

// TestYardstickRecognition measures what recognition gives on the documents of
// recorded sites that have no readable text: how many get one, how many verdicts
// become right, and what a document costs. Beside it, what the built-in reader makes
// of them. It reads their first pages alone.
func TestYardstickRecognition(t *testing.T) {
	farm := realdata.Path(t, "farm")
	opt := withPoppler(t)
	opt.OCR, opt.FirstPages = true, VerdictPages // what a verdict wants
	ocr := NewReader(opt)
	if ocr.opt.OCRmyPDF == "" && (ocr.opt.Tesseract == "" || ocr.opt.PDFToPPM == "") {
		realdata.Skip(t, "tesseract is not installed, nor ocrmypdf")
	}
	opt.OCR = false
	plain, builtIn, filter := NewReader(opt), NewReader(goOnly()), NewFilter(Balanced)
	labels := map[string]Class{}
	var files []string
	for _, row := range realdata.Table(t, "truth", "labels.tsv") {
		f, err := localFile(farm, row["url"])
		require.NoError(t, err)
		c, known := ClassOf(row["label"])
		require.True(t, known, "an unknown label %v", row["label"])
		labels[f] = c
		files = append(files, f)
	}
	var mu sync.Mutex
	var blind []Part
	eachFile(files, func(f string) {
		b, err := os.ReadFile(f)
		if err != nil {
			return // not on the farm
		}
		p := Part{Name: f, Kind: PDF, Body: b}
		if got, err := plain.Read(t.Context(), p); err == nil && (got.Outcome == Garbled || got.Outcome == ImageOnly) {
			mu.Lock()
			defer mu.Unlock()
			blind = append(blind, p)
		}
	})
	var academic, text, second, right, wrong int
	var took time.Duration
	for _, p := range blind {
		was, err := plain.Read(t.Context(), p)
		require.NoError(t, err)
		if g, err := builtIn.Read(t.Context(), p); err == nil && g.HasText() {
			second++
		}
		start := time.Now()
		got, err := ocr.Read(t.Context(), p)
		require.NoError(t, err)
		cost := time.Since(start)
		took += cost
		is := labels[p.Name]
		before, after := filter.Judge(was, Hints{}), filter.Judge(got, Hints{})
		if is.Academic() {
			academic++
		}
		if got.HasText() {
			text++
		}
		switch ok := after.Academic == is.Academic(); {
		case ok && before.Academic != is.Academic():
			right++
		case !ok && before.Academic == is.Academic():
			wrong++
		}
		t.Logf("%s: %s, %s: then %s, %d words, academic %v (%s): %.1f s", filepath.Base(p.Name), is, was.Outcome, got.Outcome, got.Words(), after.Academic, after.Class, cost.Seconds())
	}
	t.Logf("of %d documents %d have no readable text, %d of them academic: recognition reads %d, puts %d verdicts right and %d wrong, %.1f s a document by the clock; the built-in reader reads %d",
		len(files), len(blind), academic, text, right, wrong, took.Seconds()/float64(max(len(blind), 1)), second)
	assert.LessOrEqual(t, wrong, right, "recognition puts")
}
