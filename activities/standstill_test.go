package activities_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"gleaner/activities"
	"gleaner/internal/devstack/devtest"
	"gleaner/internal/devstack/devtest/temporaltest"
	"gleaner/internal/devstack/storetest"
	"gleaner/internal/gleaner"
)

// TestACrawlBeatsWhileThePostgresStandsStill: a database that answers nothing for longer than
// the silence of an activity ends no attempt, nor one that cannot be reached as the attempt begins.
func TestACrawlBeatsWhileThePostgresStandsStill(t *testing.T) {
	t.Parallel()
	ctx, direct := t.Context(), devtest.Postgres(t)
	dsn, line := devtest.Lay(t, direct)
	web := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(web.Close)
	l := openLibrary(t, "conf/exa", gleaner.YearsOf(2003), map[string]string{
		"database-url": dsn, "data-dir": t.TempDir(), "dblp-url": "http://dblp.org", "search": "none", "proxy": web.URL,
	})
	c, _, _ := temporaltest.Client(t)
	w := worker.New(c, activities.QueueCrawl, worker.Options{})
	l.acts.Register(w, activities.QueueCrawl)
	w.RegisterWorkflow(sliceOnce)
	require.NoError(t, w.Start())
	t.Cleanup(w.Stop)
	_, err := l.DB.Pool.Exec(ctx, `INSERT INTO sites (host) VALUES ('a.example')`)
	require.NoError(t, err)

	conn, err := pgx.Connect(ctx, direct)
	require.NoError(t, err)
	defer func() { _ = conn.Close(context.Background()) }()
	_, err = conn.Exec(ctx, `BEGIN; LOCK TABLE harvests IN ACCESS EXCLUSIVE MODE`)
	require.NoError(t, err)
	begin := func() client.WorkflowRun {
		run, err := c.ExecuteWorkflow(ctx, client.StartWorkflowOptions{ID: "slice", TaskQueue: activities.QueueCrawl}, sliceOnce, "a.example")
		require.NoError(t, err)
		time.Sleep(2 * silence)
		return run
	}
	ends := func(run client.WorkflowRun, recorded bool) {
		var s activities.Slice
		require.NoError(t, run.Get(ctx, &s))
		require.True(t, s.Examined)
		require.Equal(t, recorded, s.Ended)
	}
	run := begin()
	require.NoError(t, c.SignalWorkflow(ctx, run.GetID(), "", "anything", nil)) // perhaps to go on
	_, err = conn.Exec(ctx, `ROLLBACK`)
	require.NoError(t, err)
	ends(run, false)
	for _, sql := range []string{
		`INSERT INTO crawl_sections (site_id, dir, read, relevant, bytes, left_out) SELECT id, '/~ada/', 900, 0, 0, 70 FROM sites`,
		`INSERT INTO leads (from_site, hash, to_site, wanted) SELECT id, decode(repeat('01', 16), 'hex'), id, 0.9 FROM sites`,
	} {
		_, err = conn.Exec(ctx, sql)
		require.NoError(t, err)
	}
	line.Cut()
	run = begin()
	line.Mend()
	ends(run, true)
	require.Contains(t, storetest.Get[string](t, l.DB.Pool, `SELECT reason FROM sites`), "70 links within /~ada/ were left out")
	ends(begin(), true) // as where its end was not heard
	require.Equal(t, 1, storetest.Get[int](t, l.DB.Pool, `SELECT count(*) FROM leads`))
}

const silence = 2 * time.Second

// sliceOnce is a workflow of one attempt at a slice.
func sliceOnce(ctx workflow.Context, host string) (s activities.Slice, err error) {
	once := &temporal.RetryPolicy{MaximumAttempts: 1}
	o := workflow.ActivityOptions{HeartbeatTimeout: silence, StartToCloseTimeout: time.Minute, RetryPolicy: once}
	err = workflow.ExecuteActivity(workflow.WithActivityOptions(ctx, o), "CrawlSlice", host, false).Get(ctx, &s)
	return s, err
}
