package main

import (
	"encoding/json"
	"io"
	"testing"

	"github.com/stretchr/testify/require"

	"gleaner/internal/ingest"
	"gleaner/internal/record/store"
)

// TestPlaceOf: a line says which resource it is about, of how many where they have been
// counted, and how much of the log has been read; so does JSON.
func TestPlaceOf(t *testing.T) {
	t.Parallel()
	of := func(resources, archives, archive, read, total int64) string {
		return placeOf(17, ingest.Counters{Extent: ingest.Extent{Resources: resources, Archives: archives, Archive: archive}, Read: read, Total: total})
	}
	require.Equal(t, "17 of 3204 · 43 %", of(3204, 0, 0, 43, 100))
	require.Equal(t, "17 · archive 2 of 5 · 43 %", of(0, 5, 2, 43, 100))
	require.Equal(t, "17 · archive 2 of 5", of(0, 5, 2, 43, 0), "of some of which no size is known")
	require.Equal(t, "17 of 17", of(16, 0, 0, 0, 0), "a file came meanwhile")
	require.Equal(t, "17", of(0, 0, 0, 0, 0))
	for extent, want := range map[ingest.Extent]string{{Resources: 5}: `,"of":{"resources":5}}`, {}: `"known":false,"outcome":""}`} {
		text, err := json.Marshal(recordOf{store.ImportRecord{N: 1}, extent})
		require.NoError(t, err)
		require.Contains(t, string(text), want)
	}
}

// TestTypesAreNamed: who asks for help, or names a kind that there is not, is told which
// there are.
func TestTypesAreNamed(t *testing.T) {
	t.Parallel()
	flag := (&cli{}).importCommand().Flags().Lookup("types")
	cmd := (&cli{}).importCommand()
	cmd.SetArgs([]string{"https://archive.example/x.warc.gz", "--types", "exe"})
	cmd.SetOut(io.Discard)
	cmd.SetErr(io.Discard)
	err := cmd.Execute()
	for _, kind := range ingest.Kinds() {
		require.Contains(t, flag.Usage, kind)
		require.ErrorContains(t, err, kind)
	}
}
