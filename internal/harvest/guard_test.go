package harvest_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gleaner/internal/devstack/devtest"
	"gleaner/internal/devstack/storetest"
	"gleaner/internal/fetch"
	"gleaner/internal/gleaner"
	"gleaner/internal/gleaner/evidence"
	"gleaner/internal/harvest"
	"gleaner/internal/homepage"
	"gleaner/internal/lab/catalogues"
	"gleaner/internal/record/frontier"
	"gleaner/internal/record/store"
	"gleaner/internal/service/app"
	"gleaner/internal/web/page"
)

var everybody = harvest.Part{Authors: store.AuthorRange{Limit: 100}, Pass: 1}

// searches runs the first pass in a worker that may die, and tells its end.
func searches(t *testing.T, worker *app.App, id string) <-chan error {
	ended := make(chan error, 1)
	go func() {
		_, err := worker.Stages.FindHomepages(context.WithoutCancel(t.Context()), id, smallKey, everybody, noCount)
		ended <- err
	}()
	return ended
}

// TestAPageCannotStopTheSearch: one author's page makes the parser panic, another's ends
// each process that reads it. The search ends, everybody else is found, and the report
// names both pages.
func TestAPageCannotStopTheSearch(t *testing.T) {
	t.Parallel()
	o := circle()
	panics, kills := "http://panic.example.org/~paul/", "http://kill.example.org/~kim/"
	titles := []string{"Stacks that Unwind without a Frame", "Heaps that Grow without a Bound"}
	for i, a := range []gleaner.Author{{PID: "3/1", Name: "Paul Panik"}, {PID: "3/2", Name: "Kim Killer"}} {
		url := []string{panics, kills}[i]
		v := &o.catalogue.Volumes[0]
		v.Papers = append(v.Papers, gleaner.Paper{Key: "conf/exa/" + a.Name[:4] + "03", Venue: smallKey, Year: 2003, Title: titles[i], Authors: []gleaner.Author{a}})
		o.catalogue.Homepages[a.PID] = []string{url}
		o.home(url, a.Name, titles[i])
	}
	o.Service = catalogues.New(o.catalogue)
	dsn := devtest.Postgres(t)
	a := o.open(t, dsn, nil)
	id := listed(t, a)
	died := make(chan struct{}, 10)
	over := make(chan struct{})
	t.Cleanup(func() { close(over) })
	parse := func(ctx context.Context, url string, header http.Header, body []byte) (*page.Page, error) {
		switch url {
		case panics:
			panic("it nests too deep")
		case kills:
			died <- struct{}{}
			<-over // as far as the record knows this process does nothing any more
			return nil, context.Canceled
		}
		return page.ParseContext(ctx, url, header, body)
	}
	for deaths := 0; ; deaths++ {
		require.LessOrEqual(t, deaths, frontier.MaxDeaths)
		worker := o.open(t, dsn, nil)
		worker.Stages.Pages.Parse = parse
		select {
		case err := <-searches(t, worker, id):
			require.NoError(t, err)
		case <-died:
			storetest.Exec(t, a.DB.Pool, `UPDATE page_cache SET reading = reading - interval '1 hour' WHERE reading IS NOT NULL`)
			continue
		}
		break
	}
	_, err := a.Stages.SettleHomepages(t.Context(), id)
	require.NoError(t, err)
	require.Equal(t, map[string]string{"1/1": "http://www.cs.example.edu/~roe/", "1/2": "", "2/1": "http://www.example.ac.uk/~chen/", "2/2": "", "3/1": "", "3/2": ""}, best(t, a, id))
	var said strings.Builder
	for _, m := range reported(t, a, id).Missing {
		said.WriteString(strings.Join(m.Evidence, "\n"))
	}
	require.Contains(t, said.String(), string(frontier.Panicked)+": "+panics)
	require.Contains(t, said.String(), string(frontier.Killed)+": "+kills)
}

// poisonEngine is a search engine whose answers for one author end each process.
type poisonEngine struct {
	author     string
	died, over chan struct{}
}

func (poisonEngine) Name() string { return "deadly" }

func (d poisonEngine) Search(_ context.Context, query string, _ int) ([]evidence.Result, error) {
	if strings.Contains(query, d.author) {
		d.died <- struct{}{}
		<-d.over // as far as the record knows this process does nothing any more
	}
	return nil, nil
}

