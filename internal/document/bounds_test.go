package document

import (
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"gleaner/internal/lab/packtest"
)

// A file that says more than any book, or whose mark-up takes many times its size
// to read, costs no more memory than a book. Memory is counted for the whole
// process, so nothing here is parallel.
func TestWhatIsMadeToFillTheMemory(t *testing.T) {
	r := NewReader(Options{PDFToText: "-", PDFInfo: "-", Ghostscript: "-", Catdoc: "-"})
	long := "{" + strings.Repeat("On Engines ", 150) + "}"
	attributes := "<w " + strings.Repeat("b ", 4<<20) + ">"
	for name, p := range map[string]Part{
		"the title again and again": {Kind: LaTeX, Body: []byte(`\title` + long + `\author` + long + `\begin{document}` + strings.Repeat(`\maketitle `, 10_000))},
		"a long source":             {Kind: LaTeX, Body: []byte(`\begin{document}` + strings.Repeat(`a `, mostText) + strings.Repeat("b ", mostText))},
		"a tag of attributes":       {Kind: Word, Body: packtest.Zip("word/document.xml", attributes)},
		"the same unpacked":         {Kind: XML, Body: []byte(`<?xml version="1.0"?>` + attributes)},
		"paragraphs":                {Kind: Word, Body: packtest.Zip("content.xml", strings.Repeat("<p>a b c d e f g</p>", 400_000))},
		"an article":                {Kind: XML, Body: []byte(`<?xml version="1.0"?>` + strings.Repeat("<p>a b c d e f g</p>", 400_000))},
		"a page":                    {Kind: HTML, Body: []byte("<html>" + strings.Repeat("a b c d e f g<p>", 400_000))},
		"a title":                   {Kind: HTML, Body: []byte("<html><title>" + strings.Repeat("a b c d ", 400_000) + "</title>")},
		"words":                     {Kind: PlainText, Body: []byte(strings.Repeat("a b c d e f g\f", 400_000))},
	} {
		runtime.GC()
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		text, err := r.Read(t.Context(), p)
		runtime.ReadMemStats(&after)
		require.NoError(t, err)
		assert.LessOrEqual(t, len(text.String()), mostText+longestToken, name)
		assert.LessOrEqual(t, len(text.Title), longestTitle, name)
		assert.Less(t, (after.TotalAlloc-before.TotalAlloc)>>20, uint64(400), "%s: MiB, for %d KiB", name, len(p.Body)>>10)
	}
}
