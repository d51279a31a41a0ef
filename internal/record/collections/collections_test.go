package collections_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gleaner/internal/crawl/synthesis"
	"gleaner/internal/devstack/devtest"
	"gleaner/internal/devstack/storetest"
	"gleaner/internal/gleaner"
	"gleaner/internal/lab/memory"
	"gleaner/internal/politeness"
	. "gleaner/internal/record/collections"
	"gleaner/internal/record/frontier"
	"gleaner/internal/record/store"
)

func TestMain(m *testing.M) { os.Exit(devtest.Main(m)) }

// queue is what both records do.
type queue interface {
	synthesis.Queue
	Known(ctx context.Context, h frontier.Hash) bool
}

// inPostgres is one collection of a record.
type inPostgres struct {
	Crawl
	db *store.DB
}

func (q inPostgres) Next(ctx context.Context) (*URL, time.Duration, error) {
	host, wait, err := q.Host(ctx, nil)
	if host == "" || err != nil {
		return nil, wait, err
	}
	u, err := q.Take(ctx, q.fence(ctx, host), host, 0)
	return u, 0, err
}

// take is the URL to ask next.
func take(t *testing.T, q queue) *URL {
	u, wait, err := q.Next(t.Context())
	require.NoError(t, err)
	require.Zero(t, wait)
	return u
}

// none requires that nothing waits.
func none(t *testing.T, q queue, why ...any) {
	require.Nil(t, take(t, q), why...)
}

// next is the host to ask next.
func (q inPostgres) next(t *testing.T) string {
	host, _, err := q.Host(t.Context(), nil)
	require.NoError(t, err)
	return host
}

func (q inPostgres) fence(ctx context.Context, host string) store.Slice {
	site, err := store.EnsureSite(ctx, q.db.Pool, host)
	if err != nil {
		panic(err)
	}
	return store.Slice{SiteID: site}
}

func (q inPostgres) Write(ctx context.Context, v *Visit) error {
	return q.Crawl.Write(ctx, q.fence(ctx, v.Host), v)
}

func (q inPostgres) State(ctx context.Context) (CrawlState, error) {
	s, err := q.Record.State(ctx, q.ID)
	s.Run, s.Took = 0, 0
	return s, err
}

func open(t *testing.T, rules Rules, seeds []URL) inPostgres {
	db := storetest.Open(t, 4)
	r := In(db)
	_, _, err := r.Submit(t.Context(), "some", map[string]int{}, []string{"a"})
	require.NoError(t, err)
	c := devtest.Must(r.Get(t.Context(), "some"))(t)
	require.NoError(t, r.SetModel(t.Context(), c.ID, c.Run, rules, map[string]int{}, seeds))
	require.NoError(t, r.Begin(t.Context(), c.Name))
	return inPostgres{Crawl{r, c.ID, rules}, db}
}

func url(host, path string, priority float64) URL {
	return URL{URL: "http://" + host + "/" + path, Host: host, Priority: priority}
}

// TestQueue holds both records to the same rules.
func TestQueue(t *testing.T) {
	t.Parallel()
	rules := Rules{Size: 2, HostPages: 3}
	seeds := []URL{url("a.example", "", 1), url("b.example", "", 1)}
	inBoth(t, rules, seeds, follow)
}

// TestShorterPath checks that a second path of the same priority makes a waiting URL less
// deep and less far off topic.
func TestShorterPath(t *testing.T) {
	t.Parallel()
	far, near := url("b.example", "", 0), url("b.example", "", 0)
	far.Off, far.Depth, far.Parent = 2, 4, "http://a.example/"
	near.Off, near.Depth, near.Parent = 1, 3, "http://a.example/other"
	inBoth(t, Rules{Size: 2, HostPages: 9}, []URL{url("a.example", "", 1), url("a.example", "other", 0.5)}, func(t *testing.T, q queue) {
		for _, links := range [][]URL{{far}, {near}} {
			u := take(t, q)
			require.NoError(t, q.Write(t.Context(), &Visit{URL: u, At: time.Now(), Outcome: gleaner.OK, Links: links}))
		}
		u := take(t, q)
		require.Equal(t, []any{1.0, 3, far.Parent}, []any{u.Off, u.Depth, u.Parent})
	})
}

