package harvest_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"gleaner/internal/devstack/devtest"
	"gleaner/internal/devstack/storetest"
	"gleaner/internal/gleaner"
	"gleaner/internal/gleaner/evidence"
	"gleaner/internal/harvest"
	"gleaner/internal/homepage"
	"gleaner/internal/lab/catalogues"
	"gleaner/internal/metadata"
	"gleaner/internal/record/frontier"
	"gleaner/internal/record/store"
	"gleaner/internal/service/app"
	"gleaner/internal/service/config"
)

const roeHost = "www.cs.example.edu"

// unparked lets what keeps failing be asked on, and leaves the local index out.
func unparked(p *config.Policy) { p.Pace.ParkAfter, p.Index.On = 1000, false }

// first runs the first pass over all authors.
func first(t *testing.T, a *app.App, id string, since time.Time) {
	_, err := a.Stages.FindHomepages(t.Context(), id, smallKey, harvest.Part{Authors: store.AuthorRange{Limit: 100}, Pass: 1, Since: since}, noCount)
	require.NoError(t, err)
}

// stillOpen is what nobody has answered of a harvest.
func stillOpen(t *testing.T, a *app.App, id string) store.Questions {
	t.Helper()
	return devtest.Must(a.DB.StillOpen(t.Context(), id))(t)
}

// A homepage whose host is out for a while is no lost author: the record says
// what did not answer and when it is asked again, and a retry finds the page.
func TestAHostThatWasOutLosesNobody(t *testing.T) {
	t.Parallel()
	o := circle()
	o.set(roeHost, 503)
	a := o.open(t, "", map[string]string{"search": "none"}, unparked)
	ctx := t.Context()
	id := listed(t, a)
	first(t, a, id, time.Time{})
	assert.Zero(t, storetest.Get[int](t, a.DB.Pool, `SELECT count(*) FROM page_cache p JOIN robots r USING (host)
		WHERE p.fetched_at < r.fetched_at`), "asked before robots.txt")
	assert.Empty(t, best(t, a, id)["1/1"])
	assert.Contains(t, explained(t, a, roe).NotFound, "homepage did not answer (")
	q := stillOpen(t, a, id)
	assert.Equal(t, 1, q.Authors)
	assert.WithinDuration(t, time.Now().Add(evidence.FirstRetry), *q.Next, time.Minute)
	var evidence []string
	for _, m := range reported(t, a, id).Missing {
		evidence = append(evidence, m.Evidence...)
	}
	assert.Contains(t, strings.Join(evidence, "\n"), "next try "+q.Next.UTC().Format("2006-01-02 15:04:05 UTC"))

	// Another harvest within minutes spares the host; the host is mended, a person
	// says so, and that counts at once.
	asked := o.pagesAsked(roeHost)
	first(t, a, id, time.Time{})
	assert.Equal(t, asked, o.pagesAsked(roeHost), "not due")
	o.set(roeHost, 0)
	storetest.Exec(t, a.DB.Pool, `INSERT INTO sites (host, failures, parked_until) VALUES ('mirror.example', 5, now() + interval '1 hour'), ('page.example', 5, now() + interval '1 hour')`)
	storetest.Exec(t, a.DB.Pool, `INSERT INTO page_cache (hash, host, url, final_url, outcome, status, header) VALUES ('1', 'page.example', 'http://page.example/', '', 'success', 200, '{}')`)
	require.NoError(t, a.DB.SetStage(ctx, id, gleaner.StageHomepages, ""))
	again := devtest.Must(a.DB.AskAgain(ctx, store.RetryFilter{Harvest: id}, true))(t)
	assert.Equal(t, 1, again.Authors)
	const parked = `SELECT string_agg(host, ' ' ORDER BY host) FROM sites WHERE parked_until > now()`
	assert.Equal(t, "mirror.example page.example", storetest.Get[string](t, a.DB.Pool, parked),
		"no service left a question of this harvest open")
	first(t, a, id, time.Time{})
	assert.Equal(t, "http://"+roeHost+"/~roe/", best(t, a, id)["1/1"])
	q = stillOpen(t, a, id)
	assert.False(t, q.Any())
	assert.Nil(t, q.Next)

	// A retry of a harvest that is at its papers has services asked, and no pages of others.
	require.NoError(t, a.DB.SetStage(ctx, id, gleaner.StagePapers, ""))
	_, err := a.DB.AskAgain(ctx, store.RetryFilter{Harvest: id}, true)
	require.NoError(t, err)
	assert.Equal(t, "page.example", storetest.Get[string](t, a.DB.Pool, parked))
}

