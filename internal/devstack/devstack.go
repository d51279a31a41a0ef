package devstack

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
)

// The variables that name servers for tests (package devtest).
const (
	TestDatabase = "GLEANER_TEST_DATABASE_URL"
	TestTemporal = "GLEANER_TEST_TEMPORAL_ADDRESS"
)

// Options says what to run and where. Only DataDir is required.
type Options struct {
	// DataDir holds the cluster, Temporal's database, logs and dev.json.
	DataDir string
	// DatabaseURL, when set, is used in place of a private Postgres.
	DatabaseURL string
	// TemporalAddress (host:port), when set, is used in place of a private server.
	TemporalAddress string
	// Namespace is Temporal's; "default" when empty.
	Namespace string
	// SearchAttributes are registered in the namespace: name → type, where the
	// type is one of Text, Keyword, Int, Double, Bool, Datetime, KeywordList.
	SearchAttributes map[string]string
	// Ready returns nil once a Temporal server answers and the namespace has the search
	// attributes: temporalapi.EnsureSearchAttributes. Only Temporal needs it.
	Ready func(ctx context.Context, address, namespace string, attributes map[string]string) error
	// StandardPorts asks for 7233 and 8233, Temporal's documented ports, when
	// they are free, and for one that browsers refuse for its HTTP API. Otherwise, and
	// when they are taken, free ports are chosen.
	StandardPorts bool
	// Ports, where they are not 0, are taken and no others.
	Ports Ports
	// NoPostgres and NoTemporal leave a server out.
	NoPostgres, NoTemporal bool
	// Headless leaves Temporal's web UI out.
	Headless bool
	// Statements has Postgres count statements (pg_stat_statements).
	Statements bool
	// Disposable keeps Postgres from ever waiting for the disk. A crash of the machine
	// may then destroy the cluster: for the servers of tests only.
	Disposable bool
	// DynamicConfig is set on the private Temporal server: key → JSON value.
	DynamicConfig map[string]string
	// CacheDir keeps downloaded and built servers; by default the folder
	// "gleaner" in the user's cache folder.
	CacheDir string
	// Progress, when set, is told in one line what is being done. It is called from
	// several goroutines, never at the same time.
	Progress func(string)
}

// Ports are where the private servers listen, on the loopback alone.
type Ports struct{ Temporal, UI, Postgres int }

// ErrPort is in the chain of Start's error when a port that was asked for is not free.
var ErrPort = errors.New("the port is taken")

// Stack is a running pair of servers.
type Stack struct {
	DatabaseURL     string // DSN for pgx
	TemporalAddress string // host:port of the frontend
	Namespace       string
	UIURL           string // Temporal's web UI; empty when there is none

	dir      string
	lock     *dirLock
	info     Info
	postgres *child
	temporal *child
	failed   chan error
	stopOnce sync.Once
	stopErr  error
}

// ErrRunning is in the chain of Start's error when another stack is up in the
// same data folder.
var ErrRunning = errors.New("already running")

// How long a server may take to answer after its process has been started.
const readyTimeout = 60 * time.Second

// Start brings both servers up and returns when both answer. On an error, or
// when ctx ends first, whatever had been started is stopped again. Once Start
// has returned, ctx no longer matters.
func Start(ctx context.Context, o Options) (*Stack, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	lock, err := lockDir(o.DataDir)
	if err != nil {
		return nil, err
	}
	s := &Stack{dir: o.DataDir, lock: lock, Namespace: o.Namespace, failed: make(chan error, 2)}
	stopLeftovers(ctx, o)
	for _, asked := range []int{o.Ports.Temporal, o.Ports.UI, o.Ports.Postgres} {
		if asked == 0 {
			continue
		}
		if _, err := choosePort(asked, 0); err != nil {
			return nil, errors.Join(err, lock.unlock())
		}
	}
	// The servers do not know each other, so the slower one sets the time.
	g, gctx := errgroup.WithContext(ctx)
	if !o.NoPostgres {
		g.Go(func() error { return s.startPostgres(gctx, o) })
	}
	if !o.NoTemporal {
		g.Go(func() error { return s.startTemporal(gctx, o) })
	}
	if err := g.Wait(); err != nil {
		return nil, errors.Join(err, s.Stop())
	}
	s.info = Info{
		PID: os.Getpid(), StartedAt: time.Now().UTC(),
		DatabaseURL: s.DatabaseURL, TemporalAddress: s.TemporalAddress,
		Namespace: s.Namespace, UIURL: s.UIURL,
		PostgresPID: s.postgres.pid(), TemporalPID: s.temporal.pid(),
	}
	if err := writeInfo(s.dir, s.info); err != nil {
		return nil, errors.Join(err, s.Stop())
	}
	s.watch()
	return s, nil
}

// withDefaults fills in what is left empty, and makes the data folder.
func (o Options) withDefaults() (Options, error) {
	if o.DataDir == "" {
		return o, errors.New("devstack: no data folder given")
	}
	if !o.NoTemporal && o.Ready == nil {
		return o, errors.New("devstack: Temporal without a way to ask whether it is ready")
	}
	abs, err := filepath.Abs(o.DataDir)
	if err != nil {
		return o, fmt.Errorf("devstack: data folder %q: %w", o.DataDir, err)
	}
	o.DataDir = abs
	if err := os.MkdirAll(o.DataDir, 0o700); err != nil {
		return o, fmt.Errorf("devstack: cannot make the data folder: %w", err)
	}
	// Processes are recognised by their working directory, which has no symlinks.
	if o.DataDir, err = filepath.EvalSymlinks(o.DataDir); err != nil {
		return o, fmt.Errorf("devstack: data folder: %w", err)
	}
	o.Namespace = cmp.Or(o.Namespace, "default")
	if o.CacheDir == "" {
		cache, err := os.UserCacheDir()
		if err != nil { // no HOME: keep it with the data
			cache = filepath.Join(o.DataDir, "cache")
		}
		o.CacheDir = filepath.Join(cache, "gleaner")
	}
	var mu sync.Mutex
	tell := o.Progress
	o.Progress = func(line string) {
		if tell == nil {
			return
		}
		mu.Lock()
		defer mu.Unlock()
		tell(line)
	}
	return o, nil
}

// watch reports the first child that ends without having been asked to.
func (s *Stack) watch() {
	for _, c := range []*child{s.postgres, s.temporal} {
		if c == nil {
			continue
		}
		go func() {
			<-c.done
			if !c.asked.Load() {
				s.failed <- fmt.Errorf("%s ended unexpectedly: %w", c.name, c.exitError())
			}
		}()
	}
}

// PIDs are the private servers' process ids, 0 where there is none.
func (s *Stack) PIDs() (postgres, temporal int) { return s.postgres.pid(), s.temporal.pid() }

// Failed yields an error when one of the private servers has died by itself.
// It yields nothing when the stack is stopped.
func (s *Stack) Failed() <-chan error { return s.failed }

// Stop takes the private servers down, Temporal first, and gives the folder
// free. It returns when their processes are gone. Calling it again is harmless.
func (s *Stack) Stop() error {
	s.stopOnce.Do(func() {
		removeInfo(s.dir)
		// Temporal has SQLite's own recovery and may be cut short; Postgres gets
		// the time to write its checkpoint, so that the next start is quick.
		s.stopErr = errors.Join(
			s.temporal.stop(sigTerm, 10*time.Second),
			s.postgres.stop(sigInt, 30*time.Second),
			s.lock.unlock(),
		)
	})
	return s.stopErr
}
