package main

import (
	"encoding/json"
	"io"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"

	"gleaner/activities"
	"gleaner/internal/classify"
	"gleaner/internal/crawl/synthesis"
	"gleaner/internal/devstack/storetest"
	"gleaner/internal/gleaner"
	"gleaner/internal/lab/sampleweb"
	"gleaner/internal/lab/topicweb"
	"gleaner/internal/rank"
	"gleaner/internal/record/collections"
	"gleaner/internal/service/program"
	"gleaner/internal/topic"
	"gleaner/internal/web/rules"
)

// overWeb has all that is asked for come from a generated web, with its search engine.
func (c *testConsole) overWeb(web *topicweb.Web) {
	server := httptest.NewServer(web.Serve())
	c.t.Cleanup(server.Close)
	c.args = append(c.args, "--proxy-file", secretFile(c.t, server.URL), "--contact", "test@example.org", "--delay", "20ms", "--min-delay", "20ms", "--search", "searxng", "--searxng-url", sampleweb.SearchURL)
}

// TestCollectCommands makes collections by topic from the command line, shows, exports
// and goes on with them, and steers one that waits for a worker.
func TestCollectCommands(t *testing.T) {
	t.Parallel()
	web := topicweb.New(topicweb.Options{Seed: 5, Hosts: 48, Pages: 6, Topics: 2, Share: 3})
	c := newConsole(t)
	c.onTemporal()
	c.overWeb(web)
	var file strings.Builder
	file.WriteString("topics:\n")
	for _, one := range web.Topics() {
		file.WriteString("  - name: " + one.ID + "\n")
	}
	topics := c.file("math.yaml", file.String())

	require.Contains(t, c.wrong(program.ExitUsage, "collect", topics, "--threshold", "2"), "threshold")
	require.Contains(t, c.wrong(program.ExitUsage, "collect", c.file("bad.yaml", "topics: []")), "there is none")
	require.Contains(t, c.wrong(program.ExitUsage, "collect", topics, "--set", "classifier=none="+topics), "no topic is called")
	require.Contains(t, c.wrong(program.ExitUsage, "collect", topics, "--set", "classifier="+web.Topics()[0].ID+"="+c.file("empty.json", "{}")), "version")
	require.Contains(t, c.wrong(program.ExitUsage, "collect"), "--from-venue")
	require.Contains(t, c.wrong(program.ExitUsage, "collect", topics, "--from-venue", "conf/webdb"), "--from-venue")
	require.Contains(t, c.wrong(program.ExitUsage, "collect", "--from-venue", "conf/mistyped"), "no paper of it is on record")
	c.wrong(program.ExitUnknown, "collections", "show", "none")

	require.Contains(t, c.ok("collect", topics, "--name", "later"), "starter collections show later")
	require.Contains(t, c.ok("cancel", "later"), "cancel")
	c.work(activities.Queues(), io.Discard)
	var s shownCollection
	c.read(&s, "collect", topics, "--size", "5", "--threshold", "0.5", "--set", "adapt=false", "--wait")
	require.Equal(t, collections.Ended, s.State)
	require.Equal(t, "full", s.Note)
	require.Len(t, s.Entries, 2)
	require.Len(t, s.Similarity, 1)
	first := s.Requests
	for _, one := range web.Topics() {
		require.Equal(t, 5, s.Entries[one.ID].Entries)
	}
	shown := c.ok("collections", "show", "math")
	require.Contains(t, shown, "math: ended full")
	require.Contains(t, shown, "of the pages that made a centroid would be collected for its topic")
	require.Contains(t, c.ok("collections", "list"), "later")
	require.Equal(t, s.Acceptance.All.Pages+s.Acceptance.All.Documents, s.Counts.Outcomes[string(gleaner.OK)]+s.Counts.Outcomes[string(synthesis.OffTopic)]+s.Counts.Outcomes[string(synthesis.NotCollected)])
	require.InDelta(t, float64(s.Acceptance.All.Accepted)/float64(s.Acceptance.All.Pages), s.Acceptance.All.OfPages, 1e-9)

	require.Len(t, strings.Split(strings.TrimSpace(c.ok("collections", "export", "math", "--topic", web.Topics()[0].ID)), "\n"), 5)
	lines := strings.Split(strings.TrimSpace(c.ok("collections", "export", "math")), "\n")
	require.Len(t, lines, 10)
	var e collections.Entry
	require.NoError(t, json.Unmarshal([]byte(lines[0]), &e))
	require.Contains(t, []string{web.Topics()[0].ID, web.Topics()[1].ID}, e.Topic)
	require.GreaterOrEqual(t, e.Correlation, 0.5)

	require.Contains(t, c.wrong(program.ExitUnknown, "collections", "export", "math", "--topic", "none"), "no topic")
	require.Equal(t, 10, strings.Count(c.ok("collections", "export", "math", "--format", "bibtex"), "@"))
	require.Len(t, strings.Split(strings.TrimSpace(c.ok("collections", "export", "math", "--format", "csv")), "\n"), 11)
	listed := c.ok("collections", "export", "math", "--format", "oai", "--base-url", "https://gate.example/math.xml")
	require.Equal(t, 10, strings.Count(listed, "<oai:record>"))
	require.Equal(t, 5, strings.Count(listed, "<dc:subject>"+web.Topics()[0].ID+"<"))
	folder := filepath.Join(t.TempDir(), "math")
	c.ok("collections", "export", "math", "--format", "ris", "--files", "--out", folder)
	list, err := os.ReadFile(filepath.Join(folder, "papers.ris"))
	require.NoError(t, err)
	require.Equal(t, 10, strings.Count(string(list), "TY  - "))
	require.Equal(t, documentsOf(lines), strings.Count(string(list), "L1  - "), "each document is named, and stands beside the list")

	// One topic is told by a classifier that learnt from what was collected, and that keeps
	// what it learns anew from.
	learnt := c.file("learnt.json", learnTopic(t, web, web.Topics()[0].ID, c.ok("collections", "export", "math"), false))
	require.Contains(t, c.wrong(program.ExitUsage, "collect", topics, "--set", "retrain=5"), "classifier")
	require.Contains(t, c.wrong(program.ExitUsage, "collect", topics, "--set", "retrain=5", "--set", "classifier="+web.Topics()[0].ID+"="+learnt), "holds no labelled pages")
	learnt = c.file("learnt.json", learnTopic(t, web, web.Topics()[0].ID, c.ok("collections", "export", "math"), true))
	c.read(&s, "collect", topics, "--name", "learnt", "--size", "4", "--threshold", "0.5", "--set", "classifier="+web.Topics()[0].ID+"="+learnt, "--set", "retrain=100000", "--wait")
	require.Equal(t, "exhausted", s.Note)
	examples := storetest.Get[int](t, c.Pool, `SELECT count(*) FROM collection_examples WHERE topic=$1 AND words<>''`, web.Topics()[0].ID)
	require.Positive(t, examples)
	require.NotContains(t, string(s.Options), `"pages":`, "slices have no use for them")
	require.Equal(t, 4, s.Entries[web.Topics()[0].ID].Entries)

	require.Contains(t, c.ok("collections", "remove", "learnt"), "learnt")
	c.wrong(program.ExitUnknown, "collections", "show", "learnt")

	// The other topic is made of labelled pages alone: nothing is searched for.
	other := web.Topics()[1].ID
	alone := c.file("alone.yaml", "topics: [{name: "+other+", labelled: true}]")
	require.Contains(t, c.wrong(program.ExitUsage, "collect", alone), "classifier")
	labelled := c.file("other.json", learnTopic(t, web, other, c.ok("collections", "export", "math"), true))
	var searched, now int
	const searches = `SELECT coalesce(sum(requests), 0)::int FROM search_spending`
	require.NoError(t, c.Pool.QueryRow(t.Context(), searches).Scan(&searched))
	require.Positive(t, searched)
	c.read(&s, "collect", alone, "--size", "12", "--set", "classifier="+other+"="+labelled, "--wait")
	require.NoError(t, c.Pool.QueryRow(t.Context(), searches).Scan(&now))
	require.Equal(t, searched, now)
	require.Equal(t, "exhausted", s.Note)
	require.Equal(t, 12, s.Entries[other].Entries)
	right := 0
	for line := range strings.Lines(c.ok("collections", "export", "alone")) {
		require.NoError(t, json.Unmarshal([]byte(line), &e))
		if web.About(e.URL) == other {
			right++
		}
	}
	require.GreaterOrEqual(t, right, 9, "of 12")

	// The crawl begins at further results of searches, which come page by page.
	c.read(&s, "collect", topics, "--name", "found", "--pages", "1", "--set", "search-seeds=25", "--wait")
	found := storetest.Get[int](t, c.Pool, `SELECT count(*) FROM collection_urls u JOIN collections c ON c.id=u.collection WHERE c.name='found' AND u.depth=0 AND u.priority < 1`)
	require.Greater(t, found, 2*(10-topic.Defaults().Results), "more than the first page of results has")

	// The crawl begins at what a directory lists, too.
	dump := c.file("dump.csv", "url,category\nhttp://listed.example/,Top/"+web.Topics()[0].ID+"/Listed\n")
	require.Contains(t, c.wrong(program.ExitUsage, "collect", topics, "--set", "seeds=none.csv"), "none.csv")
	require.Contains(t, c.wrong(program.ExitUsage, "collect", topics, "--set", "seeds="+topics), "url and category")
	require.Contains(t, c.wrong(program.ExitUsage, "collect", topics, "--set", "seeds="+c.file("other.csv", "url,category\nhttp://a.example/,Arts\n")), "none of 1 entries")
	c.read(&s, "collect", topics, "--name", "listed", "--size", "2", "--set", "seeds="+dump, "--wait")
	begins := storetest.Get[bool](t, c.Pool, `SELECT EXISTS (SELECT 1 FROM collection_urls WHERE url='http://listed.example/')`)
	require.True(t, begins)

	// It goes on where it was, with what waits.
	c.read(&s, "collect", topics, "--size", "8", "--threshold", "0.5", "--wait")
	require.Greater(t, s.Requests, first)
	require.Equal(t, 8, s.Entries[web.Topics()[0].ID].Entries)
	require.NoError(t, os.WriteFile(topics, []byte("topics: [{name: other}]"), 0o600))
	require.Contains(t, c.wrong(program.ExitFailed, "collect", topics), "--name")
	require.Contains(t, c.wrong(program.ExitUnknown, "pause", "collections/math"), "does not run")
	require.Contains(t, c.wrong(program.ExitUnknown, "cancel", "mathh"), "mathh")
	c.wrong(program.ExitUnknown, "resume", "math")
}

