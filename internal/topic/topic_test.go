package topic_test

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"gleaner/internal/devstack/devtest"
	. "gleaner/internal/topic"
)

func filter(t *testing.T) *Filter {
	return NewFilter(devtest.Must(DefaultStops())(t))
}

func TestParse(t *testing.T) {
	t.Parallel()
	all, _, err := Parse([]byte(`
topics:
  - name: mathematics
    topics:
      - name: number theory
        query: prime numbers
      - name: Graphs
  - name: poetry
    query: sonnets
    departments: [lit, english]
    topics: [{name: haiku, pages: ["http://a.example/", "http://b.example/"]}]
`))
	require.NoError(t, err)
	require.Equal(t, []Topic{
		{ID: "mathematics/number theory", Query: "prime numbers"},
		{ID: "mathematics/Graphs", Query: "Graphs mathematics"},
		{ID: "poetry", Query: "sonnets", Departments: []string{"lit", "english"}},
		{ID: "poetry/haiku", Pages: []string{"http://a.example/", "http://b.example/"}},
	}, all)
	labelled, _, err := Parse([]byte("topics: [{name: a, labelled: true}]"))
	require.NoError(t, err)
	require.Equal(t, []Topic{{ID: "a", Labelled: true}}, labelled, "no query of its name")
	same, _, err := Parse([]byte(`{"topics": [{"name": "a", "query": "b"}]}`))
	require.NoError(t, err)
	require.Equal(t, []Topic{{ID: "a", Query: "b"}}, same)
	for wrong, says := range map[string]string{
		"topics: [{name: a}, {name: a}]": "twice",
		"topics: [{query: a}]":           "no name",
		"topics: []":                     "none",
		"topic: [{name: a}]":             "topic",
		"[":                              "yaml",

		"topics: [{name: a, departments: [CS.Example]}]": "informatics",
		"topics: [{name: a, labelled: true, query: b}]":  "one of them",
	} {
		_, _, err := Parse([]byte(wrong))
		require.ErrorIs(t, err, ErrTopics)
		require.ErrorContains(t, err, says)
	}
}

func TestWords(t *testing.T) {
	t.Parallel()
	f := filter(t)
	require.Equal(t, []string{"primes", "prime", "erdos", "theorem", "p2p"}, f.Words("The Primes, and a prime: Erdős's theorem; 1999, P2P x"))
	require.False(t, f.Passes("Next  page", "http://a.example/2"))
	require.False(t, f.Passes("primes", "http://a.example/CGI-bin/x"))
	require.True(t, f.Passes("next theorem", "http://a.example/2"))
	require.True(t, f.Passes("", "http://a.example/2"))
}

// pages makes samples of a topic from texts.
func pages(f *Filter, topic string, texts ...string) (out []Sample) {
	for i, s := range texts {
		out = append(out, NewSample(topic, fmt.Sprintf("http://%s.example/%d", topic, i), f, Page{Text: s}))
	}
	return out
}

