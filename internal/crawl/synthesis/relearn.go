package synthesis

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"gleaner/internal/classify"
	"gleaner/internal/guard"
	"gleaner/internal/record/collections"
	"gleaner/internal/topic"
)

// The bounds of what a classifier learns anew from.
const (
	wordsOfPage = 2000 // that are kept of a page
	pagesRead   = 3000 // the latest, of which those that the classifier is certain of count
)

// Relearning is one learning anew of the topics that have a classifier (Chen 2008, §4.3.3.1):
// the run of a collection and the pages that it has brought in name it.
type Relearning struct {
	Name  string `json:"name"`
	Run   int    `json:"run,omitempty"`
	Pages int    `json:"pages"`
}

// Relearnt is what it came to.
type Relearnt struct {
	Topics int      `json:"topics"`           // that learnt
	Failed []string `json:"failed,omitempty"` // that did not, and go on with the classifier of before
}

// Relearn has each topic's classifier learn anew, from the pages that a person labelled or
// judged, and from the latest of the crawl's as classify.Relearn has it. What an
// attempt did before it was cut off is not done again. A topic that cannot be learnt is
// noted, and keeps the classifier that it has. told is called with each topic before it is
// begun.
func (m *Maker) Relearn(ctx context.Context, r Relearning, told func(topic string)) (Relearnt, error) {
	var out Relearnt
	c, err := m.record.Get(ctx, r.Name)
	if err != nil {
		return out, err
	}
	ask, _, err := Asked(c)
	if err != nil {
		return out, err
	}
	before, err := m.record.Learnings(ctx, c.ID)
	if err != nil {
		return out, err
	}
	var failed []string
	for _, t := range slices.Sorted(maps.Keys(ask.Learnt)) {
		told(t)
		i := slices.IndexFunc(before, func(l collections.Learning) bool { return l.Topic == t && l.Run == r.Run && l.Pages == r.Pages })
		var l collections.Learning
		if i >= 0 {
			l = before[i]
		} else if l, err = m.relearn(ctx, c.ID, t, ask.Learnt[t].Options, r); err != nil {
			return out, fmt.Errorf("topic %q: %w", t, err)
		}
		if l.Note != "" {
			failed = append(failed, t+": "+l.Note)
		} else {
			out.Topics++
		}
	}
	out.Failed = firstOf(failed)
	return out, nil
}

// relearn has one topic's classifier learn anew.
func (m *Maker) relearn(ctx context.Context, id int, t string, opt classify.Options, r Relearning) (collections.Learning, error) {
	l := collections.Learning{Topic: t, Run: r.Run, Pages: r.Pages}
	labelled, err := m.record.Examples(ctx, id, t)
	if err != nil {
		return l, err
	}
	read, err := m.record.Read(ctx, id, t, pagesRead)
	if err != nil {
		return l, err
	}
	var raw json.RawMessage
	err = guard.Logged(ctx, m.Log, "what topic "+t+" learns from", func() error {
		got, err := classify.Relearn(ctx, examples(labelled), examples(read), opt)
		if err != nil {
			return err
		}
		l.Told, l.Own, l.Accuracy = got.Told, got.Own, got.Accuracy
		raw, err = json.Marshal(got.Classifier)
		return err
	})
	switch {
	case ctx.Err() != nil:
		return l, context.Cause(ctx)
	case err != nil:
		l.Note, raw = storable(err.Error(), 300), nil
	}
	return l, m.record.AddLearning(ctx, id, l, raw)
}

func examples(pages []collections.Example) []classify.Example {
	out := make([]classify.Example, len(pages))
	for i, p := range pages {
		out[i] = classify.Labelled{URL: p.URL, Topic: p.About, Words: p.Words}.Example()
	}
	return out
}

// classifiers are those that a crawl goes by: what was asked for, or, where they learn
// anew, what each learnt last.
func (m *Maker) classifiers(ctx context.Context, id int, ask Ask) (map[string]*classify.Classifier, error) {
	for t, k := range ask.Learnt {
		if err := k.Check(); err != nil {
			return nil, fmt.Errorf("%w: topic %q: %w", ErrInput, t, err)
		}
	}
	if ask.Retrain == 0 {
		return ask.Learnt, nil
	}
	models, err := m.record.Models(ctx, id)
	if err != nil {
		return nil, err
	}
	out := maps.Clone(ask.Learnt)
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

// keepsWords reports whether words of pages are kept for a classifier to learn from.
func (c Config) keepsWords() bool { return c.Retrain > 0 || c.Policy == ContextGraph }

// words are what of a text is kept, "" where nothing is.
func (l *loop) words(p topic.Page) string {
	if !l.cfg.keepsWords() {
		return ""
	}
	words := classify.Words(l.Filter, p)
	return strings.Join(words[:min(len(words), wordsOfPage)], " ")
}
