package evaluate

import (
	"bytes"
	"cmp"
	"flag"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"gleaner/internal/crawl/synthesis"
	"gleaner/internal/each"
	"gleaner/internal/rank"
	"gleaner/internal/topic"
	"gleaner/internal/web/page"
	"gleaner/internal/web/rules"
	"gleaner/internal/web/weburl"
)

// queries are what each topic of testdata/topics.tsv is searched for by. They were
// written before any crawl, from the topics' names alone.
var queries = map[string]string{
	"programs":    "programming languages types verification software testing",
	"learning":    "machine learning natural language processing retrieval",
	"mathematics": "mathematics algebra geometry topology theorem",
	"statistics":  "statistics econometrics estimation inference",
	"physics":     "physics quantum mechanics",
}

// hostMost is how many pages of a host are read, as 'starter collect' does by default.
const hostMost = 200

// learntPages is how many pages of a topic its classifier is learnt of, those that a search
// finds first.
const learntPages = 40

// directory is a host of our own: real sites hardly link to each other.
const directory = "directory.example"

// recordedTopic is the recorded sites as a web of many hosts, with one topic. A page is
// about it where its site is, unless it was labelled as of another field.
type recordedTopic struct {
	*recordedWeb
	topic string
}

type recordedWeb struct {
	sites  map[string]recordedSite
	order  []string // hosts, as the directory has them
	topics map[string]string
	labels map[string]string // cs, other or none, by key
	pages  []string          // of each host the first in breadth
	terms  []map[string]int  // of each page, its words
	listed [][]string        // hosts by page of the directory; none where all are seeds
}

func newRecordedWeb(t *testing.T) *recordedWeb {
	w := &recordedWeb{sites: map[string]recordedSite{}, topics: map[string]string{}, labels: map[string]string{}}
	for _, s := range recordedSites(t, recordings...) {
		w.sites[s.host] = s
	}
	each := func(file string, row func(c []string)) {
		data, err := os.ReadFile(file)
		require.NoError(t, err)
		for line := range strings.Lines(string(data)) {
			row(append(strings.Split(strings.TrimSpace(line), "\t"), ""))
		}
	}
	each("testdata/topics.tsv", func(c []string) { w.topics[c[0]] = c[1] })
	each("../../classify/testdata/pages.tsv", func(c []string) {
		_, at, _ := strings.Cut(c[0], "/")
		w.labels[fileKey("http://"+at)] = c[1]
	})
	w.order = slices.Sorted(maps.Keys(w.sites))
	r := rand.New(rand.NewPCG(1, 2)) // #nosec G404 -- it is to be the same each time
	r.Shuffle(len(w.order), func(i, j int) { w.order[i], w.order[j] = w.order[j], w.order[i] })
	ask, err := synthesis.DefaultAsk()
	require.NoError(t, err)
	words := topic.NewFilter(ask.Stops)
	for _, h := range w.order {
		for _, u := range w.breadth(h) {
			p, _ := w.Page(u)
			w.pages, w.terms = append(w.pages, u), append(w.terms, words.Counts(topic.Page{Title: strings.Repeat(p.Title+" ", 3), Text: p.Text}))
		}
	}
	return w
}

// fileKey is the key of a page, with or without the name of its index.
func fileKey(u string) string {
	return strings.TrimSuffix(strings.TrimSuffix(unescapedKey(u), "index.html"), "index.htm")
}

// breadth are the first pages of a host.
func (w *recordedWeb) breadth(host string) (out []string) {
	queue, met := []string{"http://" + host + "/"}, map[string]bool{}
	for len(queue) > 0 && len(out) < hostMost {
		at := queue[0]
		queue = queue[1:]
		p, ok := w.Page(at)
		if !ok || met[fileKey(p.URL)] {
			continue
		}
		met[fileKey(p.URL)] = true
		out = append(out, p.URL)
		for _, l := range p.Links {
			if weburl.Host(l.URL) == host && !met[fileKey(l.URL)] {
				queue = append(queue, l.URL)
			}
		}
	}
	return out
}