// TestByHand holds centroids and correlations to values that were worked out by hand.
func TestByHand(t *testing.T) {
	t.Parallel()
	f := filter(t)
	o := Defaults()
	o.Terms, o.Overlap, o.LeastResults = 2, 1, 2
	all := append(pages(f, "math", "prime prime number", "prime number number number"), pages(f, "verse", "sonnet sonnet rhyme", "sonnet prime")...)
	m, without := Build(o, []Topic{{ID: "math"}, {ID: "none"}, {ID: "verse"}}, all)
	require.Equal(t, []string{"none"}, without)
	// Of math: prime tf 3, df 2; number tf 4, df 2; by max(7, 2).
	require.Equal(t, map[string]float64{"number": 8.0 / 7, "prime": 6.0 / 7}, m.Centroids[0].Weights)
	// Of verse: sonnet tf 3, df 2; prime and rhyme tf 1, df 1, of which the first by name stays.
	require.Equal(t, map[string]float64{"sonnet": 6.0 / 7, "prime": 1.0 / 7}, m.Centroids[1].Weights)
	require.Equal(t, 4, m.N)
	require.Equal(t, map[string]int{"number": 2, "prime": 3, "sonnet": 2}, m.DF)

	// idf of number is ln 2, of prime ln 4/3, of sonnet ln 2.
	number, prime := 2*math.Log(2), math.Log(4.0/3)
	length := math.Hypot(number, prime)
	got := m.Vectors(f).Classify(Page{Title: "Number", Text: "number prime unknown"})
	require.Len(t, got, 2)
	require.Equal(t, "math", got[0].Topic)
	require.InDelta(t, (8*number+6*prime)/(math.Hypot(8, 6)*length), got[0].Correlation, 1e-8)
	require.Equal(t, "verse", got[1].Topic)
	require.InDelta(t, prime/(math.Hypot(6, 1)*length), got[1].Correlation, 1e-8)

	sim := m.Similarity()
	require.Len(t, sim, 1)
	require.InDelta(t, 6.0/(math.Hypot(8, 6)*math.Hypot(6, 1)), sim[0].Correlation, 1e-8)

	o.Overlap = 2
	m.Options = o
	require.Len(t, m.Vectors(f).Classify(Page{Text: "number prime"}), 1, "verse has one word in common")
	require.Empty(t, m.Vectors(f).Classify(Page{Text: "nothing of it"}))

	more := m.Relearnt(4, map[string]int{"number": 4, "other": 3})
	require.Equal(t, 8, more.N)
	require.Equal(t, map[string]int{"number": 6, "prime": 3, "sonnet": 2}, more.DF)
	require.Equal(t, 4, m.N, "what was stored stays")
}

func TestFewResultsMakeNoCentroid(t *testing.T) {
	t.Parallel()
	f := filter(t)
	m, without := Build(Defaults(), []Topic{{ID: "math"}, {ID: "verse"}},
		append(pages(f, "math", "prime", "prime", "prime"), pages(f, "verse", "sonnet", "sonnet", "sonnet", "sonnet")...))
	require.Equal(t, []string{"math"}, without)
	require.Len(t, m.Centroids, 1)
	require.Equal(t, map[string]float64{"sonnet": 16.0 / 7}, m.Centroids[0].Weights)
	many := make([]string, 14)
	for i := range many {
		many[i] = "prime"
	}
	m, _ = Build(Defaults(), []Topic{{ID: "math"}}, pages(f, "math", many...))
	require.Equal(t, map[string]float64{"prime": 14}, m.Centroids[0].Weights, "14 · 14 / max(7, 14)")
}

// some makes random topics, each with words of its own and words of all.
func some(f *Filter, r *rand.Rand, topics int) (all []Topic, samples []Sample) {
	for i := range topics {
		t := Topic{ID: fmt.Sprintf("t%d", i)}
		all = append(all, t)
		var texts []string
		for range 4 + r.IntN(6) {
			texts = append(texts, about(r, i))
		}
		samples = append(samples, pages(f, t.ID, texts...)...)
	}
	return all, samples
}

func about(r *rand.Rand, topic int) string {
	var b strings.Builder
	for range 80 {
		if r.IntN(3) == 0 {
			fmt.Fprintf(&b, "common%d ", r.IntN(60))
		} else {
			fmt.Fprintf(&b, "own%dx%d ", topic, r.IntN(30))
		}
	}
	return b.String()
}

