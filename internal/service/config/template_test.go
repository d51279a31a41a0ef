package config_test

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"gleaner/internal/service/config"
)

// TestTemplateIsASettingsFile: as it is written nothing is set by it, and with every
// setting taken in it says what holds anyway.
func TestTemplateIsASettingsFile(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	require.NoError(t, config.WriteTemplate(&b))
	without, err := config.Load(nil, os.DevNull, nil)
	require.NoError(t, err)
	for name, text := range map[string][]byte{"as written": b.Bytes(), "all of it": regexp.MustCompile(`(?m)^#([a-z-]+: )`).ReplaceAll(b.Bytes(), []byte("$1"))} {
		file := filepath.Join(t.TempDir(), "gleaner.yaml")
		require.NoError(t, os.WriteFile(file, text, 0o600))
		cfg, err := config.Load(nil, file, nil)
		require.NoError(t, err, name)
		for i, v := range cfg.Show() {
			require.Equal(t, without.Show()[i].Value, v.Value, "%s: %s", name, v.Key)
		}
	}
	for _, s := range config.Settings() {
		require.Contains(t, b.String(), s.Env)
		require.Contains(t, b.String(), s.Help)
	}
}