// Page implements TopicSource. Links to hosts that are not on record lead out of the web.
func (w *recordedWeb) Page(u string) (*page.Page, bool) {
	if weburl.Host(u) == directory {
		return w.listing(u)
	}
	all, ok := w.whole(u)
	if !ok {
		return nil, false
	}
	p := *all
	p.Links = slices.DeleteFunc(slices.Clone(p.Links), func(l page.Link) bool { _, held := w.sites[weburl.Host(l.URL)]; return !held })
	return &p, true
}

// whole is a recorded page with all of its links.
func (w *recordedWeb) whole(u string) (*page.Page, bool) {
	s, ok := w.sites[weburl.Host(u)]
	if !ok {
		return nil, false
	}
	_, path, _ := strings.Cut(u, "://")
	a, err := s.setup.Site.Get("http://" + path)
	return a.Page, err == nil && a.Page != nil
}

// listing is a page of the directory: a few hosts by their names, and the next page.
func (w *recordedWeb) listing(u string) (*page.Page, bool) {
	k := 0
	if _, err := fmt.Sscanf(u, "http://"+directory+"/%d.html", &k); err != nil || k >= len(w.listed) {
		return nil, false
	}
	p := &page.Page{URL: u, Title: "Homepages", Text: "Homepages, in no order"}
	add := func(anchor, to string) {
		p.Links = append(p.Links, page.Link{URL: to, Anchor: anchor, Position: len(p.Links), Source: page.SourceAnchor})
	}
	for _, h := range w.listed[k] {
		add(h, "http://"+h+"/")
	}
	add("more", fmt.Sprintf("http://%s/%d.html", directory, k+1))
	return p, true
}

func (w recordedTopic) Topics() []topic.Topic {
	return []topic.Topic{{ID: w.topic, Query: queries[w.topic]}}
}

// About implements TopicSource. Two topics are of computer science, the others are not.
func (w recordedTopic) About(u string) string {
	field := "other"
	if w.topic == "programs" || w.topic == "learning" {
		field = "cs"
	}
	if label := w.labels[fileKey(u)]; w.topics[weburl.Host(u)] != w.topic || label != "" && label != field {
		return ""
	}
	return w.topic
}

func (w recordedTopic) Sites(string) (hosts []string) {
	return each.Where(w.order, func(h string) bool { return w.topics[h] == w.topic })
}

func (w recordedTopic) Pages() int { return len(w.pages) }

func (w recordedTopic) Relevant() (n int) {
	return each.Count(w.pages, func(u string) bool { return w.About(u) != "" })
}

// Search ranks all pages of the web by BM25.
func (w recordedTopic) Search(query string, n int) (urls []string) {
	score := make([]float64, len(w.pages))
	long, mean := make([]float64, len(w.pages)), 0.0
	for i, terms := range w.terms {
		for _, n := range terms {
			long[i] += float64(n)
		}
		mean += long[i] / float64(len(w.pages))
	}
	for _, word := range strings.Fields(query) {
		df := 0.0
		for _, terms := range w.terms {
			if terms[word] > 0 {
				df++
			}
		}
		idf := math.Log(1 + (float64(len(w.pages))-df+0.5)/(df+0.5))
		for i, terms := range w.terms {
			tf := float64(terms[word])
			score[i] += idf * tf * 2.2 / (tf + 1.2*(0.25+0.75*long[i]/mean))
		}
	}
	at := make([]int, len(w.pages))
	for i := range at {
		at[i] = i
	}
	slices.SortStableFunc(at, func(a, b int) int { return cmp.Compare(score[b], score[a]) })
	for _, i := range at[:min(n, len(at))] {
		if score[i] > 0 {
			urls = append(urls, w.pages[i])
		}
	}
	return urls
}

// Others are what the queries of the other topics find, and as many pages by chance.
func (w recordedTopic) Others(n int) (urls []string) {
	for _, t := range slices.Sorted(maps.Keys(queries)) {
		if t != w.topic {
			urls = append(urls, w.Search(queries[t], n/2/(len(queries)-1))...)
		}
	}
	r := rand.New(rand.NewPCG(3, 4)) // #nosec G404 -- it is to be the same each time
	for len(urls) < n {
		urls = append(urls, w.pages[r.IntN(len(w.pages))])
	}
	return urls
}

