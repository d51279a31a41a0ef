package reconcile_test

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gleaner/internal/devstack/devtest"
	"gleaner/internal/devstack/storetest"
	"gleaner/internal/each"
	"gleaner/internal/gleaner"
	"gleaner/internal/harvest/reconcile"
	"gleaner/internal/record/collections"
	"gleaner/internal/record/store"
	"gleaner/internal/recrawl"
)

func TestMain(m *testing.M) { os.Exit(devtest.Main(m)) }

// workflows are what Temporal says, by host or harvest; what is not in it is
// not known.
type workflows struct {
	status map[string]reconcile.Status
	asked  func(id string) // runs before a status is returned; may be nil
	judged int
	waits  map[string][]string // of recrawls
	begun  []string            // harvests
}

func (w *workflows) Status(_ context.Context, id string) (reconcile.Status, error) {
	if w.asked != nil {
		w.asked(id)
	}
	return cmp.Or(w.status[id], reconcile.Unknown), nil
}
func (w *workflows) Collect(context.Context, collections.OpenRun) error { return nil }
func (w *workflows) Waits(_ context.Context, id string) ([]string, error) {
	return w.waits[id], nil
}
func (w *workflows) Start(_ context.Context, h store.Harvest) error {
	w.begun = append(w.begun, h.ID+map[bool]string{true: " paused"}[h.Paused])
	return nil
}
func (w *workflows) JudgeLeft(context.Context) error { w.judged++; return nil }

func (w *workflows) run(t *testing.T, db *store.DB, o reconcile.Options) ([]reconcile.Repair, error) {
	same := func(name string) string { return name }
	r := reconcile.Reconciler{DB: db, Workflows: w, Recrawl: recrawl.Defaults(), Log: slog.New(slog.DiscardHandler),
		IDs: reconcile.IDs{Site: same, Harvest: same, Collection: func(name string) string { return "collections " + name },
			Job: func(kind string, id int64) string { return fmt.Sprint(kind, " ", id) }}}
	return r.Run(t.Context(), o)
}

func (w *workflows) mends(t *testing.T, db *store.DB, o reconcile.Options) []reconcile.Repair {
	t.Helper()
	return devtest.Must(w.run(t, db, o))(t)
}

// What a night of crashes left: each row says what it is.
const wreck = `
INSERT INTO sites (host, state, crawl, crawl_started, holder, expires_at) VALUES
	('runs.example', 'crawling', 1, now() - interval '1 day', '', '-infinity'),
	('leased.example', 'crawling', 1, now() - interval '1 day', 'another', now() + interval '1 minute'),
	('terminated.example', 'crawling', 1, now() - interval '1 day', 'dead', now() - interval '1 day'),
	('lost.example', 'crawling', 1, now() - interval '1 day', '', '-infinity'),
	('rests.example', 'done', 1, now() - interval '1 day', 'dead', now() - interval '1 day');
INSERT INTO robots (host, status, available, failures, fetched_at, expires_at) VALUES
	('shut.example', 503, false, 7, now() - interval '9 days', now() - interval '8 days'),
	('open.example', 200, true, 0, now() - interval '9 days', now() - interval '8 days');
INSERT INTO documents (sha256, sha1, md5, bytes, kind, state, updated_at) VALUES
	('left', '', '', 1, 'pdf', 'new', now() - interval '1 day'),
	('fresh', '', '', 1, 'pdf', 'new', now()),
	('judged', '', '', 1, 'pdf', 'accepted', now() - interval '1 day');
INSERT INTO jobs (kind, options, state, updated_at) VALUES
	('import', '{}', 'running', now() - interval '1 day'),
	('import', '{}', 'running', now() - interval '1 day'),
	('retrieve', '{}', 'running', now()),
	('whitelist', '{}', 'ended', now() - interval '1 day'),
	('clean-documents', '{}', 'new', now() - interval '1 day');
INSERT INTO collections (name, options, topics, state, asked_at) VALUES
	('runs', '{}', '[]', 'running', now() - interval '9 days'),
	('lost', '{}', '[]', 'running', now() - interval '9 days'),
	('asked', '{}', '[]', 'new', now()),
	('over', '{}', '[]', 'ended', now() - interval '9 days');
`

// Nothing is "processing" for ever, whoever died, and what lives is left alone, also
// by a worker whose clock is half an hour ahead of the record's.
func TestRunMendsWhatCrashesLeft(t *testing.T) {
	t.Parallel()
	for _, behind := range []time.Duration{0, 30 * time.Minute} {
		t.Run(fmt.Sprint("the record is behind by ", behind), func(t *testing.T) {
			t.Parallel()
			mendsWhatCrashesLeft(t, devtest.PostgresApart(t, -behind))
		})
	}
}

