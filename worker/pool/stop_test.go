package pool_test

import (
	"bytes"
	"context"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"

	"gleaner/activities"
	"gleaner/internal/lab/sampleweb"
	"gleaner/internal/service/telemetry"
	"gleaner/worker/pool"
	"gleaner/workflows"
)

// log is what a worker logs.
type log struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

// TestAWorkerThatStopsFinishesItsRequest: while it does it keeps the lease of the host, and
// is not taken for dead; the next worker asks for nothing again. It says that it stops, and
// calls nothing a failure that it hands over.
func TestAWorkerThatStopsFinishesItsRequest(t *testing.T) {
	t.Parallel()
	const host = "ada.example"
	held, answer := make(chan struct{}), make(chan struct{})
	web := &pages{n: 5, asked: map[string]int{}, meanwhile: func(path string) {
		if path == "/3.html" {
			close(held)
			<-answer
		}
	}}
	w := newWorldOf(t, sampleweb.Options{Authors: 1, Papers: 1}, nil, func(http.Handler) http.Handler { return web })
	w.seed(t, host)
	l := &log{}
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- pool.Run(ctx, w.cfg, pool.Options{Cores: 2, Log: telemetry.Logger(l, "info")}) }()
	run, err := w.client.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{ID: workflows.SiteID(host), TaskQueue: activities.QueueHarvest},
		workflows.CrawlSite, workflows.SiteParams{Host: host})
	require.NoError(t, err)
	<-held
	stop()
	stopped := time.Now()
	waits := assert.Eventually(t, func() bool {
		var renewed bool
		err := w.db.Pool.QueryRow(t.Context(), `SELECT expires_at > $2::timestamptz + interval '6.5 s' FROM sites WHERE host=$1`, host, stopped).Scan(&renewed)
		d, derr := w.client.DescribeWorkflowExecution(t.Context(), run.GetID(), "")
		beats := derr == nil && len(d.GetPendingActivities()) == 1 && d.GetPendingActivities()[0].GetLastHeartbeatTime().AsTime().After(stopped)
		return err == nil && renewed && beats
	}, 20*time.Second, 20*time.Millisecond)
	close(answer)
	require.NoError(t, <-done)
	said := l.text.String()
	require.True(t, waits, said)
	_, after, ok := strings.Cut(said, "msg=\"stopping: ")
	require.True(t, ok)
	require.Contains(t, after, "msg=stopped")
	require.NotContains(t, after, "level="+slog.LevelWarn.String())
	require.NotContains(t, after, "level="+slog.LevelError.String())

	defer w.work(t)()
	require.NoError(t, run.Get(t.Context(), nil))
	require.Len(t, web.asked, web.n)
	for path, n := range web.asked {
		require.Equal(t, 1, n, path)
	}
	for events := w.client.GetWorkflowHistory(t.Context(), run.GetID(), "", false, enums.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT); events.HasNext(); {
		e, err := events.Next()
		require.NoError(t, err)
		if e.GetEventType() == enums.EVENT_TYPE_ACTIVITY_TASK_STARTED {
			require.EqualValues(t, 1, e.GetActivityTaskStartedEventAttributes().GetAttempt())
		}
	}
}