// inBoth runs a test over each record.
func inBoth(t *testing.T, rules Rules, seeds []URL, test func(*testing.T, queue)) {
	t.Helper()
	inMemory := memory.NewCollection(rules)
	inMemory.Add(seeds)
	for name, q := range map[string]queue{"memory": inMemory, "postgres": open(t, rules, seeds)} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, q)
		})
	}
}

func follow(t *testing.T, q queue) {
	ctx := t.Context()
	next := func(want string) *URL {
		t.Helper()
		u := take(t, q)
		require.NotNil(t, u)
		require.Equal(t, want, u.URL)
		return u
	}
	write := func(v Visit) {
		t.Helper()
		v.At = time.Now()
		require.NoError(t, q.Write(ctx, &v))
	}
	write(Visit{URL: next("http://a.example/"), Outcome: gleaner.OK, Print: 1 << 10, Terms: []string{"prime", "ring"},
		Entries: []Member{{"math", 0.5}}, Links: []URL{url("a.example", "low", 0.2), url("a.example", "high", 0.6),
			url("b.example", "", 0.1), url("a.example", "later", 0.2)}})
	write(Visit{URL: next("http://b.example/"), Outcome: gleaner.OK, Terms: []string{"prime"}, Entries: []Member{{"math", 0.4}, {"verse", 0.3}},
		Links: []URL{{URL: "http://a.example/low", Host: "a.example", Priority: 0.9, Depth: 1, Parent: "http://b.example/"}, url("a.example", "", 1)}})
	require.True(t, q.Known(ctx, frontier.HashOf("http://a.example/")))
	require.False(t, q.Known(ctx, frontier.HashOf("http://a.example/low")))
	low := next("http://a.example/low")
	require.Equal(t, "http://b.example/", low.Parent, "what waits has the better place")
	// It turns out to be the page that "later" names, and is too many for its topic.
	write(Visit{URL: low, Alias: "http://a.example/later", Entries: []Member{{"math", 0.9}},
		Links: []URL{{URL: "http://c.example/", Host: "c.example", Priority: 0.1, Parent: "http://a.example/later"}}})
	write(Visit{URL: next("http://a.example/high"), Links: []URL{url("a.example", "fourth", 1), url("c.example", "", 0.1)}})
	c := func(path string) URL { return url("c.example", path, 0.1) }
	write(Visit{URL: next("http://c.example/"), Links: []URL{c("no"), c("never"), c("nor"), c("yes")}})
	for _, no := range []string{"no", "never", "nor"} { // more of them than the host may be asked for
		write(Visit{URL: next("http://c.example/" + no), Refused: true})
	}
	write(Visit{URL: next("http://c.example/yes")})
	none(t, q, "a.example was asked three times")

	s := devtest.Must(q.State(ctx))(t)
	require.Equal(t, CrawlState{Requests: 6, Topics: map[string]Filled{"math": {2, 0.4}, "verse": {1, 0.3}}}, s)
	for print, want := range map[int64]bool{1<<10 | 7: true, 1<<10 | 15: false} {
		require.Equal(t, want, devtest.Must(q.IsDuplicate(ctx, print))(t), "%x", print)
	}
}

func TestAdmit(t *testing.T) {
	t.Parallel()
	a, b := Held{frontier.Hash{1}, "a.example", 0.5}, Held{frontier.Hash{2}, "b.example", 0.4}
	c := Held{frontier.Hash{3}, "a.example", 0.6}
	for _, x := range []struct {
		rules Rules
		e     Held
		in    bool
		out   []frontier.Hash
	}{
		{Rules{Size: 3}, c, true, nil},
		{Rules{Size: 2}, c, false, nil},
		{Rules{Size: 2, Replace: true}, c, true, []frontier.Hash{b.Hash}},
		{Rules{Size: 2, Replace: true}, Held{frontier.Hash{4}, "d.example", 0.4}, false, nil},
		{Rules{Size: 2, OnePerSite: true}, c, true, []frontier.Hash{a.Hash}},
		{Rules{Size: 5, OnePerSite: true}, Held{frontier.Hash{4}, "a.example", 0.5}, false, nil},
	} {
		in, out := x.rules.Admit([]Held{a, b}, x.e)
		require.Equal(t, x.in, in, "%+v", x)
		require.Equal(t, x.out, out, "%+v", x)
	}
	// Of a site of which several came in before there was to be one.
	d := Held{frontier.Hash{4}, "a.example", 0.7}
	in, _ := Rules{Size: 5, OnePerSite: true}.Admit([]Held{a, d}, c)
	require.False(t, in)
	in, out := Rules{Size: 5, OnePerSite: true}.Admit([]Held{a, c, b}, d)
	require.True(t, in)
	require.Equal(t, []frontier.Hash{a.Hash, c.Hash}, out)
}

