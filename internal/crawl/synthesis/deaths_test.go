package synthesis_test

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gleaner/internal/crawl"
	. "gleaner/internal/crawl/synthesis"
	"gleaner/internal/devstack/devtest"
	"gleaner/internal/devstack/storetest"
	"gleaner/internal/fetch"
	"gleaner/internal/record/collections"
	"gleaner/internal/record/frontier"
	"gleaner/internal/record/store"
)

// killer is a client whose process dies over what one address answers: it is asked
// for, and never heard of again.
type killer struct {
	crawl.Fetcher
	over string
	died chan struct{}
}

func (k killer) Fetch(ctx context.Context, r fetch.Request) (*fetch.Response, error) {
	resp, err := k.Fetcher.Fetch(ctx, r)
	if strings.HasSuffix(r.URL, k.over) {
		k.died <- struct{}{}
		select {}
	}
	return resp, err
}

// dies runs something that ends, or dies over an address, and says which: its leases
// have run out then.
func (s *shop) dies(t *testing.T, over string, do func(context.Context, *Maker) error) (died bool) {
	tools := s.tools
	k := killer{s.tools.Fetch, over, make(chan struct{})}
	tools.Fetch, tools.Getter = k, politely{k}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ended := make(chan error, 1)
	go func() { ended <- do(ctx, New(tools)) }()
	select {
	case err := <-ended:
		require.NoError(t, err)
		return false
	case <-k.died:
	}
	cancel() // the dead renew nothing
	storetest.Exec(t, s.db.Pool, `UPDATE sites SET expires_at = now() - interval '1s' WHERE holder <> ''`)
	storetest.Exec(t, s.db.Pool, `UPDATE collection_urls SET next_try = now() WHERE deaths > 0`)
	storetest.Exec(t, s.db.Pool, `UPDATE collection_hosts SET due = now()`)
	return true
}

func (s *shop) asksFor(address string) int {
	return len(slices.DeleteFunc(s.web.asked(), func(a string) bool { return a != address }))
}

// TestAPageThatKillsTheWorker is set aside after some deaths, of which that of no other
// page is one, and the rest of the crawl goes on.
func TestAPageThatKillsTheWorker(t *testing.T) {
	t.Parallel()
	s := newShop(t, &smallWeb{pages: map[string]string{
		"a.example/": primes + " kills>a.example/killer reads>a.example/one", "a.example/one": primes, "a.example/killer": primes, "b.example/": verses}})
	id := s.opens(t, "some", twoTopics, func(*Request) {})
	deaths := 0
	for range 10 {
		if s.dies(t, "/killer", func(ctx context.Context, m *Maker) error {
			_, err := m.Slice(ctx, "some", func(crawl.Progress) {})
			return err
		}) {
			deaths++
		}
	}
	require.Equal(t, frontier.MaxDeaths, deaths)
	require.Equal(t, frontier.MaxDeaths, s.asksFor("a.example/killer"))
	require.Equal(t, Exhausted, s.ends(t, "some").Ending)
	require.Equal(t, map[string]string{"a.example/": "success", "a.example/one": "success", "a.example/killer": "crawler-killed", "b.example/": "success"}, s.outcomes(t, id))
}

// cut runs a slice whose line to the record is cut while it waits for a table, for a while.
func (s *shop) cut(t *testing.T, table string, away time.Duration) error {
	dsn, line := devtest.Lay(t, s.db.Pool.Config().ConnString())
	tools := s.tools
	tools.DB = storetest.At(t, dsn, 2)
	held := devtest.Must(s.db.Pool.Begin(t.Context()))(t)
	defer func() { _ = held.Rollback(context.Background()) }()
	storetest.Exec(t, held, `LOCK `+table)
	ended := make(chan error, 1)
	go func() {
		_, err := New(tools).Slice(t.Context(), "some", func(crawl.Progress) {})
		ended <- err
	}()
	storetest.AwaitLock(t, s.db.Pool)
	line.Cut()
	time.Sleep(away)
	line.Mend()
	require.NoError(t, held.Rollback(t.Context()))
	return <-ended
}

