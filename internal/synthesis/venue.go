package synthesis

import (
	"context"
	"fmt"

	"gleaner/internal/gleaner"
	"gleaner/internal/record/collections"
	"gleaner/internal/topic"
)

const (
	titlesRead = 10_000 // of a venue, for a query
	queryWords = 6      // of an automatic query
)

// ofVenue enters the found papers of a topic's venue as the pages that make its
// centroid: their texts are on record, so that nothing is asked for, and the crawl begins
// at the pages that lead to them. Where too few of them are found, query is what to search
// for in their stead: the words that most of the venue's titles have.
func (m *Maker) ofVenue(ctx context.Context, id int, ask Ask, t topic.Topic) (enough bool, query string, err error) {
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
