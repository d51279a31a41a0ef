package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"gleaner/internal/rank"
)

// TestWordsToInspectLinksBy: of a file they take the place of the program's, one list
// without the other; a file of them that nothing would go by is refused.
func TestWordsToInspectLinksBy(t *testing.T) {
	t.Parallel()
	named := filepath.Join(t.TempDir(), "words.yaml")
	require.NoError(t, os.WriteFile(named, []byte("pruning_anchors: [shop]\n"), 0o600))
	program, err := rank.DefaultLists()
	require.NoError(t, err)

	f := collectFlags{words: named}
	require.ErrorContains(t, f.readWords(), "--inspect")
	f.Inspect = true
	require.NoError(t, f.readWords())
	require.Equal(t, []string{"shop"}, f.Pruning)
	require.Equal(t, program.ExtractingAnchors, f.Extracting)

	f = collectFlags{}
	require.NoError(t, f.readWords())
	require.Empty(t, f.Pruning, "nothing goes by them")
	f.Inspect = true
	require.NoError(t, f.readWords())
	require.Equal(t, program.PruningAnchors, f.Pruning)
}
