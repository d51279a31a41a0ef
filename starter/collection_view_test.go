package main

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gleaner/internal/crawl/synthesis"
	"gleaner/internal/gleaner"
	"gleaner/internal/record/collections"
	"gleaner/internal/record/store"
	"gleaner/internal/service/program"
	"gleaner/internal/service/terminal"
	"gleaner/internal/topic"
)

// collected is a collection of two topics for which some pages were asked.
func (c *testConsole) collected(name string) (*collections.Record, collections.Collection) {
	c.t.Helper()
	ctx, record := c.t.Context(), collections.In(c.DB)
	ask, err := synthesis.DefaultRequest()
	require.NoError(c.t, err)
	ask.Size = 2
	_, _, err = record.Submit(ctx, name, ask, []topic.Topic{{ID: "verse", Query: "verse"}, {ID: "number theory", Query: "primes"}})
	require.NoError(c.t, err)
	got, err := record.Get(ctx, name)
	require.NoError(c.t, err)
	require.NoError(c.t, record.Begin(ctx, got.Name))
	return record, got
}

// collects asks for a URL, which is an entry of a topic where one is named.
func (c *testConsole) collects(record *collections.Record, id int, v collections.Visit, of string) {
	c.t.Helper()
	ctx := c.t.Context()
	require.NoError(c.t, record.SetModel(ctx, id, 1, collections.Rules{}, topic.Model{}, []collections.URL{*v.URL}))
	site, err := store.EnsureSite(ctx, c.Pool, v.Host)
	require.NoError(c.t, err)
	v.At, v.Outcome = time.Now(), gleaner.OK
	if of != "" {
		v.Entries = []collections.Member{{Topic: of, Correlation: 0.5}}
	}
	require.NoError(c.t, collections.Crawl{Record: record, ID: id, Rules: collections.Rules{Size: 2}}.Write(ctx, store.Slice{SiteID: site}, &v))
}

// TestCollectionsThatAreJudged: the precision of each topic's first entries, by those
// that a person judged.
func TestCollectionsThatAreJudged(t *testing.T) {
	t.Parallel()
	c := newConsole(t)
	record, got := c.collected("math")
	for _, path := range []string{"a", "b"} {
		c.collects(record, got.ID, collections.Visit{URL: &collections.URL{URL: "http://a.example/" + path, Host: "a.example", Priority: 1}}, "verse")
	}
	judged := c.file("judged.tsv", "url\trelevant\nHTTP://A.example/a#top\t1\nhttp://a.example/b\t1\nhttp://a.example/b\t0\tverse\nhttp://b.example/\t1\n")
	all := answer[[]rankedTopic](c.read, "collections", "judge", "math", judged)
	require.Equal(t, []rankedTopic{{"verse", []topic.Rank{{First: 2, Judged: 2, Relevant: 1, Precision: 0.5}}}}, all)
	require.Regexp(t, `verse +2 +2 +1 +0\.500`, c.ok("collections", "judge", "math", judged))
	for content, says := range map[string]string{
		"http://a.example/\tperhaps\n":                           "line 1",
		"http://a.example/a\t1\n\nhttp://a.example/b\t1\tverses": `line 3: math has no topic "verses", but: number theory, verse`,
		"url\trelevant\n" + strings.Repeat("long", 50_000):       "line 2",
	} {
		require.Contains(t, c.wrong(program.ExitUsage, "collections", "judge", "math", c.file("bad.tsv", content)), says)
	}
	// As a table that was saved by a spreadsheet begins.
	c.read(&all, "collections", "judge", "math", c.file("judged.tsv", "\ufeffhttp://a.example/a\t1\n"))
	require.Equal(t, 1, all[0].Ranks[0].Judged)
}

// TestCollectionsThatRest are told from those that go on.
func TestCollectionsThatRest(t *testing.T) {
	t.Parallel()
	c := newConsole(t)
	record, _ := c.collected("math")
	require.NotContains(t, c.ok("collections", "show", "math")+c.ok("collections", "list"), "paused")
	require.NoError(t, record.Pause(t.Context(), "math", true))
	require.Contains(t, c.ok("collections", "show", "math"), "math: running, paused\n")
	require.Regexp(t, `math +running, paused +0`, c.ok("collections", "list"))
	require.NoError(t, record.End(t.Context(), "math", 0, collections.Cancelled, ""))
	require.NotContains(t, c.ok("collections", "show", "math"), "paused", "what has ended does not rest")
}

