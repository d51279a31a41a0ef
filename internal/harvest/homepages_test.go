package harvest_test

import (
	"fmt"
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
	"gleaner/internal/record/frontier"
	"gleaner/internal/record/store"
	"gleaner/internal/service/app"
)

const smallKey = "conf/exa"

var (
	roe        = gleaner.Author{PID: "1/1", Name: "Jane Roe"}
	poe        = gleaner.Author{PID: "1/2", Name: "Adalbert Poe"}
	firstChen  = gleaner.Author{PID: "2/1", Name: "Bo Chen"}
	secondChen = gleaner.Author{PID: "2/2", Name: "Bo Chen"}
)

// circle is a venue-year of co-authors: Roe's page is listed and links to Poe's,
// which no directory lists; two namesakes are listed with one page.
func circle() *outside { return circleOf("http://www.cs.example.edu/~roe/") }

// circleOf is circle with Roe's page elsewhere.
func circleOf(roes string) *outside {
	titles := []string{"Sorting Measured Examples by Weight", "A Second Look at the Growth of Samples", "Counting What Cannot be Seen Twice"}
	papers := []gleaner.Paper{
		{Key: "conf/exa/RoeP03", Venue: smallKey, Year: 2003, Title: titles[0], Authors: []gleaner.Author{roe, poe}},
		{Key: "conf/exa/Chen03", Venue: smallKey, Year: 2003, Title: titles[1], Authors: []gleaner.Author{firstChen}},
		{Key: "conf/exa/Chen03a", Venue: smallKey, Year: 2003, Title: titles[2], Authors: []gleaner.Author{secondChen}},
	}
	o := newOutside(catalogues.Catalogue{Venue: smallKey, Name: "EXA", Title: "Symposium on Examples",
		Volumes:   []catalogues.Volume{{TOC: "db/conf/exa/exa2003", Year: 2003, Papers: papers}},
		Homepages: map[string][]string{"1/1": {roes}, "2/1": {"http://www.example.ac.uk/~chen/"}, "2/2": {"http://www.example.ac.uk/~chen/"}}})
	o.pages[roes] = fmt.Sprintf(`<html><head><title>Jane Roe's home page</title></head><body><h1>Jane Roe</h1><p>research</p>
		<ul><li>%s, with <a href="http://people.example.org/~apoe/">Adalbert Poe</a> <a href="p.pdf">pdf</a></li></ul></body></html>`, titles[0])
	o.home("http://people.example.org/~apoe/", "Adalbert Poe", titles[0])
	o.home("http://www.example.ac.uk/~chen/", "Bo Chen", titles[1], titles[2])
	return o
}

func listed(t *testing.T, a *app.App) string {
	years := gleaner.Years{From: 2003, To: 2003}
	id := begin(t, a, smallKey, years)
	lists(t, a, id, smallKey, years)
	return id
}

// circled is an application over a circle, whose papers a harvest has.
func circled(t *testing.T) (*app.App, string) {
	a := circle().open(t, "", nil)
	return a, listed(t, a)
}

// explained is what was decided of an author.
func explained(t *testing.T, a *app.App, who gleaner.Author) evidence.Decision {
	t.Helper()
	e := devtest.Must(harvest.Homepages{DB: a.DB}.Explain(t.Context(), who))(t)
	return *e.Decision
}

// say has a person say of a page whether it is an author's.
func say(t *testing.T, a *app.App, who gleaner.Author, url, word string) {
	t.Helper()
	_, err := harvest.Homepages{DB: a.DB}.Say(t.Context(), who, url, word)
	require.NoError(t, err)
}

// seed gives the homepages to the frontier.
func seed(t *testing.T, a *app.App, id, scope string) harvest.Seeded {
	t.Helper()
	return devtest.Must(a.Stages.SeedHomepages(t.Context(), id, scope, "", func(string, harvest.Seeded) {}))(t)
}

// best lists the first homepage of each author.
func best(t *testing.T, a *app.App, id string) map[string]string {
	all := devtest.Must(a.DB.ListHomepages(t.Context(), id))(t)
	out := map[string]string{}
	for _, l := range all {
		out[l.Author.ID()] = ""
		if len(l.Homepages) > 0 {
			out[l.Author.ID()] = l.Homepages[0].URL
		}
	}
	return out
}

func TestTwoPasses(t *testing.T) {
	t.Parallel()
	want := map[string]string{"1/1": "http://www.cs.example.edu/~roe/", "1/2": "http://people.example.org/~apoe/", "2/1": "http://www.example.ac.uk/~chen/", "2/2": ""}
	for _, batch := range []int{1, 2, 100} {
		t.Run(fmt.Sprint(batch), func(t *testing.T) {
			t.Parallel()
			a, id := circled(t)
			looked, _ := findAll(t, a, id, smallKey, batch)
			assert.Equal(t, 4, looked)
			assert.Equal(t, want, best(t, a, id))
			assert.Equal(t, evidence.GivenToAnother, explained(t, a, secondChen).NotFound)
		})
	}
}

