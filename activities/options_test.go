package activities_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/internetarchive/gowarc/cmd/warc/verify"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"

	"gleaner/activities"
	"gleaner/internal/crawl"
	"gleaner/internal/crawl/synthesis"
	"gleaner/internal/devstack/devtest"
	"gleaner/internal/gleaner"
	"gleaner/internal/ingest"
	"gleaner/internal/record/collections"
	"gleaner/internal/record/store"
	"gleaner/internal/service/app"
	"gleaner/internal/service/config"
	"gleaner/internal/topic"
	"gleaner/internal/web/rules"
	"gleaner/workflows"
)

func TestOptionsAreChecked(t *testing.T) {
	t.Parallel()
	require.NoError(t, activities.HarvestOptions{}.Check())
	require.NoError(t, activities.HarvestOptions{Scope: "host", Strategy: "bfs", Leads: "none", Again: "all", Delay: time.Second, MaxPages: 1, Budget: 1, Window: 1}.Check())
	for name, o := range map[string]activities.HarvestOptions{"scope": {Scope: "planet"}, "strategy": {Strategy: "dfs"}, "leads": {Leads: "some"}, "again": {Again: "maybe"},
		"delay": {Delay: -1}, "max-pages": {MaxPages: -1}, "budget": {Budget: -1}, "ignore": {Links: &rules.Lists{Ignore: []string{"*"}}}, "sites": {Window: activities.MaxWindow + 1}, "waves": {MaxWaves: -1}} {
		require.ErrorContains(t, o.Check(), name+": ")
	}
}

// TestHarvestOfARow is the harvest that was started, whatever it is after.
func TestHarvestOfARow(t *testing.T) {
	t.Parallel()
	years := gleaner.Years{From: 1998, To: 2004}
	for name, goal := range map[string]gleaner.Goal{"conf/webdb": {}, "site:https://a.org/~ada/": {Site: "https://a.org/~ada/"}, "author:65/2885": {Author: "65/2885"}, "papers:mine": {List: "mine"}} {
		for _, y := range []gleaner.Years{years, {}} {
			row := store.Harvest{ID: gleaner.ParseGoal(name).Harvest(y), Venue: name, Years: y, Options: []byte(`{"scope":"host","window":3}`)}
			h, err := activities.HarvestOf(row)
			require.NoError(t, err)
			o := activities.HarvestOptions{Scope: "host", Window: 3}
			if goal.Site != "" {
				o.Leads = "all" // of a site that wants no papers by name
			}
			require.Equal(t, activities.Harvest{ID: row.ID, Venue: name, Goal: goal, Years: y, Options: o}, h)
			require.NoError(t, h.Options.Check())
			require.Equal(t, h, activities.NewHarvest(gleaner.ParseGoal(name), y, h.Options))
		}
	}
}

// TestWrongOptionsAreNeverStored: they would fail every later crawl of the site.
func TestWrongOptionsAreNeverStored(t *testing.T) {
	t.Parallel()
	cfg, err := config.Load(map[string]string{"database-url": devtest.Postgres(t), "data-dir": t.TempDir(), "contact": "test@example.org"}, os.DevNull, nil)
	require.NoError(t, err)
	a, err := app.Open(t.Context(), cfg, app.Options{})
	require.NoError(t, err)
	t.Cleanup(a.Close)
	var suite testsuite.WorkflowTestSuite
	env := suite.NewTestActivityEnvironment()
	stages := activities.New(a).Stages
	env.RegisterActivity(stages)
	_, err = env.ExecuteActivity(stages.Begin, activities.Harvest{ID: "conf/x/2001", Venue: "conf/x", Years: gleaner.Years{From: 2001, To: 2001},
		Options: activities.HarvestOptions{Strategy: "dfs"}})
	var app *temporal.ApplicationError
	require.ErrorAs(t, err, &app)
	require.Equal(t, activities.ErrTypeInput, app.Type())
	require.True(t, app.NonRetryable())
	all, err := a.DB.Harvests(t.Context())
	require.NoError(t, err)
	require.Empty(t, all)
}

// TestASliceTellsOfTheAttemptBefore: what a worker did that was killed over a slice counts,
// for when classifiers learn anew and for what is told.
func TestASliceTellsOfTheAttemptBefore(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	l := openLibrary(t, "conf/exa", gleaner.Years{From: 2003, To: 2003}, map[string]string{"search": "none"})
	record := collections.In(l.DB)
	ask, err := synthesis.DefaultRequest()
	require.NoError(t, err)
	_, _, err = record.Submit(ctx, "some", ask, []topic.Topic{{ID: "a", Query: "a"}})
	require.NoError(t, err)
	require.NoError(t, record.Begin(ctx, "some"))
	require.NoError(t, record.Pause(ctx, "some", true))
	var r crawl.Result
	_, err = attempt(t, l, l.acts.Collections.CollectSlice, "some", &crawl.Progress{Requests: 5, Pages: 4}, nil, &r)
	require.NoError(t, err)
	require.Equal(t, crawl.Result{Progress: crawl.Progress{Requests: 5, Pages: 4}, Ending: crawl.Paused}, r)
}