// TestADeathOverAnAnswerIsItsAuthors: it is neither over a request nor over a page that is
// read. The search ends, and everybody else is found.
func TestADeathOverAnAnswerIsItsAuthors(t *testing.T) {
	t.Parallel()
	o, dsn := circle(), devtest.Postgres(t)
	a := o.open(t, dsn, nil)
	id := listed(t, a)
	d := poisonEngine{"Poe", make(chan struct{}, 10), make(chan struct{})}
	t.Cleanup(func() { close(d.over) })
	for deaths, again := 0, true; again; {
		worker := o.open(t, dsn, nil)
		worker.Stages.Finder = homepage.New(homepage.Config{Searcher: d, Getter: worker.Stages.Pages})
		select {
		case err := <-searches(t, worker, id):
			require.NoError(t, err)
			again = false
		case <-d.died:
			deaths++
			require.LessOrEqual(t, deaths, 2*frontier.MaxDeaths)
		}
	}
	_, err := a.Stages.SettleHomepages(t.Context(), id)
	require.NoError(t, err)
	require.Equal(t, map[string]string{"1/1": "http://www.cs.example.edu/~roe/", "1/2": "",
		"2/1": "http://www.example.ac.uk/~chen/", "2/2": ""}, best(t, a, id))
	decisions, err := a.DB.HarvestDecisions(t.Context(), id)
	require.NoError(t, err)
	for _, d := range decisions {
		require.Equal(t, d.Author.PID == "1/2", strings.HasPrefix(d.NotFound, evidence.Unreadable), d.Author)
	}
	require.Zero(t, storetest.Get[int](t, a.DB.Pool, `SELECT count(*) FROM authors WHERE sought_by <> '' OR deaths > 0`))

	const said = "http://said.example/~poe/"
	say(t, a, poe, said, "is")
	storetest.Exec(t, a.DB.Pool, `UPDATE homepage_decisions SET decided_at = now() - interval '40 days'`)
	storetest.Exec(t, a.DB.Pool, `UPDATE authors SET deaths=6 WHERE id=$1`, poe.ID())
	first(t, a, id, time.Time{})
	require.Equal(t, said, best(t, a, id)["1/2"], "a person's word holds for who is set aside")
}

// gate grants turns as it says, and is given the end of each.
type gate func() func(fetch.Visit)

func (g gate) Turn(context.Context, string, time.Duration) (func(fetch.Visit), error) {
	return g(), nil
}

// by is a client of a gate.
func (g gate) by(t *testing.T) *fetch.Client {
	c, err := fetch.New(fetch.Config{Contact: "librarian@library.example.org", AllowLoopback: true, Gate: g})
	require.NoError(t, err)
	return c
}

// TestADeathOverARequestIsChargedToItsURL: to where a redirect led, too, and not to where it
// came from.
func TestADeathOverARequestIsChargedToItsURL(t *testing.T) {
	t.Parallel()
	a := circle().open(t, "", nil)
	served, died, over := make(chan struct{}, 10), make(chan struct{}), make(chan struct{})
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/moved":
			http.Redirect(w, r, "/killer", http.StatusFound)
		case "/killer":
			served <- struct{}{}
		default:
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(site.Close)
	t.Cleanup(func() { close(over) })
	// The process dies over the answer of a page: as far as the record knows it does nothing any more.
	dies := func(fetch.Visit) {
		select {
		case <-served:
			died <- struct{}{}
			<-over
		default: // it was robots.txt
		}
	}
	get := func() error {
		g := &harvest.Getter{DB: a.DB, Fetch: gate(func() func(fetch.Visit) { return dies }).by(t)}
		_, _, err := g.Get(context.WithoutCancel(t.Context()), site.URL+"/moved")
		return err
	}
	for range frontier.MaxDeaths {
		go func() { _ = get() }()
		<-died
	}
	var failed *fetch.Error
	require.ErrorAs(t, get(), &failed)
	require.Equal(t, frontier.Killed, failed.Outcome)
	require.Equal(t, site.URL+"/killer", failed.URL)
	deaths := storetest.Get[int](t, a.DB.Pool, `SELECT sum(deaths) FROM page_cache`)
	require.Zero(t, deaths, "and others are not")
}