func mendsWhatCrashesLeft(t *testing.T, dsn string) {
	db := storetest.At(t, dsn, 2)
	storetest.Exec(t, db.Pool, wreck)
	w := &workflows{status: map[string]reconcile.Status{"runs.example": reconcile.Runs, "leased.example": reconcile.Terminated, "terminated.example": reconcile.Terminated,
		"import 1": reconcile.Runs, "import 2": reconcile.Terminated, "retrieve 3": reconcile.Terminated, "collections runs": reconcile.Runs}}
	kinds := func(rs []reconcile.Repair) map[string]string {
		out := map[string]string{}
		for _, p := range rs {
			out[string(p.Kind)] = strings.TrimSpace(out[string(p.Kind)] + " " + p.What)
		}
		return out
	}
	want := map[string]string{"site-stopped": "terminated.example", "site-requeued": "lost.example", "job-failed": "2 5", "collection-failed": "lost", "documents-judged": "1", "lease-dropped": "2", "robots-forgotten": "1"}
	require.Equal(t, want, kinds(w.mends(t, db, reconcile.Options{DryRun: true})))
	require.Zero(t, w.judged)
	require.Equal(t, want, kinds(w.mends(t, db, reconcile.Options{})))
	require.Equal(t, 1, w.judged)

	states := map[string]gleaner.SiteState{}
	for _, host := range []string{"runs.example", "leased.example", "terminated.example", "lost.example", "rests.example"} {
		s := devtest.Must(db.Site(t.Context(), host))(t)
		states[host] = s.State
	}
	require.Equal(t, map[string]gleaner.SiteState{"runs.example": "crawling", "leased.example": "crawling", "terminated.example": "stopped", "lost.example": "done", "rests.example": "done"}, states)
	jobs := devtest.Must(db.Jobs(t.Context()))(t)
	notes := map[int64]string{}
	for _, j := range jobs {
		notes[j.ID] = j.State + ": " + j.Note
	}
	require.Equal(t, map[int64]string{1: "running: ", 2: "failed: its workflow was terminated; `starter jobs run 2` runs it again", 3: "running: ", 4: "ended: ",
		5: "failed: its workflow is not known to Temporal; `starter jobs run 5` runs it again"}, notes)
	due, _, err := db.DueSites(t.Context(), store.Selection{}, false, "", 10)
	require.NoError(t, err)
	require.Equal(t, []string{"lost.example"}, due, "the next recrawl takes it up")

	storetest.Exec(t, db.Pool, `UPDATE documents SET state='accepted' WHERE sha256='left'`) // as the workflow does
	require.Empty(t, w.mends(t, db, reconcile.Options{}))
}

// TestRunLeavesWhatGoesOnMeanwhile: a worker takes a site, and a person asks for a collection, after the record was read.
func TestRunLeavesWhatGoesOnMeanwhile(t *testing.T) {
	t.Parallel()
	db := storetest.Open(t, 2)
	storetest.Exec(t, db.Pool, wreck)
	w := &workflows{status: map[string]reconcile.Status{"terminated.example": reconcile.Terminated, "runs.example": reconcile.Runs}}
	w.asked = func(id string) {
		storetest.Exec(t, db.Pool, `UPDATE sites SET token=token+1 WHERE host=$1`, id)
		if name, ok := strings.CutPrefix(id, "collections "); ok {
			_, _, err := collections.In(db).Submit(t.Context(), name, struct{}{}, []string{})
			require.NoError(t, err)
		}
	}
	for _, p := range w.mends(t, db, reconcile.Options{}) {
		require.NotContains(t, []reconcile.Kind{reconcile.StopSite, reconcile.RequeueSite, reconcile.EndCollection}, p.Kind, p.What)
	}
	require.Equal(t, "running", storetest.Get[string](t, db.Pool, `SELECT state FROM collections WHERE name='lost'`))
	for _, host := range []string{"terminated.example", "lost.example"} {
		s := devtest.Must(db.Site(t.Context(), host))(t)
		require.Equal(t, gleaner.SiteCrawling, s.State, host)
	}
}

