package pool_test

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/sdk/client"

	"gleaner/activities"
	"gleaner/internal/devstack/devtest"
	"gleaner/internal/devstack/devtest/temporaltest"
	"gleaner/internal/devstack/storetest"
	"gleaner/internal/document"
	"gleaner/internal/document/documenttest"
	"gleaner/internal/gleaner"
	"gleaner/internal/harvest/report"
	"gleaner/internal/lab/sampleweb"
	"gleaner/internal/record/store"
	"gleaner/internal/service/config"
	"gleaner/worker/pool"
	"gleaner/workflows"
)

func TestMain(m *testing.M) {
	document.MaybeRunChild()
	os.Exit(devtest.Main(m))
}

// delay is between two requests to one host in these tests.
const delay = 20 * time.Millisecond

// world is a sample web, a record and a server of a test's own.
type world struct {
	web    *sampleweb.Web
	cfg    *config.Config
	client client.Client
	db     *store.DB

	settings map[string]string // that cfg was loaded from
}

func newWorld(t *testing.T) *world {
	t.Helper()
	return newWorldBehind(t, nil, asItIs)
}

// newWorldBehind is newWorld with further settings and with something before the
// web.
func newWorldBehind(t *testing.T, more map[string]string, before func(web http.Handler) http.Handler) *world {
	t.Helper()
	return newWorldOf(t, sampleweb.Options{Seed: 7, Years: 2, Papers: 16, Authors: 12, PagesPerSite: 2, NoCrawlDelay: true}, more, before)
}

// newWorldOf is newWorldBehind with another web.
func newWorldOf(t *testing.T, o sampleweb.Options, more map[string]string, before func(web http.Handler) http.Handler) *world {
	t.Helper()
	web := sampleweb.New(o)
	server := httptest.NewServer(before(web))
	t.Cleanup(server.Close)
	dsn := devtest.Postgres(t)
	address, namespace := temporaltest.Temporal(t)
	settings := map[string]string{
		"data-dir": t.TempDir(), "database-url": dsn, "temporal-address": address, "temporal-namespace": namespace,
		"proxy": server.URL, "contact": "test@example.org", "delay": delay.String(), "min-delay": "0s", "dblp-url": sampleweb.DBLPURL, "dblp-delay": "1ms",
		"search": "searxng", "searxng-url": sampleweb.SearchURL, "log-level": "error",
	}
	maps.Copy(settings, more)
	cfg, err := config.Load(settings, os.DevNull, nil)
	require.NoError(t, err)
	cfg.Policy.Crawl.RetryBase = 100 * time.Millisecond
	c, err := pool.Dial(t.Context(), cfg, slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	t.Cleanup(c.Close)
	db := storetest.At(t, dsn, 4)
	return &world{web: web, cfg: cfg, client: c, db: db, settings: settings}
}

// work runs a worker until stop is called.
func (w *world) work(t *testing.T) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() {
		done <- pool.Run(ctx, w.cfg, pool.Options{Cores: 2, Reader: documenttest.Shared(), Log: slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelError}))})
	}()
	return func() {
		cancel()
		require.NoError(t, <-done)
	}
}

func (w *world) harvest(t *testing.T) activities.Harvest {
	first, last := w.web.Years()
	return w.harvestOf(t, gleaner.Years{From: first, To: last})
}

func (w *world) wait(t *testing.T, h activities.Harvest) workflows.HarvestResult {
	// On a busy machine what spins is stopped by the clock, and later.
	ctx, cancel := context.WithTimeout(t.Context(), 8*time.Minute)
	defer cancel()
	var r workflows.HarvestResult
	if err := w.client.GetWorkflow(ctx, workflows.HarvestID(h.ID), "").Get(ctx, &r); err != nil {
		require.NoError(t, err, "%s", w.underWay(t, h))
	}
	return r
}