// documentsOf counts the documents among exported entries.
func documentsOf(lines []string) (n int) {
	for _, l := range lines {
		n += strings.Count(l, `"kind":"document"`)
	}
	return n
}

// learnTopic is a classifier, as JSON, of pages that were collected: about a topic, and
// of others; it holds those pages where it is to.
func learnTopic(t *testing.T, web *topicweb.Web, about, exported string, pages bool) string {
	stops, err := topic.DefaultStops()
	require.NoError(t, err)
	var examples []classify.Example
	var labelled []classify.Labelled
	for line := range strings.Lines(exported) {
		var e collections.Entry
		require.NoError(t, json.Unmarshal([]byte(line), &e))
		p, ok := web.Page(e.URL)
		if !ok {
			continue // a file
		}
		words := classify.Words(topic.NewFilter(stops), topic.Page{Title: p.Title, Text: p.Text})
		examples = append(examples, classify.Example{Words: words, Topic: e.Topic == about, Site: e.URL})
		labelled = append(labelled, classify.Labelled{URL: e.URL, Topic: e.Topic == about, Words: strings.Join(words, " ")})
	}
	k, err := classify.Train(examples, classify.Options{})
	require.NoError(t, err)
	if pages {
		k.Pages = labelled
	}
	raw, err := json.Marshal(k)
	require.NoError(t, err)
	return string(raw)
}

