package pool_test

import (
	"context"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"gleaner/activities"
	"gleaner/internal/devstack/devtest"
	"gleaner/internal/devstack/storetest"
	"gleaner/internal/lab/sampleweb"
	"gleaner/internal/service/config"
)

const (
	hostileLimit = "384MiB" // GOMEMLIMIT of the worker
	hostileRSS   = 768 << 10
	// victimMost is what a host may be asked for that nothing is found on.
	victimMost = 12
	// wildMost is how many hosts one crawl of a site may name.
	wildMost = 200
)

// TestHostileWeb harvests good and hostile sites together, with the worker
// program itself under a limit of memory: nothing that a site sends may cost
// another site a paper, or end the worker.
func TestHostileWeb(t *testing.T) {
	devtest.Soak(t, "the worker program is built and run")
	t.Parallel()
	w := newWorldOf(t, sampleweb.Options{Seed: 7, Years: 2, Papers: 16, PagesPerSite: 3, Hostile: true}, nil, func(web http.Handler) http.Handler { return web })
	stop := w.workInChild(t)
	h := w.harvest(t)
	t.Cleanup(func() { w.tellHostile(t, h) })
	result := w.wait(t, h)
	peak := stop()
	t.Logf("peak resident size of the worker: %d MiB", peak>>10)
	require.Less(t, peak, int64(hostileRSS))

	w.checkPapers(t, h, w.web.Truth(), result)
	sites, err := w.db.SiteTallies(t.Context(), h.ID)
	require.NoError(t, err)
	states := map[string]string{}
	for _, s := range sites {
		states[s.Host] = string(s.State)
	}
	for _, host := range sampleweb.HostileHosts() {
		if states[host] == "" { // its page was not taken for a homepage: that is in the decision
			why := storetest.Get[string](t, w.db.Pool, `SELECT coalesce((SELECT c::text FROM homepage_decisions, jsonb_path_query(decision, '$.**') c
				WHERE jsonb_typeof(c)='object' AND c::text LIKE '%' || $1 || '%' ORDER BY length(c::text) LIMIT 1), '')`, host)
			require.NotEmpty(t, why, host)
			t.Logf("%s: %s", host, why)
			continue
		}
		require.Contains(t, []string{"done", "stopped", "refused"}, states[host], host)
	}
	asked, wild := 0, map[string]bool{}
	for _, q := range w.web.Log() {
		if q.Host == sampleweb.VictimHost {
			asked++
		}
		if strings.HasSuffix(q.Host, ".wild.example") {
			wild[q.Host] = true
		}
	}
	require.LessOrEqual(t, asked, victimMost)
	require.LessOrEqual(t, len(wild), wildMost)
	w.checkPoison(t)
}

// checkPoison: what a reader spins on, or dies of, is recorded with what it did.
func (w *world) checkPoison(t *testing.T) {
	got := storetest.Map[string, string](t, w.db.Pool,
		`SELECT l.url, d.outcome FROM locations l JOIN documents d USING (sha256) WHERE l.url LIKE 'http://poison.%'`)
	want := sampleweb.Poisons()
	if _, err := exec.LookPath("gs"); err != nil {
		for url := range want {
			if strings.HasSuffix(url, ".ps") {
				want[url] = "no-reader"
			}
		}
	}
	for url, outcome := range got {
		if outcome == "stalled" && want[url] == "timeout" {
			got[url] = "timeout" // the machine was too busy to tell
		}
	}
	require.Equal(t, want, got)
}

// tellHostile says how far the hostile sites, and those that are not done, came.
func (w *world) tellHostile(t *testing.T, h activities.Harvest) {
	sites, err := w.db.SiteTallies(context.WithoutCancel(t.Context()), h.ID)
	require.NoError(t, err)
	for _, s := range sites {
		if strings.Contains(s.Host, "hostile") || s.Host == sampleweb.VictimHost || s.State != "done" && !strings.Contains(s.Host, "wild") {
			t.Logf("%+v", s)
		}
	}
	ends := storetest.Column[string](t, w.db.Pool, `SELECT u.url || ' ' || u.outcome || ' ' || coalesce((SELECT d.outcome FROM locations l JOIN documents d USING (sha256) WHERE l.hash=u.hash LIMIT 1), '')
		FROM urls u JOIN sites s ON s.id=u.site_id WHERE s.host LIKE '%.hostile.example' AND u.url LIKE 'http://' || s.host || '%' AND u.state <> 5 ORDER BY 1`)
	t.Log(strings.Join(ends, "\n"))
	asked := map[string]int{}
	for _, q := range w.web.Log() {
		if strings.Contains(q.Host, "hostile") || q.Host == sampleweb.VictimHost {
			asked[q.Host]++
		} else if strings.Contains(q.Host, "wild") {
			asked["wild"]++
		}
	}
	t.Logf("requests: %v", asked)
}

// startWorker starts the worker program, with something more in its environment. It
// is killed when the test ends.
func (w *world) startWorker(t *testing.T, program string, more ...string) *exec.Cmd {
	t.Helper()
	return w.startWorkerThatTells(t, os.Stderr, program, more...)
}

// startWorkerThatTells is startWorker with its log going elsewhere.
func (w *world) startWorkerThatTells(t *testing.T, log io.Writer, program string, more ...string) *exec.Cmd {
	t.Helper()
	child := exec.Command(program, "--cores", "2")
	child.Env = append(os.Environ(), more...)
	for key, value := range w.settings {
		s, ok := config.Find(key)
		require.True(t, ok, key)
		child.Env = append(child.Env, s.Env+"="+value)
	}
	policy, err := os.Create(filepath.Join(t.TempDir(), "policy.yaml"))
	require.NoError(t, err)
	require.NoError(t, w.cfg.Policy.Write(policy))
	require.NoError(t, policy.Close())
	child.Env = append(child.Env, "GLEANER_POLICY="+policy.Name())
	child.Stdout, child.Stderr = log, log
	require.NoError(t, child.Start())
	t.Cleanup(func() { _ = child.Process.Kill() })
	return child
}

// workInChild runs the worker program. stop ends it and tells its greatest
// resident size in KiB.
func (w *world) workInChild(t *testing.T) (stop func() int64) {
	t.Helper()
	child := w.startWorker(t, buildWorker(t), "GOMEMLIMIT="+hostileLimit)
	ended := make(chan error, 1)
	go func() { ended <- child.Wait() }()
	return func() int64 {
		select {
		case err := <-ended:
			t.Fatalf("the worker ended by itself: %v", err)
		default:
		}
		require.NoError(t, child.Process.Signal(syscall.SIGTERM))
		require.NoError(t, <-ended)
		ended <- nil
		return child.ProcessState.SysUsage().(*syscall.Rusage).Maxrss
	}
}
