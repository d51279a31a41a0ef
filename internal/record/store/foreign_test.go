package store_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"gleaner/internal/devstack/devtest"
	"gleaner/internal/devstack/storetest"
	"gleaner/internal/fetch"
	"gleaner/internal/gleaner"
	"gleaner/internal/gleaner/evidence"
	"gleaner/internal/politeness"
	"gleaner/internal/record/frontier"
	"gleaner/internal/record/store"
	"gleaner/internal/web/page"
)

// TestForeignTextIsKept: whatever others write, NUL, broken UTF-8 and addresses
// longer than an index takes, is kept by every method that keeps anything, twice
// over, and found again.
func TestForeignTextIsKept(t *testing.T) {
	t.Parallel()
	db := storetest.Open(t, 4)
	noise := make([]byte, 6000) // nothing that Postgres could pack
	_, _ = rand.NewChaCha8([32]byte{}).Read(noise)
	const odd = "odd \x00 \xff \x1b[31m \u202e"
	const clean = "odd \uFFFD \uFFFD \x1b[31m \u202e"
	long := fmt.Sprintf("http://a.example/%x%s", noise, odd)
	now := time.Now()
	ada := gleaner.Author{PID: "a/1" + odd, Name: "Ada" + odd}
	paper := gleaner.Paper{Key: "p" + odd, Venue: "v" + odd, Year: 2003, Title: odd, Authors: []gleaner.Author{ada}, DOI: odd, ArXiv: odd, Pages: odd, Links: []string{long}}
	doc := store.Document{SHA256: "aa", Kind: odd, State: "accepted", Outcome: odd, Detail: odd, Reader: odd, Class: odd, Reasons: []string{odd}, MetaTitle: odd, FirstPages: odd}
	found := []store.Found{{Paper: paper.Key, Verdict: "exact", Form: odd, Reasons: []string{odd}}}
	site := devtest.Must(store.EnsureSite(t.Context(), db.Pool, "a.example"+odd))(t)
	in := func(do func(tx pgx.Tx) error) error { return pgx.BeginFunc(t.Context(), db.Pool, do) }
	ctx := t.Context()

	// In the order in which one needs the other.
	type save struct {
		name string
		do   func() error
	}
	saves := []save{
		{"SaveNewRecords", func() error {
			return db.SaveNewRecords(ctx, []gleaner.Paper{paper}, []gleaner.Origin{{Why: []string{odd}}})
		}},
		{"SaveUser", func() error { return db.SaveUser(ctx, odd, odd, store.Reader) }},
		{"SetRole", func() error { return db.SetRole(ctx, odd, store.Editor) }},
		{"SaveProvided", func() error { return db.SaveProvided(ctx, "provided "+odd, odd, store.Reader) }},
		{"SavePapers", func() error { return db.SavePapers(ctx, []gleaner.Paper{paper}, odd) }},
		{"SaveRecords", func() error {
			return db.SaveRecords(ctx, []gleaner.Paper{paper}, []gleaner.Origin{{Why: []string{odd}}})
		}},
		{"SaveHarvest", func() error {
			return db.SaveHarvest(ctx, store.Harvest{ID: "h" + odd, Venue: paper.Venue, Years: gleaner.Years{From: 2003, To: 2003}, Options: json.RawMessage("{}"), Stage: odd})
		}},
		{"SetStage", func() error { return db.SetStage(ctx, "h"+odd, odd, odd) }},
		{"SetView", func() error { return db.SetView(ctx, site, "0123456789abcdef") }},
		{"SetPaused", func() error { return db.SetPaused(ctx, "h"+odd, true) }},
		{"SetHarvestPapers", func() error {
			return db.SetHarvestPapers(ctx, "h"+odd, []gleaner.Paper{paper}, map[string]string{paper.Key: odd})
		}},
		{"SetUnanswered", func() error {
			return db.SetUnanswered(ctx, "h"+odd, store.UnansweredPapers, odd, []string{odd}, []store.Unanswered{{Subject: odd, Reason: odd}})
		}},
		{"SaveCopies", func() error {
			return db.SaveCopies(ctx, []store.Copy{{Paper: paper.Key, URL: long, Version: odd, License: odd, Host: odd, Source: odd}})
		}},
		{"SaveHoldings", func() error { _, err := db.SaveHoldings(ctx, []gleaner.Paper{paper}, odd, false, nil); return err }},
		{"SaveListing", func() error { return db.SaveListing(ctx, odd, paper.Venue, odd, []gleaner.Paper{paper}) }},
		{"SavePersons", func() error {
			return db.SavePersons(ctx, odd, map[string]*gleaner.Person{ada.PID: {}})
		}},
		{"SaveDecision", func() error {
			return db.SaveDecision(ctx, evidence.Decision{Author: ada, NotFound: odd, Candidates: []evidence.Candidate{{URL: long, Title: odd}}},
				[]store.Homepage{{URL: long, Host: odd, Source: odd}})
		}},
		{"SetOverride", func() error { return db.SetOverride(ctx, ada.ID(), long, "is") }},
		{"SavePage", func() error {
			return db.SavePage(ctx, store.CachedPage{Hash: []byte{1}, Host: odd, URL: long, FinalURL: long, Outcome: odd, Header: http.Header{odd: {odd}}, At: now})
		}},
		{"SaveRobots", func() error {
			return politeness.NewRobots(db.Pool).SaveRobots(ctx, odd, fetch.RobotsRecord{Body: []byte(odd), Reason: odd, FetchedAt: now, ExpiresAt: now})
		}},
		{"SaveFetched", func() error {
			return db.SaveFetched(ctx, doc, store.Location{Hash: []byte{1}, SiteID: site, URL: long, Member: odd, Parent: long, Anchor: odd, Context: odd,
				Heading: odd, MetaTitle: odd, DOI: odd, Header: map[string]string{odd: odd}, Found: now}, func() error { return nil })
		}},
		{"SaveAllFetched", func() error { return db.SaveAllFetched(ctx, nil) }},
		{"SaveUnread", func() error { return db.SaveUnread(ctx, []store.Readable{{Document: doc, Matches: found}}) }},
		{"SaveSketch", func() error { return db.SaveSketch(ctx, "aa", []byte{0}, []int64{1}) }},
		{"SaveFailure", func() error { return db.SaveFailure(ctx, "aa", odd, odd, false) }},
		{"SaveJudgement", func() error { return db.SaveJudgement(ctx, doc, found, store.Kin{}, 0) }},
		{"SaveMatches", func() error { return db.SaveMatches(ctx, "aa", found, true, 0) }},
		{"SaveCompared", func() error { return db.SaveCompared(ctx, "aa", []int32{1}, 0) }},
		{"SetIngestion", func() error { return db.SetIngestion(ctx, "ingested", "aa", odd) }},
		{"SaveRates", func() error {
			return db.SaveRates(ctx, site, now, store.SiteRates{}, []store.DirectoryRates{{Path: strings.TrimPrefix(long, "http://a.example"), Name: long}})
		}},
		{"SaveWhitelist", func() error {
			return db.SaveWhitelist(ctx, []store.DomainRank{{Domain: odd}}, []store.ListedURL{{URL: long, Domain: odd}})
		}},
		{"SaveCitations", func() error { return db.SaveCitations(ctx, odd, map[string]int64{odd: 1}) }},
		{"SaveImport", func() error {
			job := devtest.Must(db.AddJob(ctx, "import", map[string]string{odd: odd}))(t)
			require.NoError(t, db.BeginJob(ctx, job, 1))
			err := db.BeginRecords(ctx, job, 1, []*store.ImportRecord{{N: 1, URL: long}})
			require.NoError(t, err)
			return db.SaveImport(ctx, store.ImportStep{Job: job, Run: 1, Done: 1, Position: map[string]string{odd: odd}, Counters: map[string]string{odd: odd},
				Records: []store.ImportRecord{{N: 1, URL: long, Source: odd, Outcome: odd, Detail: odd, Kind: odd, Class: odd, SHA256: "aa", Difference: odd, Parent: odd}},
				Parents: []store.ParentSeen{{Page: frontier.HashOf(long), URL: long, Day: now, Leads: true}},
				Links:   []frontier.Seen{{Site: site, Page: frontier.HashOf(long), Target: frontier.HashOf(odd), Day: now}}})
		}},

		{"a search", func() error {
			return db.Searches().SaveSearch(ctx, odd, long, 10, evidence.Answer{Results: []evidence.Result{{URL: long, Title: odd}}, At: now})
		}},
		{"an indexed page", func() error {
			return db.PageIndex(100).PutPages(ctx, []evidence.Page{{URL: long, Title: odd, Text: odd}})
		}},
		{"a scope", func() error {
			return in(func(tx pgx.Tx) error { return store.AddScope(ctx, tx, site, long, odd) })
		}},
		{"a link", func() error {
			e := frontier.Entry{Candidate: page.Candidate{Parent: long, Link: page.Link{URL: long, Anchor: odd, Context: odd, Heading: odd, TagPath: odd}}}
			return in(func(tx pgx.Tx) error { _, err := frontier.Add(ctx, tx, site, []frontier.Entry{e}); return err })
		}},
	}
	all := map[string]bool{}
	for range 2 {
		for _, s := range saves {
			require.NoError(t, s.do(), s.name)
			all[s.name] = true
		}
	}
	for i := range reflect.TypeOf(db).NumMethod() {
		name := reflect.TypeOf(db).Method(i).Name
		if strings.HasPrefix(name, "Save") && name != "SavedBy" || strings.HasPrefix(name, "Set") && name != "Settle" {
			require.True(t, all[name], "%s is not tried", name)
		}
	}
	title := storetest.Get[string](t, db.Pool, `SELECT title FROM papers`)
	require.Equal(t, clean, title)
	d, places, err := db.Document(ctx, "aa")
	require.NoError(t, err)
	require.Equal(t, clean, d.FirstPages)
	require.Len(t, places, 1)
	a, ok, err := db.Searches().LoadSearch(ctx, odd, long, 10)
	require.NoError(t, err)
	require.True(t, ok)
	require.Len(t, a.Results, 1)
	overrides := devtest.Must(db.Overrides(ctx, ada.ID()))(t)
	require.Len(t, overrides, 1)
	require.NoError(t, db.SetOverride(ctx, ada.ID(), long, ""))
	overrides = devtest.Must(db.Overrides(ctx, ada.ID()))(t)
	require.Empty(t, overrides)
}

