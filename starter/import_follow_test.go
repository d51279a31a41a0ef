package main

import (
	"encoding/json"
	"io"
	"testing"

	"github.com/stretchr/testify/require"

	"gleaner/internal/ingest"
	"gleaner/internal/record/store"
)

// TestOfHowMany: JSON says of how many a resource is one, where they have been counted.
func TestOfHowMany(t *testing.T) {
	t.Parallel()
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
