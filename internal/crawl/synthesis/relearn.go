package synthesis

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"gleaner/internal/classify"
	"gleaner/internal/each"
	"gleaner/internal/guard"
	"gleaner/internal/record/collections"
	"gleaner/internal/text"
	"gleaner/internal/topic"
)

// Limits of the pages from which a classifier learns again.
const (
	wordsOfPage = 2000 // words stored per page
	pagesRead   = 3000 // latest pages; those of which the classifier is certain are used
)

// relearn trains the topics' classifiers again after enough new pages (Chen 2008, §4.3.3.1), each
// in one slice, from labelled and judged pages and from the crawl's latest as in
// classify.Relearn. A failed training is recorded, and the classifier stays.
func (m *Maker) relearn(ctx context.Context, id int, ask Request) error {
	if ask.Retrain == 0 {
		return nil
	}
	pages, err := m.record.PagesRead(ctx, id)
	if err != nil || pages < ask.Retrain {
		return err
	}
	pages -= pages % ask.Retrain
	for _, t := range slices.Sorted(maps.Keys(ask.Classifiers)) {
		l := collections.Learning{Topic: t, Pages: pages}
		mine, err := m.record.BeginLearning(ctx, id, &l)
		if err == nil && mine {
			err = m.learning(ctx, id, l, ask.Classifiers[t].Options)
		}
		if err != nil {
			return fmt.Errorf("topic %q: %w", t, err)
		}
	}
	return nil
}

// learning trains one topic's classifier. Another slice may repeat it after a failure of this
// one.
func (m *Maker) learning(ctx context.Context, id int, l collections.Learning, opt classify.Options) (err error) {
	defer func() {
		if err != nil {
			err = errors.Join(err, m.writes(ctx, m.Log.With("topic", l.Topic), func(ctx context.Context) error {
				return m.record.LeaveLearning(ctx, id, l)
			}))
		}
	}()
	labelled, err := m.record.Examples(ctx, id, l.Topic)
	if err != nil {
		return err
	}
	read, err := m.record.Read(ctx, id, l.Topic, pagesRead)
	if err != nil {
		return err
	}
	var raw json.RawMessage
	err = guard.Logged(ctx, m.Log, "what topic "+l.Topic+" learns from", func() error {
		got, err := classify.Relearn(ctx, examples(labelled), examples(read), opt)
		if err != nil {
			return err
		}
		l.Labelled, l.SelfLabelled, l.Accuracy = got.Labelled, got.SelfLabelled, got.Accuracy
		raw, err = json.Marshal(got.Classifier)
		return err
	})
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case err != nil:
		l.Note, raw = text.Head(err.Error(), 300), nil
	}
	return m.record.EndLearning(ctx, id, l, raw)
}

func examples(pages []collections.Example) []classify.Example {
	return each.Of(pages, func(p collections.Example) classify.Example {
		return classify.Labelled{URL: p.URL, Topic: p.About, Words: p.Words}.Example()
	})
}

// classifiers returns the classifiers of a crawl: the requested ones, or the latest results if
// they are trained again.
func (m *Maker) classifiers(ctx context.Context, id int, ask Request) (map[string]*classify.Classifier, error) {
	for t, k := range ask.Classifiers {
		if err := k.Check(); err != nil {
			return nil, fmt.Errorf("%w: topic %q: %w", ErrInput, t, err)
		}
	}
	if ask.Retrain == 0 {
		return ask.Classifiers, nil
	}
	models, err := m.record.Models(ctx, id)
	if err != nil {
		return nil, err
	}
	out := maps.Clone(ask.Classifiers)
	for t, raw := range models {
		if out[t] == nil {
			continue
		}
		k, err := classify.Parse(raw)
		if err != nil {
			m.Log.WarnContext(ctx, "what a topic's classifier learnt cannot be read; that which was asked for counts", "topic", t, "error", err)
			continue
		}
		out[t] = k
	}
	return out, nil
}

// keepsWords reports whether words of pages are stored for training.
func (c Config) keepsWords() bool { return c.Retrain > 0 || c.Policy == ContextGraph }

// words returns the stored words of a text, or "".
func (l *loop) words(p topic.Page) string {
	if !l.cfg.keepsWords() {
		return ""
	}
	words := classify.Words(l.Filter, p)
	return strings.Join(words[:min(len(words), wordsOfPage)], " ")
}
