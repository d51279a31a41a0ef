package store_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"gleaner/internal/devstack/devtest"
	"gleaner/internal/devstack/storetest"
	"gleaner/internal/gleaner"
	"gleaner/internal/record/frontier"
	"gleaner/internal/record/store"
	"gleaner/internal/recrawl"
)

// failing collects what the server refuses.
type failing struct {
	mu    sync.Mutex
	codes []string
}

func (f *failing) saw(err error) {
	if pg, ok := errors.AsType[*pgconn.PgError](err); ok {
		f.mu.Lock()
		f.codes = append(f.codes, pg.Code)
		f.mu.Unlock()
	}
}

func (f *failing) TraceQueryStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceQueryStartData) context.Context {
	return ctx
}
func (f *failing) TraceQueryEnd(_ context.Context, _ *pgx.Conn, d pgx.TraceQueryEndData) {
	f.saw(d.Err)
}
func (f *failing) TraceBatchStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceBatchStartData) context.Context {
	return ctx
}
func (f *failing) TraceBatchQuery(_ context.Context, _ *pgx.Conn, d pgx.TraceBatchQueryData) {
	f.saw(d.Err)
}
func (f *failing) TraceBatchEnd(_ context.Context, _ *pgx.Conn, d pgx.TraceBatchEndData) {
	f.saw(d.Err)
}

// watched is a record whose refusals are seen.
func watched(t *testing.T) (*store.DB, *failing) {
	dsn := devtest.Postgres(t)
	first := devtest.Must(store.Open(t.Context(), dsn, 2))(t)
	first.Close()
	cfg := devtest.Must(pgxpool.ParseConfig(dsn))(t)
	f := &failing{}
	cfg.ConnConfig.Tracer, cfg.MaxConns = f, 8
	pool := devtest.Must(pgxpool.NewWithConfig(t.Context(), cfg))(t)
	t.Cleanup(pool.Close)
	return store.New(pool), f
}

// TestHarvestsSaveTheSamePeople: two harvests list papers of the same people, each
// in its order, and neither stands in the other's way.
func TestHarvestsSaveTheSamePeople(t *testing.T) {
	t.Parallel()
	db, refused := watched(t)
	of := func(pids ...string) (papers []gleaner.Paper) {
		for _, pid := range pids {
			papers = append(papers, gleaner.Paper{Key: "conf/" + pids[0] + "/" + pid, Venue: "v", Year: 2003, Title: pid, Authors: []gleaner.Author{{PID: pid, Name: pid}}})
		}
		return papers
	}
	require.NoError(t, db.SavePapers(t.Context(), of("m", "a", "z"), nil))
	held := devtest.Must(db.Pool.Begin(t.Context()))(t)
	storetest.Exec(t, held, `SELECT FROM authors WHERE pid='m' FOR UPDATE`)
	saved := make(chan error)
	for _, papers := range [][]gleaner.Paper{of("a", "m", "z"), of("z", "m", "a")} {
		go func() { saved <- db.SavePapers(context.Background(), papers, nil) }()
	}
	require.Eventually(t, func() bool { // in the middle of both
		return storetest.Get[int](t, db.Pool, `SELECT count(*) FROM pg_stat_activity
			WHERE datname = current_database() AND wait_event_type = 'Lock'`) == 2
	}, 30*time.Second, time.Millisecond)
	require.NoError(t, held.Commit(t.Context()))
	require.NoError(t, <-saved)
	require.NoError(t, <-saved)
	require.Empty(t, refused.codes)
	require.Len(t, devtest.Must(db.Papers(t.Context(), "v", gleaner.Years{From: 2003, To: 2003}))(t), 9)
	linked := storetest.Get[int](t, db.Pool, `SELECT count(*) FROM paper_authors pa JOIN papers p ON p.key=pa.paper_key AND p.title=(SELECT pid FROM authors WHERE id=pa.author_id)`)
	require.Equal(t, 9, linked)
}