// TestProcessesShareASearch looks for each author in another process than for the
// one before, side by side: what is found is the same, and no page is asked for
// by both.
func TestProcessesShareASearch(t *testing.T) {
	t.Parallel()
	o := circle()
	dsn := devtest.Postgres(t)
	// Long enough for what one process was answered to be written before the next turn.
	slow := map[string]string{"delay": "500ms"}
	a, other := o.open(t, dsn, slow), o.open(t, dsn, slow)
	id := listed(t, a)
	looked, _ := findAll(t, a, id, smallKey, 1, other)
	assert.Equal(t, 4, looked)
	assert.Equal(t, map[string]string{"1/1": "http://www.cs.example.edu/~roe/", "1/2": "http://people.example.org/~apoe/", "2/1": "http://www.example.ac.uk/~chen/", "2/2": ""}, best(t, a, id))
	times := map[string]int{}
	for _, r := range o.people.Log() {
		times["http://"+r.Host+r.Path]++
	}
	for url, n := range times {
		if !strings.HasSuffix(url, "/robots.txt") {
			assert.Equal(t, 1, n, url)
		}
	}
	assert.Contains(t, times, "http://www.example.ac.uk/~chen/")
}

// TestSecondPassCutOff runs the second pass twice, as after a crash: what it found
// the first time must not count as known to it the second time.
func TestSecondPassCutOff(t *testing.T) {
	t.Parallel()
	a, id := circled(t)
	ctx := t.Context()
	first(t, a, id, time.Time{})
	s := devtest.Must(a.Stages.SettleHomepages(ctx, id))(t)
	l, err := a.Stages.FindHomepages(ctx, id, smallKey, harvest.Part{Authors: store.AuthorRange{Limit: 1}, Pass: 2, Since: s.At}, noCount)
	require.NoError(t, err)
	require.True(t, l.More)
	for range 2 {
		_, err = a.Stages.FindHomepages(ctx, id, smallKey, harvest.Part{Authors: store.AuthorRange{Limit: 100}, Pass: 2, Since: s.At}, noCount)
		require.NoError(t, err)
	}
	assert.Equal(t, "http://people.example.org/~apoe/", best(t, a, id)["1/2"])
}

func TestAPersonsWordLasts(t *testing.T) {
	t.Parallel()
	a, id := circled(t)
	ctx := t.Context()
	findAll(t, a, id, smallKey, 100)
	require.NoError(t, a.DB.SetStage(ctx, id, "crawl", ""))

	const roes = "http://www.cs.example.edu/~roe/"
	say(t, a, secondChen, "http://www.example.ac.uk/old/chen/", "is")
	// The last named comes first.
	running, err := harvest.Homepages{DB: a.DB}.Say(ctx, secondChen, "http://www.example.ac.uk/~chen/", "is")
	require.NoError(t, err)
	require.Len(t, running, 1, "the harvest is past looking for homepages and has to be signalled")
	say(t, a, roe, roes, "is-not")
	check := func() {
		got := best(t, a, id)
		assert.Equal(t, "http://www.example.ac.uk/~chen/", got["2/2"])
		assert.Equal(t, "http://www.example.ac.uk/~chen/", got["2/1"], "a person gave it to both")
		assert.Empty(t, got["1/1"])
	}
	check()
	// A later harvest searches for all again and applies what people said.
	first(t, a, id, time.Now().Add(time.Hour))
	_, err = a.Stages.SettleHomepages(ctx, id)
	require.NoError(t, err)
	check()

	n := devtest.Must(harvest.Homepages{DB: a.DB}.Forget(ctx, roe, ""))(t)
	assert.Equal(t, 1, n)
	assert.Equal(t, roes, best(t, a, id)["1/1"], "what was found before the word counts again at once")
	say(t, a, roe, roes, "is")
	_, err = harvest.Homepages{DB: a.DB}.Forget(ctx, roe, "")
	require.NoError(t, err)
	assert.Equal(t, roes, best(t, a, id)["1/1"], "a yes to the page that was found, taken back")
	findAll(t, a, id, smallKey, 100)
	assert.Equal(t, roes, best(t, a, id)["1/1"])
}