// Accepted implements judgedSource: what was labelled a paper or a thesis.
func (w recordedTopic) Accepted(u string) bool {
	s, ok := w.sites[weburl.Host(u)]
	return ok && s.setup.Judge(u) == Paper
}

var allTopics = flag.Bool("topics", false, "crawl the recorded sites for all topics, through a directory and with classifiers, too")

// Topics over the recorded sites, each crawled for alone. Once a directory lists all
// sites, and they are seeds as 'starter collect --seeds' has them; once a crawl has to
// go through a directory's pages, five hosts a page. Classifiers decide that were learnt
// from what searches find, and once centroids.
func TestTopicsOnRecordedSites(t *testing.T) {
	w := newRecordedWeb(t)
	w.addresses(t)
	b := bounds{hostPages: hostMost, early: Early, learnt: learntPages}
	if !*allTopics {
		got := w.crawls(t, b, "programs")
		require.Greater(t, got["gleaner"].Gain.Median, 1.0)
		require.Greater(t, got["gleaner"].Ranks[2], got[SearchAlone].Ranks[2]-0.1)
		return
	}
	all := slices.Sorted(maps.Keys(queries))
	w.crawls(t, b, all...)
	w.listed = slices.Collect(slices.Chunk(w.order, 5))
	w.crawls(t, b, all...)
	w.listed, b.learnt = nil, 0
	w.crawls(t, b, all...)
}

// crawls tells what the policies come to over topics.
func (w *recordedWeb) crawls(t *testing.T, b bounds, topics ...string) map[string]TopicSummary {
	t.Helper()
	if len(w.listed) > 0 {
		b.seeds = []string{"http://" + directory + "/0.html"}
	} else {
		for _, h := range w.order {
			b.seeds = append(b.seeds, "http://"+h+"/")
		}
	}
	var webs []TopicWeb
	for _, name := range topics {
		one := recordedTopic{w, name}
		got, err := topicsOver(t.Context(), one, b, nil)
		require.NoError(t, err)
		got.Name = fmt.Sprintf("%s (%d sites, %d pages)", name, len(one.Sites(name)), one.Relevant())
		require.NoError(t, got.WritePoints(t.TempDir()))
		webs = append(webs, got)
	}
	var table bytes.Buffer
	all := SummariseTopics(webs)
	require.NoError(t, WriteTopics(&table, webs, all))
	t.Logf("%d hosts, %d pages; pages of a directory: %d; classifiers of %d pages\n%s", len(w.order), len(w.pages), len(w.listed), b.learnt, table.String())
	by := map[string]TopicSummary{}
	for _, s := range all {
		by[s.Policy] = s
	}
	return by
}

// addresses tells what each part of the inspection of URL patterns keeps a crawl of the
// recorded sites from, and how many pages of sites of a topic lie there.
func (w *recordedWeb) addresses(t *testing.T) {
	t.Helper()
	lists, err := rank.DefaultLists()
	require.NoError(t, err)
	ask, err := synthesis.DefaultAsk()
	require.NoError(t, err)
	words := topic.NewFilter(ask.Stops)
	part := rules.New(rules.Lists{StopDirectories: lists.StopDirectories, Levels: synthesis.PatternLevels}, nil)
	links, left, pages, about := 0, map[string]int{}, map[string]int{}, map[string]int{}
	met := map[string]bool{}
	for _, at := range w.pages {
		p, _ := w.whole(at)
		for _, l := range p.Links {
			if l.Source != page.SourceAnchor || weburl.IsDocumentName(l.URL) || met[l.URL] {
				continue
			}
			met[l.URL] = true
			links++
			why := ""
			rule, _ := part.KeepsOut(l.URL, false)
			switch {
			case weburl.IsIgnoredType(l.URL):
				why = "formats"
			case rule != "":
				why = string(rule)
			case !words.Passes("", l.URL):
				why = "parts of addresses"
			default:
				continue
			}
			left[why]++
			if _, ok := w.whole(l.URL); ok {
				pages[why]++
				if w.topics[weburl.Host(l.URL)] != "" {
					about[why]++
				}
			}
		}
	}
	require.Positive(t, left["formats"])
	t.Logf("%d links: left out %v; pages of them that are on record %v, on sites of a topic %v", links, left, pages, about)
}
