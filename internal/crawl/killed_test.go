package crawl

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gleaner/internal/devstack/devtest"
	"gleaner/internal/devstack/storetest"
	"gleaner/internal/document"
	"gleaner/internal/fetch"
	"gleaner/internal/lab/sampleweb"
	"gleaner/internal/library/collection"
	"gleaner/internal/library/repository"
	"gleaner/internal/politeness"
	"gleaner/internal/rank"
	"gleaner/internal/record/store"
	"gleaner/internal/web/weburl"
)

// workerVariable makes this test binary a process that crawls; it says over
// which database.
const workerVariable = "GLEANER_TEST_CRAWL"

func TestMain(m *testing.M) {
	if dsn := os.Getenv(workerVariable); dsn != "" {
		if err := crawlAll(dsn, os.Getenv("GLEANER_TEST_PROXY"), os.Getenv("GLEANER_TEST_BLOBS")); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		fmt.Println("done")
		return
	}
	os.Exit(devtest.Main(m))
}

// crawlAll crawls every site of the record to its end, all at the same time. It
// says each request that was answered and written.
func crawlAll(dsn, proxy, blobs string) error {
	ctx := context.Background()
	db, err := store.Open(ctx, dsn, 8)
	if err != nil {
		return err
	}
	defer db.Close()
	keeper := politeness.NewKeeper(db.Pool, paced, "child")
	client, err := fetch.New(fetch.Config{AllowLoopback: true, Contact: "test@example.org", Proxy: proxy, Gate: keeper, Robots: politeness.NewRobots(db.Pool), Pacing: paced})
	if err != nil {
		return err
	}
	repo, err := repository.Open(ctx, "file://"+blobs)
	if err != nil {
		return err
	}
	log := slog.New(slog.NewTextHandler(os.Stderr, nil))
	coll := collection.New(collection.Parts{DB: db, Repo: repo, Reader: document.NewReader(document.Options{}), Filter: document.NewFilter(document.Balanced), Log: log})
	cfg := Defaults()
	cfg.TrapPages, cfg.Strategy, cfg.Leads, cfg.WARC = 0, rank.BreadthFirst, "none", true
	c := New(db, keeper, client, coll, cfg, log)
	c.patience = 0 // the test is to hear that another one has the host
	hosts, err := store.Column[string](ctx, db, `SELECT host FROM sites WHERE id IN (SELECT site_id FROM scopes)`)
	if err != nil {
		return err
	}
	var wg sync.WaitGroup
	for _, host := range hosts {
		wg.Go(func() {
			for {
				r, err := c.Slice(ctx, host, func(p Progress) { fmt.Println(host, p.Requests) })
				switch {
				case errors.Is(err, politeness.ErrLost):
					fmt.Println("lost", host)
				case err != nil:
					log.Error("slice", "host", host, "error", err)
				case r.Ending == SliceFull:
				case r.Ending == Waiting:
					fmt.Println("waiting", host)
					time.Sleep(min(r.Wait, 100*time.Millisecond))
				default:
					return
				}
			}
		})
	}
	wg.Wait()
	return nil
}

// child is a crawling process. Its lines are what it says.
type child struct {
	cmd   *exec.Cmd
	lines chan string
}

func startChild(t *testing.T, dsn, proxy, blobs string) *child {
	t.Helper()
	c := &child{cmd: exec.Command(os.Args[0]), lines: make(chan string, 1<<16)}
	c.cmd.Env = append(os.Environ(), workerVariable+"="+dsn, "GLEANER_TEST_PROXY="+proxy, "GLEANER_TEST_BLOBS="+blobs)
	c.cmd.Stderr = os.Stderr
	out, err := c.cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, c.cmd.Start())
	t.Cleanup(func() { _ = c.cmd.Process.Kill(); _ = c.cmd.Wait() })
	go func() {
		defer close(c.lines)
		for sc := bufio.NewScanner(out); sc.Scan(); {
			c.lines <- sc.Text()
		}
	}()
	return c
}

// follow reads n lines, and reports whether the child came to its end.
func (c *child) follow(n int) (done bool) {
	for line := range c.lines {
		if line == "done" {
			return true
		}
		if n--; n <= 0 {
			return false
		}
	}
	return false
}

