package synthesis

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"

	"gleaner/internal/classify"
	"gleaner/internal/crawl"
	"gleaner/internal/each"
	"gleaner/internal/fetch"
	"gleaner/internal/gleaner"
	"gleaner/internal/gleaner/evidence"
	"gleaner/internal/guard"
	"gleaner/internal/homepage"
	"gleaner/internal/library/collection"
	"gleaner/internal/politeness"
	"gleaner/internal/record/collections"
	"gleaner/internal/record/frontier"
	"gleaner/internal/record/store"
	"gleaner/internal/text"
	"gleaner/internal/topic"
	"gleaner/internal/web/page"
	"gleaner/internal/web/weburl"
)

// ErrInput reports an error in a person's request.
var ErrInput = errors.New("collections")

// Searcher is a search engine.
type Searcher interface {
	Search(ctx context.Context, query string, n int) ([]evidence.Result, error)
}

// Maker builds collections. It is safe for concurrent use.
type Maker struct {
	Tools
	record *collections.Record
}

// Tools are the dependencies of a Maker.
type Tools struct {
	DB       *store.DB
	Keeper   *politeness.Keeper
	Fetch    crawl.Fetcher
	Coll     *collection.Collection
	Searcher Searcher        // nil: topics need pages
	Getter   homepage.Getter // counts deaths of processes over a page; caches pages for the crawl
	Config   Config
	Log      *slog.Logger
}

// New returns a Maker with these tools.
func New(t Tools) *Maker { return &Maker{t, collections.In(t.DB)} }

// RequestOf returns a collection's request and its topics.
func RequestOf(c collections.Collection) (ask Request, topics []topic.Topic, err error) {
	if err = json.Unmarshal(c.Options, &ask); err == nil {
		err = json.Unmarshal(c.Topics, &topics)
	}
	return ask, topics, err
}

// Prepared is the result of Prepare.
type Prepared struct {
	Centroids int      `json:"centroids"`
	Without   []string `json:"without,omitempty"` // topics with too few pages
	Own       float64  `json:"own"`               // share of the centroids' pages assigned to their own topic
	Unsure    []string `json:"unsure,omitempty"`  // topics that lose pages to others or to the threshold, if that share is low
	Paused    bool     `json:"paused,omitempty"`  // it was paused before the result
}

// errPaused ends the fetching for a paused collection.
var errPaused = errors.New("paused")

// unlessPaused returns errPaused while a collection is paused.
func (m *Maker) unlessPaused(ctx context.Context, id int) error {
	at, err := m.record.State(ctx, id)
	if err == nil && at.Paused {
		err = errPaused
	}
	return err
}

// Prepare computes the missing centroids of a collection: it searches for each topic, fetches the
// first results, and queues them as the crawl's first URLs. It reuses the work of interrupted
// attempts. It calls told from time to time with the number of fetched pages.
func (m *Maker) Prepare(ctx context.Context, name string, told func(int)) (Prepared, error) {
	if err := m.record.Begin(ctx, name); err != nil { // fixes its options
		return Prepared{}, err
	}
	c, err := m.record.Get(ctx, name)
	if err != nil {
		return Prepared{}, err
	}
	ask, topics, err := RequestOf(c)
	if err != nil {
		return Prepared{}, err
	}
	err = m.gather(ctx, c, &ask, topics, told)
	if errors.Is(err, errPaused) {
		return Prepared{Paused: true}, nil
	}
	if err != nil {
		return Prepared{}, err
	}
	return m.build(ctx, c, ask, topics)
}

// gather fetches the pages for the centroids, and finds the start pages.
func (m *Maker) gather(ctx context.Context, c collections.Collection, ask *Request, topics []topic.Topic, told func(int)) error {
	made, err := modelOf(c)
	if err != nil {
		return err
	}
	if c.Model == nil || made.Options.Results < ask.Results { // as after a request for more
		if err := m.search(ctx, c.ID, *ask, topics, made.Options.Results); err != nil {
			return err
		}
		if err := m.read(ctx, c.ID, topic.NewFilter(ask.Stops), told); err != nil {
			return err
		}
	}
	return m.searched(ctx, c.ID, ask, topics)
}

