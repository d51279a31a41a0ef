package devstack

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"gleaner/internal/devstack/temporalapi"
)

// stackForTest starts a stack, or skips where this machine has no servers and
// the test may not take minutes to make one.
func stackForTest(t *testing.T, o Options) *Stack {
	t.Helper()
	o.SearchAttributes = map[string]string{"GleanerVenue": "Keyword", "GleanerStage": "Keyword"}
	o.Headless, o.Ready = true, temporalapi.EnsureSearchAttributes
	o.Progress = func(line string) { t.Log(line) }
	s, err := Start(t.Context(), o)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Stop()) })
	return s
}

func TestStateSurvivesARestart(t *testing.T) {
	dir := t.TempDir() // its parent is closed to others, as a fresh home folder is
	s := stackForTest(t, Options{DataDir: dir})
	ctx := t.Context()
	exec1(t, s.DatabaseURL, "create table kept (a int); insert into kept values (7)")

	info, ok := Find(dir)
	require.True(t, ok)
	require.Equal(t, s.DatabaseURL, info.DatabaseURL)
	require.Equal(t, s.TemporalAddress, info.TemporalAddress)

	_, err := Start(ctx, Options{Ready: temporalapi.EnsureSearchAttributes, DataDir: dir})
	require.ErrorIs(t, err, ErrRunning)

	require.NoError(t, s.Stop())
	require.NoError(t, s.Stop(), "a second Stop is harmless")
	_, ok = Find(dir)
	require.False(t, ok)
	requireGone(t, info.PostgresPID)
	requireGone(t, info.TemporalPID)

	again := stackForTest(t, Options{DataDir: dir})
	conn, err := pgx.Connect(ctx, again.DatabaseURL)
	require.NoError(t, err)
	defer func() { _ = conn.Close(ctx) }()
	var a int
	require.NoError(t, conn.QueryRow(ctx, "select a from kept").Scan(&a))
	require.Equal(t, 7, a)
	require.NoError(t, temporalapi.EnsureSearchAttributes(ctx, again.TemporalAddress, "default", map[string]string{"GleanerVenue": "Keyword", "GleanerHost": "Keyword"}))
}

// TestTheDataFolderIsTheUsersAlone: it holds passwords.
func TestTheDataFolderIsTheUsersAlone(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "data")
	stackForTest(t, Options{DataDir: dir, NoTemporal: true})
	require.NoError(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		require.NoError(t, err)
		info, err := d.Info()
		require.NoError(t, err)
		require.Zero(t, info.Mode().Perm()&0o077, "%s is %s", path, info.Mode())
		if path != dir && d.IsDir() {
			return fs.SkipDir
		}
		return nil
	}))
}

// TestTheRecordsRoleIsNoSuperuser: injected SQL reads no file and starts no program.
func TestTheRecordsRoleIsNoSuperuser(t *testing.T) {
	t.Parallel()
	s := stackForTest(t, Options{DataDir: t.TempDir(), NoTemporal: true})
	conn, err := pgx.Connect(t.Context(), s.DatabaseURL)
	require.NoError(t, err)
	defer func() { _ = conn.Close(context.WithoutCancel(t.Context())) }()
	for _, sql := range []string{"SELECT pg_read_file('PG_VERSION')", "COPY (SELECT 1) TO PROGRAM 'cat'", "ALTER ROLE gleaner SUPERUSER"} {
		_, err := conn.Exec(t.Context(), sql)
		require.ErrorContains(t, err, "42501", sql) // insufficient_privilege
	}
}

// TestAClusterThatLetsNobodyInIsNamed: one whose roles have other passwords takes none by
// waiting.
func TestAClusterThatLetsNobodyInIsNamed(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	dir := filepath.Join(data, clusterDir)
	bin, err := findPostgres(t.Context(), Options{}, "")
	require.NoError(t, err)
	require.NoError(t, createCluster(t.Context(), bin, dir))
	c, err := loadCluster(dir)
	require.NoError(t, err)
	c.Owner = "another"
	require.NoError(t, saveCluster(dir, c))
	_, err = Start(t.Context(), Options{DataDir: data, NoTemporal: true, Headless: true, Progress: func(string) {}})
	require.ErrorContains(t, err, dir)
	require.NotErrorIs(t, err, context.DeadlineExceeded)
}

