package evaluate

import (
	"context"
	"log/slog"
	"math"
	"slices"

	"gleaner/internal/classify"
	"gleaner/internal/crawl"
	"gleaner/internal/crawl/synthesis"
	"gleaner/internal/fetch"
	"gleaner/internal/lab/memory"
	"gleaner/internal/lab/topicweb"
	"gleaner/internal/record/collections"
	"gleaner/internal/record/frontier"
	"gleaner/internal/topic"
	"gleaner/internal/web/page"
	"gleaner/internal/web/weburl"
)

// Early is the share of a web's pages after which a crawl's precision is compared.
const Early = 0.2

// TopicSource is a web of many hosts and topics, of which is known what each page is
// about.
type TopicSource interface {
	Topics() []topic.Topic
	Page(url string) (*page.Page, bool)
	About(url string) string     // the topic, "" for none
	Sites(topic string) []string // the target set: hosts that are about it
	Pages() int                  // of the web
	Relevant() int               // of them, about a topic
	Search(query string, n int) []string
	Others(n int) []string // pages that no topic is searched for by, but another subject
}

// judgedSource also knows which documents were accepted for papers.
type judgedSource interface {
	TopicSource
	Accepted(url string) bool
}

// TopicRun is what one policy came to on one web.
type TopicRun struct {
	Policy    string  `json:"policy"`         // or what it does without
	Pages     int     `json:"pages"`          // that it read
	Precision float64 `json:"precision"`      // share of them on topic, after Early of the web's pages
	Gain      float64 `json:"precision_gain"` // by that of breadth-first
	Found     float64 `json:"found"`          // share of the web's pages on topic among those pages; a crawl that ends sooner may be precise, and find little
	Like      float64 `json:"correlation"`    // the mean of those pages
	Recall    float64 `json:"target_recall"`  // share of the target sites, in half of breadth-first's pages
	All       float64 `json:"all_recall"`     // at the end

	// PRR is, by topic, the share of the pages until then that the crawl took for being about it.
	PRR map[string]float64 `json:"prr,omitempty"`

	// Ranks is the precision at each of the ranks of Ranks, the mean of the topics.
	Ranks []float64 `json:"ranks"`

	// Documents are those to which those of the pages read until then lead whose links were
	// followed, each once; Accepted those of them that were judged papers or theses. None
	// where nobody judged. Early is how many pages were read by then.
	Early     int `json:"early"`
	Documents int `json:"documents,omitempty"`
	Accepted  int `json:"accepted,omitempty"`

	// The drawings of the papers, in per cent: over the crawl the share of pages on
	// topic, of target sites, and the mean correlation of each hundred pages; and the
	// share about a topic among as many pages as are most like it, the mean of the topics.
	OverCrawl   []Point `json:"-"`
	Target      []Point `json:"-"`
	Correlation []Point `json:"-"`
	ByRank      []Point `json:"-"`
}

// Ranks are those at which precision is told.
func Ranks() []int { return []int{7, 20, 50, 100, 200} }

// SearchAlone is the run of who does not crawl: the pages that a search for each topic
// finds, in the order in which it does.
const SearchAlone = "search alone"

// TopicWeb is a web with what each policy came to on it.
type TopicWeb struct {
	Name string           `json:"name,omitempty"` // of one that was not generated
	Web  topicweb.Options `json:"web"`
	Half int              `json:"half"` // half of the pages in which breadth-first met the last target site that it meets
	Most float64          `json:"most"` // the precision of who asks for no page off topic while another is left
	Runs []TopicRun       `json:"runs"`
}

// Topics crawls a generated web by topic under each policy, breadth-first first, until
// so many pages are read, and in the ways of the sets that parts names. The crawl is
// that of package synthesis, with the web as its source and its queue in memory. What is
// compared for a part of a policy ends where the figures do.
func Topics(ctx context.Context, o topicweb.Options, pages int, parts []string) (TopicWeb, error) {
	out, err := topicsOver(ctx, topicweb.New(o), bounds{pages: pages, early: Early}, parts)
	out.Web = o
	return out, err
}

// bounds are those of the crawls of a web.
type bounds struct {
	pages, hostPages int // 0 for as many as there are
	early            float64
	seeds            []string // beside what a search finds, as a directory lists them
	learnt           int      // of so many pages classifiers are learnt that decide in place of centroids; 0 for none
}

func topicsOver(ctx context.Context, web TopicSource, b bounds, parts []string) (out TopicWeb, err error) {
	all, err := ways(parts)
	if err != nil {
		return out, err
	}
	early := int(b.early * float64(web.Pages()))
	out.Most = min(1, float64(web.Relevant())/float64(early))
	for i, way := range all {
		if i == len(synthesis.Policies()) { // what a part is worth is told by then
			b.pages = max(early, out.Half)
		}
		seen, err := crawlTopics(ctx, web, way, b)
		if err != nil {
			return out, err
		}
		run := seen.measure(way.name, early)
		if way.policy == synthesis.BreadthFirst {
			out.Half = last(run.Target) / 2
		}
		run.Recall = at(run.Target, out.Half) / 100
		run.Gain = 1
		if len(out.Runs) > 0 && out.Runs[0].Precision > 0 {
			run.Gain = run.Precision / out.Runs[0].Precision
		}
		out.Runs = append(out.Runs, run)
	}
	out.Runs = append(out.Runs, searchAlone(web))
	return out, nil
}

