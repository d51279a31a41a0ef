package crawl

import (
	"encoding/json"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"gleaner/internal/devstack/storetest"
	"gleaner/internal/fetch"
	"gleaner/internal/gleaner"
	"gleaner/internal/politeness"
	"gleaner/internal/record/frontier"
	"gleaner/internal/record/store"
	"gleaner/internal/web/page"
)

func (w *world) harvest(t *testing.T, id string, site int) {
	t.Helper()
	require.NoError(t, w.db.SaveHarvest(t.Context(), store.Harvest{ID: id, Venue: "v", Options: json.RawMessage("{}"), Years: gleaner.Years{From: 2000, To: 2001}}))
	storetest.Exec(t, w.db.Pool,
		`INSERT INTO harvest_sites (harvest_id, site_id, origin) VALUES ($1, $2, 'test')`, id, site)
}

// untrapped is a site without end that is no trap, of which a slice asks for five pages.
func untrapped(t *testing.T) (w *world, s *site, id int) {
	t.Helper()
	w, s = newWorld(t), endless(t)
	w.cfg.TrapPages, w.cfg.SlicePages = 0, 5
	return w, s, w.seed(t, s.host, "/", "/")
}

// TestAHarvestCancelledBeforeHasNoSay: once a crawl has ended since, its sites can be
// crawled again, whoever wants that.
func TestAHarvestCancelledBeforeHasNoSay(t *testing.T) {
	t.Parallel()
	w, s, id := untrapped(t)
	w.harvest(t, "old", id)
	require.NoError(t, w.db.SetStage(t.Context(), "old", "cancelled", ""))
	require.NoError(t, w.db.FinishCrawl(t.Context(), s.host, store.CrawlEnd{State: "stopped", Reason: store.NotWanted}, w.cfg.Recrawl))
	require.Equal(t, SliceFull, sliced(t, w.crawler(w.client), s.host).Ending) // begins the crawl
	w.harvest(t, "new", id)
	require.NoError(t, w.db.SetStage(t.Context(), "new", "cancelled", ""))
	attention, err := w.db.Attention(t.Context(), id)
	require.NoError(t, err)
	require.True(t, attention[id].Cancelled, "cancelled while it was crawled")
}

// TestSlicesReadAnewWhatTheRecordSays: a limit that is lowered, and a pause, hold from the
// next slice on.
func TestSlicesReadAnewWhatTheRecordSays(t *testing.T) {
	t.Parallel()
	w, s, id := untrapped(t)
	w.harvest(t, "a", id)
	c := w.crawler(w.client)
	crawl := func(between string) (r Result, endings []Ending) {
		var most atomic.Int64 // two goroutines report, so that an older count may come after a newer one
		r, err := c.Slices(t.Context(), s.host, func(p Progress) {
			for had := most.Load(); int64(p.Requests) > had && !most.CompareAndSwap(had, int64(p.Requests)); had = most.Load() {
			}
		}, func(e Ending) bool {
			if endings = append(endings, e); len(endings) == 2 {
				storetest.Exec(t, w.db.Pool, between)
			}
			return len(endings) < 4
		})
		require.NoError(t, err)
		require.EqualValues(t, r.Requests, most.Load())
		return r, endings
	}

	r, endings := crawl(`SELECT 1`)
	require.Equal(t, []Ending{SliceFull, SliceFull, SliceFull, SliceFull}, endings)
	require.Equal(t, 20, r.Requests)
	r, _ = crawl(`UPDATE harvests SET paused = true`)
	require.Equal(t, Paused, r.Ending)
	require.Equal(t, []int{10, 1}, []int{r.Requests, r.Crawl})
	storetest.Exec(t, w.db.Pool, `UPDATE harvests SET paused = false`)
	r, _ = crawl(`UPDATE harvests SET options = '{"max_pages": 42}'`)
	require.Equal(t, PageLimit, r.Ending)
	require.Equal(t, 12, r.Requests)
}

// TestSlicesWaitForAHostAMoment and then go on.
func TestSlicesWaitForAHostAMoment(t *testing.T) {
	t.Parallel()
	w, s, _ := untrapped(t)
	other, err := politeness.NewKeeper(w.db.Pool, fetch.Pacing{}, "other").Acquire(t.Context(), s.host)
	require.NoError(t, err)
	c := w.crawler(w.client)
	c.patience = 0
	r, err := c.Slices(t.Context(), s.host, func(Progress) {}, func(e Ending) bool {
		if e == Waiting {
			other.Free(t.Context())
		}
		return e == Waiting
	})
	require.NoError(t, err)
	require.Equal(t, SliceFull, r.Ending)
	require.Equal(t, 5, r.Requests)
}