// TestTermsOfTheCentroidsPages are not counted a second time when the crawl reads them.
func TestTermsOfTheCentroidsPages(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	seeds, off := []URL{url("a.example", "", 1), url("b.example", "", 1), url("c.example", "", 1)}, url("d.example", "", 1)
	q := open(t, Rules{}, append(seeds, off))
	require.NoError(t, q.AddResults(ctx, q.ID, "a", []string{seeds[0].URL, seeds[1].URL}))
	require.NoError(t, q.SetResult(ctx, q.ID, Result{Topic: "a", Place: 1, URL: seeds[0].URL, Outcome: string(gleaner.OK)}))
	require.NoError(t, q.SetResult(ctx, q.ID, Result{Topic: "a", Place: 2, URL: seeds[1].URL, Outcome: "timeout"}))
	for _, u := range seeds {
		require.NoError(t, q.Write(ctx, &Visit{URL: &u, At: time.Now(), Terms: []string{"prime"}}))
	}
	pages, df, err := q.Terms(ctx, q.ID, "")
	require.NoError(t, err)
	require.Equal(t, 2, pages)
	require.Equal(t, map[string]int{"prime": 2}, df)
	require.NoError(t, q.Write(ctx, &Visit{URL: &off, At: time.Now(), Outcome: "off-topic", Terms: []string{"oven"}}))
	pages, df, err = q.Terms(ctx, q.ID, "off-topic")
	require.NoError(t, err)
	require.Equal(t, 1, pages)
	require.Equal(t, map[string]int{"oven": 1}, df)
}

// TestWhatAHostIsWorth: with the rules for it a host whose pages are on topic comes before
// one whose are not, and a new one before both, in memory as in Postgres.
func TestWhatAHostIsWorth(t *testing.T) {
	t.Parallel()
	rules := Rules{Size: 2, Worth: Worth{Most: 1, Usual: 0.3, Slow: 1, New: 0.5}}
	seeds := []URL{url("a.example", "", 1), url("b.example", "", 1)}
	inBoth(t, rules, seeds, func(t *testing.T, q queue) {
		for _, v := range []Visit{
			{URL: &URL{URL: "http://a.example/"}, Links: []URL{url("a.example", "poor", 0.6)}},
			{URL: &URL{URL: "http://b.example/"}, About: true, Links: []URL{url("b.example", "good", 0.5), url("new.example", "", 0.4)}},
			{URL: &URL{URL: "http://new.example/"}},
			{URL: &URL{URL: "http://b.example/good"}},
			{URL: &URL{URL: "http://a.example/poor"}},
		} {
			u := take(t, q)
			require.Equal(t, v.URL.URL, u.URL)
			v.URL, v.At = u, time.Now()
			require.NoError(t, q.Write(t.Context(), &v))
		}
	})
}

// TestWhatADomainTakes: all hosts of a registrable domain together have a limit of requests
// and of URLs that are entered.
func TestWhatADomainTakes(t *testing.T) {
	t.Parallel()
	rules := Rules{Size: 9, Domain: DomainLimits{Pages: 2, URLs: 3}}
	inBoth(t, rules, []URL{url("a.one.example", "", 1)}, func(t *testing.T, q queue) {
		asks := func(want string, give ...URL) {
			u := take(t, q)
			require.Equal(t, want, u.Host)
			require.NoError(t, q.Write(t.Context(), &Visit{URL: u, At: time.Now(), Links: give}))
		}
		asks("a.one.example", url("b.one.example", "", 1), url("c.one.example", "", 0.8), url("two.example", "", 0.5))
		asks("b.one.example", url("d.one.example", "", 1), url("two.example", "more", 0.4))
		asks("two.example")
		asks("two.example")
		none(t, q) // c.one.example still waits
		if p, is := q.(inPostgres); is {
			p.Rules.Domain = DomainLimits{}
			q = p
			asks("c.one.example")
			none(t, q) // d.one.example was not entered
		}
	})
}

