package pool_test

import (
	"context"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	sdkpb "go.temporal.io/api/sdk/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/converter"

	"gleaner/activities"
	"gleaner/internal/devstack/storetest"
	"gleaner/internal/gleaner"
	"gleaner/worker/pool"
	"gleaner/workflows"
)

// refuses is a host that is not well, and so must not be asked for anything.
const refuses = "refuses.example"

func notWell(w http.ResponseWriter, _ *http.Request) {
	http.Error(w, "not well", http.StatusServiceUnavailable)
}

// with adds a host to a web.
func with(host string, site http.Handler) func(web http.Handler) http.Handler {
	return func(web http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Host == host {
				site.ServeHTTP(w, r)
				return
			}
			web.ServeHTTP(w, r)
		})
	}
}

func (w *world) someHomepage(t *testing.T) string {
	for _, a := range w.web.Truth().Authors {
		if strings.Contains(a.Homepage, "~") {
			return a.Homepage
		}
	}
	t.Fatal("nobody lives in a directory")
	return ""
}

// harvestSite has a schedule harvest a site.
func (w *world) harvestSite(t *testing.T, url string) activities.Harvest {
	h := activities.NewHarvest(gleaner.Goal{Site: url}, gleaner.Years{}, activities.HarvestOptions{})
	run := w.run(t, "scheduled "+h.Venue, workflows.OnSchedule,
		workflows.ScheduledParams{Harvest: &workflows.HarvestParams{Harvest: h}})
	require.NoError(t, run.Get(t.Context(), nil))
	return h
}

// checkStory looks at a harvest as the Temporal UI does: by the queries that
// docs/operations.md names, and by what the server and the workflows tell.
func (w *world) checkStory(t *testing.T, h, ofSite activities.Harvest) {
	tallies, err := w.db.SiteTallies(t.Context(), h.ID)
	require.NoError(t, err)
	var all []string
	for _, s := range tallies {
		all = append(all, workflows.SiteID(s.Host))
	}
	w.lists(t, "WorkflowType = 'CrawlSite' AND GleanerOutcome IN ('refused', 'trap')", nil)
	refused := w.harvestSite(t, "http://"+refuses+"/")
	w.lists(t, "WorkflowType = 'CrawlSite' AND GleanerOutcome IN ('refused', 'trap')", []string{workflows.SiteID(refuses)})
	w.lists(t, "WorkflowType = 'CrawlSite' AND GleanerVenues = '"+h.Venue+"'", all)
	w.lists(t, "WorkflowType = 'HarvestVenue' AND GleanerOutcome = 'complete'", []string{workflows.HarvestID(h.ID), workflows.HarvestID(ofSite.ID), workflows.HarvestID(refused.ID)})
	w.lists(t, "WorkflowType = 'CrawlSite' AND GleanerVenues = '"+refused.Venue+"'", []string{workflows.SiteID(refuses)})

	for _, id := range []string{all[0], workflows.HarvestID(h.ID) + "/homepages", workflows.HarvestID(ofSite.ID), workflows.RecrawlID(h.Venue)} {
		d, err := w.client.DescribeWorkflowExecution(t.Context(), id, "")
		require.NoError(t, err)
		told := d.GetExecutionConfig().GetUserMetadata()
		require.NotEmpty(t, words(t, told.GetSummary()), id)
		require.Regexp(t, "starter|cancel", words(t, told.GetDetails()), "%s says what one can do about it", id)
	}
	m := w.metadata(t, workflows.HarvestID(h.ID))
	require.Contains(t, m.GetCurrentDetails(), "wanted papers found** (recall")
	require.Contains(t, m.GetCurrentDetails(), "complete")
	described(t, m, workflows.QueryStatus, workflows.UpdatePause, workflows.UpdateResume, workflows.UpdateRetryWhat, workflows.SignalSiteEnded)
	described(t, w.metadata(t, all[0]), workflows.QueryProgress, workflows.SignalWake)
	require.Contains(t, w.metadata(t, workflows.HarvestID(ofSite.ID)).GetCurrentDetails(), "academic documents")
	w.summaries(t, workflows.HarvestID(h.ID))
}

// lists holds a query's answer to workflow ids; the server lists what it has indexed.
func (w *world) lists(t *testing.T, query string, want []string) {
	t.Helper()
	slices.Sort(want)
	var got []string
	require.Eventually(t, func() bool {
		l, err := w.client.ListWorkflow(t.Context(), &workflowservice.ListWorkflowExecutionsRequest{Query: query, PageSize: 1000})
		require.NoError(t, err, query)
		got = nil
		for _, e := range l.GetExecutions() {
			got = append(got, e.GetExecution().GetWorkflowId())
		}
		slices.Sort(got)
		got = slices.Compact(got)
		return slices.Equal(want, got)
	}, time.Minute, 200*time.Millisecond, "%s: want %v, got %v", query, want, &got)
}

func words(t *testing.T, p *commonpb.Payload) (s string) {
	t.Helper()
	if p != nil {
		require.NoError(t, converter.GetDefaultDataConverter().FromPayload(p, &s))
	}
	return s
}

// metadata is what a workflow tells the UI of itself.
func (w *world) metadata(t *testing.T, id string) *sdkpb.WorkflowMetadata {
	t.Helper()
	v, err := w.client.QueryWorkflow(t.Context(), id, "", "__temporal_workflow_metadata")
	require.NoError(t, err)
	var m sdkpb.WorkflowMetadata
	require.NoError(t, v.Get(&m))
	return &m
}

