package devtest

import (
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"google.golang.org/protobuf/types/known/durationpb"

	"gleaner/internal/devstack"
	"gleaner/internal/gleaner"
)

// Variables that name servers to use in place of private ones.
const (
	DatabaseVariable = "GLEANER_TEST_DATABASE_URL"
	TemporalVariable = "GLEANER_TEST_TEMPORAL_ADDRESS"
)

// searchAttributes are registered in every test's namespace.
var searchAttributes = gleaner.SearchAttributes()

// shared is the pair of servers of this test binary. It is the one piece of
// package state: a server costs seconds to start, and a test binary has no
// other place to keep what outlives a single test.
var shared struct {
	mu       sync.Mutex
	postgres *devstack.Stack
	temporal *devstack.Stack
	dirs     []string
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

// Temporal returns the address of a Temporal server and a namespace that is
// this test's own, with searchAttributes in it.
func Temporal(tb testing.TB) (address, namespace string) {
	tb.Helper()
	address = os.Getenv(TemporalVariable)
	if address == "" {
		address = start(tb, &shared.temporal, devstack.Options{NoPostgres: true, Headless: true}).TemporalAddress
	}
	namespace = "test-" + strings.ToLower(rand.Text())
	ctx, cancel := context.WithTimeout(context.Background(), 60*time.Second)
	defer cancel()
	if err := register(ctx, address, namespace); err != nil {
		tb.Fatalf("test namespace: %v", err)
	}
	return address, namespace
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
	if programs.err != nil {
		tb.Fatalf("programs: %v", programs.err)
	}
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
	if err != nil {
		tb.Fatal(err)
	}
	shared.mu.Lock()
	defer shared.mu.Unlock()
	shared.dirs = append(shared.dirs, dir)
	return dir
}

func register(ctx context.Context, address, namespace string) error {
	c, err := client.NewNamespaceClient(client.Options{HostPort: address})
	if err != nil {
		return err
	}
	defer c.Close()
	err = c.Register(ctx, &workflowservice.RegisterNamespaceRequest{
		Namespace:                        namespace,
		WorkflowExecutionRetentionPeriod: durationpb.New(24 * time.Hour),
	})
	if err != nil {
		return err
	}
	// The namespace becomes visible to the frontend a moment later.
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		err = devstack.EnsureSearchAttributes(ctx, address, namespace, searchAttributes)
		if err == nil {
			return nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return fmt.Errorf("%w (last: %w)", ctx.Err(), err)
		}
	}
}

func start(tb testing.TB, slot **devstack.Stack, o devstack.Options) *devstack.Stack {
	tb.Helper()
	shared.mu.Lock()
	defer shared.mu.Unlock()
	if *slot != nil {
		return *slot
	}
	dir, err := os.MkdirTemp("", "gleaner-test-*")
	if err != nil {
		tb.Fatal(err)
	}
	shared.dirs = append(shared.dirs, dir)
	o.DataDir, o.Disposable = dir, true
	o.Progress = func(line string) { fmt.Fprintln(os.Stderr, "devtest:", line) }
	// Not the test's context: the server outlives the test.
	*slot, err = devstack.Start(context.Background(), o)
	if err != nil {
		tb.Fatalf("test servers: %v", err)
	}
	return *slot
}