// build computes the centroids, and prepares the crawl.
func (m *Maker) build(ctx context.Context, c collections.Collection, ask Request, topics []topic.Topic) (Prepared, error) {
	cfg, err := m.config(ctx, ask, topics)
	if err != nil {
		return Prepared{}, err
	}
	rules := cfg.QueueRules()
	if err := m.record.Continue(ctx, c.ID, rules); err != nil {
		return Prepared{}, err
	}
	results, err := m.record.Results(ctx, c.ID)
	if err != nil {
		return Prepared{}, err
	}
	model, without := topic.Build(ask.Options, topics, samples(results))
	without = slices.DeleteFunc(without, func(id string) bool { return ask.Classifiers[id] != nil })
	if len(model.Centroids)+len(ask.Classifiers) == 0 {
		return Prepared{}, fmt.Errorf("%w: no topic has the %d pages that its centroid needs", ErrInput, ask.LeastResults)
	}
	unsure, own, err := m.selfCheck(ctx, c, ask, model, samples(results))
	if err != nil {
		return Prepared{}, err
	}
	err = m.record.SetModel(ctx, c.ID, c.Run, rules, model, cfg.seeds(ask, model, results))
	if errors.Is(err, collections.ErrOver) {
		return Prepared{}, fmt.Errorf("%w: %s %w", ErrInput, c.Name, err)
	}
	if err != nil {
		return Prepared{}, err
	}
	return Prepared{Centroids: len(model.Centroids), Without: firstOf(without), Own: own, Unsure: firstOf(unsure)}, nil
}

// selfCheck records in a model the share of its pages assigned to their own centroids, and warns
// if it is low.
func (m *Maker) selfCheck(ctx context.Context, c collections.Collection, ask Request, model *topic.Model, pages []topic.Sample) (unsure []string, own float64, err error) {
	learnt, err := m.classifiers(ctx, c.ID, ask)
	if err != nil {
		return nil, 0, err
	}
	filter := topic.NewFilter(ask.Stops)
	model.Checks = model.SelfCheck(classify.Over(model.Vectors(filter), filter, learnt, ask.Options), pages)
	own, failed := topic.Own(model.Checks)
	unsure = each.Of(failed, func(c topic.Check) string { return c.Topic })
	if len(unsure) > 0 {
		m.Log.WarnContext(ctx, "too few of the pages that made the centroids would be collected for their topics", "collections", c.Name, "share", own, "least", topic.EnoughOwn, "topics", firstOf(unsure))
	}
	return unsure, own, nil
}

// modelOf returns the model of a collection, empty before it is built.
func modelOf(c collections.Collection) (*topic.Model, error) {
	m := &topic.Model{}
	if c.Model == nil {
		return m, nil
	}
	if err := json.Unmarshal(c.Model, m); err != nil {
		return nil, fmt.Errorf("collect %s: its centroids: %w", c.Name, err)
	}
	return m, nil
}

// shown is the number of topics or hosts listed in workflow payloads, whose size is limited.
const shown = 20

func firstOf(topics []string) []string {
	if len(topics) > shown {
		return append(topics[:shown:shown], fmt.Sprintf("and %d more", len(topics)-shown))
	}
	return topics
}

// search adds the pages for centroids of topics without them; of all topics if fewer results were
// requested before.
func (m *Maker) search(ctx context.Context, id int, ask Request, topics []topic.Topic, before int) error {
	had, err := m.record.Results(ctx, id)
	if err != nil {
		return err
	}
	done := map[string]bool{}
	for _, r := range had {
		done[r.Topic] = before == 0 || before >= ask.Results || r.Place > before // by an interrupted attempt
	}
	for _, t := range topics {
		if done[t.ID] || t.Labelled {
			continue
		}
		if err := m.unlessPaused(ctx, id); err != nil {
			return err
		}
		urls := t.Pages
		if m.Searcher == nil && t.Query != "" && len(urls) == 0 {
			if urls, err = listed(ask, t); err != nil {
				return err
			}
		}
		if t.Venue != "" {
			enough, query, err := m.ofVenue(ctx, id, ask, t)
			if err != nil {
				return err
			}
			if enough {
				continue
			}
			t.Query = query
		}
		if len(urls) == 0 {
			if urls, err = m.found(ctx, t, ask.Results); err != nil {
				return err
			}
		}
		if err := m.record.AddResults(ctx, id, t.ID, distinct(urls)); err != nil {
			return err
		}
	}
	return nil
}