// TestWordsToInspectLinksBy: of a file they take the place of the program's, one list
// without the other; a file of them that nothing would go by is refused.
func TestWordsToInspectLinksBy(t *testing.T) {
	t.Parallel()
	named := filepath.Join(t.TempDir(), "words.yaml")
	require.NoError(t, os.WriteFile(named, []byte("pruning_anchors: [shop]\n"), 0o600))
	program, err := rank.DefaultLists()
	require.NoError(t, err)

	f := collectFlags{words: named}
	require.ErrorContains(t, f.readWords(nil), "inspect")
	f.Inspect = true
	require.NoError(t, f.readWords(nil))
	require.Equal(t, []string{"shop"}, f.Pruning)
	require.Equal(t, program.ExtractingAnchors, f.Extracting)

	require.True(t, f.NoDepartments, "unless they are to be heeded")
	f = collectFlags{departments: true}
	require.NoError(t, f.readWords(nil))
	require.Empty(t, f.Pruning, "nothing goes by them")
	require.False(t, f.NoDepartments)
	f.Inspect = true
	require.NoError(t, f.readWords(nil))
	require.Equal(t, program.PruningAnchors, f.Pruning)
}

// TestWhatACollectionLeavesOut goes into what is asked for.
func TestWhatACollectionLeavesOut(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	topics, lists := filepath.Join(dir, "topics.yaml"), filepath.Join(dir, "links.yaml")
	require.NoError(t, os.WriteFile(topics, []byte("topics: [{name: a}]\n"), 0o600))
	require.NoError(t, os.WriteFile(lists, []byte("stop-directories: [learnt]\nlevels: 7\n"), 0o600))
	var f collectFlags
	fl := pflag.NewFlagSet("collect", pflag.ContinueOnError)
	f.register(fl)
	require.NoError(t, fl.Parse([]string{"--links", lists, "--ignore", "ads.example"}))
	_, err := f.read(topics)
	require.NoError(t, err)
	require.Equal(t, &rules.Lists{Ignore: []string{"ads.example"}, StopDirectories: []string{rules.Learnt}, Levels: 7}, f.Links)
	require.NoError(t, os.WriteFile(lists, []byte("levles: 7\n"), 0o600))
	_, err = f.read(topics)
	require.ErrorIs(t, err, program.ErrUsage)
}

