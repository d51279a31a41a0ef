package document

import (
	"io"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"gleaner/internal/lab/growthtest"
)

// Whatever hangs or exhausts the library ends with its child, and says why.
func TestGoReaderSurvivesLoops(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		body []byte
		want Outcome
	}{
		"page tree holding itself": {rawPDF("<< /Type /Catalog /Pages 2 0 R >>", "<< /Type /Pages /Kids [2 0 R 2 0 R] /Count 2 >>"), Timeout},
		"page of its own parent":   {rawPDF("<< /Type /Catalog /Pages 2 0 R >>", "<< /Type /Pages /Kids [3 0 R] /Count 1 >>", "<< /Type /Page /Parent 3 0 R >>"), Timeout},
		"dictionaries":             {pdfOf("<< /A ")(1_000_000), Unreadable},
		"a lie of its pages":       {rawPDF("<< /Type /Catalog /Pages 2 0 R >>", "<< /Type /Pages /Kids [] /Count 4000000000 >>"), Unreadable},
		"no font":                  {pagePDF("BT /F1 Tf (a break in the page) Tj ET", "", ""), EmptyFile},
		"a million pages of one":   {rawPDF("<< /Type /Catalog /Pages 2 0 R >>", "<< /Type /Pages /Kids ["+strings.Repeat("3 0 R ", 19_000)+"] /Count 19000 >>", "<< /Type /Page >>"), EmptyFile},
	} {
		o := goOnly()
		o.CPU, o.Timeout = time.Second, 10*time.Minute // a busy machine is slow to give a second
		got := read(t, NewReader(o), "x.pdf", tc.body)
		assert.Equal(t, tc.want, got.Outcome, "%s: %s", name, got.Detail)
	}
}

func TestGoReaderIsHeldToItsMemory(t *testing.T) {
	t.Parallel()
	if growthtest.UnderRace {
		t.Skip("the race detector cannot work within a limit of memory")
	}
	o := goOnly()
	o.Memory = 64 << 20
	size := "<< /Type /XRef /Size 100000000 /W [1 1 1] /Length 0 >>\nstream\n\nendstream"
	body := "%PDF-1.5\n1 0 obj\n" + size + "\nendobj\n" + strings.Repeat("% room\n", 20) + "startxref\n9\n%%EOF"
	got := read(t, NewReader(o), "x.pdf", []byte(body))
	assert.Equal(t, TooLarge, got.Outcome, got.Detail)
}

// Where poppler gives up, the built-in reader is asked; where it is missing, too.
func TestGoReaderHelps(t *testing.T) {
	r := NewReader(Options{PDFToText: script(t, `echo broken >&2; exit 1`), Child: testChild})
	got := read(t, r, "x.pdf", paperPDF(t, 3))
	assert.Equal(t, OK, got.Outcome, got.Detail)
	assert.Equal(t, "go", got.Reader)
	t.Setenv("PATH", t.TempDir())
	got = read(t, NewReader(Options{Child: testChild}), "x.pdf", paperPDF(t, 3))
	assert.Equal(t, OK, got.Outcome, got.Detail)
	assert.Equal(t, "go", got.Reader)
}

// The box of poppler is as tight with the built-in reader as without it.
func TestGoReaderOpensNoBox(t *testing.T) {
	t.Parallel()
	o := withPoppler(t)
	without := NewReader(o)
	o.Child = testChild
	with := NewReader(o).box
	with.programs = without.box.programs
	assert.Equal(t, without.box, with)
}

// FuzzGoReader: no bytes make the child's own work panic beyond its recovery.
func FuzzGoReader(f *testing.F) {
	for _, in := range worst {
		f.Add(in(20))
	}
	f.Add(paperPDF(f, 3))
	f.Fuzz(func(t *testing.T, b []byte) {
		got, err := NewReader(goOnly()).Read(t.Context(), Part{Name: "x.pdf", Kind: PDF, Body: b})
		require.NoError(t, err)
		require.NotEmpty(t, got.Outcome)
	})
}

func TestWithoutAReaderNothingIsSaidOfAFile(t *testing.T) {
	t.Parallel()
	_, err := NewReader(Options{PDFToText: "-"}).Read(t.Context(), Part{Name: "x.pdf", Body: paperPDF(t, 3)})
	require.ErrorIs(t, err, errNoPDFReader)
	assert.Error(t, childMain("{", io.Discard))
}