// TestTemporalIsClosedToWebPages: its HTTP API, which answers to every page, listens where
// no browser connects, and its files are the user's in a folder that others may enter.
func TestTemporalIsClosedToWebPages(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	require.NoError(t, os.Chmod(dir, 0o755)) //nolint:gosec // what somebody made before
	s := stackForTest(t, Options{DataDir: dir, NoPostgres: true, StandardPorts: true})
	require.Empty(t, s.UIURL)
	raw, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(s.temporal.pid()), "cmdline"))
	if err != nil {
		t.Skip("needs /proc")
	}
	args := strings.Split(string(raw), "\x00")
	at := slices.Index(args, "--http-port")
	require.Positive(t, at)
	port, err := strconv.Atoi(args[at+1])
	require.NoError(t, err)
	require.Contains(t, append(closedPorts, 0), port) // 0 where others took all of them
	taken := []int{port}
	if port == 0 {
		taken = closedPorts
	}
	for _, port := range taken {
		answered, err := freePort(port)
		require.NoError(t, err)
		require.NotEqual(t, port, answered, "somebody listens there")
	}
	for _, name := range []string{temporalDB, temporalDB + "-wal", temporalDB + "-shm"} {
		if info, err := os.Stat(filepath.Join(dir, name)); err == nil {
			require.Zero(t, info.Mode().Perm()&0o077, "%s is %s", name, info.Mode())
		}
	}
}

// TestKilledOutright runs a stack in a process of its own and kills that one
// with a signal it cannot see: the kernel has to stop the servers.
func TestKilledOutright(t *testing.T) {
	if os.Getenv("GLEANER_TEST_STACK_CHILD") != "" {
		return
	}
	dir := t.TempDir()
	cmd := exec.Command(os.Args[0], "-test.run=^TestStackChild$")
	cmd.Env = append(os.Environ(), "GLEANER_TEST_STACK_CHILD="+dir)
	cmd.Stderr = os.Stderr
	require.NoError(t, cmd.Start())
	var info Info
	require.Eventually(t, func() (ok bool) {
		info, ok = Find(dir)
		return ok
	}, 90*time.Second, 20*time.Millisecond)
	exec1(t, info.DatabaseURL, "create table kept (a int); insert into kept values (7)")
	require.NoError(t, cmd.Process.Kill())
	_ = cmd.Wait()

	again := stackForTest(t, Options{DataDir: dir})
	requireGone(t, info.PostgresPID)
	requireGone(t, info.TemporalPID)
	exec1(t, again.DatabaseURL, "insert into kept values (8)")
}

// TestStackChild is the process that TestKilledOutright kills.
func TestStackChild(t *testing.T) {
	dir := os.Getenv("GLEANER_TEST_STACK_CHILD")
	if dir == "" {
		t.Skip("only as a child of TestKilledOutright")
	}
	stackForTest(t, Options{DataDir: dir})
	<-t.Context().Done() // until killed
}

func TestServersGivenAreUsed(t *testing.T) {
	s := stackForTest(t, Options{DataDir: t.TempDir()})
	other := stackForTest(t, Options{DataDir: t.TempDir(), DatabaseURL: s.DatabaseURL, TemporalAddress: s.TemporalAddress})
	require.Equal(t, s.DatabaseURL, other.DatabaseURL)
	require.Equal(t, s.TemporalAddress, other.TemporalAddress)
	require.NoError(t, other.Stop())
	exec1(t, s.DatabaseURL, "select 1")
}

func TestUnreachableServersAreNamed(t *testing.T) {
	t.Parallel()
	port, err := freePort(0)
	require.NoError(t, err)
	closed := "127.0.0.1:" + strconv.Itoa(port)
	_, err = Start(t.Context(), Options{Ready: temporalapi.EnsureSearchAttributes, DataDir: t.TempDir(), DatabaseURL: "postgres://u:p@" + closed + "/x", TemporalAddress: closed})
	require.ErrorContains(t, err, closed)
}

func TestInterruptedStartLeavesNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	_, err := Start(ctx, Options{Ready: temporalapi.EnsureSearchAttributes, DataDir: dir, Headless: true, Progress: func(line string) {
		if strings.HasPrefix(line, "starting") {
			cancel()
		}
	}})
	require.ErrorIs(t, err, context.Canceled)
	_, ok := Find(dir)
	require.False(t, ok)
	_, err = os.Stat(filepath.Join(dir, clusterDir, "postmaster.pid"))
	require.ErrorIs(t, err, os.ErrNotExist)
}

func TestStalePostmasterPid(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	cluster := filepath.Join(dir, clusterDir)
	require.NoError(t, os.MkdirAll(cluster, 0o700))
	file := filepath.Join(cluster, "postmaster.pid")
	// This very process: alive, and no Postgres.
	require.NoError(t, os.WriteFile(file, []byte(strconv.Itoa(os.Getpid())+"\n"), 0o600))
	stopLeftovers(t.Context(), Options{DataDir: dir})
	_, err := os.Stat(file)
	require.ErrorIs(t, err, os.ErrNotExist)
}

func exec1(t *testing.T, dsn, sql string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), dsn)
	require.NoError(t, err)
	defer func() { _ = conn.Close(context.WithoutCancel(t.Context())) }()
	_, err = conn.Exec(t.Context(), sql)
	require.NoError(t, err)
}

func requireGone(t *testing.T, pid int) {
	t.Helper()
	require.NotZero(t, pid)
	require.Eventually(t, func() bool { return errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) }, 10*time.Second, 20*time.Millisecond)
}