// TestWhatAnOwnerTakes: who has many addresses, or is given names for nothing, takes no more
// than who has a domain.
func TestWhatAnOwnerTakes(t *testing.T) {
	t.Parallel()
	var seeds []URL
	for i, host := range []string{
		"a.github.io", "b.github.io", "c.github.io",
		"192.0.2.1", "192.0.2.2", "192.0.2.3", "[2001:db8::1]", "[2001:db8::2]", "[2001:db8::3]",
	} {
		seeds = append(seeds, url(host, "", 1-float64(i)/100))
	}
	inBoth(t, Rules{Size: 9, Domain: DomainLimits{Pages: 2}}, seeds, func(t *testing.T, q queue) {
		for range 6 {
			require.NoError(t, q.Write(t.Context(), &Visit{URL: take(t, q), At: time.Now()}))
		}
		none(t, q)
	})
	one := Rules{Size: 9, Domain: DomainLimits{Entries: 1}}
	_, out := one.Admit([]Held{{Host: "a.github.io"}}, Held{Host: "b.github.io", Correlation: 1})
	require.Len(t, out, 1)
}

// TestTraps: a host of which hardly a page is on topic is left after enough of them, until
// a collection is gone on with without that rule. Documents are no pages, and a page nearly
// the same as one that was read tells nothing of its host.
func TestTraps(t *testing.T) {
	t.Parallel()
	rules := Rules{Size: 9, Trap: gleaner.Trap{After: 3, Rate: 0.5}}
	var seeds []URL
	for i, host := range []string{"poor", "poor", "poor", "good", "good", "good", "good", "poor", "good"} {
		seeds = append(seeds, url(host+".example", fmt.Sprint(i), 1-float64(i)/100))
	}
	inBoth(t, rules, seeds, func(t *testing.T, q queue) {
		for i := range 7 {
			u := take(t, q)
			require.Equal(t, seeds[i].URL, u.URL)
			v := &Visit{URL: u, At: time.Now(), Kind: Page, About: i == 0 || i == 5}
			switch i {
			case 3:
				v.Kind = Document
			case 4:
				v.Outcome = NearDuplicate
			}
			require.NoError(t, q.Write(t.Context(), v))
		}
		u := take(t, q)
		require.Equal(t, seeds[8].URL, u.URL, "what waits of poor.example is left")
		require.NoError(t, q.Write(t.Context(), &Visit{URL: u, At: time.Now(), Kind: Page, About: true}))
		none(t, q)
		if p, is := q.(inPostgres); is {
			trapped := devtest.Must(p.Trapped(t.Context(), p.ID, p.Rules.Trap))(t)
			require.Equal(t, []Trapped{{Host: "poor.example", Pages: 3, Relevant: 1}}, trapped)
			p.Rules.Trap = gleaner.Trap{}
			require.Equal(t, seeds[7].URL, take(t, p).URL)
		}
	})
}

// TestOtherWorths: a collection that is gone on with under other rules asks in their order.
func TestOtherWorths(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	q := open(t, Rules{Size: 1}, []URL{url("a.example", "", 1)})
	u := take(t, q)
	require.NoError(t, q.Write(ctx, &Visit{URL: u, At: time.Now(), Links: []URL{url("a.example", "more", 0.6), url("new.example", "", 0.4)}}))
	require.Equal(t, "a.example", q.next(t))
	require.NoError(t, q.Continue(ctx, q.ID, Rules{Worth: Worth{Most: 1, Usual: 0.3, Slow: 1, New: 0.5}}))
	require.Equal(t, "new.example", q.next(t))
	require.NoError(t, q.Continue(ctx, q.ID, Rules{}))
	require.Equal(t, "a.example", q.next(t))
}