// TestSlicesLetTheOtherNameOfTheirHostHaveATurn: who waits for "www.", looking now and
// then, gets it between two slices; and a crawl that is paused waits for nobody.
func TestSlicesLetTheOtherNameOfTheirHostHaveATurn(t *testing.T) {
	t.Parallel()
	w, s, id := untrapped(t)
	w.harvest(t, "a", id)
	c := w.crawler(w.client)
	other := politeness.NewKeeper(w.db.Pool, fetch.Pacing{}, "other")
	had := make(chan *politeness.Lease, 1)
	slices := 0
	_, err := c.Slices(t.Context(), s.host, func(Progress) {}, func(Ending) bool {
		if slices++; slices == 1 {
			go func() {
				if l, err := other.AcquireWithin(t.Context(), "www."+s.host, time.Minute); err == nil {
					had <- l
				}
			}()
			return true
		}
		return len(had) == 0 && slices < 9
	})
	require.NoError(t, err)
	require.Less(t, slices, 9)
	storetest.Exec(t, w.db.Pool, `UPDATE harvests SET paused = true`)
	require.Equal(t, Paused, sliced(t, c, s.host).Ending)
	(<-had).Free(t.Context())
}

// TestACrawlRestsOnceAllHarvestsThatWantItDo, cancelled ones aside.
func TestACrawlRestsOnceAllHarvestsThatWantItDo(t *testing.T) {
	t.Parallel()
	w, s, id := untrapped(t)
	w.harvest(t, "a", id)
	w.harvest(t, "b", id)
	for _, step := range []struct {
		set    string
		paused bool
	}{{`paused=(id='a')`, false}, {`paused=true`, true}, {`cancelled=(id='b')`, true}, {`paused=false`, false}} {
		storetest.Exec(t, w.db.Pool, `UPDATE harvests SET `+step.set)
		attention, err := w.db.Attention(t.Context(), id)
		require.NoError(t, err)
		require.Equal(t, step.paused, attention[id].Paused, step.set)
	}
	storetest.Exec(t, w.db.Pool, `UPDATE harvests SET paused=true`)
	before := w.db.Pool.Stat().AcquireCount()
	require.Equal(t, Paused, sliced(t, w.crawler(w.client), s.host).Ending)
	require.LessOrEqual(t, w.db.Pool.Stat().AcquireCount()-before, int64(5), "statements and transactions of a look a day")
	require.Empty(t, s.asked(), "nothing is asked of a paused site, robots.txt neither")
	site, err := w.db.SiteByID(t.Context(), id)
	require.NoError(t, err)
	require.Equal(t, gleaner.SiteNew, site.State, "a crawl was begun, and all that is known of the site was loaded")
}

// TestACrawlIsNotBegunForAHarvestThatWasCancelled while its first slice waited for a
// worker, unless a recrawl wants it.
func TestACrawlIsNotBegunForAHarvestThatWasCancelled(t *testing.T) {
	t.Parallel()
	w, s, id := untrapped(t)
	w.harvest(t, "h", id)
	require.NoError(t, w.db.SetStage(t.Context(), "h", "cancelled", ""))
	require.Equal(t, Cancelled, sliced(t, w.crawler(w.client), s.host).Ending)
	require.Empty(t, s.asked())
	storetest.Exec(t, w.db.Pool, `UPDATE sites SET recrawled_for='{recrawl/due}'`)
	require.Equal(t, SliceFull, sliced(t, w.crawler(w.client), s.host).Ending)
}

// TestATrapTakesWhatComesLater: a site that ended as a trap is crawled again for
// a homepage or a lead that was found on it later than the crawl saw, and for nothing else.
func TestATrapTakesWhatComesLater(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := endless(t)
	w.cfg.TrapPages = 20
	id := w.seed(t, s.host, "/", "/")
	w.harvest(t, "h", id)
	c := w.crawler(w.client)
	crawl := func() int {
		before := len(s.asked())
		require.Equal(t, Trap, w.finish(t, c, s.host).Ending)
		require.NoError(t, w.db.FinishCrawl(t.Context(), s.host, store.CrawlEnd{State: "trap"}, w.cfg.Recrawl))
		return len(s.asked()) - before
	}
	listed := func(want ...string) {
		t.Helper()
		got, _, err := w.db.SitesToCrawl(t.Context(), "h", "", 10)
		require.NoError(t, err)
		require.ElementsMatch(t, want, got)
	}
	give := func(path string, source page.Source, role frontier.Role) {
		t.Helper()
		e := frontier.Entry{Role: role, Candidate: page.Candidate{Link: page.Link{URL: "http://" + s.host + path, Source: source}, Queue: 3, Priority: 1}}
		require.NoError(t, pgx.BeginFunc(t.Context(), w.db.Pool, func(tx pgx.Tx) error {
			_, err := frontier.Add(t.Context(), tx, id, []frontier.Entry{e})
			return err
		}))
	}
	s.at = func(n int) {
		if n == 15 {
			give("/d/700001.html", page.SourceSeed, frontier.Member)
		}
	}
	crawl()
	listed(s.host)
	require.Greater(t, crawl(), 2, "a homepage that was given while the last slice went on has a crawl of its own")
	require.Contains(t, s.asked(), "/d/700001.html")
	listed()
	give("/d/900001.html", page.SourceSeed, frontier.Lead)
	listed(s.host)
	require.Equal(t, 1, crawl(), "the lead alone")
	require.Contains(t, s.asked(), "/d/900001.html")
	listed()
	give("/d/800001.html", page.SourceSeed, frontier.Member)
	listed(s.host)
	require.Greater(t, crawl(), 2, "a homepage has a crawl of its own")
	require.Contains(t, s.asked(), "/d/800001.html")
	listed()
}