// TestAChargeWhoseAnswerIsLost is taken back: nothing died over the page.
func TestAChargeWhoseAnswerIsLost(t *testing.T) {
	t.Parallel()
	s := newShop(t, &smallWeb{pages: map[string]string{"a.example/": primes, "b.example/": verses}})
	s.opens(t, "some", twoTopics, func(*Request) {})
	storetest.Exec(t, s.db.Pool, `CREATE TABLE awaited();
		CREATE FUNCTION wait() RETURNS trigger AS $$ BEGIN PERFORM FROM awaited; RETURN NULL;
			EXCEPTION WHEN query_canceled THEN RETURN NULL; END $$ LANGUAGE plpgsql;
		CREATE CONSTRAINT TRIGGER wait AFTER UPDATE OF deaths ON collection_urls DEFERRABLE INITIALLY DEFERRED
			FOR EACH ROW WHEN (NEW.deaths > OLD.deaths) EXECUTE FUNCTION wait()`)
	err := s.cut(t, "awaited", 0)
	require.True(t, store.Passes(err), "%v", err)
	require.Equal(t, 2, storetest.Get[int](t, s.db.Pool, `SELECT count(*) FROM (
		SELECT FROM collection_urls WHERE deaths=0 AND next_try <= now() FOR UPDATE) AS u`))
}

// TestWhatRobotsRefuses, and the blacklist, is no request: it takes nothing of what a
// crawl and a host may be asked for.
func TestWhatRobotsRefuses(t *testing.T) {
	t.Parallel()
	s := newShop(t, &smallWeb{robots: map[string]string{"a.example": "User-agent: *\nDisallow: /no\n"}, pages: map[string]string{
		"a.example/":    primes + " a>a.example/no/1 b>a.example/no/2 c>black.example/ d>a.example/no/3 e>a.example/one f>a.example/two g>a.example/three h>a.example/four i>a.example/five",
		"a.example/one": primes, "a.example/two": primes, "a.example/three": primes, "a.example/four": primes, "a.example/five": primes, "b.example/": verses}})
	require.NoError(t, s.db.Block(t.Context(), []store.Blocked{{Host: "black.example", Reason: "test"}}))
	id := s.opens(t, "some", twoTopics, func(a *Request) { a.HostPages = 4 })
	require.Equal(t, Exhausted, s.ends(t, "some").Ending)
	require.Equal(t, map[string]string{"a.example/": "success", "a.example/one": "success", "a.example/two": "success", "a.example/three": "success", "b.example/": "success",
		"a.example/no/1": "robots-denied", "a.example/no/2": "robots-denied", "a.example/no/3": "robots-denied", "black.example/": "blacklisted"}, s.outcomes(t, id), "--host-pages 4")
	id = s.opens(t, "other", twoTopics, func(a *Request) { a.MaxPages = 6 })
	end := s.ends(t, "other")
	require.Equal(t, crawl.PageLimit, end.Ending)
	require.Equal(t, "its runs made the 6 requests of its option pages; more continue it", end.Reason)
	c := devtest.Must(s.record.Get(t.Context(), "other"))(t)
	require.Equal(t, 6, c.Requests)
	require.Equal(t, 4, c.Refused)
	numbers := storetest.Column[int](t, s.db.Pool,
		`SELECT n FROM collection_urls WHERE collection=$1 AND NOT waiting ORDER BY n`, id)
	require.Equal(t, []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, numbers, "what was asked for and what was refused have numbers of one row")
}

// meanwhile is a client over whose first request something else happens.
type meanwhile struct {
	crawl.Fetcher
	once *sync.Once
	do   func()
}

func (m meanwhile) Fetch(ctx context.Context, r fetch.Request) (*fetch.Response, error) {
	m.once.Do(m.do)
	return m.Fetcher.Fetch(ctx, r)
}

// TestASliceOfAnEarlierCrawl, which nobody could reach while its collection was ended and
// gone on with under other options, does no more than the request that it is at.
func TestASliceOfAnEarlierCrawl(t *testing.T) {
	t.Parallel()
	s := newShop(t, &smallWeb{pages: map[string]string{"a.example/": primes + " one>a.example/one", "a.example/one": primes, "b.example/": verses}})
	s.opens(t, "some", twoTopics, func(*Request) {})
	before := len(s.web.asked())
	tools := s.tools
	tools.Fetch = meanwhile{s.tools.Fetch, &sync.Once{}, func() {
		require.NoError(t, s.record.End(t.Context(), "some", 0, collections.Cancelled, ""))
		s.opens(t, "some", twoTopics, func(a *Request) { a.OnePerSite = true })
	}}
	require.Equal(t, Stopped, devtest.Must(New(tools).Slice(t.Context(), "some", func(crawl.Progress) {}))(t).Ending)
	require.Len(t, s.web.asked()[before:], 1)
	require.Equal(t, Exhausted, s.ends(t, "some").Ending)
}
