package activities_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"gleaner/activities"
	"gleaner/internal/devstack/devtest"
	"gleaner/internal/devstack/devtest/temporaltest"
	"gleaner/internal/devstack/storetest"
	"gleaner/internal/gleaner"
	"gleaner/internal/harvest"
	"gleaner/internal/lab/catalogues"
	"gleaner/internal/library/collection"
	"gleaner/internal/service/config"
)

// attempt runs an activity, after an attempt that told details of how far it was
// (nil: none). It returns what this one told last, and its error.
func attempt[D any](t *testing.T, l *library, of, arg any, before *D, stop chan struct{}, result any) (*D, error) {
	t.Helper()
	l.newEnv()
	var mu sync.Mutex
	var last *D
	l.env.SetOnActivityHeartbeatListener(func(_ *activity.Info, details converter.EncodedValues) {
		mu.Lock()
		defer mu.Unlock()
		var d D
		if details.HasValues() && details.Get(&d) == nil {
			last = &d
		}
	})
	if before != nil {
		l.env.SetHeartbeatDetails(*before)
	}
	if stop != nil {
		l.env.SetWorkerStopChannel(stop)
	}
	v, err := l.env.ExecuteActivity(of, arg)
	if err == nil {
		require.NoError(t, v.Get(result))
	}
	mu.Lock()
	defer mu.Unlock()
	return last, err
}

// TestLocateCopiesGoesOnWhereItWas stops a worker while it asks for open copies:
// the next attempt asks for no paper of which the first had its answer kept.
func TestLocateCopiesGoesOnWhereItWas(t *testing.T) {
	t.Parallel()
	const papers, kept = 620, 500 // are asked for at a time
	c := catalogues.Catalogue{Venue: "conf/exa", Name: "EXA", Title: "Symposium on Examples", Volumes: []catalogues.Volume{{TOC: "db/conf/exa/exa2003", Year: 2003}}}
	for n := range papers {
		c.Volumes[0].Papers = append(c.Volumes[0].Papers, gleaner.Paper{Key: fmt.Sprintf("conf/exa/P%04d", n), Venue: c.Venue, Year: 2003, Title: fmt.Sprintf("Example Number %d Explained", n),
			DOI: fmt.Sprintf("10.1000/exa.%04d", n), Authors: []gleaner.Author{{PID: "1/1", Name: "Jane Roe"}}})
	}
	service := catalogues.New(c)
	stop := make(chan struct{})
	var mu sync.Mutex
	asked, stopped := map[string]int{}, false
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if list, ok := strings.CutPrefix(r.URL.Query().Get("filter"), "doi:"); ok && r.URL.Host == "api.openalex.org" {
			mu.Lock()
			dies := !stopped && len(asked) >= kept
			stopped = stopped || dies
			for doi := range strings.SplitSeq(list, "|") {
				asked[doi]++
			}
			mu.Unlock()
			if dies {
				close(stop)
				<-r.Context().Done()
				return
			}
		}
		resp, err := service.RoundTrip(r)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadGateway)
			return
		}
		defer resp.Body.Close()
		w.WriteHeader(resp.StatusCode)
		_, _ = io.Copy(w, resp.Body)
	}))
	t.Cleanup(proxy.Close)
	l := openLibrary(t, c.Venue, gleaner.Years{From: 2003, To: 2003}, map[string]string{"proxy": proxy.URL, "dblp-url": "http://dblp.org",
		"openalex-key": "x", "copies": "openalex", "search": "none"}, func(p *config.Policy) { p.Services.OpenAlex = "http://api.openalex.org" })
	l.do(t, l.acts.Stages.Begin, l.harvest, nil)
	l.do(t, l.acts.Stages.ListPapers, l.harvest, nil)

	var s harvest.Seeded
	at, err := attempt[harvest.Asked](t, l, l.acts.Stages.LocateCopies, l.harvest, nil, stop, &s)
	require.Error(t, err)
	require.NotNil(t, at)
	require.Equal(t, kept, at.Done)
	_, err = attempt(t, l, l.acts.Stages.LocateCopies, l.harvest, at, nil, &s)
	require.NoError(t, err)
	require.Equal(t, papers, s.URLs, "those of the first attempt, too")
	require.Equal(t, papers, len(asked))
	twice := 0
	for _, n := range asked {
		if n > 1 {
			twice++
		}
	}
	require.Less(t, twice, papers-kept, "some of those whose answer was under way")
	missing, err := l.DB.Missing(t.Context(), l.harvest.ID)
	require.NoError(t, err)
	for _, p := range missing[:kept] {
		require.Equal(t, 1, asked[p.DOI], p.Key)
	}
}

