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

// ErrInput is what a person has to change before a collection can be made.
var ErrInput = errors.New("collections")

// Searcher is a search engine.
type Searcher interface {
	Search(ctx context.Context, query string, n int) ([]evidence.Result, error)
}

// Maker makes collections. It is safe for concurrent use.
type Maker struct {
	Tools
	record *collections.Record
}

// Tools are what a Maker works with.
type Tools struct {
	DB       *store.DB
	Keeper   *politeness.Keeper
	Fetch    crawl.Fetcher
	Coll     *collection.Collection
	Searcher Searcher        // nil for none: topics then need pages
	Getter   homepage.Getter // charges a page with the processes that die over it; the crawl has its pages from the cache
	Config   Config
	Log      *slog.Logger
}

// New makes a Maker.
func New(t Tools) *Maker { return &Maker{t, collections.In(t.DB)} }

// Asked is what a person asked for.
func Asked(c collections.Collection) (ask Ask, topics []topic.Topic, err error) {
	if err = json.Unmarshal(c.Options, &ask); err == nil {
		err = json.Unmarshal(c.Topics, &topics)
	}
	return ask, topics, err
}

// Prepared is what the topics of a collection came to.
type Prepared struct {
	Centroids int      `json:"centroids"`
	Without   []string `json:"without,omitempty"` // topics for which too little was found
	Own       float64  `json:"own"`               // share of the pages that made a centroid which fall to it
	Unsure    []string `json:"unsure,omitempty"`  // topics that others take pages from, or the threshold, where that is too little
	Paused    bool     `json:"paused,omitempty"`  // it is to rest before they are made: nothing else is known yet
}

// errPaused is why no more is fetched for a collection that is to rest.
var errPaused = errors.New("paused")

// unlessPaused fails with errPaused while a collection is paused.
func (m *Maker) unlessPaused(ctx context.Context, id int) error {
	at, err := m.record.Standing(ctx, id)
	if err == nil && at.Paused {
		err = errPaused
	}
	return err
}

// Prepare makes the centroids of a collection, where they are not made: it searches for
// each topic, fetches the first results, and enters them as the crawl's first URLs.
// What an attempt did before it was cut off is not done again. told is called once in a
// while, with how many pages were fetched.
func (m *Maker) Prepare(ctx context.Context, name string, told func(int)) (Prepared, error) {
	if err := m.record.Begin(ctx, name); err != nil { // from here on its options stay
		return Prepared{}, err
	}
	c, err := m.record.Get(ctx, name)
	if err != nil {
		return Prepared{}, err
	}
	ask, topics, err := Asked(c)
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

// gather has all pages that the centroids are to be made of, and the seeds.
func (m *Maker) gather(ctx context.Context, c collections.Collection, ask *Ask, topics []topic.Topic, told func(int)) error {
	made, err := modelOf(c)
	if err != nil {
		return err
	}
	if c.Model == nil || made.Options.Results < ask.Results { // as when somebody asks for more
		if err := m.search(ctx, c.ID, *ask, topics, made.Options.Results); err != nil {
			return err
		}
		if err := m.read(ctx, c.ID, topic.NewFilter(ask.Stops), told); err != nil {
			return err
		}
	}
	return m.searched(ctx, c.ID, ask, topics)
}

// build makes the centroids, and readies the crawl.
func (m *Maker) build(ctx context.Context, c collections.Collection, ask Ask, topics []topic.Topic) (Prepared, error) {
	cfg, err := m.config(ctx, ask, topics)
	if err != nil {
		return Prepared{}, err
	}
	rules := cfg.QueueRules()
	if err := m.record.GoOn(ctx, c.ID, rules); err != nil {
		return Prepared{}, err
	}
	results, err := m.record.Results(ctx, c.ID)
	if err != nil {
		return Prepared{}, err
	}
	model, without := topic.Build(ask.Options, topics, samples(results))
	without = slices.DeleteFunc(without, func(id string) bool { return ask.Learnt[id] != nil })
	if len(model.Centroids)+len(ask.Learnt) == 0 {
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

// selfCheck notes in a model whether the pages that made its centroids fall to them, and
// warns where too few do.
func (m *Maker) selfCheck(ctx context.Context, c collections.Collection, ask Ask, model *topic.Model, pages []topic.Sample) (unsure []string, own float64, err error) {
	learnt, err := m.classifiers(ctx, c.ID, ask)
	if err != nil {
		return nil, 0, err
	}
	filter := topic.NewFilter(ask.Stops)
	model.Checks = model.SelfCheck(classify.Over(model.Vectors(filter), filter, learnt, ask.Options), pages)
	own, failed := topic.Own(model.Checks)
	for _, f := range failed {
		unsure = append(unsure, f.Topic)
	}
	if len(unsure) > 0 {
		m.Log.WarnContext(ctx, "too few of the pages that made the centroids would be collected for their topics", "collections", c.Name, "share", own, "least", topic.EnoughOwn, "topics", firstOf(unsure))
	}
	return unsure, own, nil
}

// modelOf is what a collection's topics are like, empty before that is known.
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

// shown is how many topics or hosts are named to a workflow, whose payloads are bounded.
const shown = 20

func firstOf(topics []string) []string {
	if len(topics) > shown {
		return append(topics[:shown:shown], fmt.Sprintf("and %d more", len(topics)-shown))
	}
	return topics
}

// search enters the pages that are to make the centroids, of topics that have none yet;
// of all where fewer results were asked for before.
func (m *Maker) search(ctx context.Context, id int, ask Ask, topics []topic.Topic, before int) error {
	had, err := m.record.Results(ctx, id)
	if err != nil {
		return err
	}
	done := map[string]bool{}
	for _, r := range had {
		done[r.Topic] = before == 0 || before >= ask.Results || r.Place > before // by an attempt that was cut off
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

// listed are the first pages of a topic in web directories, where no search engine is set.
func listed(ask Ask, t topic.Topic) ([]string, error) {
	from := ask.Seeds[t.ID]
	if len(from) < ask.LeastResults {
		return nil, fmt.Errorf("%w: topic %q is a search, and no search engine is set (GLEANER_SEARCH); of %d pages that it needs in its stead, web directories (--seeds) list %d",
			ErrInput, t.ID, ask.LeastResults, len(from))
	}
	return from[:min(len(from), ask.Results)], nil
}

// read fetches the pages of which nothing is known yet, and counts their words.
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

// sample notes what became of a page that was asked for, and counts its words.
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

// seeds are the pages that made the centroids, or lead to the papers that did: the crawl
// begins with them, as far as the operator's lists let it. Then come the pages that a
// directory lists under a topic.
func (c Config) seeds(ask Ask, model *topic.Model, results []collections.Result) (out []collections.URL) {
	has, met := map[string]bool{}, map[frontier.Hash]bool{}
	begin := func(at string, priority float64) {
		at, err := weburl.Canonical("", at) // a person's file has them as they come
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
	for id := range ask.Learnt {
		has[id] = true
	}
	for _, id := range slices.Sorted(maps.Keys(has)) {
		for _, at := range ask.Seeds[id] {
			begin(at, c.Listed())
		}
	}
	return out
}
