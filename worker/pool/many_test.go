package pool_test

import (
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"

	"gleaner/activities"
	"gleaner/internal/devstack/devtest"
	"gleaner/internal/gleaner"
	"gleaner/internal/lab/sampleweb"
	"gleaner/internal/record/store"
	"gleaner/workflows"
)

func asItIs(web http.Handler) http.Handler { return web }

// TestManyWorkersAreOneVisitor: four worker programs of two builds work side by side on
// two harvests that want the same hosts, and one of them is killed while it crawls. By
// the web's log no host sees two requests at a time, or two closer than the delay;
// nothing is lost, and nothing but what was in flight is asked for again.
func TestManyWorkersAreOneVisitor(t *testing.T) {
	t.Parallel()
	pause := time.Second
	if testing.Short() {
		pause /= 4
	}
	w := newWorldOf(t, sampleweb.Options{Seed: 7, Years: 2, Papers: 12, PagesPerSite: 2},
		map[string]string{"delay": pause.String(), "min-delay": pause.String()}, asItIs)
	program, workers := buildWorker(t), map[string]*exec.Cmd{}
	builds := []string{program, anotherBuild(t, program)}
	for i := range 4 {
		c := w.startWorker(t, builds[i%2])
		workers[strconv.Itoa(c.Process.Pid)] = c
	}
	first, last := w.web.Years()
	var harvests []activities.Harvest
	for year := first; year <= last; year++ {
		harvests = append(harvests, w.harvestOf(t, gleaner.Years{From: year, To: year}))
	}
	var busiest string
	require.Eventually(t, func() bool {
		for _, h := range harvests {
			if c, err := w.db.HarvestCounts(t.Context(), h.ID); err != nil || c.Pages < 2 {
				return false
			}
		}
		err := w.db.Pool.QueryRow(t.Context(), `SELECT split_part(holder, '/', 2) FROM sites
			WHERE state='crawling' AND holder <> '' AND expires_at > now()
			GROUP BY 1 ORDER BY count(*) DESC, 1 LIMIT 1`).Scan(&busiest)
		return err == nil
	}, 5*time.Minute, 20*time.Millisecond)
	require.Contains(t, workers, busiest)
	held, err := store.Column[string](t.Context(), w.db, `SELECT host FROM sites WHERE state='crawling' AND split_part(holder, '/', 2) = $1 AND expires_at > now()`, busiest)
	require.NoError(t, err)
	require.NoError(t, workers[busiest].Process.Kill())
	for _, h := range harvests {
		w.wait(t, h)
	}

	require.Positive(t, w.handedOn(t, held), "the hosts of the dead worker waited until its heartbeats were missed")
	require.Len(t, w.buildsOf(t, harvests, workers), 2, "one build did all")
	w.requireAllFound(t, activities.Harvest{Venue: harvests[0].Venue, Years: gleaner.Years{From: first, To: last}})
	var shared int
	require.NoError(t, w.db.Pool.QueryRow(t.Context(), `SELECT count(*) FROM (
		SELECT FROM harvest_sites GROUP BY site_id HAVING count(*) > 1) s`).Scan(&shared))
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
		require.LessOrEqual(t, n, 2, what)
		again += n - 1
	}
	t.Logf("%d hosts, %d of them wanted by both harvests; %d URLs, %d of them answered twice; smallest gap %s", len(hosts), shared, len(asked), again, closest)
	require.GreaterOrEqual(t, closest, pause)
	require.LessOrEqual(t, again, len(hosts), "a kill costs a host no more than what was in flight")
}

// handedOn counts the crawls that lost a slice to a worker without leases.
func (w *world) handedOn(t *testing.T, hosts []string) (n int) {
	t.Helper()
	for _, host := range hosts {
		events := w.client.GetWorkflowHistory(t.Context(), workflows.SiteID(host), "", false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
		for events.HasNext() {
			e, err := events.Next()
			require.NoError(t, err)
			if e.GetActivityTaskFailedEventAttributes().GetFailure().GetApplicationFailureInfo().GetType() == activities.ErrTypeLeaseLost {
				n++
			}
			require.Nil(t, e.GetActivityTaskTimedOutEventAttributes(), host)
		}
	}
	return n
}

// harvestOf begins the harvest of some years.
func (w *world) harvestOf(t *testing.T, years gleaner.Years) activities.Harvest {
	t.Helper()
	h := activities.Harvest{Venue: w.web.Venues()[0], Years: years}
	h.ID = h.Venue + "/" + h.Years.String()
	w.start(t, h)
	return h
}

// buildsOf counts the tasks of the harvests' workflows by the program that did them.
func (w *world) buildsOf(t *testing.T, harvests []activities.Harvest, workers map[string]*exec.Cmd) map[string]int {
	t.Helper()
	by := map[string]int{}
	for _, h := range harvests {
		events := w.client.GetWorkflowHistory(t.Context(), workflows.HarvestID(h.ID), "", false,
			enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
		for events.HasNext() {
			e, err := events.Next()
			require.NoError(t, err)
			if done := e.GetWorkflowTaskCompletedEventAttributes(); done != nil {
				pid, _, _ := strings.Cut(done.GetIdentity(), "@")
				by[workers[pid].Path]++
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
