package synthesis

import (
	"context"
	"encoding/json"
	"errors"

	"gleaner/internal/classify"
	"gleaner/internal/each"
	"gleaner/internal/guard"
	"gleaner/internal/rank"
	"gleaner/internal/record/collections"
	"gleaner/internal/record/frontier"
	"gleaner/internal/web/weburl"
)

const (
	linkedPages   = 3000 // latest pages whose links are used
	firstTraining = 200  // requests before the first training
	nextTraining  = 1000 // requests between trainings, at most as many as before
)

// LinkTraining holds what a crawl learnt from its recorded links.
type LinkTraining struct {
	Pages  int                  `json:"pages"`            // number of pages
	Leads  int                  `json:"leads,omitempty"`  // examples of the second layer
	Others int                  `json:"others,omitempty"` // examples of neither layer
	Second *classify.Classifier `json:"second,omitempty"` // classifier of the second layer; nil without examples of both

	// With Config.LearnLinks, words of links out of pages on topic, and of links from other pages
	// to those.
	Pruning    []rank.Anchor `json:"pruning,omitempty"`
	Extracting []rank.Anchor `json:"extracting,omitempty"`
}

func parseTraining(raw json.RawMessage) (out LinkTraining, err error) {
	if err = json.Unmarshal(raw, &out); err == nil && out.Second != nil {
		err = out.Second.Check()
	}
	return out, err
}

// learns reports whether a crawl learns from its links, which are then recorded.
func (c Config) learns() bool { return c.Policy == ContextGraph || c.LearnLinks }

// learn trains again if that is due in this slice, and loads the latest result.
func (l *loop) learn(ctx context.Context) error {
	if !l.cfg.learns() {
		return nil
	}
	if l.graph == nil {
		l.graph = &contextGraph{filter: l.Filter, given: l.cfg.Words}
	}
	if l.at.Requests-l.at.TrainingBegun >= min(nextTraining, max(firstTraining, l.at.TrainingBegun)) {
		mine, err := l.Queue.BeginTraining(ctx, l.at.TrainingBegun, l.at.Requests)
		if err == nil && mine {
			err = l.train(ctx)
		}
		if err != nil {
			return err
		}
	}
	if l.at.TrainingDone == l.learnt {
		return nil
	}
	raw, at, err := l.Queue.LastTraining(ctx)
	if err != nil {
		return err
	}
	got, err := parseTraining(raw)
	if err != nil {
		l.Log.WarnContext(ctx, "what the crawl learnt of its links cannot be read; it goes on with what it knows", "error", err)
	} else {
		l.graph.Second, l.cfg.Words = got.Second, l.graph.given.With(got.Pruning, got.Extracting)
	}
	l.learnt = at
	return nil
}

// train trains on the latest pages' links, and stores the result.
func (l *loop) train(ctx context.Context) error {
	pages, err := l.Queue.Linked(ctx, linkedPages)
	if err != nil {
		return err
	}
	var raw json.RawMessage
	err = guard.Logged(ctx, l.Log, "what a crawl learns of its links", func() error {
		got, err := l.trainOn(pages)
		if err != nil {
			return err
		}
		raw, err = json.Marshal(got)
		return err
	})
	if err != nil { // a repetition would fail too
		l.Log.WarnContext(ctx, "nothing was learnt of the crawl's links; it goes on with what it knows", "error", err)
		return nil
	}
	l.at.TrainingDone = l.at.Requests
	return l.Queue.SaveTraining(ctx, l.at.Requests, raw)
}

func (l *loop) trainOn(pages []collections.Linked) (LinkTraining, error) {
	out := LinkTraining{Pages: len(pages)}
	if l.cfg.LearnLinks {
		out.Pruning, out.Extracting = anchors(pages, l.cfg.Threshold)
	}
	if l.cfg.Policy != ContextGraph {
		return out, nil
	}
	examples := l.graph.examples(pages, l.cfg.Threshold)
	out.Leads = each.Count(examples, func(e classify.Example) bool { return e.Topic })
	out.Others = len(examples) - out.Leads
	second, err := classify.Train(examples, classify.Options{Few: fewExamples})
	if errors.Is(err, classify.ErrExamples) {
		return out, nil
	}
	out.Second = second
	return out, err
}

// anchors returns the words of links out of pages on topic, and of links from others to those.
// All hosts of a domain count as one site, since they share menus and one owner may have any
// number.
func anchors(pages []collections.Linked, threshold float64) (pruning, extracting []rank.Anchor) {
	at := places(pages)
	var from [2]rank.Anchors
	for i, p := range pages {
		of := &from[0]
		if p.Correlation >= threshold {
			of = &from[1]
		}
		for _, link := range p.Links {
			if to, read := at[link.To]; read && to != i {
				of.Add(weburl.Domain(p.Host), link.Anchor, pages[to].Correlation >= threshold)
			}
		}
	}
	pruning, _ = from[1].Lists()
	_, extracting = from[0].Lists()
	return pruning, extracting
}

// places returns the index of a page by each of its names.
func places(pages []collections.Linked) map[frontier.Hash]int {
	at := map[frontier.Hash]int{}
	for i, p := range pages {
		at[p.Hash] = i
		if p.Alias != (frontier.Hash{}) {
			at[p.Alias] = i
		}
	}
	return at
}

// fewExamples is the greatest number of examples for the support vector machine of the second
// layer, whose time grows with it; for more, naïve Bayes is used.
const fewExamples = 500
