package evaluate

import (
	"cmp"
	"context"
	"log/slog"
	"math"
	"slices"

	"gleaner/internal/fetch"
	"gleaner/internal/lab/topicweb"
	"gleaner/internal/record/collections"
	"gleaner/internal/synthesis"
	"gleaner/internal/topic"
	"gleaner/internal/web/weburl"
)

// Early is the share of a web's pages after which a crawl's precision is compared.
const Early = 0.2

// TopicRun is what one policy came to on one generated web.
type TopicRun struct {
	Policy    string  `json:"policy"`         // or what it does without
	Pages     int     `json:"pages"`          // that it read
	Precision float64 `json:"precision"`      // share of them on topic, after Early of the web's pages
	Gain      float64 `json:"precision_gain"` // by that of breadth-first
	Recall    float64 `json:"target_recall"`  // share of the target sites, in half of breadth-first's pages
	All       float64 `json:"all_recall"`     // at the end

	// The drawings of the papers, in per cent: over the crawl the share of pages on
	// topic, of target sites, and the mean correlation of each hundred pages; and the
	// share on topic among the pages of the highest correlations.
	OverCrawl   []Point `json:"-"`
	Target      []Point `json:"-"`
	Correlation []Point `json:"-"`
	ByRank      []Point `json:"-"`
}

// TopicWeb is a generated web with what each policy came to on it.
type TopicWeb struct {
	Web  topicweb.Options `json:"web"`
	Half int              `json:"half"` // half of the pages in which breadth-first met the last target site that it meets
	Most float64          `json:"most"` // the precision of who asks for no page off topic while another is left
	Runs []TopicRun       `json:"runs"`
}

// way is a policy, or one without a part of it.
type way struct {
	name   string
	policy synthesis.Policy
	change func(*synthesis.Config)
}

// ways are all policies and, where parts is set, gleaner without each of its parts.
func ways(parts bool) (out []way) {
	for _, p := range synthesis.Policies() {
		out = append(out, way{string(p), p, func(*synthesis.Config) {}})
	}
	if !parts {
		return out
	}
	without := func(what string, change func(*synthesis.Config)) {
		out = append(out, way{"gleaner, no " + what, synthesis.Gleaner, change})
	}
	without("words of links", func(c *synthesis.Config) { c.Weights.Anchor = 0 })
	without("inheritance", func(c *synthesis.Config) { c.Weights.Own = 1 })
	without("tunnelling", func(c *synthesis.Config) { c.Weights.Farthest = 0 })
	without("loss on the way", func(c *synthesis.Config) { c.Weights.OffTopic = 1 })
	without("worth of hosts", func(c *synthesis.Config) { c.Weights.Host = collections.Worth{} })
	without("new hosts sooner", func(c *synthesis.Config) { c.Weights.Host.New = 0 })
	without("other hosts sooner", func(c *synthesis.Config) { c.Weights.OffSite = 0 })
	return out
}

// Topics crawls a generated web by topic under each policy, breadth-first first, until
// so many pages are read; with parts also under gleaner without each of its parts. The
// crawl is that of package synthesis, with the web as its source and its queue in memory.
func Topics(ctx context.Context, o topicweb.Options, pages int, parts bool) (TopicWeb, error) {
	web := topicweb.New(o)
	early := int(Early * float64(web.Pages()))
	out := TopicWeb{Web: o, Most: min(1, float64(web.Relevant())/float64(early))}
	for _, way := range ways(parts) {
		seen, err := crawlTopics(ctx, web, way, pages)
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

// topicCrawl is a crawl's queue, source and log.
type topicCrawl struct {
	*collections.Memory
	web   *topicweb.Web
	read  []topicRead
	sites int // of the target set
}

type topicRead struct {
	host        string
	about       bool // on topic, by the web's own word
	correlation float64
}

// Ask implements synthesis.Source.
func (c *topicCrawl) Ask(_ context.Context, u *collections.URL) (*synthesis.Answer, error) {
	p, ok := c.web.Page(u.URL)
	if !ok {
		return nil, &fetch.Error{Outcome: fetch.NotFound, URL: u.URL}
	}
	return &synthesis.Answer{Response: &fetch.Response{URL: u.URL, Status: 200}, Page: p}, nil
}

// Write implements synthesis.Queue.
func (c *topicCrawl) Write(ctx context.Context, v *collections.Visit) error {
	c.read = append(c.read, topicRead{v.Host, c.web.About(v.URL.URL) != "", v.Best.Correlation})
	return c.Memory.Write(ctx, v)
}

func crawlTopics(ctx context.Context, web *topicweb.Web, by way, pages int) (*topicCrawl, error) {
	ask, err := synthesis.DefaultAsk()
	if err != nil {
		return nil, err
	}
	filter := topic.NewFilter(ask.Stops)
	ask.Size = math.MaxInt // what is compared is the way, not where it ends
	var samples []topic.Sample
	var seeds []collections.URL
	sites := 0
	for _, t := range web.Topics() {
		sites += len(web.Sites(t.ID))
		for _, u := range web.Search(t.Query, ask.Results) {
			p, _ := web.Page(u)
			samples = append(samples, topic.NewSample(t.ID, u, filter, topic.Page{URL: u, Title: p.Title, Text: p.Text}))
			seeds = append(seeds, collections.URL{URL: u, Host: weburl.Host(u), Priority: 1})
		}
	}
	model, _ := topic.Build(ask.Options, web.Topics(), samples)
	cfg := synthesis.Defaults()
	cfg.Options, cfg.Policy, cfg.MaxPages, cfg.SlicePages, cfg.SliceTime, cfg.MaxDepth = ask.Options, by.policy, pages, math.MaxInt, math.MaxInt64, math.MaxInt
	by.change(&cfg)
	c := &topicCrawl{Memory: collections.NewMemory(collections.Rules{Size: math.MaxInt, Worth: cfg.Worth()}), web: web, sites: sites}
	c.Add(seeds)
	_, err = synthesis.Run(ctx, cfg, synthesis.Parts{Queue: c, Source: c, Classifier: model.Vectors(filter), Filter: filter, Log: slog.New(slog.DiscardHandler)}, func(synthesis.Progress) {})
	return c, err
}

// group is how many pages' correlations are drawn as one point.
const group = 100

// measure makes the figures of a crawl.
func (c *topicCrawl) measure(name string, early int) TopicRun {
	run := TopicRun{Policy: name, Pages: len(c.read)}
	met, on, sum := map[string]bool{}, 0, 0.0
	targets := map[string]bool{}
	for _, t := range c.web.Topics() {
		for _, h := range c.web.Sites(t.ID) {
			targets[h] = true
		}
	}
	for i, r := range c.read {
		if r.about {
			on++
			if targets[r.host] {
				met[r.host] = true
			}
		}
		n := i + 1
		run.OverCrawl = append(run.OverCrawl, Point{n, 100 * float64(on) / float64(n)})
		run.Target = append(run.Target, Point{n, 100 * float64(len(met)) / float64(c.sites)})
		if sum += r.correlation; n%group == 0 {
			run.Correlation = append(run.Correlation, Point{n, 100 * sum / group})
			sum = 0
		}
	}
	run.Precision, run.All = at(run.OverCrawl, early)/100, at(run.Target, len(run.Target))/100
	ranked := slices.Clone(c.read)
	slices.SortStableFunc(ranked, func(a, b topicRead) int { return cmp.Compare(b.correlation, a.correlation) })
	on = 0
	for i, r := range ranked {
		if r.about {
			on++
		}
		run.ByRank = append(run.ByRank, Point{i + 1, 100 * float64(on) / float64(i+1)})
	}
	return run
}
