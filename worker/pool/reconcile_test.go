package pool_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"reflect"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/workflow"
	"google.golang.org/protobuf/types/known/timestamppb"

	"gleaner/activities"
	"gleaner/internal/devstack/devtest"
	"gleaner/internal/devstack/storetest"
	"gleaner/internal/gleaner"
	"gleaner/internal/harvest/reconcile"
	"gleaner/internal/lab/sampleweb"
	"gleaner/internal/record/store"
	"gleaner/internal/service/app"
	"gleaner/internal/service/program"
	"gleaner/internal/service/telemetry"
	"gleaner/worker/pool"
	"gleaner/workflows"
)

// left is a world whose worker was stopped in the middle of a harvest, with its one
// site being crawled, and as if an hour had passed since.
func left(t *testing.T) (w *world, harvest, host string, r *reconcile.Reconciler) {
	host = "ada.example"
	site := &pages{n: 300, asked: map[string]int{}, meanwhile: func(string) {}}
	w = newWorldOf(t, sampleweb.Options{Seed: 7, Years: 1, Papers: 4, Authors: 1, PagesPerSite: 1, NoCrawlDelay: true},
		nil, with(host, site))
	w.seed(t, host)
	first, last := w.web.Years()
	h := activities.NewHarvest(gleaner.Goal{Venue: w.web.Venues()[0]}, gleaner.Years{From: first, To: last},
		activities.HarvestOptions{})
	require.NoError(t, w.db.SaveHarvest(t.Context(), store.Harvest{ID: h.ID, Venue: h.Venue, Years: h.Years, Options: []byte("{}"), Stage: gleaner.StageCrawl}))
	require.NoError(t, w.db.Tx(t.Context(), func(tx pgx.Tx) error {
		id, err := store.HoldSite(t.Context(), tx, host)
		return errors.Join(err, store.JoinSite(t.Context(), tx, h.ID, id, "a homepage"))
	}))
	stop := w.work(t)
	w.run(t, workflows.HarvestID(h.ID), workflows.HarvestVenue,
		workflows.HarvestParams{Harvest: h, State: workflows.HarvestState{Stage: gleaner.StageCrawl}})
	w.until(t, h, func(c store.Counts) bool { return c.Pages >= 2 })
	stop()
	storetest.Exec(t, w.db.Pool, `UPDATE sites SET crawl_started = crawl_started - interval '1 hour'`)
	storetest.Exec(t, w.db.Pool, `UPDATE harvests SET updated_at = updated_at - interval '1 hour'`)
	return w, h.ID, host, w.reconciler(t, w.client)
}

// reconciler compares the record of a world with the workflows of a server.
func (w *world) reconciler(t *testing.T, server client.Client) *reconcile.Reconciler {
	t.Helper()
	a, err := app.OpenRecord(t.Context(), w.cfg, app.Options{})
	require.NoError(t, err)
	t.Cleanup(a.Close)
	return pool.Reconciler(a, server, slog.New(slog.DiscardHandler))
}

func kinds(repairs []reconcile.Repair) map[string]reconcile.Kind {
	out := map[string]reconcile.Kind{}
	for _, r := range repairs {
		out[r.What] = r.Kind
	}
	return out
}

// TestReconcileMendsWhatWasTerminated leaves what runs, and then terminates a site's
// crawl: the harvest that waits for it would wait for ever.
func TestReconcileMendsWhatWasTerminated(t *testing.T) {
	t.Parallel()
	w, harvest, host, r := left(t)
	require.Empty(t, devtest.Must(r.Run(t.Context(), reconcile.Options{}))(t))
	require.NoError(t, w.client.TerminateWorkflow(t.Context(), workflows.SiteID(host), "", "a test"))
	would := devtest.Must(r.Run(t.Context(), reconcile.Options{DryRun: true}))(t)
	require.Equal(t, reconcile.StopSite, kinds(would)[host])
	before := devtest.Must(w.db.Site(t.Context(), host))(t)
	require.Equal(t, gleaner.SiteCrawling, before.State, "a dry run changed the record")

	require.Equal(t, would, devtest.Must(r.Run(t.Context(), reconcile.Options{}))(t))
	after := devtest.Must(w.db.Site(t.Context(), host))(t)
	require.Equal(t, gleaner.SiteStopped, after.State)
	require.Equal(t, "its crawl was terminated", after.Reason)
	require.Empty(t, devtest.Must(r.Run(t.Context(), reconcile.Options{}))(t))

	stop := w.work(t)
	defer stop()
	require.NoError(t, w.client.GetWorkflow(t.Context(), workflows.HarvestID(harvest), "").Get(t.Context(), nil))
	require.Equal(t, gleaner.StageComplete, devtest.Must(w.db.FindHarvest(t.Context(), harvest))(t).Stage)
}

