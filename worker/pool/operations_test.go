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
	"gleaner/workflows"
)

// metrics has the world's worker serve its metrics; get reads one of its pages.
func (w *world) metrics(t *testing.T) (get func(path string) (int, string)) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	address := l.Addr().String()
	require.NoError(t, l.Close())
	w.cfg.Process.Metrics = address
	return func(path string) (int, string) {
		resp, err := http.Get("http://" + address + path)
		require.NoError(t, err)
		defer resp.Body.Close()
		body, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		return resp.StatusCode, string(body)
	}
}

// checkMetrics looks, after a harvest, for every metric that the dashboard and the alerts
// name among those that the worker serves.
func (w *world) checkMetrics(t *testing.T, h activities.Harvest, get func(path string) (int, string)) {
	t.Helper()
	w.checkUnknownVenue(t) // the counter of failures is there once an activity failed
	status, body := get("/readyz")
	require.Equal(t, http.StatusOK, status, body)
	status, body = get("/metrics")
	require.Equal(t, http.StatusOK, status)
	exported := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?m)^(\w+)(?:\{.*\})? \S+$`).FindAllStringSubmatch(body, -1) {
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
	require.Contains(t, body, fmt.Sprintf("gleaner_papers_found %d\n", counts.Found))
}

// checkUnknownVenue harvests a venue that no source knows: the harvest fails and its row
// names the venue.
func (w *world) checkUnknownVenue(t *testing.T) {
	t.Helper()
	h := activities.Harvest{ID: "conf/nix/2001", Venue: "conf/nix", Years: gleaner.Years{From: 2001, To: 2001}}
	require.Error(t, w.start(t, h).Get(t.Context(), nil))
	row, err := w.db.FindHarvest(t.Context(), h.ID)
	require.NoError(t, err)
	require.Equal(t, gleaner.StageFailed, row.Stage)
	require.Contains(t, row.Note, "conf/nix")
}

func (w *world) start(t *testing.T, h activities.Harvest) client.WorkflowRun {
	run, err := w.client.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{ID: workflows.HarvestID(h.ID), TaskQueue: activities.QueueHarvest},
		workflows.HarvestVenue, workflows.HarvestParams{Harvest: h})
	require.NoError(t, err)
	return run
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
