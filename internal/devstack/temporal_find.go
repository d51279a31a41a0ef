package devstack

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// The pinned Temporal command line, whose `server start-dev` is the server.
// Later versions (1.9.1 for one) have replace directives in their go.mod and so
// cannot be built by `go install` of a version.
const (
	temporalVersion = "v1.5.1"
	temporalModule  = "github.com/temporalio/cli/cmd/temporal"
)

// findTemporal returns the path of a temporal binary: from PATH, from the cache,
// or by building it. Nothing is downloaded as a binary: the Go toolchain checks
// every module against the public checksum database, and no address publishes a
// checksum of the binary that could be pinned here.
func findTemporal(ctx context.Context, o Options) (string, error) {
	if path, err := exec.LookPath("temporal"); err == nil {
		return path, nil
	}
	dir := filepath.Join(o.CacheDir, "temporal-"+temporalVersion)
	path := filepath.Join(dir, "temporal")
	if _, err := os.Stat(path); err == nil {
		return path, nil
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("cannot keep the Temporal server: %w", err)
	}
	err := buildTemporal(ctx, o, path)
	if err == nil {
		return path, nil
	}
	if ctx.Err() != nil {
		return "", ctx.Err()
	}
	return "", fmt.Errorf("no Temporal server: not on PATH; build: %w.\nInstall it with: go install %s@%s, and see that `temporal` is on PATH, or set TEMPORAL_ADDRESS to a running server",
		err, temporalModule, temporalVersion)
}

// buildTemporal builds the pinned version with the Go toolchain, in a module
// world of its own: its two hundred dependencies stay out of Gleaner's go.mod.
func buildTemporal(ctx context.Context, o Options, path string) error {
	goTool, err := exec.LookPath("go")
	if err != nil {
		return errors.New("there is no Go toolchain on PATH")
	}
	bin, err := os.MkdirTemp(filepath.Dir(path), ".build-*")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(bin) }()
	err = goInstall(ctx, o, goTool, bin, os.Environ())
	if err != nil && ctx.Err() == nil && proxied() {
		// The proxy that the operator's crawls go through may lead nowhere else.
		err = goInstall(ctx, o, goTool, bin, withoutProxy(os.Environ()))
	}
	if err != nil {
		return err
	}
	return os.Rename(filepath.Join(bin, "temporal"), path)
}

func goInstall(ctx context.Context, o Options, goTool, bin string, env []string) error {
	cmd := exec.CommandContext(ctx, goTool, "install", "-ldflags=-s -w", temporalModule+"@"+temporalVersion)
	cmd.Dir = bin // outside of any module
	// No other flags: packages that the user's build cache has are not compiled again.
	cmd.Env = append(env, "GOBIN="+bin, "GOFLAGS=", "GOWORK=off", "GOOS="+runtime.GOOS, "GOARCH="+runtime.GOARCH)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	o.Progress("building the Temporal server " + temporalVersion + ", once, about 6 minutes on 2 cores")
	if err := RunGroup(cmd, func() {}); err != nil {
		return fmt.Errorf("go install: %w: %s", err, bytes.TrimSpace(out.Bytes()[max(0, out.Len()-600):]))
	}
	return nil
}

var proxyVariables = []string{"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "SSL_CERT_FILE", "SSL_CERT_DIR"}

func proxied() bool {
	return slices.ContainsFunc(proxyVariables, func(name string) bool {
		return os.Getenv(name) != "" || os.Getenv(strings.ToLower(name)) != ""
	})
}

func withoutProxy(env []string) []string {
	return slices.DeleteFunc(slices.Clone(env), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		return slices.Contains(proxyVariables, strings.ToUpper(name))
	})
}