// underWay says what a harvest that does not end is doing.
func (w *world) underWay(t *testing.T, h activities.Harvest) string {
	ctx := context.WithoutCancel(t.Context())
	var s strings.Builder
	for _, id := range []string{workflows.HarvestID(h.ID), activities.HomepagesID(workflows.HarvestID(h.ID))} {
		d, err := w.client.DescribeWorkflowExecution(ctx, id, "")
		if err != nil {
			continue
		}
		for _, a := range d.GetPendingActivities() {
			fmt.Fprintf(&s, "%s: %s, attempt %d, next %s, %s\n", id, a.GetActivityType().GetName(), a.GetAttempt(), a.GetNextAttemptScheduleTime().AsTime(), a.GetLastFailure().GetMessage())
		}
	}
	rows, err := w.db.Pool.Query(ctx, `SELECT concat_ws(' ', host, state, reason, failures, next_allowed_at, parked_until) FROM sites WHERE state IN ('new','crawling') OR failures>0`)
	if err == nil {
		sites, _ := pgx.CollectRows(rows, pgx.RowTo[string])
		s.WriteString(strings.Join(sites, "\n"))
	}
	return s.String()
}

// TestHarvest harvests a venue from end to end on real servers, with a worker that is
// stopped during a slice, and compares the result with what is there.
func TestHarvest(t *testing.T) {
	t.Parallel()
	w := newWorldOf(t, sampleweb.Options{Seed: 7, Years: 2, Papers: 16, PagesPerSite: 2, NoCrawlDelay: true}, nil,
		with(refuses, http.HandlerFunc(notWell)))
	stop := w.work(t)
	h := w.harvest(t)
	w.until(t, h, func(c store.Counts) bool { return c.Documents >= 3 && !w.idle(t) })
	stop()
	require.True(t, w.idle(t), "a lease was not given back")
	stop = w.work(t)
	result := w.wait(t, h)
	defer stop()

	truth := w.web.Truth()
	w.checkPapers(t, h, truth, result)
	checkManners(t, w.web.Log())
	w.checkReport(t, h, truth)
	w.comeBack(t, h)
	site := w.harvestSite(t, w.someHomepage(t))
	w.checkStory(t, h, site)
	w.checkHistories(t, h, site)
}

// comeBack recrawls the venue as a schedule would, and has what was left behind
// judged: nothing was.
func (w *world) comeBack(t *testing.T, h activities.Harvest) {
	due := workflows.RecrawlParams{Due: activities.Due{Of: store.Selection{Venue: h.Venue}, All: true}}
	run := w.run(t, "scheduled", workflows.OnSchedule, workflows.ScheduledParams{Recrawl: &due})
	require.NoError(t, run.Get(t.Context(), nil))
	run = w.run(t, workflows.JudgeLeftID, workflows.JudgeLeft)
	var left int
	require.NoError(t, run.Get(t.Context(), &left))
	require.Zero(t, left)
}

func (w *world) until(t *testing.T, h activities.Harvest, enough func(store.Counts) bool) {
	require.Eventually(t, func() bool {
		c, err := w.db.HarvestCounts(t.Context(), h.ID)
		return err == nil && enough(c)
	}, 5*time.Minute, 20*time.Millisecond)
}

func (w *world) checkPapers(t *testing.T, h activities.Harvest, truth sampleweb.Truth, result workflows.HarvestResult) {
	found, err := w.db.Export(t.Context(), h.Venue, h.Years)
	require.NoError(t, err)
	byKey := map[string]store.Exported{}
	for _, f := range found {
		byKey[f.Paper] = f
	}
	var missed []string
	for _, p := range truth.Papers {
		f, ok := byKey[p.Key]
		if p.Missing != "" {
			require.False(t, ok, "%s cannot be had (%s), yet %s was taken for it", p.Key, p.Missing, f.URL)
			continue
		}
		if !ok {
			missed = append(missed, p.Key+" "+strings.Join(p.URLs, " "))
			continue
		}
		require.Contains(t, p.SHA256, f.SHA256, "%s from %s", p.Key, f.URL)
	}
	require.Empty(t, missed)
	require.Equal(t, len(found), result.Summary.Found)
	require.Equal(t, len(truth.Papers), result.Summary.Published)
}