// listed returns the first pages of a topic in web directories, for a Maker without a search
// engine.
func listed(ask Request, t topic.Topic) ([]string, error) {
	from := ask.Seeds[t.ID]
	if len(from) < ask.LeastResults {
		return nil, fmt.Errorf("%w: topic %q is a search, and no search engine is set (GLEANER_SEARCH); of %d pages that it needs in its stead, web directories (--seeds) list %d",
			ErrInput, t.ID, ask.LeastResults, len(from))
	}
	return from[:min(len(from), ask.Results)], nil
}

// read fetches the pages without a result, and counts their words.
func (m *Maker) read(ctx context.Context, id int, filter *topic.Filter, told func(int)) error {
	results, err := m.record.Results(ctx, id)
	if err != nil {
		return err
	}
	for i, r := range results {
		if r.Outcome != "" {
			continue
		}
		if err := m.unlessPaused(ctx, id); err != nil {
			return err
		}
		p, _, err := m.Getter.Get(ctx, r.URL)
		switch {
		case err != nil && (ctx.Err() != nil || errors.Is(err, homepage.ErrRecord)):
			return fmt.Errorf("topic %q: %s: %w", r.Topic, r.URL, err)
		case guard.Logged(ctx, m.Log, r.URL, func() error { sample(&r, p, err, filter); return nil }) != nil:
			r.Outcome = string(frontier.Panicked)
		}
		if err := m.record.SetResult(ctx, id, r); err != nil {
			return err
		}
		told(i + 1)
	}
	return nil
}

// sample records the result of a requested page, and counts its words.
func sample(r *collections.Result, p *page.Page, err error, filter *topic.Filter) {
	var fe *fetch.Error
	switch {
	case errors.As(err, &fe):
		r.Outcome = string(fe.Outcome)
	case err != nil:
		r.Outcome = text.Head(err.Error(), 200)
	default:
		_, outcome, _ := (&crawl.Answer{Page: p}).Parse(context.Background())
		if r.Outcome = string(outcome); outcome != "" {
			return
		}
		r.Outcome, r.Counts = string(gleaner.OK), topic.NewSample(r.Topic, r.URL, filter, topic.Page{Title: p.Title, Text: p.Text}).Counts
	}
}

func samples(results []collections.Result) (out []topic.Sample) {
	for _, r := range results {
		if r.Outcome == string(gleaner.OK) {
			out = append(out, topic.Sample{Topic: r.Topic, URL: r.URL, Counts: r.Counts})
		}
	}
	return out
}

// seeds returns the start URLs of the crawl: the pages of the centroids, or those that lead to
// the papers in them, as allowed by the operator's lists, and then pages that a directory lists
// under a topic.
func (c Config) seeds(ask Request, model *topic.Model, results []collections.Result) (out []collections.URL) {
	has, met := map[string]bool{}, map[frontier.Hash]bool{}
	begin := func(at string, priority float64) {
		at, err := weburl.Canonical("", at) // not canonical in a person's file
		if h := frontier.HashOf(at); err == nil && !met[h] && c.allows(at) {
			met[h] = true
			out = append(out, collections.URL{URL: at, Host: weburl.Host(at), Priority: priority})
		}
	}
	for _, made := range model.Centroids {
		has[made.Topic] = true
	}
	for _, r := range results {
		if r.Outcome == string(gleaner.OK) && has[r.Topic] {
			begin(cmp.Or(r.Parent, r.URL), 1)
		}
	}
	for id := range ask.Classifiers {
		has[id] = true
	}
	for _, id := range slices.Sorted(maps.Keys(has)) {
		for _, at := range ask.Seeds[id] {
			begin(at, c.Listed())
		}
	}
	return out
}