// TestASearchSaysNothingOfABlacklistedHost once it is kept: only the address stays.
func TestASearchSaysNothingOfABlacklistedHost(t *testing.T) {
	t.Parallel()
	db := storetest.Open(t, 2)
	require.NoError(t, db.Block(t.Context(), []store.Blocked{{Host: "a.test"}}))
	found := []evidence.Result{{URL: "http://b.test/", Title: "B"}, {URL: "http://a.test/", Title: "A", Snippet: "of A"}}
	require.NoError(t, db.Searches().SaveSearch(t.Context(), "p", "q", 10, evidence.Answer{Results: found, At: time.Now()}))
	a, _, err := db.Searches().LoadSearch(t.Context(), "p", "q", 10)
	require.NoError(t, err)
	require.Equal(t, []evidence.Result{found[0], {URL: "http://a.test/"}}, a.Results)
}

// TestForeignTextInJSON: no page, file or service can stop the record by what it
// says.
func TestForeignTextInJSON(t *testing.T) {
	t.Parallel()
	db := storetest.Open(t, 2)
	for in, want := range map[string]string{
		`"a\u0000b"`:              "a\uFFFDb",
		`"a\\u0000b"`:             `a\u0000b`, // a backslash, and no escape after it
		`"a\\\u0000b"`:            "a\\\uFFFDb",
		`"\ud83d\ude00"`:          "😀",
		`"\ud83d"`:                "\uFFFD",
		`"\ude00\ud83d"`:          "\uFFFD\uFFFD",
		"\"\xff\"":                "\uFFFD",
		`"\n\"\u00e9"`:            "\n\"é",
		`"plain"`:                 "plain",
		`"\u0000\u0000\\\\u0000"`: "\uFFFD\uFFFD\\\\u0000",
	} {
		var out string
		require.NoError(t, db.Pool.QueryRow(t.Context(), `SELECT ($1::jsonb) #>> '{}'`, json.RawMessage(in)).Scan(&out), in)
		require.Equal(t, want, out, in)
	}

	ctx := t.Context()
	paper := gleaner.Paper{Key: "p", Venue: "v", Year: 2003, Title: "A Paper", Authors: []gleaner.Author{{PID: "a/1", Name: "Ada"}}}
	require.NoError(t, db.SavePapers(ctx, []gleaner.Paper{paper}, map[string]string{"source": "a\x00b"}))
	twins := gleaner.Paper{Key: "twins", Title: "Two ids that are one", Authors: []gleaner.Author{{PID: "a\x00", Name: "A"}, {PID: "a\uFFFD", Name: "B"}}}
	require.NoError(t, db.SavePapers(ctx, []gleaner.Paper{twins}, nil))
	require.NoError(t, db.SaveDecision(ctx, evidence.Decision{Author: paper.Authors[0], Candidates: []evidence.Candidate{{Title: "a picture \x00 of Ada"}}}, nil))
	storetest.Exec(t, db.Pool, `INSERT INTO sites (host, learnt) VALUES ('a.example', $1)`, json.RawMessage(`{"tag\u0000path": 1}`))
}