// TestProperties: correlations lie between 0 and 1, come best first, do not change
// with a page's length or with the model's way through JSON, and tell topics apart.
func TestProperties(t *testing.T) {
	t.Parallel()
	f := filter(t)
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 1))
		topics, samples := some(f, r, 2+r.IntN(5))
		m, without := Build(Defaults(), topics, samples)
		require.Empty(t, without)
		for _, c := range m.Centroids {
			require.LessOrEqual(t, len(c.Weights), 20)
			for w := range c.Weights {
				require.Contains(t, m.DF, w)
				require.Positive(t, m.DF[w])
				require.LessOrEqual(t, m.DF[w], m.N)
			}
		}
		packed := devtest.Must(json.Marshal(m))(t)
		var back Model
		require.NoError(t, json.Unmarshal(packed, &back))
		require.Equal(t, *m, back)
		for range 20 {
			text := about(r, r.IntN(len(topics)))
			scores := m.Vectors(f).Classify(Page{Text: text})
			for i, s := range scores {
				require.Greater(t, s.Correlation, 0.0)
				require.LessOrEqual(t, s.Correlation, 1.0)
				require.True(t, i == 0 || s.Correlation <= scores[i-1].Correlation)
			}
			require.Equal(t, scores, back.Vectors(f).Classify(Page{Text: text}))
			require.Equal(t, scores, m.Vectors(f).Classify(Page{Text: text + " " + text}), "length does not count")
		}
		checks := m.SelfCheck(m.Vectors(f), samples)
		require.Len(t, checks, len(m.Centroids))
		share, unsure := Own(checks)
		require.GreaterOrEqual(t, share, EnoughOwn)
		require.Empty(t, unsure)
		for _, p := range m.Similarity() {
			require.True(t, p.Correlation >= 0 && p.Correlation < 0.5)
		}
	}
}

func TestSelfCheckOfOneTopicUnderTwoNames(t *testing.T) {
	t.Parallel()
	f := filter(t)
	r := rand.New(rand.NewPCG(1, 2))
	var samples []Sample
	for _, id := range []string{"a", "b"} {
		for range 40 {
			samples = append(samples, pages(f, id, about(r, 0))...)
			samples[len(samples)-1].URL = fmt.Sprint(len(samples))
		}
	}
	m, _ := Build(Defaults(), []Topic{{ID: "a"}, {ID: "b"}}, samples)
	share, unsure := Own(m.SelfCheck(m.Vectors(f), samples))
	require.Less(t, share, EnoughOwn, "they cannot be told apart")
	require.NotEmpty(t, unsure)
	require.Greater(t, m.Similarity()[0].Correlation, 0.5)
}

// TestSelfCheckByWhatIsCollected: a page that made a centroid falls to it where its
// collection would take it, not where it is more like it than like another topic.
func TestSelfCheckByWhatIsCollected(t *testing.T) {
	t.Parallel()
	f := filter(t)
	samples := append(pages(f, "math", "prime ring", "prime ring", "prime ring", "prime ring"), pages(f, "verse", "sonnet rhyme", "sonnet rhyme", "sonnet rhyme", "sonnet kettle oven")...)
	o := Defaults()
	o.Overlap, o.Threshold = 2, 0.2
	own := func(o Options) (owns []int) {
		m, _ := Build(o, []Topic{{ID: "math"}, {ID: "verse"}}, samples)
		for _, c := range m.SelfCheck(m.Vectors(f), samples) {
			owns = append(owns, c.Own)
		}
		return owns
	}
	require.Equal(t, []int{4, 4}, own(o))
	o.Threshold = 0.9
	require.Equal(t, []int{4, 3}, own(o), "the last is less like it than the threshold")
	o.Threshold, o.Overlap = 0.2, 3
	require.Equal(t, []int{0, 1}, own(o), "of the others a page has two words in common")
}