// checkManners judges by a web's own log. A worker was stopped in between,
// but told to: nothing may have been asked for twice.
func checkManners(t *testing.T, log []sampleweb.Request) {
	t.Helper()
	services := []string{sampleweb.DBLPHost, sampleweb.SearchHost}
	first, asked := map[string]bool{}, map[string]int{}
	for _, q := range log {
		if slices.Contains(services, q.Host) {
			continue
		}
		require.Equal(t, 1, q.InFlight, "%s%s", q.Host, q.Path)
		if q.Gap >= 0 {
			require.GreaterOrEqual(t, q.Gap, delay, "%s%s", q.Host, q.Path)
		}
		if !first[q.Host] {
			require.Equal(t, "/robots.txt", q.Path, q.Host)
			first[q.Host] = true
		}
		if q.Status == 200 {
			asked[q.Host+q.Path]++
		}
	}
	for what, n := range asked {
		require.Equal(t, 1, n, "%s was answered %d times", what, n)
	}
}

func (w *world) checkReport(t *testing.T, h activities.Harvest, truth sampleweb.Truth) {
	r, err := report.Build(t.Context(), w.db, h.ID)
	require.NoError(t, err)
	require.Equal(t, gleaner.StageComplete, r.Harvest.Stage)
	require.Len(t, r.Missing, r.Summary.Missing)
	reasons := map[string]report.Reason{}
	for _, m := range r.Missing {
		require.NotEmpty(t, m.Evidence, "%s: %s", m.Paper, m.Reason)
		reasons[m.Paper] = m.Reason
	}
	same := map[string]report.Reason{sampleweb.ReasonNoHomepage: report.NoHomepage, sampleweb.ReasonRefused: report.SiteRefused, sampleweb.ReasonNotLinked: report.NotLinked,
		sampleweb.ReasonRejected: report.Rejected, sampleweb.ReasonFailed: report.FetchFailed}
	for _, p := range truth.Papers {
		if p.Missing != "" {
			require.Equal(t, same[p.Missing], reasons[p.Key], "%s cannot be had: %s", p.Title, p.Missing)
		}
	}
	var text, html strings.Builder
	require.NoError(t, r.WriteText(&text))
	require.NoError(t, r.WriteHTML(&html))
	for _, p := range truth.Papers {
		if p.Missing != "" {
			require.Contains(t, text.String(), p.Title)
		}
	}
	require.Contains(t, html.String(), "<svg")
}

// checkHistories looks at what the Temporal UI shows.
func (w *world) checkHistories(t *testing.T, h, ofSite activities.Harvest) {
	site := w.site(t, h)
	for name, id := range map[string]string{"harvest_venue": workflows.HarvestID(h.ID), "find_homepages": workflows.HarvestID(h.ID) + "/homepages", "crawl_site": workflows.SiteID(site),
		"recrawl_due": workflows.RecrawlID(h.Venue), "on_schedule": "scheduled", "judge_left": workflows.JudgeLeftID,
		"harvest_site": workflows.HarvestID(ofSite.ID)} {
		d, err := w.client.DescribeWorkflowExecution(t.Context(), id, "")
		require.NoError(t, err)
		require.Equal(t, enumspb.WORKFLOW_EXECUTION_STATUS_COMPLETED, d.WorkflowExecutionInfo.Status, id)
		if name == "find_homepages" || name == "crawl_site" || name == "recrawl_due" { // those that a workflow began
			require.Equal(t, workflows.TaskTime, d.ExecutionConfig.DefaultWorkflowTaskTimeout.AsDuration(), "so long %s waits for a worker that died over a step of it", id)
		}
		if name == "harvest_venue" || name == "crawl_site" || name == "recrawl_due" {
			require.Contains(t, d.WorkflowExecutionInfo.SearchAttributes.GetIndexedFields(), "GleanerStage", id)
		}
	}
}