// TestASiteThatAPersonPausedIsNotAsked: its crawl ends over the pause, nothing is asked
// until it is resumed, and then the crawl goes on where it was.
func TestASiteThatAPersonPausedIsNotAsked(t *testing.T) {
	t.Parallel()
	w, s, id := untrapped(t)
	w.cfg.SlicePages = 1 << 20
	ctx, c, reads := t.Context(), w.crawler(w.client), 0
	c.fetch = watched{c.fetch, "", func() {
		if reads++; reads == 3 {
			require.NoError(t, politeness.Pause(ctx, w.db.Pool, s.host, "asked by mail"))
		}
	}}
	r := sliced(t, c, s.host)
	require.Equal(t, Denied, r.Ending)
	require.Equal(t, gleaner.SitePaused, r.Reason)
	_, err := politeness.Resume(ctx, w.db.Pool, s.host)
	require.NoError(t, err)
	require.NoError(t, w.db.FinishCrawl(ctx, s.host, store.CrawlEnd{State: "stopped", Reason: r.Reason}, w.cfg.Recrawl))
	resumed, err := w.db.Site(ctx, s.host)
	require.NoError(t, err)
	require.Equal(t, gleaner.SiteDone, resumed.State, "it was resumed before its crawl ended")
	require.NoError(t, politeness.Pause(ctx, w.db.Pool, s.host, "asked by mail"))
	require.NoError(t, w.db.FinishCrawl(ctx, s.host, store.CrawlEnd{State: "stopped", Reason: r.Reason}, w.cfg.Recrawl))
	asked := len(s.asked())
	r = sliced(t, c, s.host)
	require.Equal(t, Denied, r.Ending)
	require.Equal(t, gleaner.SitePaused, r.Reason)
	_, err = w.keeper.Turn(ctx, s.host, 0)
	require.ErrorContains(t, err, "paused by a person: asked by mail")
	storetest.Exec(t, w.db.Pool, `UPDATE sites SET due_at=now() - interval '1 day'`)
	due, _, err := w.db.DueSites(ctx, store.Selection{}, false, "", 10)
	require.NoError(t, err)
	require.Empty(t, due, "a recrawl leaves it out")
	require.Len(t, s.asked(), asked)

	names, err := politeness.Resume(ctx, w.db.Pool, s.host)
	require.NoError(t, err)
	require.Contains(t, names, s.host)
	site, err := w.db.SiteByID(ctx, id)
	require.NoError(t, err)
	require.Equal(t, gleaner.SiteNew, site.State)
	w.cfg.SlicePages = 5
	require.Equal(t, SliceFull, sliced(t, w.crawler(w.client), s.host).Ending)
	require.Greater(t, len(s.asked()), asked)

	c.fetch = watched{w.client, "", func() {
		if reads++; reads%3 == 0 {
			require.NoError(t, politeness.Slow(ctx, w.db.Pool, s.host, time.Hour))
		}
	}}
	require.Equal(t, Waiting, sliced(t, c, s.host).Ending, "it is asked less often")
	asked = len(s.asked())
	r = sliced(t, c, s.host)
	require.Contains(t, r.Reason, "set by hand")
	require.InDelta(t, time.Hour, r.Wait, float64(time.Minute))
	require.Len(t, s.asked(), asked)
}

// TestAFullDiskOfTheRecordIsWaitedFor: what was fetched is kept until there is room, and is
// not asked for again.
func TestAFullDiskOfTheRecordIsWaitedFor(t *testing.T) {
	t.Parallel()
	w, s, _ := untrapped(t)
	ctx, c, reads := t.Context(), w.crawler(w.client), 0
	storetest.Exec(t, w.db.Pool, `CREATE TABLE disk (full_now boolean); CREATE FUNCTION room() RETURNS trigger LANGUAGE plpgsql AS $$
		BEGIN IF EXISTS (SELECT 1 FROM disk) THEN RAISE 'could not extend file' USING ERRCODE='53100'; END IF; RETURN NEW; END $$;
		CREATE TRIGGER room BEFORE UPDATE ON urls FOR EACH ROW EXECUTE FUNCTION room();
		CREATE TRIGGER room BEFORE INSERT ON documents FOR EACH ROW EXECUTE FUNCTION room()`)
	c.fetch = watched{c.fetch, "", func() {
		if reads++; reads == 3 {
			storetest.Exec(t, w.db.Pool, `INSERT INTO disk VALUES (true)`)
			time.AfterFunc(2*time.Second, func() { _, _ = w.db.Pool.Exec(ctx, `DELETE FROM disk`) })
		}
	}}
	require.Equal(t, SliceFull, sliced(t, c, s.host).Ending)
	for path, times := range s.asked() {
		require.Equal(t, 1, times, path)
	}
	require.Greater(t, reads, 3)
}