// TestATransactionThatWasUndoneIsDoneAgain: of two that stand in each other's way
// both pass.
func TestATransactionThatWasUndoneIsDoneAgain(t *testing.T) {
	t.Parallel()
	db, refused := watched(t)
	for _, host := range []string{"a.test", "b.test"} {
		_, err := store.EnsureSite(t.Context(), db.Pool, host)
		require.NoError(t, err)
	}
	var both sync.WaitGroup
	both.Add(2)
	done := make(chan error)
	add := func(first, second string) {
		begun := false
		done <- db.Tx(context.Background(), func(tx pgx.Tx) error {
			for i, host := range []string{first, second} {
				if _, err := tx.Exec(context.Background(), `UPDATE sites SET crawl = crawl + 1 WHERE host=$1`, host); err != nil {
					return err
				}
				if i == 0 && !begun {
					begun = true
					both.Done()
					both.Wait()
				}
			}
			return nil
		})
	}
	go add("a.test", "b.test")
	go add("b.test", "a.test")
	require.NoError(t, <-done)
	require.NoError(t, <-done)
	// On a busy machine they may meet again.
	require.Equal(t, []string{"40P01"}, slices.Compact(refused.codes))
	for _, host := range []string{"a.test", "b.test"} {
		require.Equal(t, 2, devtest.Must(db.Site(t.Context(), host))(t).Crawl, host)
	}
}

// TestWhatIsTriedAgain: what another try mends, and that only so often.
func TestWhatIsTriedAgain(t *testing.T) {
	t.Parallel()
	db, _ := watched(t)
	tries := func(code string, until int) (n int, err error) {
		err = db.Tx(t.Context(), func(tx pgx.Tx) error {
			if n++; n == until {
				return nil
			}
			_, err := tx.Exec(t.Context(), `DO $$ BEGIN RAISE 'no' USING ERRCODE = '`+code+`'; END $$`)
			return err
		})
		return n, err
	}
	n := devtest.Must(tries("40001", 3))(t)
	require.Equal(t, 3, n)
	n, err := tries("40001", -1)
	require.True(t, store.Crossed(err), err)
	require.Equal(t, 5, n)
	n, err = tries("23505", -1)
	require.True(t, store.Unfit(err), err)
	require.Equal(t, 1, n)

	storetest.Exec(t, db.Pool, `CREATE SEQUENCE tried`) // which no rollback sets back
	b := &pgx.Batch{}
	b.Queue(`DO $$ BEGIN IF nextval('tried') < 3 THEN RAISE 'no' USING ERRCODE = '40001'; END IF; END $$`)
	require.NoError(t, db.Send(t.Context(), b))
}