// site is the harvest's site with the most slices worth recording.
func (w *world) site(t *testing.T, h activities.Harvest) string {
	sites, err := w.db.SiteTallies(t.Context(), h.ID)
	require.NoError(t, err)
	require.NotEmpty(t, sites)
	return sites[0].Host
}

// TestPauseHoldsAHarvest pauses a harvest while it crawls, sees that no site is
// asked, and resumes it. The worker's metrics are then those that deploy/ names.
func TestPauseHoldsAHarvest(t *testing.T) {
	t.Parallel()
	// Some site waits for its Crawl-delay when the harvest is paused.
	w := newWorldOf(t, sampleweb.Options{Seed: 7, Years: 2, Papers: 12, Authors: 12, PagesPerSite: 6},
		map[string]string{"delay": "500ms", "min-delay": "500ms"}, asItIs)
	get := w.metrics(t)
	stop := w.work(t)
	defer stop()
	h := w.harvest(t)
	w.until(t, h, func(c store.Counts) bool { return c.Pages >= 1 })
	w.update(t, workflows.HarvestID(h.ID), workflows.UpdatePause)
	w.until(t, h, func(store.Counts) bool { return w.idle(t) })
	before, slices := len(w.web.Log()), w.slices(t)
	// Each site that waits is woken, and looks: it asks nothing.
	for host := range slices {
		require.NoError(t, w.client.SignalWorkflow(t.Context(), workflows.SiteID(host), "", workflows.SignalWake, nil))
	}
	w.until(t, h, func(store.Counts) bool {
		for host, n := range w.slices(t) {
			if n <= slices[host] {
				return false
			}
		}
		return true
	})
	require.NotEmpty(t, slices, "no site was being crawled")
	require.Equal(t, before, len(w.web.Log()))
	w.update(t, workflows.HarvestID(h.ID), workflows.UpdateResume)
	require.Positive(t, w.wait(t, h).Summary.Found)
	w.checkMetrics(t, h, get)
}

// slices counts the slices that ended of each site that is being crawled.
func (w *world) slices(t *testing.T) map[string]int {
	t.Helper()
	hosts := storetest.Column[string](t, w.db.Pool, `SELECT host FROM sites WHERE state='crawling'`)
	ended := map[string]int{}
	for _, host := range hosts {
		ended[host] = 0
		for _, e := range w.history(t, workflows.SiteID(host)) {
			if e.GetEventType() == enumspb.EVENT_TYPE_ACTIVITY_TASK_COMPLETED {
				ended[host]++
			}
		}
	}
	return ended
}

// idle reports whether no process holds the lease of any host.
func (w *world) idle(t *testing.T) bool {
	held := storetest.Get[int](t, w.db.Pool, `SELECT count(*) FROM sites WHERE holder <> '' AND expires_at > now()`)
	return held == 0
}

// update sends a workflow an update, and waits until it has taken effect.
func (w *world) update(t *testing.T, id, name string, args ...any) {
	t.Helper()
	handle, err := w.client.UpdateWorkflow(t.Context(), client.UpdateWorkflowOptions{
		WorkflowID: id, UpdateName: name, Args: args,
		WaitForStage: client.WorkflowUpdateStageCompleted})
	require.NoError(t, err)
	require.NoError(t, handle.Get(t.Context(), nil))
}

// history are the events of a workflow.
func (w *world) history(t *testing.T, id string) (all []*historypb.HistoryEvent) {
	t.Helper()
	every := enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT
	for it := w.client.GetWorkflowHistory(t.Context(), id, "", false, every); it.HasNext(); {
		e, err := it.Next()
		require.NoError(t, err)
		all = append(all, e)
	}
	return all
}
