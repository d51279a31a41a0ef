package pool_test

import (
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gleaner/activities"
	"gleaner/internal/devstack/devtest"
	connection "gleaner/internal/devstack/line"
	"gleaner/internal/devstack/storetest"
	"gleaner/internal/gleaner"
	"gleaner/internal/lab/sampleweb"
	"gleaner/internal/record/store"
	"gleaner/workflows"
)

func asItIs(web http.Handler) http.Handler { return web }

// TestManyWorkersAreOneVisitor: four worker programs of two builds work side by side on
// two harvests that want the same hosts. Meanwhile their connections to Postgres and to
// Temporal are cut, one of them stands still for a while, one is replaced by one with
// another policy, and one is killed. By the web's log no host sees two requests at a time,
// or two closer than the delay; nothing is lost, and nothing but what was in flight is
// asked for again. It is the short form of package chaos.
func TestManyWorkersAreOneVisitor(t *testing.T) {
	t.Parallel()
	pause := time.Second
	if testing.Short() {
		pause /= 4
	}
	w := newWorldOf(t, sampleweb.Options{Seed: 7, Years: 2, Papers: 12, PagesPerSite: 2},
		map[string]string{"delay": pause.String(), "min-delay": pause.String()}, asItIs)
	dsn, database := devtest.Lay(t, w.settings["database-url"])
	address, temporal := devtest.Lay(t, "tcp://"+w.settings["temporal-address"])
	w.settings["database-url"], w.settings["temporal-address"] = dsn, strings.TrimPrefix(address, "tcp://")
	program, workers := buildWorker(t), map[string]*exec.Cmd{}
	builds := []string{program, anotherBuild(t, program)}
	start := func() (c *exec.Cmd) {
		c = w.startWorker(t, builds[len(workers)%2])
		workers[strconv.Itoa(c.Process.Pid)] = c
		return c
	}
	frozen, replaced := start(), start()
	start()
	start()
	first, last := w.web.Years()
	var harvests []activities.Harvest
	for year := first; year <= last; year++ {
		harvests = append(harvests, w.harvestOf(t, gleaner.Years{From: year, To: year}))
	}
	for _, h := range harvests {
		w.until(t, h, func(c store.Counts) bool { return c.Pages >= 2 })
	}
	goesOn := func(after string) {
		t.Helper()
		before := len(w.web.Log())
		require.Eventually(t, func() bool { return len(w.web.Log()) >= before+5 }, 2*time.Minute, 20*time.Millisecond, after)
	}
	for after, line := range map[string]*connection.Line{"Postgres": database, "Temporal": temporal} {
		line.Cut()
		line.Mend()
		goesOn(after)
	}
	require.NoError(t, frozen.Process.Signal(syscall.SIGSTOP))
	goesOn("a worker that stands still")
	require.NoError(t, frozen.Process.Signal(syscall.SIGCONT))
	require.NoError(t, replaced.Process.Signal(syscall.SIGTERM))
	require.NoError(t, replaced.Wait())
	w.cfg.Policy.Crawl.SlicePages = 5
	start()
	goesOn("a worker of another policy")
	var busiest string
	require.Eventually(t, func() bool {
		err := w.db.Pool.QueryRow(t.Context(), `SELECT split_part(holder, '/', 2) FROM sites
			WHERE state='crawling' AND holder <> '' AND expires_at > now()
			GROUP BY 1 ORDER BY count(*) DESC, 1 LIMIT 1`).Scan(&busiest)
		return err == nil
	}, 5*time.Minute, 20*time.Millisecond)
	require.Contains(t, workers, busiest)
	held := storetest.Column[string](t, w.db.Pool, `SELECT host FROM sites WHERE state='crawling' AND split_part(holder, '/', 2) = $1 AND expires_at > now()`, busiest)
	require.NoError(t, workers[busiest].Process.Kill())
	for _, h := range harvests {
		w.wait(t, h)
	}

	require.Positive(t, w.handedOn(t, held), "the hosts of the dead worker waited until its heartbeats were missed")
	require.Len(t, w.buildsOf(t, workers), 2, "one build did all")
	w.requireAllFound(t, activities.Harvest{Venue: harvests[0].Venue, Years: gleaner.Years{From: first, To: last}})
	shared := storetest.Get[int](t, w.db.Pool, `SELECT count(*) FROM (
		SELECT FROM harvest_sites GROUP BY site_id HAVING count(*) > 1) s`)
	require.Positive(t, shared, "the harvests want no host together")
	closest, asked, again := time.Hour, map[string]int{}, 0
	hosts := map[string]bool{}
	for _, q := range w.web.Log() {
		if service(q.Host) {
			continue
		}
		hosts[q.Host] = true
		require.Equal(t, 1, q.InFlight, "%s%s", q.Host, q.Path)
		if q.Gap >= 0 {
			closest = min(closest, q.Gap)
		}
		if q.Status == http.StatusOK {
			asked[q.Host+q.Path]++
		}
	}
	for what, n := range asked {
		require.LessOrEqual(t, n, 3, what)
		again += n - 1
	}
	t.Logf("%d hosts, %d of them wanted by both harvests; %d URLs, %d of them answered twice; smallest gap %s", len(hosts), shared, len(asked), again, closest)
	require.GreaterOrEqual(t, closest, pause)
	require.LessOrEqual(t, again, 2*len(hosts), "a kill, and a lease lost, cost a host no more than what was in flight")
}

// handedOn counts the crawls that lost a slice to a worker without leases. A slice that the
// worker was given and held no lease for yet ends by its heartbeats, and is not counted.
func (w *world) handedOn(t *testing.T, hosts []string) (n int) {
	t.Helper()
	for _, host := range hosts {
		for _, e := range w.history(t, workflows.SiteID(host)) {
			if e.GetActivityTaskFailedEventAttributes().GetFailure().GetApplicationFailureInfo().GetType() == activities.ErrTypeWorkerGone {
				n++
			}
		}
	}
	return n
}

// harvestOf begins the harvest of some years.
func (w *world) harvestOf(t *testing.T, years gleaner.Years) activities.Harvest {
	t.Helper()
	h := activities.NewHarvest(gleaner.Goal{Venue: w.web.Venues()[0]}, years, activities.HarvestOptions{})
	w.start(t, h)
	return h
}

// buildsOf counts the tasks of the crawls of sites by the program that did them.
func (w *world) buildsOf(t *testing.T, workers map[string]*exec.Cmd) map[string]int {
	t.Helper()
	by := map[string]int{}
	for _, host := range storetest.Column[string](t, w.db.Pool,
		`SELECT host FROM sites WHERE id IN (SELECT site_id FROM harvest_sites)`) {
		for _, e := range w.history(t, workflows.SiteID(host)) {
			if done := e.GetWorkflowTaskCompletedEventAttributes(); done != nil {
				by[workers[strings.Split(done.GetIdentity(), "/")[1]].Path]++
			}
		}
	}
	return by
}

// anotherBuild is a program with the same code and another checksum, by which Temporal
// tells builds apart.
func anotherBuild(t *testing.T, program string) (other string) {
	t.Helper()
	raw, err := os.ReadFile(program)
	require.NoError(t, err)
	other = filepath.Join(t.TempDir(), "worker")
	require.NoError(t, os.WriteFile(other, append(raw, 0), 0o700)) //nolint:gosec // a program
	return other
}

// buildWorker returns the worker program.
func buildWorker(t *testing.T) (program string) {
	t.Helper()
	return filepath.Join(devtest.Programs(t), "worker")
}