// last is where a curve rises last.
func last(points []Point) int {
	for i := len(points) - 1; i > 0; i-- {
		if points[i].Value > points[i-1].Value {
			return points[i].Requests
		}
	}
	return 0
}

// at is the value of a curve of one point a page after so many of them, or at its end.
func at(points []Point, n int) float64 {
	if n = min(n, len(points)); n == 0 {
		return 0
	}
	return points[n-1].Value
}

// topicCrawl is a crawl's queue, source, documents and log.
type topicCrawl struct {
	*memory.Collection
	web       TopicSource
	judged    judgedSource // nil where nobody judged documents
	read      []topicRead
	documents map[string]met
}

// met is a document that pages lead to.
type met struct {
	accepted bool
	pages    int // that were read before it was met
}

type topicRead struct {
	url, host   string
	about, said string // topics: by the web's own word, and the crawl's
	correlation float64
}

func (c *topicCrawl) Ask(ctx context.Context, u *collections.URL) (*crawl.Answer, error) {
	p, ok := c.web.Page(u.URL)
	if !ok {
		return nil, &fetch.Error{Outcome: fetch.NotFound, URL: u.URL}
	}
	if p.URL != u.URL && c.Known(ctx, frontier.HashOf(p.URL)) {
		return nil, &fetch.Error{Outcome: fetch.RedirectKnown, URL: u.URL, Location: p.URL}
	}
	return &crawl.Answer{Response: &fetch.Response{URL: p.URL, Status: 200}, Page: p}, nil
}

// Read implements synthesis.Documents; no document is asked for.
func (c *topicCrawl) Read(context.Context, *collections.URL, *crawl.Answer) (title, text, why string, err error) {
	return "", "", "", nil
}

func (c *topicCrawl) Keep(context.Context, *collections.URL, *crawl.Answer) (sha string, v crawl.Verdict, err error) {
	return "", v, nil
}

// Write implements synthesis.Queue. Documents are counted as they are met: as in the
// thesis they are no pages of the crawl.
func (c *topicCrawl) Write(ctx context.Context, v *collections.Visit) error {
	if v.Kind == collections.Page {
		c.read = append(c.read, topicRead{v.URL.URL, v.Host, c.web.About(v.URL.URL), v.Best.Topic, v.Best.Correlation})
	}
	v.Links = slices.DeleteFunc(v.Links, func(u collections.URL) bool {
		is := weburl.IsDocumentName(u.URL)
		if _, had := c.documents[weburl.Key(u.URL)]; is && !had {
			c.documents[weburl.Key(u.URL)] = met{c.judged.Accepted(u.URL), len(c.read)}
		}
		return is
	})
	return c.Collection.Write(ctx, v)
}

func crawlTopics(ctx context.Context, web TopicSource, by way, b bounds) (*topicCrawl, error) {
	ask, err := synthesis.DefaultAsk()
	if err != nil {
		return nil, err
	}
	filter := topic.NewFilter(ask.Stops)
	ask.Size, ask.Adapt = math.MaxInt, false // what is compared is the way, not where it ends
	var samples []topic.Sample
	var seeds []collections.URL
	set := setting{Config: synthesis.Defaults(), learnt: b.learnt}
	for _, t := range web.Topics() {
		for _, u := range web.Search(t.Query, ask.Results) {
			p, _ := web.Page(u)
			samples = append(samples, topic.NewSample(t.ID, u, filter, topic.Page{URL: u, Title: p.Title, Text: p.Text}))
			seeds = append(seeds, collections.URL{URL: u, Host: weburl.Host(u), Priority: 1})
		}
		set.Words.DepartmentWords = append(set.Words.DepartmentWords, t.Departments...)
	}
	set.Options, set.Policy, set.MaxPages, set.HostPages = ask.Options, by.policy, b.pages, b.hostPages
	set.SlicePages, set.SliceTime, set.MaxDepth = math.MaxInt, math.MaxInt64, math.MaxInt
	by.change(&set)
	for _, u := range b.seeds {
		seeds = append(seeds, collections.URL{URL: u, Host: weburl.Host(u), Priority: set.Listed()})
	}
	model, _ := topic.Build(ask.Options, web.Topics(), samples)
	var learnt map[string]*classify.Classifier
	if set.learnt > 0 {
		set.Threshold, set.Certainty = classify.Sure, classify.Sure
		if learnt, err = learnTopics(web, filter, set.learnt); err != nil {
			return nil, err
		}
	}
	c := &topicCrawl{Collection: memory.NewCollection(set.QueueRules()), web: web, documents: map[string]met{}}
	c.Add(seeds)
	with := synthesis.Parts{Queue: c, Source: c, Classifier: classify.Over(model.Vectors(filter), filter, learnt, set.Options), Filter: filter, Log: slog.New(slog.DiscardHandler)}
	if is, ok := web.(judgedSource); ok {
		c.judged, with.Documents = is, c
	}
	_, err = synthesis.Run(ctx, set.Config, with, func(crawl.Progress) {})
	return c, err
}