// TestWhoAsksAndWhoReadsAreChargedApart: neither is taken for a death of the other.
func TestWhoAsksAndWhoReadsAreChargedApart(t *testing.T) {
	t.Parallel()
	db := storetest.Open(t, 2)
	p := store.CachedPage{Hash: []byte("0123456789abcdef"), Host: "a.example", URL: "http://a.example/"}
	begin := func() {
		require.Zero(t, devtest.Must(db.BeginPage(t.Context(), p.Hash))(t))
	}
	require.NoError(t, db.SavePage(t.Context(), p))
	begin()
	deaths, since, err := db.BeginAsk(t.Context(), p, false)
	require.NoError(t, err)
	require.Zero(t, deaths)
	require.NotNil(t, since)
	storetest.Exec(t, db.Pool, `UPDATE page_cache SET asking = now() - interval '1 minute'`)
	begin()
}

// TestDeathsInQuickSuccessionCount: whoever reads a page does not put off that it is told
// from those before who died over it.
func TestDeathsInQuickSuccessionCount(t *testing.T) {
	t.Parallel()
	db := storetest.Open(t, 2)
	p := store.CachedPage{Hash: []byte("0123456789abcdef"), Host: "a.example", URL: "http://a.example/"}
	require.NoError(t, db.SavePage(t.Context(), p))
	died := 0
	for range 4 { // every three seconds
		died = devtest.Must(db.BeginPage(t.Context(), p.Hash))(t)
		storetest.Exec(t, db.Pool, `UPDATE page_cache SET reading = reading - interval '3 seconds'`)
	}
	require.Equal(t, 1, died)
}

