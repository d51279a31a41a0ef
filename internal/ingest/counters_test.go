package ingest

import (
	"testing"

	"github.com/stretchr/testify/require"

	"gleaner/internal/document"
	"gleaner/internal/gleaner"
	"gleaner/internal/library/collection"
)

// TestPlace: a number says of how many it is one where they have been counted, and how
// much of the log has been read.
func TestPlace(t *testing.T) {
	t.Parallel()
	of := func(resources, archives, archive, read, total int64) string {
		return Counters{Extent: Extent{Resources: resources, Archives: archives, Archive: archive}, Read: read, Total: total}.Place(17)
	}
	require.Equal(t, "17 of 3204 · 43 %", of(3204, 0, 0, 43, 100))
	require.Equal(t, "17 · archive 2 of 5 · 43 %", of(0, 5, 2, 43, 100))
	require.Equal(t, "17 · archive 2 of 5", of(0, 5, 2, 43, 0), "of some of which no size is known")
	require.Equal(t, "17 of 17", of(16, 0, 0, 0, 0), "a file came meanwhile")
	require.Equal(t, "17", of(0, 0, 0, 0, 0))
}

// TestWithoutAReader: a document for which no reader is installed is none of another kind.
func TestWithoutAReader(t *testing.T) {
	t.Parallel()
	got, _, _ := outcome([]collection.Judgement{{State: gleaner.DocumentRejected, Outcome: string(document.NoReader)}}, document.DVI, false)
	require.Equal(t, FailedTextExtract, got)
}