// A recrawl that was terminated, or lost, leaves the sites that it had put back: what
// nobody else wants ends. One that began again meanwhile keeps what it put back since.
func TestRunLeavesTheSitesOfRecrawlsThatDoNotRun(t *testing.T) {
	t.Parallel()
	db := storetest.Open(t, 2)
	storetest.Exec(t, db.Pool, `INSERT INTO sites (host, state, crawl, crawl_started, recrawled_for, due_at) VALUES
		('dead.example', 'crawling', 1, now(), '{recrawl/due}', now() + interval '1 hour'),
		('both.example', 'new', 1, now(), '{recrawl/due,recrawl/conf/a}', now() + interval '1 hour'),
		('again.example', 'new', 1, now(), '{recrawl/due}', now() + interval '25 hours'),
		('other.example', 'done', 1, now(), NULL, now())`)
	w := &workflows{status: map[string]reconcile.Status{"dead.example": reconcile.Runs, "recrawl/due": reconcile.Terminated, "recrawl/conf/a": reconcile.Runs}}
	wanted := func(host string) bool {
		s := devtest.Must(db.Site(t.Context(), host))(t)
		attention, err := db.Attention(t.Context(), s.ID)
		cancelled := attention[s.ID].Cancelled
		require.NoError(t, err)
		return !cancelled
	}
	require.True(t, wanted("dead.example"))
	for _, dry := range []bool{true, false} {
		done := w.mends(t, db, reconcile.Options{DryRun: dry})
		require.Len(t, done, 1)
		require.Equal(t, []string{"recrawl-left", "recrawl/due", "it was terminated"}, []string{string(done[0].Kind), done[0].What, done[0].Reason})
	}
	for host, want := range map[string]bool{"dead.example": false, "both.example": true, "again.example": true, "other.example": true} {
		require.Equal(t, want, wanted(host), host)
	}
	w.status["recrawl/due"] = reconcile.Runs
	require.Empty(t, w.mends(t, db, reconcile.Options{}))
}

// TestASiteThatARecrawlWaitsForIsNotLost: it waits as new, and nobody crawls it.
func TestASiteThatARecrawlWaitsForIsNotLost(t *testing.T) {
	t.Parallel()
	db := storetest.Open(t, 2)
	storetest.Exec(t, db.Pool, `INSERT INTO sites (host, state, crawl, crawl_started, recrawled_for, due_at) VALUES
		('lost.example', 'new', 1, now() - interval '1 day', '{recrawl/due}', now() + interval '1 hour'),
		('next.example', 'new', 1, now() - interval '1 day', '{recrawl/due}', now() + interval '1 hour')`)
	w := &workflows{status: map[string]reconcile.Status{"recrawl/due": reconcile.Runs}, waits: map[string][]string{"recrawl/due": {"lost.example"}}}
	done := w.mends(t, db, reconcile.Options{})
	require.Len(t, done, 1)
	require.Equal(t, "lost.example", done[0].What)
	ended := devtest.Must(db.EndedSites(t.Context(), []string{"lost.example", "next.example"}, ""))(t)
	require.Equal(t, []string{"lost.example"}, ended, "the recrawl does not wait for it any more")
	ended = devtest.Must(db.EndedSites(t.Context(), []string{"next.example"}, "recrawl/due"))(t)
	require.Empty(t, ended)
	ended = devtest.Must(db.EndedSites(t.Context(), []string{"next.example"}, "recrawl/other"))(t)
	require.Equal(t, []string{"next.example"}, ended, "its crawl for that one has ended, and this one is for another")
}

// TestARepairThatFailsEndsNoOther: what fails is returned, and all else is mended.
func TestARepairThatFailsEndsNoOther(t *testing.T) {
	t.Parallel()
	db := storetest.Open(t, 2)
	storetest.Exec(t, db.Pool, wreck+`
		CREATE FUNCTION fails() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RAISE EXCEPTION ''fails''; END';
		CREATE TRIGGER fails BEFORE UPDATE ON sites FOR EACH ROW WHEN (OLD.state = 'crawling') EXECUTE FUNCTION fails()`)
	w := &workflows{status: map[string]reconcile.Status{"runs.example": reconcile.Runs, "terminated.example": reconcile.Terminated}}
	done, err := w.run(t, db, reconcile.Options{})
	require.Error(t, err)
	require.Equal(t, 1, w.judged)
	kinds := each.Set(done, func(d reconcile.Repair) reconcile.Kind { return d.Kind })
	require.True(t, kinds[reconcile.EndJob] && kinds[reconcile.EndCollection], "%v", done)
}

