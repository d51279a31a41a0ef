package synthesis

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"gleaner/internal/topic"
	"gleaner/internal/web/weburl"
)

// The automatic queries of a venue, beside that of the words which most of its titles have:
// so many pairs of neighbouring words.
const titlePairs = 5

// searched adds to the seeds of topics the pages that searches for them find, those of each
// query that it is asked for: the Seed Finder of the CINDI robot. A search that the engine
// refuses is left out: the crawl can do without.
func (m *Maker) searched(ctx context.Context, id int, ask *Ask, topics []topic.Topic) error {
	if ask.SearchSeeds == 0 || m.Searcher == nil {
		return nil
	}
	ask.Seeds = maps.Clone(ask.Seeds)
	if ask.Seeds == nil {
		ask.Seeds = map[string][]string{}
	}
	filter := topic.NewFilter(ask.Stops)
	for _, t := range topics {
		if err := m.unlessPaused(ctx, id); err != nil {
			return err
		}
		queries, err := m.queries(ctx, filter, t)
		if err != nil {
			return err
		}
		for _, q := range queries {
			urls, err := m.found(ctx, topic.Topic{ID: t.ID, Query: q}, ask.SearchSeeds)
			switch {
			case errors.Is(err, ErrInput):
				m.Log.WarnContext(ctx, "seeds of a topic cannot be searched for", "topic", t.ID, "query", q, "error", err)
			case err != nil:
				return err
			}
			ask.Seeds[t.ID] = distinct(append(slices.Clone(ask.Seeds[t.ID]), urls...))
		}
	}
	return nil
}

// queries are what to search for the seeds of a topic by: its place in the tree of topics
// and what the file says, or the titles of its venue.
func (m *Maker) queries(ctx context.Context, f *topic.Filter, t topic.Topic) ([]string, error) {
	queries := t.AllQueries()
	if t.Venue == "" {
		return queries, nil
	}
	titles, err := m.DB.VenueTitles(ctx, t.Venue, titlesRead)
	if err != nil {
		return nil, err
	}
	if q := f.Query(titles, queryWords); q != "" {
		queries = append(queries, q)
	}
	return append(queries, f.Pairs(titles, titlePairs)...), nil
}

// mostResults is how many results of a search are asked for at most: those that the Seed
// Finder of the CINDI robot takes.
const mostResults = 200

// found are the first results of a search for a topic which are pages: where there are
// documents among them, others follow in their place.
func (m *Maker) found(ctx context.Context, t topic.Topic, n int) (urls []string, err error) {
	for of := n; ; of = min(2*of, mostResults) {
		results, err := m.Searcher.Search(ctx, t.Query, of)
		var answer interface{ Refused() bool }
		if refused := errors.As(err, &answer) && answer.Refused(); refused && len(results)+len(urls) > 0 {
			err, of = nil, mostResults // fewer, since nothing more may be asked
		} else if refused {
			return nil, fmt.Errorf("%w: topic %q: %w", ErrInput, t.ID, err)
		}
		if err != nil && len(results) < of { // else another engine found enough
			return nil, fmt.Errorf("topic %q: %w", t.ID, err)
		}
		for _, r := range results {
			if !weburl.IsDocumentName(r.URL) {
				urls = append(urls, r.URL)
			}
		}
		if urls = distinct(urls); len(urls) >= n || len(results) < of || of >= mostResults {
			return urls[:min(n, len(urls))], nil
		}
	}
}

// distinct are addresses in their one spelling, those of one page once.
func distinct(urls []string) (out []string) {
	met := map[string]bool{}
	for _, u := range urls {
		if canonical, err := weburl.Canonical("", u); err == nil && !met[weburl.Key(canonical)] {
			met[weburl.Key(canonical)] = true
			out = append(out, canonical)
		}
	}
	return out
}