// TestAPanicOverARequestIsThePagesOwn: it is an answer like another, for all authors whose
// candidate the page is, and the host is not asked again.
func TestAPanicOverARequestIsThePagesOwn(t *testing.T) {
	t.Parallel()
	a, turns := circle().open(t, "", nil), 0
	a.Stages.Pages.Fetch = gate(func() func(fetch.Visit) { turns++; panic("a coding of which nobody thought") }).by(t)
	for range 2 {
		_, _, err := a.Stages.Pages.Get(t.Context(), "http://www.cs.example.edu/~roe/")
		var failed *fetch.Error
		require.ErrorAs(t, err, &failed)
		require.Equal(t, frontier.Panicked, failed.Outcome)
	}
	require.Equal(t, 1, turns)
}

// TestWhoSharesARequestMayStopWaiting for it, whoever sent it.
func TestWhoSharesARequestMayStopWaiting(t *testing.T) {
	t.Parallel()
	a, asked, over := circle().open(t, "", nil), make(chan struct{}), make(chan struct{})
	a.Stages.Pages.Fetch = gate(func() func(fetch.Visit) { close(asked); <-over; return func(fetch.Visit) {} }).by(t)
	first, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		_, _, err := a.Stages.Pages.Get(first, "http://www.cs.example.edu/~roe/")
		ended <- err
	}()
	<-asked
	second, cancel := context.WithCancel(t.Context())
	cancel()
	_, _, err := a.Stages.Pages.Get(second, "http://www.cs.example.edu/~roe/")
	require.ErrorIs(t, err, context.Canceled)
	stop()
	close(over)
	require.Error(t, <-ended)
}

// TestWhoWaitsForASuspectMayStopWaiting: an author, a page and a request over which a process
// may have died are at work alone in the whole process, and who waits for them ends with its
// context, and holds no turn of a host beyond.
func TestWhoWaitsForASuspectMayStopWaiting(t *testing.T) {
	t.Parallel()
	a, id := circled(t)
	d := poisonEngine{"", make(chan struct{}, 1000), make(chan struct{})}
	a.Stages.Finder = homepage.New(homepage.Config{Searcher: d, Getter: a.Stages.Pages})
	suspect := func(sql string) { storetest.Exec(t, a.DB.Pool, sql) }
	var first sync.WaitGroup
	stops := func(name string, work func(context.Context)) {
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() { work(ctx); close(ended) }()
		time.Sleep(300 * time.Millisecond)
		cancel()
		select {
		case <-ended:
		case <-time.After(10 * time.Second):
			t.Error(name, "waits on")
		}
		require.Empty(t, d.died, "%s is at work beside another", name)
	}
	find := func(ctx context.Context) {
		_, _ = a.Stages.FindHomepages(ctx, id, smallKey, everybody, noCount)
	}
	suspect(`UPDATE authors SET deaths=1`)
	first.Go(func() { find(t.Context()) })
	<-d.died
	stops("an author", find)

	const page1, page2 = "http://www.cs.example.edu/~roe/", "http://www.example.ac.uk/~chen/"
	site := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(site.Close)
	get := func(url string) func(context.Context) {
		return func(ctx context.Context) { _, _, _ = a.Stages.Pages.Get(ctx, url) }
	}
	get(page1)(t.Context())
	get(page2)(t.Context())
	suspect(`UPDATE page_cache SET deaths=1`)
	a.Stages.Pages.Parse = func(context.Context, string, http.Header, []byte) (*page.Page, error) {
		d.died <- struct{}{}
		<-d.over
		return nil, context.Canceled
	}
	first.Go(func() { get(page1)(t.Context()) })
	<-d.died
	stops("a page", get(page2))
	suspect(`DELETE FROM page_cache`)
	page3 := site.URL + "/"
	h := frontier.HashOf(page3)
	_, _, err := a.DB.BeginAsk(t.Context(), store.CachedPage{Hash: h[:], URL: page3}, false)
	require.NoError(t, err)
	turn := make(chan struct{}, 2)
	a.Stages.Pages.Fetch = gate(func() func(fetch.Visit) { return func(fetch.Visit) { turn <- struct{}{} } }).by(t)
	stops("a request", func(ctx context.Context) { get(page3)(ctx); <-turn; <-turn }) // of robots.txt and of the page
	close(d.over)
	first.Wait()
}
