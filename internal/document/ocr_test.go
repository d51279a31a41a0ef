package document

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-pdf/fpdf"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"gleaner/internal/lab/sampleweb"
)

// scanPDF is a PDF of pictures of another one's pages, as a scanner makes it.
func scanPDF(t *testing.T, pdf []byte, pages int) []byte {
	t.Helper()
	draw, err := exec.LookPath("pdftoppm")
	if err != nil {
		t.Skip("poppler's pdftoppm is not installed")
	}
	dir := t.TempDir()
	in := filepath.Join(dir, "in.pdf")
	require.NoError(t, os.WriteFile(in, pdf, 0o600))
	require.NoError(t, exec.CommandContext(t.Context(), draw, "-r", "200", "-gray", "-png", in, filepath.Join(dir, "p")).Run())
	pictures, err := filepath.Glob(filepath.Join(dir, "p*.png"))
	require.NoError(t, err)
	require.Len(t, pictures, pages)
	out := fpdf.New("P", "pt", "Letter", "")
	for _, p := range pictures {
		out.AddPage()
		out.ImageOptions(p, 0, 0, 612, 792, false, fpdf.ImageOptions{ImageType: "PNG"}, 0, "")
	}
	return pdfBytes(t, out)
}

// ocrOptions are those of a reader with a program for recognition, or none.
func ocrOptions(t *testing.T, tesseract string) Options {
	t.Helper()
	o := withPoppler(t)
	o.OCR, o.Tesseract = true, tesseract
	return o
}

// TestRecognise reads a scan with the program that is installed.
func TestRecognise(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("tesseract"); err != nil {
		t.Skip("tesseract is not installed: no scan is recognised here")
	}
	o := ocrOptions(t, "")
	o.OCRTime = 5 * time.Minute
	scan := scanPDF(t, paperPDF(t, 2), 2)
	plain := o
	plain.OCR = false
	require.Equal(t, ImageOnly, read(t, NewReader(plain), "scan.pdf", scan).Outcome)

	got := read(t, NewReader(o), "scan.pdf", scan)
	require.Equal(t, OK, got.Outcome, got.Detail)
	assert.Equal(t, "tesseract", got.Reader)
	assert.Equal(t, 2, got.PageCount)
	require.Len(t, got.Pages, 2)
	assert.Contains(t, got.Pages[0], "Harvesting the Missing Papers by Patience")
	assert.Contains(t, got.Pages[0], "Abstract")
	assert.Contains(t, got.Pages[1], "References")
	assert.NotEmpty(t, got.First.Lines)
	j := NewFilter(Balanced).Judge(got, Hints{})
	assert.True(t, j.Academic, j.Reasons)
	assert.GreaterOrEqual(t, j.References, 8)
}

// TestRecogniseWiring checks what is done with what tesseract says, with a
// program in its stead: it is there on any machine.
func TestRecogniseWiring(t *testing.T) {
	t.Parallel()
	scan := pile.File(1, sampleweb.AsScan)
	picture := `head -c 2 "$1" | grep -q P5 || { echo "no picture: $1" >&2; exit 1; }; test "$2" = - || exit 2; `
	recognise := func(says string, change func(*Options)) *Text {
		o := ocrOptions(t, script(t, says))
		if NewReader(o).opt.PDFToPPM == "" {
			t.Skip("poppler's pdftoppm is not installed")
		}
		if change != nil {
			change(&o)
		}
		return read(t, NewReader(o), "scan.pdf", scan)
	}

	got := recognise(picture+`printf 'A Title of a Paper\n\nAda Example\n\nAbstract\nWe read pic-\ntures of many different pages here.\n\f'`, nil)
	require.Equal(t, OK, got.Outcome, got.Detail)
	assert.Equal(t, "tesseract", got.Reader)
	assert.Equal(t, "A Title of a Paper\n\nAda Example\n\nAbstract\nWe read pictures of many different pages here.", got.Pages[0])
	assert.Equal(t, "recognised from pictures", got.Detail)

	for name, script := range map[string]string{
		"it fails":         `echo "Error opening data file eng.traineddata" >&2; exit 1`,
		"it sees nothing":  picture + `printf '\f'`,
		"it sees nonsense": picture + `for i in 1 2 3 4 5 6 7 8 9; do printf '\001\002\003 '; done`,
	} {
		got := recognise(script, nil)
		assert.Equal(t, ImageOnly, got.Outcome, name)
		assert.Contains(t, got.Detail, "recogni", name)
		assert.NotEqual(t, "tesseract", got.Reader, name)
	}
	assert.Contains(t, recognise(`echo "Error opening data file eng.traineddata" >&2; exit 1`, nil).Detail, "eng.traineddata", "whoever looks sees why")

	stopped := recognise(`sleep 600`, func(o *Options) { o.OCRTime, o.OCRWait = time.Minute, 2*time.Second })
	assert.Equal(t, Stalled, stopped.Outcome, "nothing is known of what a busy machine did not read")
	slow := recognise(`while :; do :; done`, func(o *Options) { o.OCRTime = 500 * time.Millisecond; o.OCRWait = time.Hour })
	assert.Equal(t, ImageOnly, slow.Outcome)
	assert.Contains(t, slow.Detail, "it took too long")

	none := recognise(`exit 1`, func(o *Options) { o.Tesseract = "-" })
	assert.Equal(t, ImageOnly, none.Outcome)
	assert.Contains(t, none.Detail, "tesseract or poppler's pdftoppm is not installed")
}

func TestJoined(t *testing.T) {
	t.Parallel()
	assert.Equal(t, "One whole word\n\nAnother 3-\n4", joined("One who-\nle word\n\n\nAnother 3-\n4\n"))
	assert.Empty(t, joined(strings.Repeat("\n", 3)))
}