// TestACrawlThatIsTakenUpMeanwhileGoesOn: a crawl that was found lost, and whose site another
// takes up while it is mended, is not ended.
func TestACrawlThatIsTakenUpMeanwhileGoesOn(t *testing.T) {
	t.Parallel()
	db := storetest.Open(t, 4)
	ctx := t.Context()
	storetest.Exec(t, db.Pool, `INSERT INTO sites (host, state, crawl, token) VALUES ('a.example', 'crawling', 1, 7)`)
	tx := devtest.Must(db.Pool.Begin(ctx))(t)
	storetest.Exec(t, tx, `UPDATE sites SET token=8 WHERE host='a.example'`)
	stopped := make(chan bool)
	go func() {
		same, err := db.StopCrawl(ctx, store.OpenCrawl{Host: "a.example", State: gleaner.SiteCrawling, Crawl: 1, Token: 7}, "lost", recrawl.Defaults())
		stopped <- same || err != nil
	}()
	storetest.AwaitLock(t, db.Pool) // it waits for the row
	require.NoError(t, tx.Commit(ctx))
	require.False(t, <-stopped)
	s := devtest.Must(db.Site(ctx, "a.example"))(t)
	require.Equal(t, gleaner.SiteCrawling, s.State)
}

// TestWhatWasPausedDoesNotGoOnByItself: a paused harvest or collection that Temporal does not know may
// be another server's, and stays paused. Where it is lost, its crawls end when they look again, and do not ask
// their hosts, until somebody resumes it after all.
func TestWhatWasPausedDoesNotGoOnByItself(t *testing.T) {
	t.Parallel()
	ctx, db := t.Context(), storetest.Open(t, 2)
	w := &workflows{}
	storetest.Exec(t, db.Pool, `INSERT INTO collections (name, options, topics, state, paused_at) VALUES ('some', '{}', '[]', 'running', now())`)
	_, err := w.run(t, db, reconcile.Options{})
	require.ErrorIs(t, err, reconcile.ErrOthers)
	storetest.Exec(t, db.Pool, `DELETE FROM collections`)
	storetest.Exec(t, db.Pool, `INSERT INTO sites (host, state, crawl, crawl_started) VALUES ('a.example', 'crawling', 1, now())`)
	storetest.Exec(t, db.Pool, `INSERT INTO harvests (id, venue, year_from, year_to, paused, updated_at) VALUES
		('conf/a/1', 'conf/a', 1, 1, true, now() - interval '1 hour')`)
	storetest.Exec(t, db.Pool, `INSERT INTO harvest_sites (harvest_id, site_id, origin) VALUES ('conf/a/1', 1, 'homepage')`)
	attention := func(want store.Attention) {
		of := devtest.Must(db.Attention(ctx, 1))(t)
		require.Equal(t, want, of[1])
	}
	_, err = w.run(t, db, reconcile.Options{})
	require.ErrorIs(t, err, reconcile.ErrOthers)
	attention(store.Attention{Paused: true})
	_, err = w.run(t, db, reconcile.Options{Restart: true, DryRun: true})
	require.NoError(t, err, "a restart is asked for where Temporal's data is lost")
	w.status = map[string]reconcile.Status{"conf/a/1": reconcile.Terminated}
	w.mends(t, db, reconcile.Options{})
	attention(store.Attention{Cancelled: true})
	storetest.Exec(t, db.Pool, `UPDATE sites SET state='stopped', reason=$1`, store.NotWanted) // its crawl looked
	require.NoError(t, db.SetPaused(ctx, "conf/a/1", false))
	attention(store.Attention{})
	require.Equal(t, "new", storetest.Get[string](t, db.Pool, `SELECT state FROM sites`), "it is crawled again")
}

// TestARestartTakesHarvestsThatWereLost: after a restore a worker ends them before anybody can ask for the restart.
func TestARestartTakesHarvestsThatWereLost(t *testing.T) {
	t.Parallel()
	db := storetest.Open(t, 2)
	storetest.Exec(t, db.Pool, `INSERT INTO harvests (id, venue, year_from, year_to, paused, updated_at) VALUES
		('lost', 'conf/a', 1, 1, true, now() - interval '1 hour'), ('ended', 'conf/b', 1, 1, false, now() - interval '1 hour')`)
	w := &workflows{status: map[string]reconcile.Status{"ended": reconcile.Terminated}}
	require.Len(t, w.mends(t, db, reconcile.Options{}), 2, "both are failed")
	storetest.Exec(t, db.Pool, `INSERT INTO sites (host, holder, state, expires_at)
		VALUES ('page.example', 'alive', 'done', now() + interval '1 hour')`)
	done, err := w.run(t, db, reconcile.Options{Restart: true})
	require.NoError(t, err, "what was lost is not under way on another server")
	require.Equal(t, []string{"lost paused"}, w.begun, "a person paused it")
	require.Len(t, done, 1)
	require.Regexp(t, "^it was lost: its workflow is not known to Temporal in stage", done[0].Reason)
}