func described(t *testing.T, m *sdkpb.WorkflowMetadata, names ...string) {
	t.Helper()
	d := m.GetDefinition()
	for _, i := range slices.Concat(d.GetQueryDefinitions(), d.GetUpdateDefinitions(), d.GetSignalDefinitions()) {
		if at := slices.Index(names, i.GetName()); at >= 0 {
			names = slices.Delete(names, at, at+1)
			require.NotEmpty(t, i.GetDescription(), i.GetName())
		}
	}
	require.Empty(t, names, "the workflow has no such handlers")
}

// summaries demands words of every timer, activity and child of a history.
func (w *world) summaries(t *testing.T, id string) {
	seen := map[enumspb.EventType]int{}
	for _, e := range w.history(t, id) {
		switch e.GetEventType() {
		case enumspb.EVENT_TYPE_TIMER_STARTED, enumspb.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED, enumspb.EVENT_TYPE_START_CHILD_WORKFLOW_EXECUTION_INITIATED:
			seen[e.GetEventType()]++
			require.NotEmpty(t, words(t, e.GetUserMetadata().GetSummary()), e.String())
		}
	}
	require.Len(t, seen, 3)
}

// TestOneWorkerMaintainsForAll: of two workers one mends and prunes, and neither
// does it again before its time.
func TestOneWorkerMaintainsForAll(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	rounds := make([]func(), 2)
	for i := range rounds {
		maintenance, err := pool.OpenMaintenance(t.Context(), w.cfg, slog.New(slog.DiscardHandler))
		require.NoError(t, err)
		t.Cleanup(maintenance.Close)
		rounds[i] = func() { maintenance.Once(t.Context()) }
	}
	// Each end of a chore leaves a line.
	storetest.Exec(t, w.db.Pool, `CREATE TABLE ends (name text);
		CREATE FUNCTION ended() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN INSERT INTO ends VALUES (NEW.name); RETURN NEW; END';
		CREATE TRIGGER ended AFTER UPDATE OF last ON chores FOR EACH ROW WHEN (NEW.last > OLD.last) EXECUTE FUNCTION ended()`)
	ends := func() (reconciled, pruned int) {
		require.NoError(t, w.db.Pool.QueryRow(t.Context(), `SELECT count(*) FILTER (WHERE name='reconcile'), count(*) FILTER (WHERE name='prune') FROM ends`).Scan(&reconciled, &pruned))
		return reconciled, pruned
	}
	// What a reconciler drops, and what pruning removes.
	litter := func() {
		storetest.Exec(t, w.db.Pool, `INSERT INTO sites (host, holder, expires_at) VALUES ('held.test', 'dead', now() - interval '1 hour') ON CONFLICT (host) DO UPDATE SET holder='dead';
			INSERT INTO searches (provider, query, wanted, results, asked_at) VALUES ('p', 'old', 10, '[]', now() - interval '9 years')`)
	}
	left := func() (held, searches int) {
		require.NoError(t, w.db.Pool.QueryRow(t.Context(), `SELECT (SELECT count(*) FROM sites WHERE holder <> ''), (SELECT count(*) FROM searches)`).Scan(&held, &searches))
		return held, searches
	}
	all := func() {
		var wg sync.WaitGroup
		for _, maintenance := range rounds {
			wg.Go(maintenance)
		}
		wg.Wait()
	}
	is := func(reconciled, pruned, held, searches int) {
		t.Helper()
		r, p := ends()
		require.Equal(t, []int{reconciled, pruned}, []int{r, p}, "reconciled, pruned")
		h, s := left()
		require.Equal(t, []int{held, searches}, []int{h, s}, "leases, searches left")
	}
	litter()
	all()
	is(1, 1, 0, 0)
	litter()
	all()
	is(1, 1, 1, 1)
	storetest.Exec(t, w.db.Pool, `UPDATE chores SET last = last - interval '10 minutes'`)
	all()
	is(2, 1, 0, 1)
	storetest.Exec(t, w.db.Pool, `UPDATE chores SET last = last - interval '1 day'`)
	all()
	is(3, 2, 0, 0)
}

// TestAPruneHoldsNothingElseUp: while it takes its hour, what does not run is started again.
func TestAPruneHoldsNothingElseUp(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	maintenance, err := pool.OpenMaintenance(t.Context(), w.cfg, slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	t.Cleanup(maintenance.Close)
	storetest.Exec(t, w.db.Pool, `CREATE FUNCTION ended() RETURNS trigger LANGUAGE plpgsql AS
			'BEGIN PERFORM pg_notify(''ended'', NEW.name); RETURN NEW; END';
		CREATE TRIGGER ended AFTER UPDATE OF last ON chores
			FOR EACH ROW WHEN (NEW.last > OLD.last) EXECUTE FUNCTION ended()`)
	ends, err := w.db.Pool.Acquire(t.Context())
	require.NoError(t, err)
	defer ends.Release()
	_, err = ends.Exec(t.Context(), `LISTEN ended`)
	require.NoError(t, err)
	long, err := w.db.Pool.Begin(t.Context())
	require.NoError(t, err)
	_, err = long.Exec(t.Context(), `LOCK TABLE searches`) // which prune waits for
	require.NoError(t, err)

	ctx, leave := context.WithCancel(t.Context())
	left := make(chan struct{})
	go func() { defer close(left); maintenance.Keep(ctx, time.Millisecond) }()
	for range 2 {
		end, err := ends.Conn().WaitForNotification(t.Context())
		require.NoError(t, err)
		require.Equal(t, "reconcile", end.Payload)
		storetest.Exec(t, w.db.Pool, `UPDATE chores SET last = last - interval '10 minutes' WHERE name = 'reconcile'`)
	}
	require.NoError(t, long.Rollback(t.Context()))
	leave()
	<-left
}
