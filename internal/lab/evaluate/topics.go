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
	"gleaner/internal/web/weburl"
)

// Early is the share of a web's pages after which a crawl's precision is compared.
const Early = 0.2

// TopicRun is what one policy came to on one web.
type TopicRun struct {
	Policy    string  `json:"policy"`
	Pages     int     `json:"pages"`          // that it read
	Precision float64 `json:"precision"`      // share of them on topic, after Early of the web's pages
	Gain      float64 `json:"precision_gain"` // by that of breadth-first
	Found     float64 `json:"found"`          // share of the web's pages on topic among those pages; a crawl that ends sooner may be precise, and find little
	Recall    float64 `json:"target_recall"`  // share of the target sites, in half of breadth-first's pages
	All       float64 `json:"all_recall"`     // at the end
}

// topicWeb is a web with what each policy came to on it.
type topicWeb struct {
	Web  topicweb.Options `json:"web"`
	Half int              `json:"half"` // half of the pages in which breadth-first met the last target site that it meets
	Most float64          `json:"most"` // the precision of who asks for no page off topic while another is left
	Runs []TopicRun       `json:"runs"`
}

// Topics crawls a generated web by topic under each policy, breadth-first first, until
// so many pages are read. The crawl is that of package synthesis, with the web as its
// source and its queue in memory.
func Topics(ctx context.Context, o topicweb.Options, pages int) (topicWeb, error) {
	web := topicweb.New(o)
	early, relevant := int(Early*float64(web.Pages())), web.Relevant()
	targets := map[string]bool{}
	for _, t := range web.Topics() {
		for _, h := range web.Sites(t.ID) {
			targets[h] = true
		}
	}
	out := topicWeb{Web: o, Most: min(1, float64(relevant)/float64(early))}
	for i, policy := range synthesis.Policies() {
		c, err := crawlTopics(ctx, web, policy, pages, nil)
		if err != nil {
			return out, err
		}
		on, met := progress(c.read, targets)
		if i == 0 {
			out.Half = (slices.Index(met, met[len(met)-1]) + 1) / 2
		}
		run := TopicRun{Policy: string(policy), Pages: len(c.read)}
		first := min(early, len(c.read))
		run.Precision, run.Found = float64(on[first-1])/float64(first), float64(on[first-1])/float64(max(1, relevant))
		run.Recall = float64(met[min(max(1, out.Half), len(met))-1]) / float64(len(targets))
		run.All = float64(met[len(met)-1]) / float64(len(targets))
		out.Runs = append(out.Runs, run)
		out.Runs[i].Gain = run.Precision / max(out.Runs[0].Precision, 1e-9)
	}
	return out, nil
}

// progress counts, after each page that was read, the pages on topic and the target sites
// that were met.
func progress(read []topicRead, targets map[string]bool) (on, met []int) {
	pages, sites := 0, map[string]bool{}
	for _, r := range read {
		if r.about != "" {
			pages++
			if targets[r.host] {
				sites[r.host] = true
			}
		}
		on, met = append(on, pages), append(met, len(sites))
	}
	return on, met
}

// topicCrawl is a crawl's queue, source, documents and log.
type topicCrawl struct {
	*memory.Collection
	web       *topicweb.Web
	read      []topicRead
	documents map[string]bool // that pages lead to
	accepted  int             // of them
}

type topicRead struct {
	host        string
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

// Write implements synthesis.Queue. Documents are counted as they are met: as in Chen's
// thesis they are no pages of the crawl.
func (c *topicCrawl) Write(ctx context.Context, v *collections.Visit) error {
	if v.Kind == collections.Page {
		c.read = append(c.read, topicRead{v.Host, c.web.About(v.URL.URL), v.Best.Topic, v.Best.Correlation})
	}
	v.Links = slices.DeleteFunc(v.Links, func(u collections.URL) bool {
		is, key := weburl.IsDocumentName(u.URL), weburl.Key(u.URL)
		if is && !c.documents[key] {
			c.documents[key] = true
			if c.web.Accepted(u.URL) {
				c.accepted++
			}
		}
		return is
	})
	return c.Collection.Write(ctx, v)
}

// setting is what a crawl may have of its own.
type setting struct {
	synthesis.Config
	classifiers bool // decide in place of centroids
}

// crawlTopics crawls for all topics of a web until so many pages are read; change may be nil.
func crawlTopics(ctx context.Context, web *topicweb.Web, policy synthesis.Policy, pages int, change func(*setting)) (*topicCrawl, error) {
	ask, err := synthesis.DefaultRequest()
	if err != nil {
		return nil, err
	}
	filter := topic.NewFilter(ask.Stops)
	ask.Size, ask.Adapt = math.MaxInt, false // what is compared is the way, not where it ends
	var samples []topic.Sample
	var seeds []collections.URL
	cfg := setting{Config: synthesis.Defaults()}
	for _, t := range web.Topics() {
		for _, u := range web.Search(t.Query, ask.Results) {
			p, _ := web.Page(u)
			samples = append(samples, topic.NewSample(t.ID, u, filter, topic.Page{URL: u, Title: p.Title, Text: p.Text}))
			seeds = append(seeds, collections.URL{URL: u, Host: weburl.Host(u), Priority: 1})
		}
		cfg.Words.DepartmentWords = append(cfg.Words.DepartmentWords, t.Departments...)
	}
	cfg.Options, cfg.MaxPages, cfg.HostPages = ask.Options, pages, 0
	cfg.SlicePages, cfg.SliceTime, cfg.MaxDepth = math.MaxInt, math.MaxInt64, math.MaxInt
	if change != nil {
		change(&cfg)
	}
	cfg.Policy = policy
	model, _ := topic.Build(ask.Options, web.Topics(), samples)
	var learnt map[string]*classify.Classifier
	if cfg.classifiers {
		cfg.Threshold, cfg.Certainty = classify.Sure, classify.Sure
		if learnt, err = learnTopics(web, filter); err != nil {
			return nil, err
		}
	}
	c := &topicCrawl{Collection: memory.NewCollection(cfg.QueueRules()), web: web, documents: map[string]bool{}}
	c.Add(seeds)
	with := synthesis.Parts{
		Queue: c, Source: c, Documents: c, Filter: filter, Log: slog.New(slog.DiscardHandler),
		Classifier: classify.Over(model.Vectors(filter), filter, learnt, cfg.Options),
	}
	_, err = synthesis.Run(ctx, cfg.Config, with, func(crawl.Progress) {})
	return c, err
}