// TestCollectionsAreToldWithoutTheirFiles: classifiers and seeds are as long as files are.
func TestCollectionsAreToldWithoutTheirFiles(t *testing.T) {
	t.Parallel()
	c := newConsole(t)
	c.collected("math")
	c.exec(`UPDATE collections SET options = options || '{"retrain": 5, "learnt": {"verse": {"vocabulary": "long"}}, "seeds": {"verse": ["http://seed.example/"]}}', model='{"centroids": []}'`)
	for _, args := range [][]string{{"collections", "list", "--json"}, {"collections", "show", "math", "--json"}} {
		said := c.ok(args...)
		require.NotContains(t, said, "vocabulary")
		require.NotContains(t, said, "seed.example")
		require.Contains(t, said, "retrain")
	}
}

// TestJudgementsAreLearntFrom: what a person judged is kept for the classifiers that learn
// anew, of the topic that was named or else of what the page was collected for; what they
// came to is shown.
func TestJudgementsAreLearntFrom(t *testing.T) {
	t.Parallel()
	c := newConsole(t)
	record, got := c.collected("math")
	c.exec(`UPDATE collections SET options = options || '{"retrain": 5, "learnt": {"verse": {}}}'`)
	for path, of := range map[string]string{"a": "verse", "b": "verse", "c": "number theory", "d": ""} {
		c.collects(record, got.ID, collections.Visit{URL: &collections.URL{URL: "http://a.example/" + path, Host: "a.example", Priority: 1}, Words: "word " + path}, of)
	}
	judged := c.file("judged.tsv", "http://a.example/b\t0\tverse\nHTTP://A.example/a#top\t1\nhttp://a.example/b\t1\nhttp://a.example/c\t1\nhttp://a.example/d\t1\tverse\nhttp://a.example/none\t1\tverse\n")
	c.ok("collections", "judge", "math", judged)
	pages, err := record.Examples(t.Context(), got.ID, "verse")
	require.NoError(t, err)
	require.Equal(t, []collections.Example{{URL: "http://a.example/a", About: true, Words: "word a"}, {URL: "http://a.example/b", Words: "word b"}, {URL: "http://a.example/d", About: true, Words: "word d"}}, pages)

	right := 0.8125
	for _, l := range []collections.Learning{
		{Topic: "verse", Pages: 5, Labelled: 3, SelfLabelled: 2, Accuracy: &right},
		{Topic: "verse", Pages: 10, Note: "no word is frequent enough"},
	} {
		_, err := record.BeginLearning(t.Context(), got.ID, &l)
		require.NoError(t, err)
		require.NoError(t, record.EndLearning(t.Context(), got.ID, l, nil))
	}
	shown := c.ok("collections", "show", "math")
	require.Regexp(t, `verse +1 +5 +3 +2 +0\.8125`, shown)
	require.Contains(t, shown, "failed, version 1 stays: no word is frequent enough")
}

// TestCollectionsThatOneWatches: what is shown of them fits the terminal, and says of
// each topic how far it is.
func TestCollectionsThatOneWatches(t *testing.T) {
	t.Parallel()
	c := newConsole(t)
	record, got := c.collected("math")
	l := &collectionView{record: record, name: "math", begun: time.Now().Add(-200 * time.Second)}
	require.Empty(t, l.Lines(80, 24))
	require.NoError(t, l.refresh(t.Context()))
	l.setDoing([]string{"a search and a centroid for each topic"})
	require.Contains(t, strings.Join(l.Lines(80, 24), "\n"), "a search and a centroid")
	for i, path := range []string{"a", "b", "c"} {
		u := collections.URL{URL: "http://a.example/" + path, Host: "a.example", Priority: 1}
		c.collects(record, got.ID, collections.Visit{URL: &u, Links: []collections.URL{{URL: u.URL + "/next", Host: "b.example"}}}, []string{"verse", "verse", ""}[i])
	}
	require.NoError(t, l.refresh(t.Context()))
	require.Contains(t, l.String(), "math [collecting] topics 2, full 1 | entries 2 | 3 of 5000 requests, hosts 1, waiting 3")
	for _, width := range []int{60, 80, 200} {
		lines := l.Lines(width, 24)
		all := strings.Join(lines, "\n")
		require.LessOrEqual(t, terminal.Width(lines[0]), width)
		require.Regexp(t, `^math  collecting +running 3m2\d`, all)
		require.Contains(t, all, "1 of 2 full; 2 entries")
		require.Contains(t, all, "3 of 5000 requests to 1 host; 3 links waiting")
		require.Regexp(t, `(?s)number theory  ─+ 0 of 2\n  verse +━+ 2 of 2`, all, "the emptiest first")
	}
	require.Contains(t, strings.Join(l.Lines(80, 6), "\n"), "and 1 more")
}
