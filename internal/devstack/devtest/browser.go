package devtest

import (
	"context"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// Chromium returns where Chromium is, and what it is started with so that it has no
// window and asks nobody but who it is told to. The test is skipped where none is
// installed.
func Chromium(tb testing.TB) (path string, flags []string) {
	tb.Helper()
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path, []string{"--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
				"--disable-component-update", "--disable-sync", "--user-data-dir=" + filepath.Join(tb.TempDir(), "profile")}
		}
	}
	tb.Skip("no Chromium is installed")
	return "", nil
}

// Browser returns a way to run Chromium: what it prints to some more arguments.
func Browser(tb testing.TB) (run func(args ...string) string) {
	tb.Helper()
	browser, flags := Chromium(tb)
	return func(args ...string) string {
		tb.Helper()
		ctx, cancel := context.WithTimeout(tb.Context(), 5*time.Minute)
		defer cancel()
		out, err := exec.CommandContext(ctx, browser, append(flags[:len(flags):len(flags)], args...)...).Output()
		if err != nil {
			tb.Fatalf("%s: %v", browser, err)
		}
		return string(out)
	}
}