// What is due is taken up by any harvest, without a person's word, and later each
// time that it fails again.
func TestWhatIsDueIsLookedForAgain(t *testing.T) {
	t.Parallel()
	o := circle()
	o.set(roeHost, 500)
	a := o.open(t, "", map[string]string{"search": "none"}, unparked)
	id := listed(t, a)
	first(t, a, id, time.Time{})
	for range 2 { // as if the time had come
		storetest.Exec(t, a.DB.Pool, `UPDATE homepage_decisions SET next_try=now() WHERE next_try IS NOT NULL`)
		storetest.Exec(t, a.DB.Pool, `UPDATE page_cache SET fetched_at=now() - interval '10 minutes'`)
		storetest.Exec(t, a.DB.Pool, `UPDATE robots SET expires_at=now()`)
		first(t, a, id, time.Time{})
	}
	d := explained(t, a, roe)
	assert.Equal(t, 3, d.Tries)
	assert.WithinDuration(t, time.Now().Add(4*evidence.FirstRetry), d.NextTry, time.Minute)
	assert.GreaterOrEqual(t, o.pagesAsked(roeHost), 3, "asked again each time")
}

// oneAtATime is a directory that is out after each person.
type oneAtATime struct{}

func (oneAtATime) Name() string { return "one" }

func (oneAtATime) IDs(_ context.Context, subjects []homepage.Subject, _ []gleaner.Person) (ids []string, _ error) {
	for _, s := range subjects {
		ids = append(ids, s.Author.PID)
	}
	return ids, nil
}

func (oneAtATime) Persons(_ context.Context, ids []string) (map[string]gleaner.Person, error) {
	return map[string]gleaner.Person{ids[0]: {}}, metadata.ErrUnavailable{Service: "one"}
}

// Whom a directory did not come to before it was out is not unknown to it.
func TestADirectoryThatWasOut(t *testing.T) {
	t.Parallel()
	a := circle().open(t, "", map[string]string{"search": "none"}, unparked)
	a.Stages.Directories = []harvest.Directory{oneAtATime{}}
	id := listed(t, a)
	for _, known := range []int{2, 4} { // two authors are asked for at a time
		now := devtest.Must(a.DB.Now(t.Context()))(t)
		first(t, a, id, now)
		people := devtest.Must(a.DB.Persons(t.Context(), "one", []string{"1/1", "1/2", "2/1", "2/2"}, time.Hour))(t)
		require.Len(t, people, known)
	}
}

// --refresh asks anew for what had failed before it, for good or not.
func TestRefreshPassesOverFailures(t *testing.T) {
	t.Parallel()
	for _, status := range []int{503, 404} {
		o := circle()
		o.set(roeHost, status)
		a := o.open(t, "", map[string]string{"search": "none"}, unparked)
		id := listed(t, a)
		first(t, a, id, time.Time{})
		require.Empty(t, best(t, a, id)["1/1"])
		o.set(roeHost, 0)
		storetest.Exec(t, a.DB.Pool, `UPDATE robots SET expires_at=now()`) // robots.txt has a rule of its own
		now := devtest.Must(a.DB.Now(t.Context()))(t)
		first(t, a, id, now)
		assert.Equal(t, "http://"+roeHost+"/~roe/", best(t, a, id)["1/1"], status)
	}
}

