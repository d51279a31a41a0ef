package console

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"gleaner/internal/record/collections"
	"gleaner/internal/record/store"
)

// collectionRow is one that was asked for: the collections of all topics of a file.
type collectionRow struct {
	Name     string     `json:"name"`
	State    string     `json:"state"`
	Note     string     `json:"note,omitempty"` // why it ended
	Requests int        `json:"requests"`
	Created  time.Time  `json:"created_at"`
	Ended    *time.Time `json:"ended_at,omitempty"`
}

func collectionRowOf(c collections.Collection) collectionRow {
	return collectionRow{c.Name, c.How(), c.Note, c.Requests, c.Created, c.Ended}
}

// collectionsPage lists collections by topic, the latest first.
type collectionsPage struct {
	Collections []collectionRow `json:"collections"`
	Next        string          `json:"next,omitempty"`
}

func allCollections(ctx context.Context, c *Console, a *asked) (any, error) {
	rows, err := collections.In(c.App.DB).Behind(ctx, a.number("after"), pageSize+1)
	var p collectionsPage
	rows, p.Next = more(rows, func(r collections.Collection) string { return strconv.Itoa(r.ID) })
	p.Collections = []collectionRow{}
	for _, r := range rows {
		p.Collections = append(p.Collections, collectionRowOf(r))
	}
	return p, err
}

// topicRow is a topic, and how full its collection is.
type topicRow struct {
	Name    string  `json:"name"`
	Entries int     `json:"entries"`
	Worst   float64 `json:"worst"` // the least similarity of an entry
}

// collectionPage is one, with what of a topic is in it, the most similar first.
type collectionPage struct {
	Collection collectionRow       `json:"collection"`
	Topics     []topicRow          `json:"topics"`
	Topic      string              `json:"topic"` // that is shown
	Entries    []collections.Entry `json:"entries"`
	Next       string              `json:"next,omitempty"`
}

func oneCollection(ctx context.Context, c *Console, a *asked) (any, error) {
	record := collections.In(c.App.DB)
	after, err := worseThan(a.get("after"))
	if err != nil {
		return nil, err
	}
	got, err := record.Told(ctx, a.get("name"))
	if errors.Is(err, collections.ErrNone) {
		err = errNoPage
	}
	if err != nil {
		return nil, err
	}
	at, err := record.Standing(ctx, got.ID)
	if err != nil {
		return nil, err
	}
	p := collectionPage{Collection: collectionRowOf(got), Topics: []topicRow{}, Topic: a.get("topic")}
	for _, name := range slices.Sorted(maps.Keys(at.Topics)) {
		p.Topics = append(p.Topics, topicRow{name, at.Topics[name].Entries, at.Topics[name].Worst})
	}
	if p.Topic == "" && len(p.Topics) > 0 {
		p.Topic = p.Topics[0].Name
	}
	entries, err := record.EntriesBehind(ctx, got.ID, p.Topic, after, pageSize+1)
	p.Entries, p.Next = more(entries, func(e collections.Entry) string {
		return strconv.FormatFloat(e.Correlation, 'g', -1, 64) + " " + strconv.Itoa(e.N)
	})
	return p, err
}

// worseThan reads a place among entries; nil is the beginning.
func worseThan(after string) (*collections.Worse, error) {
	if after == "" {
		return nil, nil
	}
	c, n, _ := strings.Cut(after, " ")
	correlation, err := strconv.ParseFloat(c, 64)
	number, nerr := strconv.Atoi(n)
	if errors.Join(err, nerr) != nil || number < 0 {
		return nil, fmt.Errorf("%w: after is what the page before gave as next", errInput)
	}
	return &collections.Worse{Correlation: correlation, N: number}, nil
}

// parentsPage lists pages that lead to documents, by host.
type parentsPage struct {
	Site    string         `json:"site,omitempty"`
	Parents []store.Parent `json:"parents"`
	Next    string         `json:"next,omitempty"`
}

// placeAfter is where a list by host and page goes on.
func placeAfter(a *asked) (store.ParentAt, error) {
	after, err := store.ParseParentAt(a.get("after"))
	if err != nil {
		err = fmt.Errorf("%w: after: %w", errInput, err)
	}
	return after, err
}

func parents(ctx context.Context, c *Console, a *asked) (any, error) {
	after, err := placeAfter(a)
	if err != nil {
		return nil, err
	}
	p := parentsPage{Site: a.get("site")}
	rows, err := c.App.DB.Parents(ctx, p.Site, after, pageSize+1)
	p.Parents, p.Next = more(rows, func(r store.Parent) string { return r.At().String() })
	return p, err
}
