package console

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"gleaner/internal/crawl/synthesis"
	"gleaner/internal/each"
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

	runs, paused bool
}

// Runs reports whether it is being made.
func (r collectionRow) Runs() bool { return r.runs }

// Paused reports whether its making is paused.
func (r collectionRow) Paused() bool { return r.paused }

func collectionRowOf(c collections.Collection) collectionRow {
	return collectionRow{c.Name, c.Status(), c.Note, c.Requests, c.Created, c.Ended,
		c.State == collections.New || c.State == collections.Running, c.Paused}
}

// collectionsPage lists collections by topic, the latest first.
type collectionsPage struct {
	Collections []collectionRow `json:"collections"`
	Next        string          `json:"next,omitempty"`
}

func (p collectionsPage) Live() bool { return slices.ContainsFunc(p.Collections, collectionRow.Runs) }

func allCollections(ctx context.Context, c *Console, a *asked) (any, error) {
	rows, err := collections.In(c.App.DB).ListBefore(ctx, a.number("after"), pageSize+1)
	var p collectionsPage
	rows, p.Next = more(rows, func(r collections.Collection) string { return strconv.Itoa(r.ID) })
	p.Collections = each.Of(rows, collectionRowOf)
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

func (p collectionPage) Live() bool { return p.Collection.runs }

func oneCollection(ctx context.Context, c *Console, a *asked) (any, error) {
	record := collections.In(c.App.DB)
	after, err := worseThan(a.get("after"))
	if err != nil {
		return nil, err
	}
	got, err := record.Brief(ctx, a.get("name"))
	if errors.Is(err, collections.ErrNone) {
		err = errNoPage
	}
	if err != nil {
		return nil, err
	}
	at, err := record.State(ctx, got.ID)
	if err != nil {
		return nil, err
	}
	p := collectionPage{Collection: collectionRowOf(got), Topic: a.get("topic")}
	p.Topics = each.Of(slices.Sorted(maps.Keys(at.Topics)), func(name string) topicRow {
		return topicRow{name, at.Topics[name].Entries, at.Topics[name].Worst}
	})
	if p.Topic == "" && len(p.Topics) > 0 {
		p.Topic = p.Topics[0].Name
	}
	entries, err := record.EntriesAfter(ctx, got.ID, p.Topic, after, pageSize+1)
	p.Entries, p.Next = more(entries, func(e collections.Entry) string {
		return strconv.FormatFloat(e.Correlation, 'g', -1, 64) + " " + strconv.Itoa(e.N)
	})
	return p, err
}

// worseThan reads a place among entries; nil is the beginning.
func worseThan(after string) (*collections.Place, error) {
	if after == "" {
		return nil, nil
	}
	c, n, _ := strings.Cut(after, " ")
	correlation, err := strconv.ParseFloat(c, 64)
	number, nerr := strconv.Atoi(n)
	if errors.Join(err, nerr) != nil || number < 0 {
		return nil, fmt.Errorf("%w: after is what the page before gave as next", errInput)
	}
	return &collections.Place{Correlation: correlation, N: number}, nil
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

// collectionPath is the address of a collection's page.
func collectionPath(name string) string { return "/collections/" + url.PathEscape(name) }

// CollectionRequest is a collection by topic that somebody wants made.
type CollectionRequest struct {
	Name     string
	Topics   []topicRequest
	Venues   []string          // in place of topics: whose papers stand for one each
	Settings map[string]string // by the names of `starter collect --set`
}

// topicRequest is a topic, and the search for it; "" is one for its name.
type topicRequest struct {
	Name  string `json:"name"`
	Query string `json:"query"`
}

// collectionSettings are the options of a collection that the form has.
func collectionSettings() []param {
	return []param{
		{name: "size", what: "entries of each topic's collection (default: 50)", number: true},
		{name: "pages", what: "requests of the whole crawl, with those of earlier runs (default: 5000)", number: true},
		{name: "time", what: "how long the crawl may take, such as 6h or 2d (default: 24h)"},
		{name: "threshold", what: "similarity from which a page belongs to a topic, above 0 and at most 1 (default: 0.3)"},
		{name: "policy", what: "which links come next (default: best)", one: policyNames()},
	}
}

func policyNames() []string { return each.Text(synthesis.Policies()) }

func collectionParams() []param {
	return append([]param{
		{name: "name", what: "name of the collection; one that ended goes on under these options", required: true},
		{name: "topics", what: "a topic a line, and after a colon what to search for"},
		{name: "venues", what: "keys of venues whose papers stand for topics, in place of topics"},
	}, collectionSettings()...)
}

func exportedCollection(ctx context.Context, c *Console, a *asked) (Export, error) {
	return c.Harvests.ExportCollection(ctx, a.get("name"), a.get("format"), a.get("files") != "")
}

func makeCollection(ctx context.Context, c *Console, a *asked) (any, error) {
	w := CollectionRequest{Name: strings.TrimSpace(a.get("name")), Venues: strings.Fields(a.get("venues")),
		Settings: map[string]string{}}
	for line := range strings.Lines(a.get("topics")) {
		if name, query, _ := strings.Cut(line, ":"); strings.TrimSpace(line) != "" {
			w.Topics = append(w.Topics, topicRequest{strings.TrimSpace(name), strings.TrimSpace(query)})
		}
	}
	if (len(w.Topics) == 0) == (len(w.Venues) == 0) {
		return nil, fmt.Errorf("%w: name either topics or venues", errInput)
	}
	for _, p := range collectionSettings() {
		if v := strings.TrimSpace(a.get(p.name)); v != "" {
			w.Settings[p.name] = v
		}
	}
	did, err := c.Harvests.Collect(ctx, w)
	return c.done(ctx, a, donePage{w.Name, did, redirect{to: collectionPath(w.Name)}}, err)
}

func actOnCollection(ctx context.Context, c *Console, a *asked) (any, error) {
	name := a.get("name")
	if a.get("do") == doRemove {
		err := collections.Remove(ctx, collections.In(c.App.DB), name)
		return c.done(ctx, a, donePage{name, "is removed", redirect{to: "/collections"}}, err)
	}
	did, err := c.Harvests.SteerCollection(ctx, name, a.get("do"))
	return c.done(ctx, a, donePage{name, did, redirect{to: collectionPath(name)}}, err)
}
