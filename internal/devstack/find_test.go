package devstack

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func quietOptions(t *testing.T) Options {
	t.Helper()
	o, err := Options{DataDir: t.TempDir(), CacheDir: t.TempDir(), NoTemporal: true}.withDefaults()
	require.NoError(t, err)
	return o
}

// TestNoTemporalAnywhere: no binary and no Go. The error names the command that
// helps.
func TestNoTemporalAnywhere(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	ctx, cancel := context.WithTimeout(t.Context(), 15*time.Second)
	defer cancel()
	_, err := findTemporal(ctx, quietOptions(t))
	require.ErrorContains(t, err, "no Go toolchain")
	require.ErrorContains(t, err, "go install "+temporalModule+"@"+temporalVersion)
}

func TestTemporalIsTakenFromPathThenCache(t *testing.T) {
	o := quietOptions(t)
	onPath := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(onPath, "temporal"), []byte("#!/bin/sh\n"), 0o755))
	cached := filepath.Join(o.CacheDir, "temporal-"+temporalVersion, "temporal")
	require.NoError(t, os.MkdirAll(filepath.Dir(cached), 0o755))
	require.NoError(t, os.WriteFile(cached, []byte("#!/bin/sh\n"), 0o755))

	t.Setenv("PATH", onPath)
	path, err := findTemporal(t.Context(), o)
	require.NoError(t, err)
	require.Equal(t, filepath.Join(onPath, "temporal"), path)

	t.Setenv("PATH", t.TempDir())
	path, err = findTemporal(t.Context(), o)
	require.NoError(t, err)
	require.Equal(t, cached, path)
}

// TestClusterOfAnotherVersion: a cluster is never served by a version that did
// not make it, and the error says what to install.
func TestClusterOfAnotherVersion(t *testing.T) {
	t.Parallel()
	o := quietOptions(t)
	_, err := findPostgres(t.Context(), o, "9")
	require.ErrorContains(t, err, "PostgreSQL 9 cluster")
	require.ErrorContains(t, err, "install it with: ")
}

// TestAFailedBuildSaysWhy: what the go command wrote last is in the error.
func TestAFailedBuildSaysWhy(t *testing.T) {
	bin := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(bin, "go"), []byte("#!/bin/sh\necho go: downloading a v1\necho go: x@v1: no such host >&2\nexit 1\n"), 0o755))
	t.Setenv("PATH", bin)
	_, err := findTemporal(t.Context(), quietOptions(t))
	require.ErrorContains(t, err, "go: x@v1: no such host")
}

func TestWithoutProxy(t *testing.T) {
	t.Parallel()
	got := withoutProxy([]string{"PATH=/bin", "https_proxy=http://x", "HTTP_PROXY=http://x", "SSL_CERT_FILE=/x", "GOPROXY=direct"})
	require.Equal(t, []string{"PATH=/bin", "GOPROXY=direct"}, got)
}

func TestPortsAreRemembered(t *testing.T) {
	t.Parallel()
	o := quietOptions(t)
	first, err := choosePorts(o)
	require.NoError(t, err)
	again, err := choosePorts(o)
	require.NoError(t, err)
	require.Equal(t, first, again)
	free, err := freePort(0)
	require.NoError(t, err)
	o.Ports.UI = free
	asked, err := choosePorts(o)
	require.NoError(t, err)
	require.Equal(t, ports{Frontend: first.Frontend, UI: free}, asked)
	o.Ports.UI = 0
	again, err = choosePorts(o)
	require.NoError(t, err)
	require.Equal(t, asked, again, "what was asked for once is remembered")
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	o.Ports.Temporal = l.Addr().(*net.TCPAddr).Port
	_, err = choosePorts(o)
	require.ErrorIs(t, err, ErrPort)
}