// TestAPlaceOfPapersIsDenied: a person says of a page with an author's papers, too, that it
// is not theirs.
func TestAPlaceOfPapersIsDenied(t *testing.T) {
	t.Parallel()
	a, _ := circled(t)
	const home, place = "http://www.cs.example.edu/~roe/", "http://lab.example.edu/papers/"
	d := evidence.Decision{
		Author:    roe,
		Homepages: []evidence.Candidate{{URL: home, Source: "dblp", Kept: true}},
		Places:    []evidence.Place{{URL: place, Of: home}},
	}
	require.NoError(t, a.DB.SaveDecision(t.Context(), d, nil))
	say(t, a, roe, place, "is-not")
	ds := devtest.Must(a.DB.Decisions(t.Context(), []string{roe.ID()}, time.Time{}))(t)
	require.Len(t, ds, 1)
	require.Empty(t, ds[0].Places)
	require.Len(t, ds[0].Homepages, 1)
}

// TestPagesSeenAnswerTheNextHarvest finds a page that no directory lists, without
// any web search, because it was fetched before.
func TestPagesSeenAnswerTheNextHarvest(t *testing.T) {
	t.Parallel()
	o := circle()
	a := o.open(t, "", map[string]string{"search": "none"})
	ctx := t.Context()
	var pages []evidence.Page
	for i := range 30 {
		pages = append(pages, evidence.Page{URL: fmt.Sprintf("http://www.example.net/%d", i), Title: "Another page", Text: "examples and samples, measured and sorted by others"})
	}
	pages = append(pages, evidence.Page{URL: "http://people.example.org/~apoe/", Title: "Adalbert Poe's home page", Text: "Sorting Measured Examples by Weight"})
	require.NoError(t, a.DB.PageIndex(0).PutPages(ctx, pages))
	results := devtest.Must(homepage.NewLocal(a.DB.PageIndex(0)).Search(ctx, `"Adalbert Poe" EXA`, 10))(t)
	require.NotEmpty(t, results)
	assert.Equal(t, "http://people.example.org/~apoe/", results[0].URL)

	id := listed(t, a)
	first(t, a, id, time.Time{})
	assert.Equal(t, "http://people.example.org/~apoe/", best(t, a, id)["1/2"], "in the first pass, by the index alone")
}

// TestTheLocalIndexRanksPages: a page that is a person's own comes before those that
// name many; one that is put again is replaced; the longest unseen go.
func TestTheLocalIndexRanksPages(t *testing.T) {
	t.Parallel()
	a := circle().open(t, "", nil)
	ctx := t.Context()
	index := a.DB.PageIndex(0)
	for _, p := range []evidence.Page{
		{URL: "http://a.org/", Title: "Jane O'Doe", Text: "Home page of Jane O'Doe, who studies joins, 数学 and ﬁne café tables."},
		{URL: "http://b.org/", Title: "People", Text: "Jane O'Doe, John Roe, Max Poe and many others work here in this large department."},
		{URL: "http://c.org/", Title: "Weather", Text: "Rain."},
	} {
		require.NoError(t, index.PutPages(ctx, []evidence.Page{p}))
		require.NoError(t, index.PutPages(ctx, []evidence.Page{p}), "again")
	}
	search := func(q string) (urls []string) {
		results := devtest.Must(homepage.NewLocal(index).Search(ctx, q, 10))(t)
		for _, r := range results {
			urls = append(urls, r.URL)
		}
		return urls
	}
	assert.Equal(t, []string{"http://a.org/", "http://b.org/"}, search("Jane O'Doe"))
	assert.Equal(t, []string{"http://a.org/"}, search("数学 cafe"))
	assert.Equal(t, []string{"http://c.org/"}, search("weather nowhere"), "half of the terms will do")
	assert.Empty(t, search("nothing here to find"))
	require.NoError(t, index.PutPages(ctx, []evidence.Page{{URL: "http://a.org/", Title: "Gone"}}))
	assert.Equal(t, []string{"http://b.org/"}, search("Jane O'Doe"))
	small := a.DB.PageIndex(10)
	for i := range 1100 {
		require.NoError(t, small.PutPages(ctx, []evidence.Page{{URL: fmt.Sprintf("http://n.example.edu/%d", i), Title: "n", Text: "n"}}))
	}
	n := devtest.Must(a.DB.IndexedPages(ctx))(t)
	assert.Less(t, n, 1100, "the pages longest unseen go")
}

