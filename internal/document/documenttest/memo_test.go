package documenttest

import (
	"testing"

	"github.com/stretchr/testify/require"

	"gleaner/internal/document"
	"gleaner/internal/lab/sampleweb"
)

// TestAFileIsReadOnce: what a Memo remembers is what its Reader returns, for each
// answer to how much is to be read.
func TestAFileIsReadOnce(t *testing.T) {
	t.Parallel()
	real := document.NewReader(document.Options{})
	if !real.Poppler() {
		t.Skip("poppler's pdftotext is not installed")
	}
	m := &Memo{Reader: real, read: map[key]entry{}}
	body := sampleweb.NewPile(7).File(1, sampleweb.AsPDF)
	for _, more := range []document.More{document.ReadAll, document.ReadNoMore} {
		next := func(*document.Text) document.More { return more }
		want, err := real.ReadUntil(t.Context(), document.Part{Name: "a.pdf", Body: body}, next)
		require.NoError(t, err)
		require.True(t, want.HasText())
		for _, name := range []string{"a.pdf", "b.pdf", "c.pdf"} {
			got, err := m.ReadUntil(t.Context(), document.Part{Name: name, Body: body}, next)
			require.NoError(t, err)
			require.Equal(t, name, got.Name)
			got.Name, got.Elapsed = want.Name, want.Elapsed
			require.Equal(t, want, got)
			got.Pages[0] = "changed by its user"
			m.Reader = document.NewReader(document.Options{PDFToText: "-", PDFInfo: "-"}) // reads nothing
		}
		m.Reader = real
	}
}