// TestNewsToldAgainAreTheSame: what was not heard to arrive ends, told again, where it
// ended; what came since is the next news.
func TestNewsToldAgainAreTheSame(t *testing.T) {
	t.Parallel()
	db, _ := two(t)
	ctx := t.Context()
	first := devtest.Must(db.News(ctx, "webhook", 0))(t)
	require.NoError(t, db.Noticed(ctx, "webhook", first))
	sent := devtest.Must(db.News(ctx, "webhook", 0))(t)
	require.Equal(t, first.Until, sent.Since)
	again := devtest.Must(db.News(ctx, "webhook", 0))(t)
	require.Equal(t, sent.Until, again.Until)
	require.NoError(t, db.Noticed(ctx, "webhook", again))
	next := devtest.Must(db.News(ctx, "webhook", 0))(t)
	require.Equal(t, sent.Until, next.Since)
	require.True(t, next.Until.After(next.Since))
}

// TestAuthorsOfMostPapersAreSoughtFirst, each once in whatever ranges the list is cut,
// also where papers are found meanwhile; ranges by ids, as releases before began them,
// are gone through to their end.
func TestAuthorsOfMostPapersAreSoughtFirst(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	db := open(t)
	const harvest = "conf/x/all"
	var papers []gleaner.Paper
	for i, by := range []string{"c", "ca", "cb", "b", "bd", "ad"} { // c 3, b 3, a 2, d 2
		p := gleaner.Paper{Key: fmt.Sprint("conf/x/", i), Venue: "conf/x", Year: 2001, Title: fmt.Sprint("Paper ", i)}
		for _, pid := range by {
			p.Authors = append(p.Authors, gleaner.Author{PID: string(pid), Name: string(pid)})
		}
		papers = append(papers, p)
	}
	require.NoError(t, db.SavePapers(ctx, papers, nil))
	require.NoError(t, db.SaveHarvest(ctx, store.Harvest{ID: harvest, Venue: "conf/x", Options: []byte("{}"), Stage: "homepages"}))
	require.NoError(t, db.SetHarvestPapers(ctx, harvest, papers, nil))
	sought := func(in store.AuthorRange) (ids []string, last string) {
		all := devtest.Must(db.AuthorsToFind(ctx, harvest, in, time.Now(), false))(t)
		for _, a := range all {
			ids, last = append(ids, a.ID()), a.Place
		}
		return ids, last
	}
	all, end := sought(store.AuthorRange{})
	require.Equal(t, []string{"b", "c", "a", "d"}, all)
	first, at := sought(store.AuthorRange{Limit: 2})
	require.Equal(t, []string{"b", "c"}, first)

	began := devtest.Must(db.Now(ctx))(t)
	storetest.Exec(t, db.Pool, `INSERT INTO documents (sha256, sha1, md5, bytes, kind) VALUES ('s', 's', 's', 1, 'pdf')`)
	storetest.Exec(t, db.Pool, `INSERT INTO matches (paper_key, sha256, verdict, score) VALUES ('conf/x/5', 's', 'exact', 1)`)
	rest, _ := sought(store.AuthorRange{After: at, UpTo: end})
	require.Equal(t, []string{"a", "d"}, rest, "each has a paper less to find, and nobody moves")
	storetest.Exec(t, db.Pool, `INSERT INTO matches (paper_key, sha256, verdict, score) VALUES ('conf/x/4', 's', 'exact', 1)`)
	rest, _ = sought(store.AuthorRange{After: at})
	require.Equal(t, []string{"a"}, rest)
	rest, _ = sought(store.AuthorRange{After: at, AsOf: began})
	require.Equal(t, []string{"a", "d"}, rest, "what is found since spares nobody a search")
}