func TestDecide(t *testing.T) {
	t.Parallel()
	at := map[string]Progress{}
	standing := func(topic string) Progress { return at[topic] }
	o := Defaults()
	o.Size = 2
	good := []Score{{"a", 0.6}, {"b", 0.4}, {"c", 0.1}}
	require.Equal(t, Verdict{Best: good[0], Entries: good[:1], Follow: true, Priority: 0.6}, o.Decide(good, 3, standing), "a nugget begins a path anew")
	require.Equal(t, Verdict{Off: 1}, o.Decide(nil, 0, standing))
	poor := []Score{{"a", 0.15}}
	require.False(t, o.Decide(poor, 0, standing).Follow)
	o.Cutoff = 2
	require.True(t, o.Decide(poor, 1, standing).Follow)
	require.Equal(t, Verdict{Best: poor[0], Off: 3, Priority: 0.15}, o.Decide(poor, 2, standing))
	o.Adapt = true
	require.Equal(t, Verdict{Best: poor[0], Off: 1.5, Follow: true, Priority: 0.15}, o.Decide(poor, 1, standing), "half of the way to the threshold costs half a page")
	o.Adapt, o.Overlapping = false, true
	require.Equal(t, good[:2], o.Decide(good, 0, standing).Entries)

	at["a"] = Progress{Entries: 2, Worst: 0.5}
	require.Equal(t, good[1:2], o.Decide(good, 0, standing).Entries, "a is full")
	o.Overlapping = false
	require.Equal(t, Verdict{Best: good[1], Entries: good[1:2], Follow: true, Priority: 0.4}, o.Decide(good, 0, standing), "a full collection leaves its pages to the next")
	require.Equal(t, Verdict{Best: good[0], Priority: 0.6}, o.Decide(good[:1], 0, standing), "a full collection leads nowhere")
	o.Adapt = true
	require.Equal(t, good[:1], o.Decide(good, 0, standing).Entries, "it is better than the worst")
	at["a"] = Progress{Entries: 2, Worst: 0.7}
	require.Equal(t, Verdict{Best: good[0], Follow: true, Priority: 0.6}, o.Decide(good[:1], 0, standing))
	require.Equal(t, good[1:2], o.Decide(good, 0, standing).Entries, "it is worse than the worst of a")

	v := Verdict{Priority: 0.4}
	require.InDelta(t, 0.4, o.LinkPriority(v, true), 0)
	o.OffSite = true
	require.InDelta(t, 1.4, o.LinkPriority(v, true), 0)
	require.InDelta(t, 0.4, o.LinkPriority(v, false), 0)
}

// TestLikened: the score from which a classifier is sure enough is the correlation from
// which a page is on topic.
func TestLikened(t *testing.T) {
	t.Parallel()
	o := Options{Threshold: 0.3, Certainty: 0.5}
	for score, want := range map[float64]float64{0: 0, 0.25: 0.15, 0.5: 0.3, 0.75: 0.65, 1: 1} {
		require.InDelta(t, want, o.Likened(score), 1e-12)
	}
	require.InDelta(t, 0.7, Options{Threshold: 0.3}.Likened(0.7), 0, "as it was before there were two")
}

func TestOptionsThatCannotBe(t *testing.T) {
	t.Parallel()
	require.NoError(t, Defaults().Check())
	for says, change := range map[string]func(*Options){
		"results":   func(o *Options) { o.Results = 0 },
		"terms":     func(o *Options) { o.Terms = 0 },
		"overlap":   func(o *Options) { o.Overlap = 21 },
		"threshold": func(o *Options) { o.Threshold = math.NaN() },
		"certainty": func(o *Options) { o.Certainty = 1 },
		"cutoff":    func(o *Options) { o.Cutoff = -1 },
		"size":      func(o *Options) { o.Size = 0 },
	} {
		o := Defaults()
		change(&o)
		require.ErrorContains(t, o.Check(), says)
	}
}