// TestARetryOfManyHoldsASiteForSome: while the last of many URLs cannot be put back yet,
// those before are on record, and each is put back once; so it is with a recrawl, also of a
// site whose crawl begins meanwhile.
func TestARetryOfManyHoldsASiteForSome(t *testing.T) {
	t.Parallel()
	for name, requeue := range map[string]func(*store.DB) (int, error){
		"retry": func(db *store.DB) (int, error) {
			return db.RequeueFailed(context.Background(), store.RetryFilter{Host: "ada.test"})
		},
		"recrawl": func(db *store.DB) (int, error) {
			storetest.Exec(t, db.Pool, `CREATE FUNCTION begins() RETURNS trigger LANGUAGE plpgsql AS $$
				BEGIN UPDATE sites SET state='crawling'; RETURN NULL; END $$;
				CREATE TRIGGER begins AFTER UPDATE ON urls
				FOR EACH ROW WHEN (new.hash=int4send(2)) EXECUTE FUNCTION begins()`)
			due := store.PutBack{For: "recrawl/due"}
			n, err := db.RequeueDue(context.Background(), "ada.test", due, recrawl.Defaults())
			held := storetest.Get[string](t, db.Pool, `SELECT concat_ws(' ', state, recrawled_for, recrawls) FROM sites`)
			assert.Equal(t, "crawling {recrawl/due} 1", held)
			return n + 1, err // one failed again
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db := storetest.Open(t, 4)
			storetest.Exec(t, db.Pool, `INSERT INTO sites (host) VALUES ('ada.test')`)
			storetest.Exec(t, db.Pool, `INSERT INTO urls (site_id, hash, url, state, outcome, fetched_at, due_at)
				SELECT s.id, int4send(i), 'http://ada.test/'||i, 3, 'timeout', now(), now() FROM sites s, generate_series(1, 5001) i`)
			other := devtest.Must(db.Pool.Begin(t.Context()))(t)
			t.Cleanup(func() { _ = other.Rollback(context.Background()) })
			storetest.Exec(t, other, `SELECT FROM urls WHERE hash=int4send(5001) FOR UPDATE`)
			retried := make(chan int)
			go func() {
				n, err := requeue(db)
				assert.NoError(t, err)
				retried <- n
			}()
			storetest.AwaitLock(t, db.Pool)
			require.Equal(t, 5000, storetest.Get[int](t, db.Pool, `SELECT count(*) FROM urls WHERE state=0`))
			storetest.Exec(t, db.Pool, `UPDATE urls SET state=3 WHERE hash=int4send(1)`) // it failed again
			require.NoError(t, other.Commit(t.Context()))
			require.Equal(t, 5001, <-retried)
			require.Equal(t, 1, storetest.Get[int](t, db.Pool, `SELECT count(*) FROM urls WHERE state=3`))
		})
	}
}

// TestARetryLocksAsACrawlDoes: the site first, and then its URLs.
func TestARetryLocksAsACrawlDoes(t *testing.T) {
	t.Parallel()
	db, refused := watched(t)
	id := devtest.Must(store.EnsureSite(t.Context(), db.Pool, "ada.test"))(t)
	storetest.Exec(t, db.Pool, `INSERT INTO urls (site_id, hash, url, state, outcome, fetched_at) VALUES ($1, '\x01', 'http://ada.test/', 3, 'timeout', now())`, id)
	crawl := devtest.Must(db.Pool.Begin(t.Context()))(t)
	t.Cleanup(func() { _ = crawl.Rollback(context.Background()) })
	storetest.Exec(t, crawl, `UPDATE sites SET crawl_pages = crawl_pages + 1 WHERE id=$1`, id)
	retried := make(chan error, 1)
	go func() {
		n, err := db.RequeueFailed(context.Background(), store.RetryFilter{Host: "ada.test"})
		if n != 1 {
			t.Errorf("%d URLs were put back", n)
		}
		retried <- err
	}()
	storetest.AwaitLock(t, db.Pool)
	storetest.Exec(t, crawl, `UPDATE urls SET tries = tries + 1 WHERE site_id=$1`, id)
	require.NoError(t, crawl.Commit(t.Context()))
	require.NoError(t, <-retried)
	require.Empty(t, refused.codes)
}

// TestOnlyTheHolderSaysWhatIsCurrent: a worker that stood still between the answer
// and the record, while another took its site over and fetched a newer version, does
// not put the older one in its place.
func TestOnlyTheHolderSaysWhatIsCurrent(t *testing.T) {
	t.Parallel()
	db := storetest.Open(t, 4)
	site := devtest.Must(store.EnsureSite(t.Context(), db.Pool, "a.example"))(t)
	none := func() error { return nil }
	save := func(sha string, token int64) error {
		return db.SaveFetched(t.Context(), store.Document{SHA256: sha, Kind: "pdf"},
			store.Location{Hash: []byte{1}, SiteID: site, URL: "http://a.example/1.pdf", Found: time.Now(), Token: token}, none)
	}
	hold := func(token int64) {
		storetest.Exec(t, db.Pool, `UPDATE sites SET token=$2 WHERE id=$1`, site, token)
	}
	hold(7)
	require.NoError(t, save("first", 7))
	hold(8) // another takes over
	require.NoError(t, save("second", 8))
	require.ErrorIs(t, save("old", 7), store.ErrNotHeld)
	current := storetest.Get[string](t, db.Pool, `SELECT string_agg(sha256, ' ') FROM locations WHERE current`)
	require.Equal(t, "second", current)
	_, _, err := db.Document(t.Context(), "old")
	require.ErrorIs(t, err, store.ErrNoDocument, "nothing of it is on record")
	require.NoError(t, save("by hand", 0), "what no crawl brings has no lease")
}