// TestWhatIsFoundIsGivenWhileOthersAreLookedFor: the homepage that is a whole host, and
// neither that which shares its host with others nor one whose crawl was begun. What the
// end of the search gives then is the same.
func TestWhatIsFoundIsGivenWhileOthersAreLookedFor(t *testing.T) {
	t.Parallel()
	a := circleOf("http://www.jane-roe.example/").open(t, "", nil)
	id := listed(t, a)
	ctx := t.Context()
	given := func(without ...string) []string {
		return devtest.Must(a.Stages.SeedFound(ctx, id, without, 10))(t)
	}
	require.Empty(t, given())
	first(t, a, id, time.Time{})
	host := []string{"www.jane-roe.example"}
	require.Equal(t, host, given())
	require.Equal(t, host, given(), "as after a crash")
	require.Empty(t, given(host...))
	waiting, _, err := a.DB.SitesToCrawl(ctx, id, "", 10)
	require.NoError(t, err)
	require.Equal(t, host, waiting)
	site := devtest.Must(a.DB.Site(ctx, host[0]))(t)
	token := storetest.Get[int64](t, a.DB.Pool, `SELECT token FROM sites WHERE id=$1`, site.ID)
	require.NoError(t, a.DB.BeginCrawl(ctx, store.Slice{SiteID: site.ID, Crawl: 1, Token: token}))
	require.Empty(t, given())

	_, err = a.Stages.SettleHomepages(ctx, id)
	require.NoError(t, err)
	require.Equal(t, harvest.Seeded{Hosts: 2, URLs: 1}, seed(t, a, id, ""))
}

// TestPapersElsewhereAreASeedOfTheirOwn: where the homepage links to a group's list of
// papers, both are given to the frontier, each with its scope; the report says so of the
// author; and the place goes with a homepage that a person denies.
func TestPapersElsewhereAreASeedOfTheirOwn(t *testing.T) {
	t.Parallel()
	o := circle()
	const home, list = "http://people.example.org/~apoe/", "http://lab.example.net/pubs/2003.html"
	o.pages[home] = `<html><head><title>Adalbert Poe</title></head><body><h1>Adalbert Poe</h1><p>Researcher at the University of Examples.</p><a href="` + list + `">Publications</a></body></html>`
	o.pages[list] = `<html><head><title>Our papers</title></head><body>A. Poe: Sorting Measured Examples by Weight <a href="p.pdf">pdf</a></body></html>`
	a := o.open(t, "", nil)
	id := listed(t, a)
	findAll(t, a, id, smallKey, 100)
	ctx := t.Context()
	scopes := func(host string) []string {
		site := devtest.Must(store.EnsureSite(ctx, a.DB.Pool, host))(t)
		return devtest.Must(a.DB.Scopes(ctx, site))(t)
	}
	seed(t, a, id, harvest.ScopeHost)
	assert.Equal(t, []string{"/"}, scopes("people.example.org"))
	assert.Equal(t, []string{"/pubs/2003"}, scopes("lab.example.net"), "the group's site is not theirs")
	waiting, _, err := a.DB.SitesToCrawl(ctx, id, "", 10)
	require.NoError(t, err)
	assert.Contains(t, waiting, "lab.example.net")
	assert.Equal(t, []store.Elsewhere{{Author: "Adalbert Poe", Homepage: home, Papers: list}},
		reported(t, a, id).Elsewhere)
	assert.Equal(t, home, best(t, a, id)["1/2"])

	say(t, a, poe, home, "is-not")
	assert.Empty(t, reported(t, a, id).Elsewhere)
}

// TestManyHomepagesOfAHostHoldItForSome: while the last of them cannot be entered yet, those
// before are on record.
func TestManyHomepagesOfAHostHoldItForSome(t *testing.T) {
	t.Parallel()
	a, id := circled(t)
	ctx := t.Context()
	storetest.Exec(t, a.DB.Pool, `INSERT INTO homepages (author_id, url, host, rank, source) SELECT (SELECT min(author_id) FROM paper_authors),
		'http://many.example/'||i||'/', 'many.example', i, 'test' FROM generate_series(1, 600) i`)
	site := devtest.Must(store.EnsureSite(ctx, a.DB.Pool, "many.example"))(t)
	other := devtest.Must(a.DB.Pool.Begin(ctx))(t)
	var last frontier.Entry
	last.Link.URL = "http://many.example/600/"
	_, err := frontier.Add(ctx, other, site, []frontier.Entry{last})
	require.NoError(t, err)
	seeded := make(chan harvest.Seeded, 1)
	go func() {
		n, err := a.Stages.SeedHomepages(ctx, id, "", "", func(string, harvest.Seeded) {})
		assert.NoError(t, err)
		seeded <- n
	}()
	storetest.AwaitLock(t, a.DB.Pool)
	require.Equal(t, []int{600, 500}, storetest.Get[[]int](t, a.DB.Pool, `SELECT ARRAY[(SELECT count(*) FROM scopes), (SELECT count(*) FROM urls)]`))
	require.NoError(t, other.Commit(ctx))
	require.Equal(t, harvest.Seeded{Hosts: 1, URLs: 600}, <-seeded, "the one that another added got better")
}