// TestReconcileKnowsAStrangersRecord: a Temporal server that knows nothing of
// what another process is crawling is the wrong one.
func TestReconcileKnowsAStrangersRecord(t *testing.T) {
	devtest.Soak(t, "TestReconcileMendsWhatWasTerminated asks the right server")
	t.Parallel()
	w, harvest, _, _ := left(t)
	storetest.Exec(t, w.db.Pool, `UPDATE sites SET holder='another', expires_at=now() + interval '1 minute' WHERE state='crawling'`)
	_, err := w.reconciler(t, newWorld(t).client).Run(t.Context(), reconcile.Options{})
	require.ErrorIs(t, err, reconcile.ErrOthers)
	h, err := w.db.FindHarvest(t.Context(), harvest)
	require.NoError(t, err)
	require.Nil(t, h.CompletedAt)
}

// workflowTypes are the names of the workflows that are registered with it.
type workflowTypes []string

func (w *workflowTypes) RegisterWorkflow(f any) {
	name := runtime.FuncForPC(reflect.ValueOf(f).Pointer()).Name()
	*w = append(*w, name[strings.LastIndex(name, ".")+1:])
}
func (w *workflowTypes) RegisterWorkflowWithOptions(f any, _ workflow.RegisterOptions) {
	w.RegisterWorkflow(f)
}
func (w *workflowTypes) RegisterDynamicWorkflow(any, workflow.DynamicRegisterOptions) {}

// TestEveryWorkflowIsWatched: for each type of workflow the reconciler notices that the
// record waits for one which does not run, or something else starts it again.
func TestEveryWorkflowIsWatched(t *testing.T) {
	t.Parallel()
	rules := map[string]struct {
		left  string // in the record by such a workflow
		kind  reconcile.Kind
		other string // what starts it again
	}{
		"HarvestVenue": {left: `INSERT INTO harvests (id, venue, year_from, year_to, options, stage, updated_at)
			VALUES ('v/2003', 'conf/v', 2003, 2003, '{"again": "all"}', 'crawl', now() - interval '1 day')`, kind: reconcile.EndHarvest},
		"FindHomepages": {other: "it is a child of a HarvestVenue, which fails with it"},
		"CrawlSite": {left: `INSERT INTO sites (host, state, crawl, crawl_started)
			VALUES ('lost.example', 'crawling', 1, now() - interval '1 day')`, kind: reconcile.RequeueSite},
		"RecrawlDue": {left: `INSERT INTO sites (host, state, recrawled_for, due_at)
			VALUES ('due.example', 'new', '{recrawl/due}', now() - interval '1 day')`, kind: reconcile.LeaveRecrawl},
		"OnSchedule": {other: "its schedule starts the next, and what it started is watched"},
		"JudgeLeft": {left: `INSERT INTO documents (sha256, sha1, md5, bytes, kind, state, updated_at)
			VALUES ('left', '', '', 1, 'pdf', 'new', now() - interval '1 day')`, kind: reconcile.JudgeLeft},
		"TellNews": {other: "a worker starts it for what nobody was told of, again and again"},
		"ImportCrawl": {left: `INSERT INTO jobs (kind, options, state, updated_at)
			VALUES ('import', '{}', 'running', now() - interval '1 day')`, kind: reconcile.EndJob},
		"TableJob": {left: `INSERT INTO jobs (kind, options, state, updated_at)
			VALUES ('retrieve', '{}', 'running', now() - interval '1 day')`, kind: reconcile.EndJob},
		"SynthesizeCollections": {left: `INSERT INTO collections (name, options, topics, state, asked_at)
			VALUES ('math', '{}', '[]', 'running', now() - interval '1 day')`, kind: reconcile.EndCollection},
	}
	w := newWorld(t)
	r := w.reconciler(t, w.client)
	var types workflowTypes
	workflows.Register(&types)
	require.Len(t, types, len(rules))
	for _, name := range types {
		rule, ok := rules[name]
		require.True(t, ok, "nothing watches %s", name)
		if rule.other != "" {
			continue
		}
		storetest.Exec(t, w.db.Pool, rule.left)
		mended := devtest.Must(r.Run(t.Context(), reconcile.Options{}))(t)
		require.Len(t, mended, 1, name)
		require.Equal(t, rule.kind, mended[0].Kind, name)
		storetest.Exec(t, w.db.Pool, `DELETE FROM documents`)
	}
	devtest.Must(r.Run(t.Context(), reconcile.Options{Restart: true}))(t)
	var p workflows.HarvestParams
	began := w.history(t, workflows.HarvestID("v/2003"))[0].GetWorkflowExecutionStartedEventAttributes()
	require.NoError(t, converter.GetDefaultDataConverter().FromPayloads(began.GetInput(), &p))
	require.Equal(t, activities.AgainDue, p.Harvest.Options.Again, "nothing is asked twice")
}

