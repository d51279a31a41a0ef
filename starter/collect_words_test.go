package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"

	"gleaner/internal/rank"
	"gleaner/internal/service/program"
	"gleaner/internal/web/rules"
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

	require.True(t, f.NoDepartments, "unless they are to be heeded")
	f = collectFlags{departments: true}
	require.NoError(t, f.readWords())
	require.Empty(t, f.Pruning, "nothing goes by them")
	require.False(t, f.NoDepartments)
	f.Inspect = true
	require.NoError(t, f.readWords())
	require.Equal(t, program.PruningAnchors, f.Pruning)
}

// TestWhatACollectionLeavesOut goes into what is asked for.
func TestWhatACollectionLeavesOut(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	topics, lists := filepath.Join(dir, "topics.yaml"), filepath.Join(dir, "links.yaml")
	require.NoError(t, os.WriteFile(topics, []byte("topics: [{name: a}]\n"), 0o600))
	require.NoError(t, os.WriteFile(lists, []byte("stop-directories: [learnt]\nlevels: 7\n"), 0o600))
	var f collectFlags
	fl := pflag.NewFlagSet("collect", pflag.ContinueOnError)
	f.register(fl)
	require.NoError(t, fl.Parse([]string{"--links", lists, "--ignore", "ads.example"}))
	_, err := f.read(topics)
	require.NoError(t, err)
	require.Equal(t, &rules.Lists{Ignore: []string{"ads.example"}, StopDirectories: []string{rules.Learnt}, Levels: 7}, f.Links)
	require.NoError(t, os.WriteFile(lists, []byte("levles: 7\n"), 0o600))
	_, err = f.read(topics)
	require.ErrorIs(t, err, program.ErrUsage)
}