// breakAt makes the database refuse changes of a table's rows that belong to a
// site, until it is mended.
func (l *library) breakAt(t *testing.T, table, host string) (mend func()) {
	t.Helper()
	storetest.Exec(t, l.DB.Pool, fmt.Sprintf(`CREATE OR REPLACE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
		IF NEW.site_id=(SELECT id FROM sites WHERE host='%s') THEN RAISE 'the disk is full'; END IF; RETURN NEW; END $$`, host))
	storetest.Exec(t, l.DB.Pool,
		`CREATE TRIGGER refuse BEFORE INSERT OR UPDATE ON `+table+` FOR EACH ROW EXECUTE FUNCTION refuse()`)
	return func() { storetest.Exec(t, l.DB.Pool, `DROP TRIGGER refuse ON `+table) }
}

// TestSeedHomepagesGoesOnWhereItWas: what the first attempt seeded is taken away
// by hand, and the next one does not bring it back.
func TestSeedHomepagesGoesOnWhereItWas(t *testing.T) {
	t.Parallel()
	l := newLibrary(t, 12, nil)
	l.prepare(t, l.harvest)
	joined := `SELECT s.host FROM harvest_sites h JOIN sites s ON s.id=h.site_id WHERE h.harvest_id=$1 AND h.origin='homepage' ORDER BY s.host COLLATE "C"`
	hosts := storetest.Column[string](t, l.DB.Pool, joined, l.harvest.ID)
	require.GreaterOrEqual(t, len(hosts), 4)
	storetest.Exec(t, l.DB.Pool, `DELETE FROM harvest_sites`)
	middle := len(hosts) / 2
	mend := l.breakAt(t, "harvest_sites", hosts[middle])
	var s harvest.Seeded
	at, err := attempt[map[string]any](t, l, l.acts.Stages.SeedHomepages, l.harvest, nil, nil, &s)
	require.ErrorContains(t, err, "the disk is full")
	require.Equal(t, hosts[:middle], storetest.Column[string](t, l.DB.Pool, joined, l.harvest.ID))
	mend()
	storetest.Exec(t, l.DB.Pool, `DELETE FROM harvest_sites`)
	_, err = attempt(t, l, l.acts.Stages.SeedHomepages, l.harvest, at, nil, &s)
	require.NoError(t, err)
	require.Equal(t, hosts[middle:], storetest.Column[string](t, l.DB.Pool, joined, l.harvest.ID))
	require.Equal(t, len(hosts), s.Hosts, "the first attempt's count, too")
}

