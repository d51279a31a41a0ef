package telemetry

import (
	"context"
	"errors"
	"log/slog"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/stretchr/testify/require"

	"gleaner/internal/record/store"
)

func TestLinesCarryWhatTheContextSays(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	log := Logger(&out, "info").With("worker", 1)
	ctx := With(With(t.Context(), slog.String("harvest", "conf/webdb/2003")), slog.Int("attempt", 2))
	With(ctx, slog.String("host", "elsewhere.example"))
	log.InfoContext(ctx, "slow", "attempt", 2)
	log.DebugContext(ctx, "not to be seen")
	log.Info("plain")
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	require.Len(t, lines, 2)
	require.Contains(t, out.String(), "msg=slow worker=1 attempt=2 harvest=conf/webdb/2003\n")
	require.NotContains(t, lines[0], "elsewhere")
	require.NotContains(t, lines[1], "harvest")
}

// tally is a Record that counts how often it is asked.
type tally struct {
	asked int
	err   error
}

func (r *tally) Gauges(context.Context) ([]store.Gauge, error) {
	r.asked++
	return []store.Gauge{{Name: "sites", Labels: []string{"new"}, Value: 3}, {Name: "unheard_of", Value: 1}}, r.err
}

func TestRecordIsAskedSeldom(t *testing.T) {
	t.Parallel()
	r := &tally{}
	c := NewRecordCollector(r, time.Hour, slog.New(slog.DiscardHandler))
	registry := prometheus.NewRegistry()
	registry.MustRegister(c)
	want := "# HELP gleaner_sites Sites, by the state of their crawl.\n# TYPE gleaner_sites gauge\ngleaner_sites{state=\"new\"} 3\n"
	for range 3 {
		require.NoError(t, testutil.GatherAndCompare(registry, strings.NewReader(want), "gleaner_sites"))
	}
	require.Equal(t, 1, r.asked)
}

func TestRecordAwayIsNoOldNumber(t *testing.T) {
	t.Parallel()
	r := &tally{}
	c := NewRecordCollector(r, 0, slog.New(slog.DiscardHandler))
	c.latest()
	c.fresh = time.Time{}
	r.err = errors.New("away")
	require.Equal(t, 1, testutil.CollectAndCount(c), "only gleaner_record_up")
	require.NoError(t, testutil.CollectAndCompare(c, strings.NewReader("# HELP gleaner_record_up 1 if the database answered when it was asked for its numbers.\n"+
		"# TYPE gleaner_record_up gauge\ngleaner_record_up 0\n"), "gleaner_record_up"))
}

func TestHealth(t *testing.T) {
	t.Parallel()
	tel, err := New(t.Context(), "test", "1", func(string) string { return "" }, slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	fine := func(context.Context) error { return nil }
	for name, c := range map[string]struct {
		path   string
		checks map[string]Check
		status int
		body   string
	}{
		"alive":       {"/healthz", map[string]Check{"database": func(context.Context) error { return errors.New("away") }}, 200, "ok"},
		"ready":       {"/readyz", map[string]Check{"database": fine, "temporal": fine}, 200, `"database":"ok"`},
		"not ready":   {"/readyz", map[string]Check{"database": fine, "blobs": func(context.Context) error { return errors.New("read-only") }}, 503, `"blobs":"read-only"`},
		"metrics":     {"/metrics", nil, 200, "gleaner_pages_total 0"},
		"repairs":     {"/metrics", nil, 200, `gleaner_mended_total{kind="site-stopped"} 0`},
		"unknown":     {"/", nil, 404, ""},
		"never hangs": {"/readyz", map[string]Check{"temporal": func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }}, 503, "deadline"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := httptest.NewRecorder()
			tel.handler(c.checks).ServeHTTP(w, httptest.NewRequest("GET", c.path, nil))
			require.Equal(t, c.status, w.Code)
			require.Contains(t, w.Body.String(), c.body)
		})
	}
}

func TestMetricsCount(t *testing.T) {
	t.Parallel()
	r := prometheus.NewRegistry()
	m := newMetrics(r)
	m.Fetched("success", 200*time.Millisecond, 1000)
	m.Fetched("timeout", 0, 0)
	m.Crawled(3, 2, 1, 0)
	m.SliceEnded("done")
	m.Judged("accepted", "paper", time.Second)
	require.InDelta(t, 3, testutil.ToFloat64(m.pages), 0)
	require.InDelta(t, 1000, testutil.ToFloat64(m.bytes), 0)
	require.InDelta(t, 1, testutil.ToFloat64(m.requests.WithLabelValues("timeout")), 0)
	require.InDelta(t, 1, testutil.ToFloat64(m.slices.WithLabelValues("done")), 0)
	n, err := testutil.GatherAndCount(r, "gleaner_fetch_seconds", "gleaner_judge_seconds")
	require.NoError(t, err)
	require.Equal(t, 2, n)
}