// A blacklisted host sees nothing of the search for homepages: neither itself,
// nor its robots.txt, nor by way of a redirect.
func TestTheBlacklistHoldsWhileHomepagesAreLookedFor(t *testing.T) {
	t.Parallel()
	o := circle()
	o.moved["http://www.example.ac.uk/~chen/"] = "http://moved.example.org/~chen/"
	o.home("http://moved.example.org/~chen/", "Bo Chen", "A Second Look at the Growth of Samples")
	a := o.open(t, "", nil)
	require.NoError(t, a.DB.Block(t.Context(), []store.Blocked{{Host: roeHost, Reason: "asked us to"}, {Host: "moved.example.org"}}))
	id := listed(t, a)
	findAll(t, a, id, smallKey, 100)
	assert.Zero(t, o.pagesAsked(roeHost))
	assert.Zero(t, o.pagesAsked("moved.example.org"))
	assert.Positive(t, o.pagesAsked("www.example.ac.uk"), "the test asks nobody")
	d := explained(t, a, roe)
	require.NotEmpty(t, d.Candidates)
	assert.Contains(t, d.Candidates[0].Rule, "blacklist")
	assert.Empty(t, d.Unanswered, "it is not asked again")
}

// A source of copies that is out is asked again for its papers, and no other is.
func TestCopiesOfASourceThatWasOut(t *testing.T) {
	t.Parallel()
	o := smallVenue()
	o.Fail(catalogues.Fault{Host: "api.unpaywall.org", Path: "/v2/10.5555/exa.2", Times: 2, Status: 503})
	a := o.open(t, "", map[string]string{"copies": "unpaywall,semanticscholar"}, func(p *config.Policy) {
		p.Crawl.RetryBase, p.Pace.ParkAfter = 15*time.Millisecond, 2
	})
	ctx, years := t.Context(), gleaner.Years{From: 2003, To: 2004}
	id := begin(t, a, "journals/exa", years)
	lists(t, a, id, "journals/exa", years)
	_, err := a.Stages.LocateCopies(ctx, id, harvest.Asked{}, func(harvest.Asked) {})
	require.NoError(t, err)
	require.Equal(t, 1, stillOpen(t, a, id).Copies, "the later paper alone: %v", o.Log())
	had, others := len(o.Requests("api.unpaywall.org")), len(o.Requests("api.semanticscholar.org"))
	_, err = a.Stages.LocateAgain(ctx, id, noCount)
	require.NoError(t, err)
	assert.Len(t, o.Requests("api.unpaywall.org"), had, "it is parked")

	meant := devtest.Must(a.DB.Meant(ctx, store.RetryFilter{Harvest: id}))(t)
	again := devtest.Must(a.DB.AskAgain(ctx, store.RetryFilter{Harvest: id}, true))(t)
	assert.Equal(t, 1, again.Copies)
	assert.Equal(t, meant, again)
	failures := devtest.Must(a.DB.Failures(ctx, store.RetryFilter{Harvest: id}))(t)
	require.Len(t, failures, 1)
	assert.Equal(t, []any{"unanswered-copies", 1}, []any{failures[0].Reason, failures[0].Sources})
	_, err = a.Stages.LocateAgain(ctx, id, noCount)
	require.NoError(t, err)
	for _, r := range o.Requests("api.unpaywall.org")[had:] {
		assert.NotContains(t, r.Path, "exa.1", "it had answered for that paper")
	}
	assert.Len(t, o.Requests("api.semanticscholar.org"), others)
	assert.Zero(t, stillOpen(t, a, id).Copies)
}

// A catalogue that only adds, and is out while papers are listed, is remembered.
func TestAListingThatWasOut(t *testing.T) {
	t.Parallel()
	o := smallVenue()
	o.Fail(catalogues.Fault{Host: "api.crossref.org", Path: "/works", Times: 1, Status: 200, Body: `{"message": {"items": [`})
	a := o.open(t, "", map[string]string{"sources": "dblp,crossref"})
	years := gleaner.Years{From: 2003, To: 2003}
	describe(t, a)
	id := begin(t, a, "journals/exa", years)
	require.Len(t, lists(t, a, id, "journals/exa", years).Missing, 1, "%v", o.Log())
	require.Equal(t, 1, stillOpen(t, a, id).Papers)
	assert.Empty(t, lists(t, a, id, "journals/exa", years).Missing)
	assert.False(t, stillOpen(t, a, id).Any())
}

