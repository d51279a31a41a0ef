package devtest

import (
	"context"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// Browser returns a way to run Chromium without a window: what it prints to some
// more arguments. The test is skipped where none is installed.
func Browser(tb testing.TB) (run func(args ...string) string) {
	tb.Helper()
	browser := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			browser = path
			break
		}
	}
	if browser == "" {
		tb.Skip("no Chromium is installed")
	}
	return func(args ...string) string {
		tb.Helper()
		ctx, cancel := context.WithTimeout(tb.Context(), 5*time.Minute)
		defer cancel()
		out, err := exec.CommandContext(ctx, browser, append([]string{"--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking",
			"--disable-component-update", "--disable-sync", "--user-data-dir=" + filepath.Join(tb.TempDir(), "profile")}, args...)...).Output()
		if err != nil {
			tb.Fatalf("%s: %v", browser, err)
		}
		return string(out)
	}
}
