package config_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"gleaner/internal/config"
)

var write = flag.Bool("write", false, "write the table of settings into docs/operations.md")

// TestOperationsListsEverySetting holds the table in docs/operations.md to the
// settings. It is made anew by
//
//	go test ./internal/config -run Operations -write
func TestOperationsListsEverySetting(t *testing.T) {
	file := filepath.Join("..", "..", "docs", "operations.md")
	raw, err := os.ReadFile(file)
	require.NoError(t, err)
	const begin, end = "<!-- settings -->\n", "<!-- end of settings -->\n"
	before, rest, ok := strings.Cut(string(raw), begin)
	require.True(t, ok)
	had, after, ok := strings.Cut(rest, end)
	require.True(t, ok)
	table := settingsTable()
	if *write {
		require.NoError(t, os.WriteFile(file, []byte(before+begin+table+end+after), 0o644))
		return
	}
	require.Equal(t, table, had, "the table is made anew by `go test ./internal/config -run Operations -write`")
}

func settingsTable() string {
	var b strings.Builder
	b.WriteString("| setting | variable | default | what it is |\n|---|---|---|---|\n")
	for _, s := range config.Settings {
		value := s.Default
		if value != "" {
			value = "`" + value + "`"
		}
		fmt.Fprintf(&b, "| `%s` | `%s` | %s | %s |\n", s.Key, s.Env, value, strings.ReplaceAll(s.Help, "|", `\|`))
	}
	return b.String()
}
