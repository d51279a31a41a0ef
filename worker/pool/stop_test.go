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
	"gleaner/internal/service/program"
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

// TestAWorkerThatStopsFinishesItsRequest: while it does it is not taken for dead, and the
// next worker asks for nothing again. It says that it stops, and calls nothing a failure
// that it hands over.
func TestAWorkerThatStopsFinishesItsRequest(t *testing.T) {
	t.Parallel()
	require.ErrorIs(t, pool.Run(t.Context(), nil, pool.Options{Queues: []string{"foo"}}), program.ErrUsage)
	const host = "ada.example"
	held, answer := make(chan struct{}), make(chan struct{})
	var once sync.Once
	web := &pages{n: 5, asked: map[string]int{}, meanwhile: func(path string) {
		if path == "/3.html" {
			once.Do(func() {
				close(held)
				<-answer
			})
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
	beats := assert.Eventually(t, func() bool {
		d, err := w.client.DescribeWorkflowExecution(t.Context(), run.GetID(), "")
		return err == nil && len(d.GetPendingActivities()) == 1 && d.GetPendingActivities()[0].GetLastHeartbeatTime().AsTime().After(stopped)
	}, time.Minute, 20*time.Millisecond)
	tooLate := time.Since(stopped) > 5*time.Second // this machine is too busy for the time that a worker gives a request
	close(answer)
	require.NoError(t, <-done)
	said := l.text.String()
	require.True(t, beats, said)
	if tooLate {
		return
	}
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
