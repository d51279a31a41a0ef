package synthesis

import (
	"context"
	"fmt"
	"strings"

	"gleaner/internal/classify"
	"gleaner/internal/crawl"
	"gleaner/internal/gleaner"
	"gleaner/internal/record/collections"
	"gleaner/internal/topic"
	"gleaner/internal/web/rules"
)

// relearnt returns the model with the document frequencies of crawled pages, if configured: for a
// single topic only of pages about other subjects, to find common words.
func (m *Maker) relearnt(ctx context.Context, id int, ask *Request, model *topic.Model) (*topic.Model, error) {
	of := gleaner.Outcome("")
	if !ask.LearnIDF && model.Alone() {
		of, ask.LearnIDF = OffTopic, true
	}
	if !ask.LearnIDF {
		return model, nil
	}
	pages, df, err := m.record.Terms(ctx, id, of)
	if err != nil {
		return nil, err
	}
	return model.Relearnt(pages, df), nil
}

// config returns the worker's configuration with the requested settings and compiled lists of
// excluded links, including stop directories learnt by now.
func (m *Maker) config(ctx context.Context, ask Request, topics []topic.Topic) (Config, error) {
	c, err := ask.over(m.Config, topics).Inspected(ask.Patterns)
	if err != nil {
		return c, err
	}
	var learnt []string
	if c.Links.Learns() {
		if learnt, err = m.DB.StopNames(ctx, c.StopSites, c.StopShare); err != nil {
			return c, err
		}
	}
	c.Rules = rules.New(c.Links, learnt)
	return c, nil
}

// Slice runs a slice of a collection's crawl. An error is the system's, never a site's.
func (m *Maker) Slice(ctx context.Context, name string, report func(crawl.Progress)) (crawl.Result, error) {
	c, err := m.record.Get(ctx, name)
	if err != nil || c.Paused && c.Ended == nil {
		return crawl.Result{Ending: crawl.Paused}, err // before waiting for unavailable services
	}
	if err := m.Coll.Ready(ctx); err != nil {
		return crawl.Result{}, fmt.Errorf("collect %s: %w", name, err)
	}
	ask, topics, err := RequestOf(c)
	if err != nil {
		return crawl.Result{}, err
	}
	model, err := modelOf(c)
	if err != nil {
		return crawl.Result{}, err
	}
	if model, err = m.relearnt(ctx, c.ID, &ask, model); err != nil {
		return crawl.Result{}, err
	}
	cfg, err := m.config(ctx, ask, topics)
	if err != nil {
		return crawl.Result{}, err
	}
	if err := m.forget(ctx, c.ID, cfg); err != nil {
		return crawl.Result{}, err
	}
	filter := topic.NewFilter(ask.Stops)
	if err := m.relearn(ctx, c.ID, ask); err != nil {
		return crawl.Result{}, err
	}
	learnt, err := m.classifiers(ctx, c.ID, ask)
	if err != nil {
		return crawl.Result{}, err
	}
	w := &web{Maker: m, Crawl: collections.Crawl{Record: m.record, ID: c.ID, Rules: cfg.QueueRules()}, run: c.Run}
	if cfg.WARC {
		w.keeping = m.Coll.Repository().Keeping("collections-"+name, "collections "+name, m.Log)
	}
	defer func() { w.release(); w.keeping.Close(ctx) }()
	parts := Parts{Queue: w, Source: w, Documents: w, Filter: filter, Log: m.Log,
		Classifier: classify.Over(model.Vectors(filter), filter, learnt, ask.Options)}
	r, err := Run(ctx, cfg, parts, report)
	if err == nil && r.Ending == Exhausted {
		var paused []string
		if paused, err = w.Paused(ctx); len(paused) > 0 {
			r.Reason = "these hosts are paused, and pages of theirs wait: " + strings.Join(firstOf(paused), ", ")
		}
	}
	return r, err
}

// forget deletes stored data of earlier pages that is no longer used for training.
func (m *Maker) forget(ctx context.Context, id int, cfg Config) error {
	if cfg.keepsWords() { // those since the last training
		if err := m.record.ForgetWords(ctx, id, pagesRead); err != nil {
			return err
		}
	}
	if cfg.learns() {
		return m.record.ForgetLinks(ctx, id, linkedPages)
	}
	return nil
}