// TestASuccessorIsNotEnded: of the slices of a host the one is handed on whose worker lost
// the lease, however young it is; none of another worker, and none that began since.
func TestASuccessorIsNotEnded(t *testing.T) {
	t.Parallel()
	const (
		started   = enumspb.PENDING_ACTIVITY_STATE_STARTED
		cancelled = enumspb.PENDING_ACTIVITY_STATE_CANCEL_REQUESTED
		scheduled = enumspb.PENDING_ACTIVITY_STATE_SCHEDULED
	)
	lost := time.Now()
	for name, tt := range map[string]struct {
		kind, worker string
		state        enumspb.PendingActivityState
		age          time.Duration // when the lease was lost
		ended        bool
	}{
		"long under way":         {"CrawlSlice", "a/1/x", started, time.Hour, true},
		"young":                  {"CrawlSlice", "a/1/x", started, 6 * time.Second, true},
		"to be cancelled":        {"CrawlSlice", "a/1/x", cancelled, time.Hour, true},
		"another worker's":       {"CrawlSlice", "a/1/y", started, time.Hour, false},
		"begun since":            {"CrawlSlice", "a/1/x", started, -time.Second, false},
		"between two attempts":   {"CrawlSlice", "a/1/x", scheduled, time.Hour, false},
		"the examination of all": {"FilterDocuments", "a/1/x", started, time.Hour, false},
	} {
		a := &workflowpb.PendingActivityInfo{
			ActivityType:       &commonpb.ActivityType{Name: tt.kind},
			State:              tt.state,
			LastWorkerIdentity: tt.worker,
			LastStartedTime:    timestamppb.New(lost.Add(-tt.age)),
		}
		require.Equal(t, tt.ended, pool.Gone([]*workflowpb.PendingActivityInfo{a}, "a/1/x", lost) == a, name)
	}
}

// TestALeaseThatRanOutInCalmIsRevokedSooner than one that an outage may have cost.
func TestALeaseThatRanOutInCalmIsRevokedSooner(t *testing.T) {
	t.Parallel()
	begin := time.Now()
	looks := make([]time.Time, 11)
	for i := range looks {
		looks[i] = begin.Add(time.Duration(i) * time.Second)
	}
	calm := pool.Patience(looks)
	require.Greater(t, pool.Patience(looks[:10]), calm, "the database may have been away while the lease ran out")
	require.Greater(t, pool.Patience(append(looks[:8:8], looks[10])), calm, "who looks was held up")
}

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
	err := pool.Run(t.Context(), nil, pool.Options{Queues: []string{"foo"}})
	require.ErrorIs(t, err, program.ErrUsage)
	require.ErrorContains(t, err, strings.Join(activities.Queues(), ", "))
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
	run := w.run(t, workflows.SiteID(host), workflows.CrawlSite, workflows.SiteParams{Host: host})
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
	for _, e := range w.history(t, run.GetID()) {
		if e.GetEventType() == enumspb.EVENT_TYPE_ACTIVITY_TASK_STARTED {
			require.EqualValues(t, 1, e.GetActivityTaskStartedEventAttributes().GetAttempt())
		}
	}
}