// harvested is what a harvest of forty papers left, once for all tests of this binary.
var harvested struct {
	once     sync.Once
	dsn      string
	data     string // folder
	bytes    int64  // that it was answered
	requests int
}

// redirected is how many of its papers are linked by addresses that redirect.
const redirected = 6

// newHarvested opens a library that has harvested a sample web of forty papers. It has
// copies of the database and of the data folder of one harvest.
func newHarvested(t *testing.T) *library {
	t.Helper()
	harvested.once.Do(func() {
		harvested.dsn, harvested.data = devtest.KeptPostgres(t), devtest.Dir(t)
		t.Run("first harvest", func(t *testing.T) { // at its end all connections are closed
			l := newLibrary(t, 40, map[string]string{"database-url": harvested.dsn, "data-dir": harvested.data})
			l.redirects(t, redirected)
			l.collect(t, "")
			harvested.bytes, harvested.requests = l.web.reset()
		})
	})
	require.Positive(t, harvested.requests, "the first harvest failed")
	data := t.TempDir()
	require.NoError(t, os.CopyFS(data, os.DirFS(harvested.data)))
	l := newLibrary(t, 40, map[string]string{"database-url": devtest.Copy(t, harvested.dsn), "data-dir": data})
	l.moved = l.redirects(t, redirected)
	return l
}

func TestMain(m *testing.M) { os.Exit(devtest.Main(m)) }

// verdict is what was found of a document.
type verdict struct{ SHA256, State, Outcome, Class string }

// verdicts are those of all documents on record.
func (l *library) verdicts(t *testing.T) []verdict {
	t.Helper()
	rows, err := l.DB.Pool.Query(t.Context(), `SELECT sha256, state, outcome, class FROM documents ORDER BY sha256`)
	require.NoError(t, err)
	all, err := pgx.CollectRows(rows, pgx.RowToStructByPos[verdict])
	require.NoError(t, err)
	return all
}

// parents are all pages that lead to documents, with the days between which each was
// crawled and how many documents it leads to.
func (l *library) parents(t *testing.T) (all []string) {
	t.Helper()
	found, err := l.DB.Parents(t.Context(), "", store.ParentAt{}, 100_000)
	require.NoError(t, err)
	for _, p := range found {
		all = append(all, fmt.Sprint(p.URL, " ", p.First.Format(time.DateOnly), " ", p.Last.Format(time.DateOnly), " ", p.Read, " ", p.Documents))
	}
	return all
}

// TestImportOfOwnWARC harvests the sample venue with WARC files and imports them into
// an empty record, which has the same documents then, with the same verdicts, and the
// same pages that lead to them.
func TestImportOfOwnWARC(t *testing.T) {
	t.Parallel()
	l := newLibrary(t, 12, nil)
	h := l.harvest
	h.Options.WARC = true
	l.run(t, workflows.HarvestID(h.ID), workflows.HarvestVenue, workflows.HarvestParams{Harvest: h})
	want := l.verdicts(t)
	require.NotEmpty(t, want)
	folder := filepath.Join(l.Config.Servers.DataDir, "blobs", "warc")
	files, err := filepath.Glob(filepath.Join(folder, "*", "*.warc.gz"))
	require.NoError(t, err)
	for _, f := range files {
		v, err := verify.ValidateWARCFile(f)
		require.NoError(t, err)
		require.True(t, v.Valid && v.AllRecordsRead, "%s: %+v", f, v)
	}

	empty := openLibrary(t, h.Venue, h.Years, map[string]string{"search": "none"})
	job, err := empty.DB.AddJob(t.Context(), store.JobImport, ingest.Options{Paths: []string{folder}})
	require.NoError(t, err)
	p, err := empty.Importer.Import(context.WithoutCancel(t.Context()), ingest.Run{Job: job, Run: 1}, time.Hour, func(ingest.Progress) {})
	require.NoError(t, err)
	require.True(t, p.Ended)
	t.Logf("%d files, %d documents; %+v", len(files), len(want), p.Counters)
	require.Equal(t, want, empty.verdicts(t))
	parents := l.parents(t)
	require.NotEmpty(t, parents)
	require.Equal(t, parents, empty.parents(t))
	require.Zero(t, p.Counters.Differences)
}