// TestRequeueGoesOnWhereItWas: what the first attempt put back, and what failed
// again since, is not put back by the next.
func TestRequeueGoesOnWhereItWas(t *testing.T) {
	t.Parallel()
	l := newLibrary(t, 12, nil)
	l.prepare(t, l.harvest)
	fail := func(sql string, args ...any) {
		storetest.Exec(t, l.DB.Pool, `UPDATE urls SET state=4, outcome='server-error' WHERE seq IN (`+sql+`)`, args...)
	}
	one := `SELECT min(u.seq) FROM urls u JOIN harvest_sites h USING (site_id) JOIN sites s ON s.id=site_id WHERE harvest_id=$1`
	fail(one+` GROUP BY site_id`, l.harvest.ID)
	failed := `SELECT DISTINCT s.host COLLATE "C" FROM urls u JOIN harvest_sites h USING (site_id) JOIN sites s ON s.id=site_id WHERE harvest_id=$1 AND u.outcome='server-error' AND u.state=4 ORDER BY 1`
	hosts := storetest.Column[string](t, l.DB.Pool, failed, l.harvest.ID)
	require.GreaterOrEqual(t, len(hosts), 4)
	middle := len(hosts) / 2
	mend := l.breakAt(t, "urls", hosts[middle])
	what := activities.Retry{Harvest: l.harvest.ID, Reason: "server-error"}
	var n activities.Requeued
	at, err := attempt[map[string]any](t, l, l.acts.Stages.Requeue, what, nil, nil, &n)
	require.ErrorContains(t, err, "the disk is full")
	require.Equal(t, hosts[middle:], storetest.Column[string](t, l.DB.Pool, failed, l.harvest.ID))
	mend()
	fail(one+` AND s.host=$2`, l.harvest.ID, hosts[0])
	_, err = attempt(t, l, l.acts.Stages.Requeue, what, at, nil, &n)
	require.NoError(t, err)
	require.Equal(t, hosts[:1], storetest.Column[string](t, l.DB.Pool, failed, l.harvest.ID))
	require.Equal(t, len(hosts), n.URLs, "the first attempt's count, too")
}

// TestMatchHeldGoesOnWhereItWas: the documents before the position are not looked
// at again.
func TestMatchHeldGoesOnWhereItWas(t *testing.T) {
	t.Parallel()
	l := newHarvested(t)
	matched := `SELECT d.id::text FROM documents d WHERE first_pages <> '' AND state <> 'failed' AND ($1 OR EXISTS (SELECT 1 FROM matches m WHERE m.sha256=d.sha256)) ORDER BY d.id`
	all := storetest.Column[string](t, l.DB.Pool, matched, true)
	some := storetest.Column[string](t, l.DB.Pool, matched, false)
	require.Greater(t, len(some), 4)
	middle := len(some) / 2
	before, err := strconv.ParseInt(some[middle-1], 10, 64)
	require.NoError(t, err)
	done := slices.Index(all, some[middle-1]) + 1
	for _, sql := range []string{`DELETE FROM matches`, `UPDATE record SET wanted=wanted+1`, // all are wanted as of now
		`INSERT INTO wanted_changes SELECT DISTINCT paper_key, (SELECT wanted FROM record) FROM harvest_papers ON CONFLICT (paper_key) DO UPDATE SET version=EXCLUDED.version`} {
		storetest.Exec(t, l.DB.Pool, sql)
	}
	var at collection.Position
	held := activities.HeldSearch{Harvest: l.harvest.ID}
	_, err = attempt(t, l, l.acts.Documents.MatchHeld, held, &collection.Position{After: before, Done: done}, nil, &at)
	require.NoError(t, err)
	require.Equal(t, some[middle:], storetest.Column[string](t, l.DB.Pool, matched, false))
	require.Greater(t, at.Done, done, "the first attempt's count, too")
}

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
	storetest.Exec(t, l.DB.Pool, `INSERT INTO sites (host) VALUES ('a.example')`)

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
	require.Contains(t, storetest.Get[string](t, l.DB.Pool,
		`SELECT reason FROM sites`), "70 links within /~ada/ were left out")
	ends(begin(), true) // as where its end was not heard
	require.Equal(t, 1, storetest.Get[int](t, l.DB.Pool, `SELECT count(*) FROM leads`))
}

const silence = 2 * time.Second

// sliceOnce is a workflow of one attempt at a slice.
func sliceOnce(ctx workflow.Context, host string) (s activities.Slice, err error) {
	once := &temporal.RetryPolicy{MaximumAttempts: 1}
	o := workflow.ActivityOptions{HeartbeatTimeout: silence, StartToCloseTimeout: time.Hour, RetryPolicy: once}
	err = workflow.ExecuteActivity(workflow.WithActivityOptions(ctx, o), "CrawlSlice", host, false).Get(ctx, &s)
	return s, err
}