// TestACataloguesAnswerThatKillsIsSetAside: a volume over whose answer process after process dies
// is asked for in another way; where there is none, the error names what was asked for, and the
// harvest ends with it. A person's word has it asked for again.
func TestACataloguesAnswerThatKillsIsSetAside(t *testing.T) {
	t.Parallel()
	o, dsn := circle(), devtest.Postgres(t)
	a := o.open(t, dsn, nil)
	years := gleaner.Years{From: 2003, To: 2003}
	id := begin(t, a, smallKey, years)
	dying := func(n int) {
		for range n {
			answers := harvest.Answers{DB: o.open(t, dsn, nil).DB}
			d := metadata.NewDBLP(metadata.Config{
				HTTPClient: o.Client(), DBLPMirrorURL: "-", DBLPURL: "http://dblp.org",
				Delays: metadata.Delays{DBLP: 1},
				Begin: func(ctx context.Context, what string) (func(), error) {
					lives, dies := context.WithCancel(ctx)
					end, err := answers.Begin(lives, what)
					return func() {
						if dies(); !strings.Contains(what, "exa2003") { // else it does nothing any more
							end()
						}
					}, err
				},
			})
			_, _ = d.Papers(t.Context(), metadata.Volume{Venue: smallKey, Years: years, TOC: "db/conf/exa/exa2003"})
			storetest.Exec(t, a.DB.Pool, `UPDATE page_cache SET reading = reading - interval '1 hour'`)
		}
	}
	ask := func() ([]gleaner.Paper, error) {
		volumes := devtest.Must(a.Stages.DBLP.Volumes(t.Context(), smallKey, years))(t)
		return a.Stages.DBLP.Papers(t.Context(), volumes[0])
	}
	dying(frontier.MaxDeaths)
	papers := devtest.Must(ask())(t)
	require.NotEmpty(t, papers)
	dying(2 * frontier.MaxDeaths)
	_, err := ask()
	var bad metadata.ErrBadAnswer
	require.ErrorAs(t, err, &bad)
	require.Regexp(t, `exa2003.*`+string(frontier.Killed)+`: 3 processes ended`, err.Error())
	_, err = a.Stages.ListPapers(t.Context(), id, smallKey, years, nothing)
	var none metadata.ErrNoVolume // it is the only one
	require.ErrorAs(t, err, &none)
	require.Contains(t, err.Error(), "exa2003")
	require.Contains(t, err.Error(), frontier.Killed)

	_, err = a.DB.AskAgain(t.Context(), store.RetryFilter{Harvest: id}, true)
	require.NoError(t, err)
	papers = devtest.Must(ask())(t)
	require.NotEmpty(t, papers)
	require.Zero(t, storetest.Get[int](t, a.DB.Pool, `SELECT count(*) FROM page_cache WHERE host=''`),
		"what was read leaves nothing")
}

// TestReadersOfASlowAnswerLive: readers that come while others read the same answer, for
// longer than a dead one would be waited for, find nobody dead.
func TestReadersOfASlowAnswerLive(t *testing.T) {
	t.Parallel()
	o, dsn := circle(), devtest.Postgres(t)
	for range frontier.MaxDeaths + 1 {
		db := o.open(t, dsn, nil).DB
		end := devtest.Must((&harvest.Answers{DB: db}).Begin(t.Context(), "a large volume"))(t)
		defer end()
		storetest.Exec(t, db.Pool, `UPDATE page_cache SET reading = reading - interval '1 hour'`)
		require.Eventually(t, func() bool {
			return storetest.Get[bool](t, db.Pool, `SELECT reading > now() - interval '5 seconds' AND deaths = 0
				FROM page_cache WHERE host=''`)
		}, 10*time.Second, 50*time.Millisecond)
	}
}