// TestHostsThatAreNotFree are passed over for the next best; where there is no other,
// it is said after how long one may be free.
func TestHostsThatAreNotFree(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	q := open(t, Rules{Size: 1}, []URL{url("a.example", "", 1), url("b.example", "", 0.5)})
	site := devtest.Must(store.EnsureSite(ctx, q.db.Pool, "a.example"))(t)
	storetest.Exec(t, q.db.Pool, `UPDATE sites SET holder='another', token=7, expires_at=clock_timestamp() + interval '1 hour' WHERE id=$1`, site)
	require.Equal(t, "b.example", q.next(t))
	q.fence(ctx, "www.b.example")
	storetest.Exec(t, q.db.Pool, `UPDATE sites SET holder='another', expires_at=now() + interval '5 minutes' WHERE host='www.b.example'`)
	host, wait, err := q.Host(ctx, nil)
	require.NoError(t, err)
	require.Empty(t, host, "its pair is held")
	require.Greater(t, wait, time.Minute)
	storetest.Exec(t, q.db.Pool, `UPDATE sites SET holder='' WHERE host='www.b.example'`)
	host, wait, err = q.Host(ctx, []string{"b.example"})
	require.NoError(t, err)
	require.Empty(t, host)
	require.Positive(t, wait)
	require.NoError(t, politeness.Pause(ctx, q.db.Pool, "b.example", ""))
	host, wait, err = q.Host(ctx, nil)
	require.NoError(t, err)
	require.Empty(t, host)
	require.Greater(t, wait, 20*time.Second, "another crawls it, and renews its lease")
	require.NoError(t, politeness.Pause(ctx, q.db.Pool, "a.example", ""))
	host, wait, err = q.Host(ctx, nil)
	require.NoError(t, err)
	require.Empty(t, host)
	require.Zero(t, wait, "nothing waits for a host that is paused")
	paused := devtest.Must(q.Paused(ctx))(t)
	require.Equal(t, []string{"a.example", "b.example"}, paused)
	storetest.Exec(t, q.db.Pool, `UPDATE sites SET paused=''`)
	u := url("a.example", "", 1)
	require.ErrorIs(t, q.Crawl.Write(ctx, store.Slice{SiteID: site, Token: 6}, &Visit{URL: &u, At: time.Now(), Entries: []Member{{"a", 1}}}), store.ErrNotHeld)
	s := devtest.Must(q.State(ctx))(t)
	require.Zero(t, s.Requests, "who lost the lease writes nothing")

	// What is to be asked again later waits.
	b := url("b.example", "", 0.5)
	for range 2 { // the answer to the first was lost
		require.NoError(t, q.Write(ctx, &Visit{URL: &b, At: time.Now(), Again: time.Now().Add(time.Hour)}))
	}
	s = devtest.Must(q.State(ctx))(t)
	require.Equal(t, 1, s.Requests)
	_, wait, err = q.Host(ctx, nil)
	require.NoError(t, err)
	require.Greater(t, wait, time.Minute)
}

// TestTheNextHostReadsTheIndex: what the next request costs must not grow with what
// waits, of one host that is at rest or of many.
func TestTheNextHostReadsTheIndex(t *testing.T) {
	t.Parallel()
	var farm []URL
	for i := range 15000 {
		farm = append(farm, url("calendar.example", fmt.Sprint(i), 0.9), url(fmt.Sprintf("h%d.example", i), "", 0.5))
	}
	q := open(t, Rules{Size: 1, HostPages: 200, Domain: DomainLimits{Pages: 1000, URLs: 20_000}}, farm)
	site := devtest.Must(store.EnsureSite(t.Context(), q.db.Pool, "calendar.example"))(t)
	storetest.Exec(t, q.db.Pool, `UPDATE sites SET next_allowed_at=clock_timestamp() + interval '1 hour' WHERE id=$1`, site)
	storetest.Exec(t, q.db.Pool, `ANALYZE collection_urls, collection_hosts, collection_domains, sites`)
	require.Equal(t, "h0.example", q.next(t))
	require.NotRegexp(t, `rows=\d{4,}`, plan(t, q.db, HostSQL, q.ID, 200, 5, 0, 0.0, 1000, []string{}))
	require.NotRegexp(t, `rows=\d{4,}`, plan(t, q.db, BestSQL, q.ID, "calendar.example"))
	storetest.Exec(t, q.db.Pool, `INSERT INTO sites (host) SELECT host FROM collection_hosts WHERE host LIKE 'h%'`)
	require.NotRegexp(t, `rows=\d{4,}|Removed by Filter: \d{4,}`, plan(t, q.db, UnderWaySQL, q.ID, ""))
	require.NotRegexp(t, `rows=\d{4,}|Removed by Filter: \d{4,}`, plan(t, q.db, PagesReadSQL, q.ID))
}

// plan is how Postgres went about a query, and how many rows each step met.
func plan(t *testing.T, db *store.DB, sql string, args ...any) string {
	lines := storetest.Column[string](t, db.Pool, `EXPLAIN (ANALYZE, COSTS off, TIMING off) `+sql, args...)
	return strings.Join(lines, "\n")
}

