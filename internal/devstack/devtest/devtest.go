package devtest

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"gleaner/internal/devstack"
)

// shared is the pair of servers of this test binary. It is the one piece of
// package state: a server costs seconds to start, and a test binary has no
// other place to keep what outlives a single test.
var shared struct {
	mu       sync.Mutex
	postgres *devstack.Stack
	temporal *devstack.Stack
	dirs     []string
}

// Must returns what a call returned, and ends the test where that was an error:
//
//	site := devtest.Must(db.Site(ctx, "a.test"))(t)
func Must[T any](v T, err error) func(testing.TB) T {
	return func(tb testing.TB) T {
		tb.Helper()
		require.NoError(tb, err)
		return v
	}
}

// Main runs a package's tests and stops the servers that they started. Call it
// from TestMain:
//
//	func TestMain(m *testing.M) { os.Exit(devtest.Main(m)) }
//
// Without it the servers still end with the test binary (on Linux, where
// children can be tied to their parent), but their folders stay in the
// temporary folder.
func Main(m *testing.M) int {
	code := m.Run()
	dropKept()
	dropping.Wait()
	shared.mu.Lock()
	defer shared.mu.Unlock()
	for _, s := range []*devstack.Stack{shared.temporal, shared.postgres} {
		if s == nil {
			continue
		}
		if err := s.Stop(); err != nil {
			fmt.Fprintln(os.Stderr, "devtest:", err)
			code = max(code, 1)
		}
	}
	for _, dir := range shared.dirs {
		_ = os.RemoveAll(dir)
	}
	return code
}

// TemporalServer returns the address of a Temporal server, which answers when ready
// returns nil. Package temporaltest makes a namespace on it.
func TemporalServer(tb testing.TB, ready func(ctx context.Context, address, namespace string, attributes map[string]string) error) (address string) {
	tb.Helper()
	if address = os.Getenv(devstack.TestTemporal); address != "" {
		return address
	}
	return start(tb, &shared.temporal, devstack.Options{NoPostgres: true, Headless: true, Ready: ready}).TemporalAddress
}

// programs are built once: to link one takes seconds.
var programs struct {
	once sync.Once
	dir  string
	err  error
}

// ProgramsVariable names a folder that holds the programs.
const ProgramsVariable = "GLEANER_TEST_BIN"

// Programs returns the folder of the programs starter and worker, which are built at the
// first use unless GLEANER_TEST_BIN names a folder.
func Programs(tb testing.TB) (dir string) {
	tb.Helper()
	programs.once.Do(func() {
		if programs.dir = os.Getenv(ProgramsVariable); programs.dir != "" {
			return
		}
		programs.dir = Dir(tb)
		out, err := exec.Command("go", "build", "-o", programs.dir+"/", "gleaner/starter", "gleaner/worker").CombinedOutput()
		if err != nil {
			programs.err = fmt.Errorf("%w: %s", err, out)
		}
	})
	require.NoError(tb, programs.err, "programs")
	return programs.dir
}

// Soak skips, with -short, a test that takes minutes or that another one proves in short.
// `make soak` runs it.
func Soak(tb testing.TB, why string) {
	tb.Helper()
	if testing.Short() {
		tb.Skip("soak: " + why)
	}
}

// Dir returns a new folder that Main removes.
func Dir(tb testing.TB) string {
	tb.Helper()
	dir, err := os.MkdirTemp("", "gleaner-test-*")
	require.NoError(tb, err)
	shared.mu.Lock()
	defer shared.mu.Unlock()
	shared.dirs = append(shared.dirs, dir)
	return dir
}

func start(tb testing.TB, slot **devstack.Stack, o devstack.Options) *devstack.Stack {
	tb.Helper()
	shared.mu.Lock()
	defer shared.mu.Unlock()
	if *slot != nil {
		return *slot
	}
	dir, err := os.MkdirTemp("", "gleaner-test-*")
	require.NoError(tb, err)
	shared.dirs = append(shared.dirs, dir)
	o.DataDir, o.Disposable = dir, true
	o.Progress = func(line string) { fmt.Fprintln(os.Stderr, "devtest:", line) }
	// Not the test's context: the server outlives the test.
	*slot, err = devstack.Start(context.Background(), o)
	require.NoError(tb, err, "test servers")
	return *slot
}
