package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
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
	require.ErrorContains(t, f.readWords(), "inspect")
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

// TestFileOfTopicsHoldsEverySetting: the example has every setting with its default, a file
// says of each what --set does, and a flag goes before both.
func TestFileOfTopicsHoldsEverySetting(t *testing.T) {
	t.Parallel()
	made := func() (*collectFlags, *pflag.FlagSet) {
		f, fl := &collectFlags{}, pflag.NewFlagSet("collect", pflag.ContinueOnError)
		f.register(fl)
		return f, fl
	}
	topics := func(body string) string {
		file := filepath.Join(t.TempDir(), "topics.yaml")
		require.NoError(t, os.WriteFile(file, []byte(body), 0o600))
		return file
	}
	f, settings := made()
	var example strings.Builder
	require.NoError(t, f.writeExample(&example))
	all := 0
	settings.VisitAll(func(flag *pflag.Flag) {
		all++
		require.Contains(t, example.String(), "\n#"+flag.Name+": ")
		value := map[string]string{"int": "17", "float64": "0.25", "bool": "true", "duration": "3h", "string": "b",
			"stringSlice": "[b, c]", "stringToString": "{'mathematics/a, b': f=1.json}"}[flag.Value.Type()]
		if flag.DefValue == "true" {
			value = "false"
		}
		require.NotEmpty(t, value, flag.Name)
		got, fl := made()
		_, err := got.topics(topics("topics: [{name: a}]\n" + flag.Name + ": " + value + "\n"))
		require.NoError(t, err, flag.Name)
		require.NotEqual(t, flag.DefValue, fl.Lookup(flag.Name).Value.String(), "%s is read", flag.Name)
		if strings.ContainsAny(value, "{[") {
			return
		}
		again, afl := made()
		again.set = []string{flag.Name + "=" + value}
		_, err = again.topics(topics("topics: [{name: a}]\n"))
		require.NoError(t, err, flag.Name)
		require.Equal(t, fl.Lookup(flag.Name).Value.String(), afl.Lookup(flag.Name).Value.String(), flag.Name)
	})
	require.Equal(t, 36, all, "settings")

	whole := regexp.MustCompile(`(?m)^#([a-z-]+: )`).ReplaceAllString(example.String(), "$1")
	got, fl := made()
	_, err := got.topics(topics(whole))
	require.NoError(t, err)
	settings.VisitAll(func(flag *pflag.Flag) {
		require.Equal(t, flag.Value.String(), fl.Lookup(flag.Name).Value.String(), "the default of %s", flag.Name)
	})

	got, fl = made()
	require.NoError(t, fl.Parse([]string{"--size", "3"}))
	_, err = got.topics(topics("topics: [{name: a}]\nsize: 9\n"))
	require.NoError(t, err)
	require.Equal(t, 3, got.Size)
	_, err = got.topics(topics("topics: [{nme: a}]\n"))
	require.ErrorContains(t, err, "nme is no key of a topic")
	for _, wrong := range []string{"sise: 9", "size: nine", "size: [9]", "size:", "seeds: {a: b}"} {
		other, _ := made()
		_, err := other.topics(topics("topics: [{name: a}]\n" + wrong + "\n"))
		require.Error(t, err, wrong)
	}
	cmd := (&cli{}).collectCommand()
	flags := 0
	cmd.Flags().VisitAll(func(*pflag.Flag) { flags++ })
	require.LessOrEqual(t, flags, 10, "flags of the command")
}
