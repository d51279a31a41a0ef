package housetest

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"gleaner/activities"
)

// TestSystemdUnitsAreUnits: each starts a program of ours with all queues and few
// rights.
func TestSystemdUnitsAreUnits(t *testing.T) {
	t.Parallel()
	units, err := filepath.Glob(filepath.Join(root(t), "deploy", "systemd", "*.service"))
	require.NoError(t, err)
	require.Len(t, units, 3)
	for _, unit := range units {
		raw, err := os.ReadFile(unit)
		require.NoError(t, err)
		text := string(raw)
		start := starts.FindStringSubmatch(text)
		require.NotNil(t, start, unit)
		if start[1] == "worker" {
			for _, q := range activities.Queues() {
				require.Contains(t, start[2], q)
			}
		}
		for _, want := range []string{"User=gleaner\n", "EnvironmentFile=/etc/gleaner/gleaner.env\n", "NoNewPrivileges=yes\n", "ProtectSystem=strict\n"} {
			require.Contains(t, text, want, unit)
		}
	}
}

var starts = regexp.MustCompile(`(?m)^ExecStart=/usr/local/bin/(worker|starter) (.*)$`)

// TestSystemdTakesTheUnits: systemd itself has nothing to say against them.
func TestSystemdTakesTheUnits(t *testing.T) {
	t.Parallel()
	verifier, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Skip("systemd is not installed")
	}
	units, err := filepath.Glob(filepath.Join(root(t), "deploy", "systemd", "*.service"))
	require.NoError(t, err)
	require.NotEmpty(t, units)
	for _, unit := range units {
		raw, err := os.ReadFile(unit)
		require.NoError(t, err)
		// The programs are not installed here, and the user is not known.
		here := strings.NewReplacer("/usr/local/bin/worker", "/bin/true", "/usr/local/bin/starter", "/bin/true", "User=gleaner", "User=root", "Group=gleaner", "Group=root").Replace(string(raw))
		file := filepath.Join(t.TempDir(), strings.Replace(filepath.Base(unit), "@", "@1", 1))
		require.NoError(t, os.WriteFile(file, []byte(here), 0o644))
		out, err := exec.CommandContext(t.Context(), verifier, "verify", "--man=no", file).CombinedOutput()
		require.NoError(t, err, string(out))
		require.NotContains(t, string(out), filepath.Base(file), "systemd warns")
	}
}
