package synthesis

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"gleaner/internal/gleaner"
	"gleaner/internal/record/collections"
	"gleaner/internal/topic"
	"gleaner/internal/web/weburl"
)

// The automatic queries of a venue, beside that of the words which most of its titles have:
// so many pairs of neighbouring words.
const titlePairs = 5

// searched adds to the start pages of topics the results of searches with each of their queries,
// like the Seed Finder of the CINDI robot. It skips searches that the engine rejects, since the
// crawl works without them.
func (m *Maker) searched(ctx context.Context, id int, ask *Request, topics []topic.Topic) error {
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

// queries returns the search queries for the start pages of a topic: from its path in the tree of
// topics and the file, or from the titles of its venue.
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

// mostResults is the greatest number of results requested per search, as in the Seed Finder of
// the CINDI robot.
const mostResults = 200

// found returns the first results of a search for a topic that are pages. It skips documents.
func (m *Maker) found(ctx context.Context, t topic.Topic, n int) (urls []string, err error) {
	for of := n; ; of = min(2*of, mostResults) {
		results, err := m.Searcher.Search(ctx, t.Query, of)
		var answer interface{ Refused() bool }
		if refused := errors.As(err, &answer) && answer.Refused(); refused && len(results)+len(urls) > 0 {
			err, of = nil, mostResults // fewer, since no more requests are allowed
		} else if refused {
			return nil, fmt.Errorf("%w: topic %q: %w", ErrInput, t.ID, err)
		}
		if err != nil && len(results) < of { // otherwise another engine found enough
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

// distinct returns canonical addresses without duplicate pages.
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

const (
	titlesRead = 10_000 // of a venue, for a query
	queryWords = 6      // of an automatic query
)

// ofVenue adds the found papers of a topic's venue as the pages of its centroid. Their texts are
// on record, so they are not requested, and the crawl starts at pages that lead to them. If too
// few are found, query is a search for the topic instead: the words that most titles of the venue
// have.
func (m *Maker) ofVenue(ctx context.Context, id int, ask Request, t topic.Topic) (enough bool, query string, err error) {
	filter := topic.NewFilter(ask.Stops)
	texts, err := m.DB.VenueTexts(ctx, t.Venue, ask.Results)
	if err != nil {
		return false, "", err
	}
	if len(texts) >= ask.LeastResults {
		var read []collections.Result
		for i, p := range texts {
			counts := topic.NewSample(t.ID, p.URL, filter, topic.Page{Title: p.Title, Text: p.Text}).Counts
			read = append(read, collections.Result{Topic: t.ID, Place: i + 1, URL: p.URL, Outcome: string(gleaner.OK), Counts: counts, Parent: p.Parent})
		}
		return true, "", m.record.SetRead(ctx, id, t.ID, read)
	}
	titles, err := m.DB.VenueTitles(ctx, t.Venue, titlesRead)
	if err != nil {
		return false, "", err
	}
	if query = filter.Query(titles, queryWords); query == "" {
		return false, "", fmt.Errorf("%w: topic %q: no paper of %s is on record, of which it could be made: harvest it first", ErrInput, t.ID, t.Venue)
	}
	if m.Searcher == nil {
		return false, "", fmt.Errorf("%w: topic %q: %d papers of %s are found, %d are needed, and no search engine is set for a search by its titles (GLEANER_SEARCH)",
			ErrInput, t.ID, len(texts), t.Venue, ask.LeastResults)
	}
	return false, query, nil
}