// TestHostileTopics: a file that the record, a search engine or the memory would not
// bear is refused, and says why.
func TestHostileTopics(t *testing.T) {
	t.Parallel()
	deep := strings.Repeat(`{"topics": [{"name": "n", `, 300)
	bomb := "a: &a [x, x, x, x, x, x, x, x, x, x]\n"
	for c := 'b'; c < 'k'; c++ {
		bomb += fmt.Sprintf("%c: &%c [%s]\n", c, c, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*%c, ", c-1), 10), ", "))
	}
	many := "topics:\n"
	for i := range 1001 {
		many += fmt.Sprintf("- name: t%d\n", i)
	}
	for what, file := range map[string]string{
		"name of":            `{"topics": [{"name": "n", ` + strings.Repeat(`"topics": [{"name": "n", `, 300) + `"query": "q"` + strings.Repeat(`}]`, 301) + `}`,
		"topics":             deep,
		"there is none":      bomb,
		"cut the file":       many,
		"cannot be seen":     `{"topics": [{"name": "a\u0000b"}]}`,
		"the query of":       `{"topics": [{"name": "a", "query": "` + strings.Repeat("q", 3000) + `"}]}`,
		"address of a page":  `{"topics": [{"name": "a", "pages": ["file:///etc/passwd"]}]}`,
		"stands there twice": `{"topics": [{"name": "a"}, {"name": " a "}]}`,
	} {
		_, _, err := Parse([]byte(file))
		require.ErrorIs(t, err, ErrTopics, what)
		require.ErrorContains(t, err, what)
	}
}

// TestHostileWords: of a page with a million words a centroid looks at those that occur
// most, and a word beyond all measure is none.
func TestHostileWords(t *testing.T) {
	t.Parallel()
	var page strings.Builder
	for i := range 20000 {
		fmt.Fprintf(&page, "w%d ", i)
	}
	page.WriteString(strings.Repeat("often ", 3) + strings.Repeat("x", 100))
	s := NewSample("a", "u", NewFilter(Stops{}), Page{Text: page.String()})
	require.Len(t, s.Counts, 5000)
	require.Equal(t, 3, s.Counts["often"])
	require.NotContains(t, s.Counts, strings.Repeat("x", 100))
}

// TestQuery is of the words that most titles have.
func TestQuery(t *testing.T) {
	t.Parallel()
	f := NewFilter(Stops{Words: []string{"the", "of"}})
	require.Equal(t, "xml views", f.Query([]string{"The views of XML", "XML, XML, XML and views", "joins of XML"}, 2))
	require.Empty(t, f.Query(nil, 2))
}

// TestQueries of a topic are those of the file, and what its place in the tree says; of
// titles the pairs of words that several have.
func TestQueries(t *testing.T) {
	t.Parallel()
	all, _, err := Parse([]byte("topics: [{name: mathematics, topics: [{name: graphs, queries: [vertex edge, graphs mathematics]}, {name: primes, query: sieve}]}]"))
	require.NoError(t, err)
	require.Equal(t, []string{"graphs mathematics", "vertex edge"}, all[0].AllQueries())
	require.Equal(t, []string{"sieve", "primes mathematics"}, all[1].AllQueries())
	require.Empty(t, Topic{ID: "conf/webdb", Venue: "conf/webdb"}.AllQueries())
	f := NewFilter(Stops{Words: []string{"the", "of"}})
	titles := []string{"Views of XML data", "XML data, XML data", "the XML views", "the views of XML"}
	require.Equal(t, []string{"views xml", "xml data"}, f.Pairs(titles, 5))
	require.Equal(t, []string{"views xml"}, f.Pairs(titles, 1))
}

// TestVenues are topics by their keys.
func TestVenues(t *testing.T) {
	t.Parallel()
	topics, _, err := Parse([]byte("topics: [{name: databases, venue: conf/webdb}]"))
	require.NoError(t, err)
	require.Equal(t, []Topic{{ID: "databases", Venue: "conf/webdb"}}, topics)
	_, _, err = Parse([]byte("topics: [{name: databases, venue: conf/webdb, query: xml}]"))
	require.ErrorContains(t, err, "beside a query")
	topics = devtest.Must(OfVenues([]string{"conf/webdb", " conf/vldb"}))(t)
	require.Equal(t, []Topic{{ID: "conf/webdb", Venue: "conf/webdb"}, {ID: "conf/vldb", Venue: "conf/vldb"}}, topics)
	for _, bad := range [][]string{{""}, {"conf/webdb", "conf/webdb"}, {"a\x00"}} {
		_, err = OfVenues(bad)
		require.ErrorIs(t, err, ErrTopics)
	}
}
