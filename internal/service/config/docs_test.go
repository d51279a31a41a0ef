package config_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"gleaner/internal/service/config"
)

var write = flag.Bool("write", false, "write the tables of settings and policy into docs/settings.md")

// TestDocsListEverySetting holds the tables in docs/settings.md to the settings
// and the policy. They are made anew by
//
//	go test ./internal/service/config -run DocsList -write
func TestDocsListEverySetting(t *testing.T) {
	file := filepath.Join("..", "..", "..", "docs", "settings.md")
	raw, err := os.ReadFile(file)
	require.NoError(t, err)
	text := string(raw)
	for name, table := range map[string]string{"settings": settingsTable(), "policy": policyTable()} {
		before, rest, ok := strings.Cut(text, "<!-- "+name+" -->\n")
		require.True(t, ok, name)
		had, after, ok := strings.Cut(rest, "<!-- end of "+name+" -->\n")
		require.True(t, ok, name)
		if !*write {
			require.Equal(t, table, had, "the tables are made anew by `go test ./internal/service/config -run DocsList -write`")
		}
		text = before + "<!-- " + name + " -->\n" + table + "<!-- end of " + name + " -->\n" + after
	}
	if *write {
		require.NoError(t, os.WriteFile(file, []byte(text), 0o644))
	}
}

func settingsTable() string {
	return "| setting: default | what it is |\n|---|---|\n" + rows(config.Settings())
}

func policyTable() string {
	return "| name: default | what it is |\n|---|---|\n" + rows(config.PolicySettings())
}

// rows are the settings as a file has them, and what they are.
func rows(of []config.Setting) string {
	var b strings.Builder
	for _, s := range of {
		name := strings.TrimSuffix(s.Key+": "+s.Default, ": ")
		fmt.Fprintf(&b, "| `%s` | %s |\n", name, strings.ReplaceAll(s.Help, "|", `\|`))
	}
	return b.String()
}