// TestAHostThatIsDown is left after so many failures in a row as it is parked after, and
// asked again when somebody goes on with the collection.
func TestAHostThatIsDown(t *testing.T) {
	t.Parallel()
	var seeds []URL
	for _, path := range "abcdefghijk" {
		seeds = append(seeds, url("a.example", string(path), 1))
	}
	inBoth(t, Rules{Size: 1}, seeds, func(t *testing.T, q queue) {
		for i := range 10 {
			u := take(t, q)
			require.NotNil(t, u, "after %d", i)
			v := &Visit{URL: u, At: time.Now()}
			if i != 4 { // which it answers
				v.Trouble, v.Again = true, time.Now().Add(time.Hour)
			}
			require.NoError(t, q.Write(t.Context(), v))
		}
		none(t, q, "the host is down")
		if p, is := q.(inPostgres); is {
			require.NoError(t, p.End(t.Context(), "some", 0, Ended, "exhausted"))
			_, _, err := p.Submit(t.Context(), "some", map[string]int{}, []string{"a"})
			require.NoError(t, err)
			require.Equal(t, "http://a.example/k", take(t, q).URL)
		}
	})
}

// TestAPauseTakesNoTime of a collection, whether it is resumed or ended over it.
func TestAPauseTakesNoTime(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	q := open(t, Rules{}, nil)
	ago := func(column string, hours int) {
		storetest.Exec(t, q.db.Pool, `UPDATE collections SET `+column+`=now() - make_interval(hours => $1)`, hours)
	}
	took := func() float64 {
		return devtest.Must(q.Record.State(ctx, q.ID))(t).Took.Hours()
	}
	pause := func(paused bool) { require.NoError(t, q.Pause(ctx, "some", paused)) }
	pause(true)
	ago("started_at", 5) // it was paused before it began
	ago("paused_at", 7)
	require.InDelta(t, 0, took(), 0.1)
	ago("paused_at", 3)
	pause(true) // said twice
	require.InDelta(t, 2, took(), 0.1)
	pause(false)
	pause(false)
	require.InDelta(t, 2, took(), 0.1)
	pause(true)
	ago("paused_at", 1)
	require.NoError(t, q.End(ctx, "some", 1, Cancelled, ""))
	_, _, err := q.Submit(ctx, "some", map[string]int{"parallel": 7}, []string{"a"})
	require.NoError(t, err)
	require.InDelta(t, 1, took(), 0.1)
	pause(true)
	pause(false)
	require.InDelta(t, 1, took(), 0.1, "it has not begun again")
}

// TestAsk: a collection is what its topics are; one that ended can be gone on with.
func TestAsk(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	q := open(t, Rules{}, nil)
	_, running, err := q.Submit(ctx, "some", map[string]int{"size": 9}, []string{"a"})
	require.NoError(t, err)
	require.True(t, running, "it is being made: nothing is changed")
	c := devtest.Must(q.Get(ctx, "some"))(t)
	require.JSONEq(t, `{}`, string(c.Options))
	require.NoError(t, q.End(ctx, "some", 1, Ended, "full"))
	_, _, err = q.Submit(ctx, "some", map[string]int{}, []string{"b"})
	require.ErrorContains(t, err, "--name")
	for i, size := range []int{8, 9} { // the second before a worker has begun
		run, running, err := q.Submit(ctx, "some", map[string]int{"size": size}, []string{"a"})
		require.NoError(t, err)
		require.False(t, running)
		require.Equal(t, 2+i, run)
	}
	for _, earlier := range []int{1, 2} { // said again: a worker died before it could tell
		require.NoError(t, q.End(ctx, "some", earlier, Ended, "full"))
	}
	c = devtest.Must(q.Get(ctx, "some"))(t)
	require.Equal(t, New, c.State)
	require.JSONEq(t, `{"size": 9}`, string(c.Options))
	require.NotNil(t, c.Model, "its centroids stay")
	require.NoError(t, q.End(ctx, "some", 3, Ended, "full"))
	c = devtest.Must(q.Get(ctx, "some"))(t)
	require.Equal(t, Ended, c.State)
	_, err = q.Get(ctx, "none")
	require.ErrorIs(t, err, ErrNone)
}