// TestFileOfTopicsHoldsEverySetting: the example has every setting with its default, a file
// says of each what --set does, and a flag goes before both.
func TestFileOfTopicsHoldsEverySetting(t *testing.T) {
	t.Parallel()
	made := func() (*collectFlags, *pflag.FlagSet) {
		f, fl := &collectFlags{}, pflag.NewFlagSet("collect", pflag.ContinueOnError)
		f.register(fl)
		return f, fl
	}
	topics := func(body string) string {
		file := filepath.Join(t.TempDir(), "topics.yaml")
		require.NoError(t, os.WriteFile(file, []byte(body), 0o600))
		return file
	}
	f, settings := made()
	var example strings.Builder
	require.NoError(t, f.writeExample(&example))
	all := 0
	settings.VisitAll(func(flag *pflag.Flag) {
		all++
		require.Contains(t, example.String(), "\n#"+flag.Name+": ")
		value := map[string]string{"int": "17", "float64": "0.25", "bool": "true", "duration": "3h", "string": "b",
			"stringSlice": "[b, c]", "stringToString": "{'mathematics/a, b': f=1.json}"}[flag.Value.Type()]
		if flag.DefValue == "true" {
			value = "false"
		}
		require.NotEmpty(t, value, flag.Name)
		got, fl := made()
		_, err := got.topics(topics("topics: [{name: a}]\n" + flag.Name + ": " + value + "\n"))
		require.NoError(t, err, flag.Name)
		require.NotEqual(t, flag.DefValue, fl.Lookup(flag.Name).Value.String(), "%s is read", flag.Name)
		if strings.ContainsAny(value, "{[") {
			return
		}
		again, afl := made()
		again.set = []string{flag.Name + "=" + value}
		_, err = again.topics(topics("topics: [{name: a}]\n"))
		require.NoError(t, err, flag.Name)
		require.Equal(t, fl.Lookup(flag.Name).Value.String(), afl.Lookup(flag.Name).Value.String(), flag.Name)
	})
	require.Equal(t, 36, all, "settings")

	whole := regexp.MustCompile(`(?m)^#([a-z-]+: )`).ReplaceAllString(example.String(), "$1")
	got, fl := made()
	_, err := got.topics(topics(whole))
	require.NoError(t, err)
	settings.VisitAll(func(flag *pflag.Flag) {
		require.Equal(t, flag.Value.String(), fl.Lookup(flag.Name).Value.String(), "the default of %s", flag.Name)
	})

	got, fl = made()
	require.NoError(t, fl.Parse([]string{"--size", "3"}))
	_, err = got.topics(topics("topics: [{name: a}]\nsize: 9\n"))
	require.NoError(t, err)
	require.Equal(t, 3, got.Size)
	_, err = got.topics(topics("topics: [{nme: a}]\n"))
	require.ErrorContains(t, err, "nme is no key of a topic")
	for _, wrong := range []string{"sise: 9", "size: nine", "size: [9]", "size:", "seeds: {a: b}"} {
		other, _ := made()
		_, err := other.topics(topics("topics: [{name: a}]\n" + wrong + "\n"))
		require.Error(t, err, wrong)
	}
	cmd := collectCommand(&cli{})
	flags := 0
	cmd.Flags().VisitAll(func(*pflag.Flag) { flags++ })
	require.LessOrEqual(t, flags, 10, "flags of the command")
}
