package pool_test

import (
	"errors"
	"log/slog"
	"net/http"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/workflow"

	"gleaner/activities"
	"gleaner/internal/devstack/devtest"
	"gleaner/internal/devstack/storetest"
	"gleaner/internal/gleaner"
	"gleaner/internal/harvest/reconcile"
	"gleaner/internal/lab/sampleweb"
	"gleaner/internal/record/store"
	"gleaner/internal/service/app"
	"gleaner/worker/pool"
	"gleaner/workflows"
)

// left is a world whose worker was stopped in the middle of a harvest, with its one
// site being crawled, and as if an hour had passed since.
func left(t *testing.T) (w *world, harvest, host string, r *reconcile.Reconciler) {
	host = "ada.example"
	site := &pages{n: 300, asked: map[string]int{}, meanwhile: func(string) {}}
	w = newWorldOf(t, sampleweb.Options{Seed: 7, Years: 1, Papers: 4, Authors: 1, PagesPerSite: 1, NoCrawlDelay: true}, nil, func(web http.Handler) http.Handler {
		return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
			if r.Host == host {
				site.ServeHTTP(rw, r)
				return
			}
			web.ServeHTTP(rw, r)
		})
	})
	w.seed(t, host)
	first, last := w.web.Years()
	h := activities.Harvest{Venue: w.web.Venues()[0], Years: gleaner.Years{From: first, To: last}}
	h.ID = h.Venue + "/" + h.Years.String()
	require.NoError(t, w.db.SaveHarvest(t.Context(), store.Harvest{ID: h.ID, Venue: h.Venue, Years: h.Years, Options: []byte("{}"), Stage: gleaner.StageCrawl}))
	require.NoError(t, w.db.Tx(t.Context(), func(tx pgx.Tx) error {
		id, err := store.HoldSite(t.Context(), tx, host)
		return errors.Join(err, store.JoinSite(t.Context(), tx, h.ID, id, "a homepage"))
	}))
	stop := w.work(t)
	_, err := w.client.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{ID: workflows.HarvestID(h.ID), TaskQueue: activities.QueueHarvest},
		workflows.HarvestVenue, workflows.HarvestParams{Harvest: h, State: workflows.HarvestState{Stage: gleaner.StageCrawl}})
	require.NoError(t, err)
	w.until(t, h, func(c store.Counts) bool { return c.Pages >= 2 })
	stop()
	storetest.Exec(t, w.db.Pool, `UPDATE sites SET crawl_started = crawl_started - interval '1 hour'`)
	storetest.Exec(t, w.db.Pool, `UPDATE harvests SET updated_at = updated_at - interval '1 hour'`)
	a, err := app.OpenRecord(t.Context(), w.cfg, app.Options{})
	require.NoError(t, err)
	t.Cleanup(a.Close)
	return w, h.ID, host, pool.Reconciler(a, w.client, slog.New(slog.DiscardHandler))
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
	mended, err := r.Run(t.Context(), reconcile.Options{})
	require.NoError(t, err)
	require.Empty(t, mended)
	require.NoError(t, w.client.TerminateWorkflow(t.Context(), workflows.SiteID(host), "", "a test"))
	would, err := r.Run(t.Context(), reconcile.Options{DryRun: true})
	require.NoError(t, err)
	require.Equal(t, reconcile.StopSite, kinds(would)[host])
	before, err := w.db.Site(t.Context(), host)
	require.NoError(t, err)
	require.Equal(t, gleaner.SiteCrawling, before.State, "a dry run changed the record")

	mended, err = r.Run(t.Context(), reconcile.Options{})
	require.NoError(t, err)
	require.Equal(t, would, mended)
	after, err := w.db.Site(t.Context(), host)
	require.NoError(t, err)
	require.Equal(t, gleaner.SiteStopped, after.State)
	require.Equal(t, "its crawl was terminated", after.Reason)
	again, err := r.Run(t.Context(), reconcile.Options{})
	require.NoError(t, err)
	require.Empty(t, again)

	stop := w.work(t)
	defer stop()
	require.NoError(t, w.client.GetWorkflow(t.Context(), workflows.HarvestID(harvest), "").Get(t.Context(), nil))
	h, err := w.db.FindHarvest(t.Context(), harvest)
	require.NoError(t, err)
	require.Equal(t, gleaner.StageComplete, h.Stage)
}

// TestReconcileKnowsAStrangersRecord: a Temporal server that knows nothing of
// what another process is crawling is the wrong one.
func TestReconcileKnowsAStrangersRecord(t *testing.T) {
	devtest.Soak(t, "TestReconcileMendsWhatWasTerminated asks the right server")
	t.Parallel()
	w, harvest, _, _ := left(t)
	storetest.Exec(t, w.db.Pool, `UPDATE sites SET holder='another', expires_at=now() + interval '1 minute' WHERE state='crawling'`)
	stranger := newWorld(t)
	a, err := app.OpenRecord(t.Context(), w.cfg, app.Options{})
	require.NoError(t, err)
	defer a.Close()
	_, err = pool.Reconciler(a, stranger.client, slog.New(slog.DiscardHandler)).Run(t.Context(), reconcile.Options{})
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
		"HarvestVenue": {left: `INSERT INTO harvests (id, venue, year_from, year_to, stage, updated_at)
			VALUES ('v/2003', 'conf/v', 2003, 2003, 'crawl', now() - interval '1 day')`, kind: reconcile.EndHarvest},
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
	a, err := app.OpenRecord(t.Context(), w.cfg, app.Options{})
	require.NoError(t, err)
	t.Cleanup(a.Close)
	var types workflowTypes
	workflows.Register(&types)
	require.Len(t, types, len(rules))
	for _, name := range types {
		rule, ok := rules[name]
		require.True(t, ok, "nothing watches %s", name)
		if rule.other != "" {
			continue
		}
		w.exec(t, rule.left)
		mended, err := pool.Reconciler(a, w.client, slog.New(slog.DiscardHandler)).Run(t.Context(), reconcile.Options{})
		require.NoError(t, err)
		require.Len(t, mended, 1, name)
		require.Equal(t, rule.kind, mended[0].Kind, name)
		w.exec(t, `DELETE FROM documents`)
	}
}