func (c *child) kill(t *testing.T) {
	t.Helper()
	require.NoError(t, c.cmd.Process.Signal(syscall.SIGKILL))
	for range c.lines {
	}
	_ = c.cmd.Wait()
}

// TestKilledProcessesRepeatAlmostNothing: a process that crawls the sample web is
// killed again and again with SIGKILL. What its successors ask for a second time,
// by the web's own log, is what was in flight.
func TestKilledProcessesRepeatAlmostNothing(t *testing.T) {
	t.Parallel()
	o, every, least := sampleweb.Options{Seed: 7, Authors: 10, Papers: 30, PagesPerSite: 70}, 120, 6
	if testing.Short() {
		o.Authors, o.Papers, o.PagesPerSite, o.NoCrawlDelay = 3, 6, 6, true
		every, least = 40, 2
	}
	web := sampleweb.New(o)
	srv := httptest.NewServer(web)
	t.Cleanup(srv.Close)
	w := newWorld(t)
	hosts := map[string]bool{}
	for _, a := range web.Truth().Authors {
		if host := weburl.Host(a.Homepage); host != "" && !hosts[host] {
			hosts[host] = true
			w.seed(t, host, "/", "/")
		}
	}
	blobs, kills := t.TempDir(), 0
	for ; ; every += 20 {
		c := startChild(t, w.dsn, srv.URL, blobs)
		if c.follow(every) {
			break
		}
		c.kill(t)
		kills++
		storetest.Exec(t, w.db.Pool, `UPDATE sites SET expires_at = now() - interval '1s'`) // the time passes
	}
	asked, again := map[string]int{}, 0
	for _, r := range web.Log() {
		require.Equal(t, 1, r.InFlight, "requests to %s at a time", r.Host)
		if r.Path != "/robots.txt" {
			asked[r.Host+r.Path]++
		}
	}
	inFiles := responsesIn(t, blobs)
	total := 0
	for url, n := range asked {
		require.Positive(t, inFiles["http://"+url], "%s is in a file of those who asked, killed or not", url)
		total += n
		again += n - 1
	}
	t.Logf("%d hosts, %d kills, %d requests, %d repeated (%.2f %%)", len(hosts), kills, total, again, 100*float64(again)/float64(total))
	require.GreaterOrEqual(t, kills, least)
	require.LessOrEqual(t, again, kills*len(hosts), "a kill costs a host no more than what was in flight")
	require.Empty(t, storetest.Column[string](t, w.db.Pool,
		`SELECT url FROM urls WHERE state = 0 AND site_id IN (SELECT site_id FROM scopes)`), "nothing is left behind")
}

// TestAProcessThatStandsStillLosesItsHost: it is stopped while it crawls, and
// another one takes its host over. When it goes on it asks nothing and writes
// nothing more.
func TestAProcessThatStandsStillLosesItsHost(t *testing.T) {
	t.Parallel()
	w, s := newWorld(t), endless(t)
	w.seed(t, s.host, "/", "/")
	c := startChild(t, w.dsn, "none", t.TempDir())
	require.False(t, c.follow(20))
	require.NoError(t, c.cmd.Process.Signal(syscall.SIGSTOP))
	var other *politeness.Lease
	require.Eventually(t, func() (had bool) {
		var err error
		other, err = politeness.NewKeeper(w.db.Pool, paced, "other").Acquire(t.Context(), s.host)
		return err == nil
	}, time.Minute, 20*time.Millisecond, "the lease runs out by itself")
	state := func() (requests int, record map[string]string) {
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.total, w.rows(t, s.host, whole)
	}
	requests, record := state()
	require.NoError(t, c.cmd.Process.Signal(syscall.SIGCONT))
	lost := false
	for line := range c.lines {
		lost = lost || strings.HasPrefix(line, "lost")
		if lost && strings.HasPrefix(line, "waiting") {
			break // it has found out, and knows that another one has the host
		}
		require.NoError(t, other.Renew(t.Context()))
	}
	require.True(t, lost)
	after, now := state()
	require.Equal(t, requests, after)
	require.Equal(t, record, now)
	require.NoError(t, other.Release(t.Context()))
	require.False(t, c.follow(10), "it goes on where it was")
}