// TestManyLinksHoldNoOtherHost: while a slice enters the many links of a page that leads to
// another host, or a harvest takes links that were kept, that host's lease is renewed. What
// a slice enters is known to be new, and of kept links those before are on record already.
func TestManyLinksHoldNoOtherHost(t *testing.T) {
	t.Parallel()
	at := func(host string, n int) (e frontier.Entry) {
		e.Link.URL = fmt.Sprintf("http://%s/%d", host, n)
		return e
	}
	leads := map[string][]frontier.Entry{"b.example": {at("b.example", 0)}}
	slice := func(t *testing.T, db *store.DB, site int, links []frontier.Entry) {
		batch := &frontier.Batch{Visits: []frontier.Visit{{Entry: &links[0], State: frontier.Page}}, Links: links, Leads: leads}
		w, err := db.WriteSlice(t.Context(), store.Slice{SiteID: site, Crawl: 1}, store.SliceWrite{Batch: batch})
		assert.NoError(t, err)
		assert.Len(t, w.Added, 599, "all but the one that another added")
		assert.True(t, w.Added[links[1].Hash()].New)
	}
	kept := func(t *testing.T, db *store.DB, site int, links []frontier.Entry) {
		n, err := db.TakeKeptLinks(t.Context(), store.KeptLinks{Site: site, Links: links, Leads: leads})
		assert.NoError(t, err)
		assert.Equal(t, 600, n, "the lead, and all but the one that another added")
	}
	for name, c := range map[string]struct {
		write  func(*testing.T, *store.DB, int, []frontier.Entry)
		before int
	}{"a slice": {slice, 0}, "kept links": {kept, 500}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx := t.Context()
			db := storetest.Open(t, 4)
			site := devtest.Must(store.EnsureSite(ctx, db.Pool, "a.example"))(t)
			lead := devtest.Must(store.EnsureSite(ctx, db.Pool, "b.example"))(t)
			var links []frontier.Entry
			for n := range 600 {
				links = append(links, at("a.example", n))
			}
			other, err := db.Pool.Begin(ctx) // is adding a link of the page, too
			require.NoError(t, err)
			_, err = frontier.Add(ctx, other, site, links[599:])
			require.NoError(t, err)
			written := make(chan bool)
			go func() { defer close(written); c.write(t, db, site, links) }()
			storetest.AwaitLock(t, db.Pool)
			_, err = db.Pool.Exec(ctx, `SELECT FROM sites WHERE id=$1 FOR NO KEY UPDATE NOWAIT`, lead)
			require.NoError(t, err, "its row is held")
			require.Equal(t, c.before, storetest.Get[int](t, db.Pool, `SELECT count(*) FROM urls`))
			require.NoError(t, other.Commit(ctx))
			<-written
		})
	}
}

// TestPapersWithoutATitleAreToldByTheirIdentifiers, as in a list of DOIs.
func TestPapersWithoutATitleAreToldByTheirIdentifiers(t *testing.T) {
	t.Parallel()
	db := storetest.Open(t, 2)
	papers := []gleaner.Paper{{DOI: "10.1145/1.2"}, {DOI: "10.1145/3.4"}, {ArXiv: "2001.00001"}, {DOI: "10.1145/1.2"}}
	require.Equal(t, 3, devtest.Must(db.SaveHoldings(t.Context(), papers, "list", false, nil))(t).New)
}

func TestMain(m *testing.M) { os.Exit(devtest.Main(m)) }
