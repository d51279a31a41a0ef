package synthesis_test

import (
	"bytes"
	"os/exec"
	"strings"
	"testing"

	"github.com/go-pdf/fpdf"
	"github.com/stretchr/testify/require"

	. "gleaner/internal/crawl/synthesis"
	"gleaner/internal/devstack/devtest"
	"gleaner/internal/document"
	"gleaner/internal/record/collections"
)

// TestPapersOfEachFormat are entries beside pages: PDF and PostScript that are on topic are
// read, kept and judged, others are not.
func TestPapersOfEachFormat(t *testing.T) {
	t.Parallel()
	for _, tool := range []string{"gs", "pdftotext"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("%s is not installed", tool)
		}
	}
	ps := func(text string) string {
		return "%!PS-Adobe-2.0\n%%Pages: 1\n/Times-Roman findfont 12 scalefont setfont 72 700 moveto (" + text + ") show showpage\n"
	}
	pdf := func(text string) string { return pdfOf(t, text) }
	s := newShop(t, &smallWeb{
		pages: map[string]string{
			"a.example/":     primes + " one>a.example/on.ps two>a.example/off.ps three>a.example/on.pdf four>a.example/off.pdf five>a.example/page",
			"a.example/page": primes + " page",
			"b.example/":     verses,
		},
		files: map[string]string{"a.example/on.ps": ps(primes + " script"), "a.example/off.ps": ps(others), "a.example/on.pdf": pdf(primes + " portable"), "a.example/off.pdf": pdf(others)},
	})
	m := s.collected(t, "formats", func(*Request) {})
	require.Equal(t, []string{"a.example/", "a.example/on.pdf", "a.example/on.ps", "a.example/page"}, m.entries["primes"])
	c := devtest.Must(s.record.Get(t.Context(), "formats"))(t)
	outcomes := s.outcomes(t, c.ID)
	require.Equal(t, string(OffTopic), outcomes["a.example/off.ps"])
	require.Equal(t, string(OffTopic), outcomes["a.example/off.pdf"])
	entries := devtest.Must(s.record.Entries(t.Context(), c.ID, "primes"))(t)
	for _, e := range entries {
		kind, is := map[string]string{".ps": string(document.PostScript), ".pdf": string(document.PDF)}[e.URL[strings.LastIndexByte(e.URL, '.'):]]
		if !is {
			require.Equal(t, collections.Page, e.Kind, e.URL)
			continue
		}
		require.Equal(t, collections.Document, e.Kind, e.URL)
		d, _, err := s.db.Document(t.Context(), e.SHA256)
		require.NoError(t, err)
		require.Equal(t, kind, string(d.Kind), "it is kept: %s", e.URL)
	}
}

func pdfOf(t *testing.T, text string) string {
	f := fpdf.New("P", "mm", "A4", "")
	f.AddPage()
	f.SetFont("Times", "", 11)
	f.MultiCell(0, 5, text, "", "", false)
	var b bytes.Buffer
	require.NoError(t, f.Output(&b))
	return b.String()
}
