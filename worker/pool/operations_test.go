package pool_test

import (
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"

	"gleaner/activities"
	"gleaner/internal/devstack/devtest"
	"gleaner/internal/gleaner"
	"gleaner/internal/record/store"
	"gleaner/workflows"
)

// watched is a world whose worker serves metrics; get reads one of its pages.
func watched(t *testing.T) (w *world, get func(path string) (int, string)) {
	w = newWorld(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	address := l.Addr().String()
	require.NoError(t, l.Close())
	w.cfg.Process.Metrics = address
	return w, func(path string) (int, string) {
		resp, err := http.Get("http://" + address + path)
		if err != nil {
			return 0, err.Error()
		}
		defer resp.Body.Close()
		body, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		return resp.StatusCode, string(body)
	}
}

// TestDashboardsNameWhatIsExported harvests with a worker that serves metrics,
// and looks for every metric that the dashboard and the alerts name.
func TestDashboardsNameWhatIsExported(t *testing.T) {
	t.Parallel()
	w, get := watched(t)
	stop := w.work(t)
	defer stop()
	h := w.harvest(t)
	w.wait(t, h)
	// An activity has to fail, too, for its counter to be there.
	require.Error(t, w.start(t, activities.Harvest{ID: "conf/nix/2001", Venue: "conf/nix", Years: gleaner.Years{From: 2001, To: 2001}}).Get(t.Context(), nil))
	status, said := get("/readyz")
	require.Equal(t, http.StatusOK, status, said)
	status, said = get("/metrics")
	require.Equal(t, http.StatusOK, status)
	exported := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?m)^(\w+)(?:\{.*\})? \S+$`).FindAllStringSubmatch(said, -1) {
		exported[m[1]] = true
	}
	for _, file := range []string{"grafana/gleaner.json", "prometheus/alerts.yml"} {
		raw, err := os.ReadFile(filepath.Join("..", "..", "deploy", file))
		require.NoError(t, err)
		names := regexp.MustCompile(`\b(?:gleaner|temporal|go|process)_\w+`).FindAllString(string(raw), -1)
		require.Greater(t, len(names), 5, file)
		for _, name := range names {
			require.True(t, exported[name], "%s names %s, which no worker exports; there are %v", file, name, slices.Sorted(maps.Keys(exported)))
		}
	}
	counts, err := w.db.HarvestCounts(t.Context(), h.ID)
	require.NoError(t, err)
	require.Contains(t, said, fmt.Sprintf("gleaner_papers_found %d\n", counts.Found))
}

func (w *world) start(t *testing.T, h activities.Harvest) client.WorkflowRun {
	run, err := w.client.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{ID: workflows.HarvestID(h.ID), TaskQueue: activities.QueueHarvest},
		workflows.HarvestVenue, workflows.HarvestParams{Harvest: h})
	require.NoError(t, err)
	return run
}

// TestDrain stops a worker while slices are under way: it ends well within its
// stop timeout, and every slice has handed over what it did.
func TestDrain(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	stop := w.work(t)
	h := w.harvest(t)
	w.until(t, h, func(c store.Counts) bool { return c.Pages >= 2 && !w.idle(t) })
	started := time.Now()
	stop()
	require.Less(t, time.Since(started), 20*time.Second)
	require.True(t, w.idle(t), "a lease was not given back")
	stop = w.work(t)
	defer stop()
	w.wait(t, h)
	w.checkManners(t) // nothing was asked twice
}

// TestVersionedWorkers gives a worker a Build ID: it works once its release is
// made the current one, on all queues.
func TestVersionedWorkers(t *testing.T) {
	devtest.Soak(t, "harvests a web")
	t.Parallel()
	w := newWorld(t)
	w.cfg.Process.BuildID = "2026.1"
	stop := w.work(t)
	defer stop()
	release := w.client.WorkerDeploymentClient().GetHandle("gleaner")
	require.Eventually(t, func() bool {
		_, err := release.SetCurrentVersion(t.Context(), client.WorkerDeploymentSetCurrentVersionOptions{BuildID: "2026.1"})
		return err == nil
	}, time.Minute, 200*time.Millisecond)
	require.Positive(t, w.wait(t, w.harvest(t)).Summary.Found)
}
