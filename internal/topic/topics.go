package topic

import (
	"bytes"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"unicode"

	"gopkg.in/yaml.v3"
)

// ErrTopics reports an error in a file of topics; its text has the error and its place.
var ErrTopics = errors.New("topics")

// Topic is one collection to be built.
type Topic struct {
	ID    string   `json:"id" yaml:"-"` // path of names: mathematics/number theory
	Query string   `json:"query,omitempty"`
	Pages []string `json:"pages,omitempty"` // examples of the topic, instead of a search
	Venue string   `json:"venue,omitempty"` // key of a venue whose papers are the examples

	// Queries are further searches for start pages of its crawl.
	Queries []string `json:"queries,omitempty"`

	// Labelled is set for a topic of pages labelled by a person, in the file of its classifier.
	// It has no search and no centroid.
	Labelled bool `json:"labelled,omitempty"`

	// Categories of a web directory with its pages, such as Top/Science/Math; if empty, those
	// with its name.
	Categories []string `json:"categories,omitempty"`

	// Departments are labels of hosts, and directories, about the topic, such as cs and
	// informatics.
	Departments []string `json:"departments,omitempty"`
}

// node is a topic in a file.
type node struct {
	Name   string
	Topic  `yaml:",inline"`
	Topics []node
}

// Limits of a file of topics, for the crawl and the record.
const (
	maxTopics = 1000
	maxPages  = 1000 // of a topic
	maxName   = 500  // bytes of an ID, which is a key
	maxQuery  = 2000

	maxCategories = 100 // of a topic, and departments
)

// OfVenues returns topics whose examples are the papers of venues, each with its key as name.
func OfVenues(keys []string) ([]Topic, error) {
	var out []Topic
	for _, key := range keys {
		t := Topic{ID: strings.TrimSpace(key), Venue: strings.TrimSpace(key)}
		if t.ID == "" || slices.ContainsFunc(out, func(o Topic) bool { return o.ID == t.ID }) {
			return nil, fmt.Errorf("%w: %q is no venue, or stands there twice", ErrTopics, key)
		}
		if err := t.check(); err != nil {
			return nil, err
		}
		out = append(out, t)
	}
	return out, nil
}

// Parse reads a hierarchy of topics from YAML or JSON, in the order of the file. Each has a name,
// and a query, pages, a venue, labelled pages, or narrower topics. A topic with none of these is
// searched for by its name and that of the topic above it. A topic with only narrower topics is a
// heading. Other keys of the file are returned as they are.
func Parse(data []byte) ([]Topic, map[string]yaml.Node, error) {
	var file struct {
		Topics   []node               `yaml:"topics"`
		Settings map[string]yaml.Node `yaml:",inline"`
	}
	dec := yaml.NewDecoder(bytes.NewReader(data))
	dec.KnownFields(true)
	if err := dec.Decode(&file); err != nil {
		return nil, nil, fmt.Errorf("%w: %s", ErrTopics, strings.ReplaceAll(err.Error(), "not found in type topic.node", "is no key of a topic"))
	}
	var out []Topic
	met := map[string]bool{}
	var walk func(under string, nodes []node) error
	walk = func(under string, nodes []node) error {
		for i, n := range nodes {
			name := strings.Join(strings.Fields(n.Name), " ")
			if name == "" {
				return fmt.Errorf("%w: number %d below %q has no name", ErrTopics, i+1, under)
			}
			id := strings.TrimPrefix(under+"/"+name, "/")
			if met[id] {
				return fmt.Errorf("%w: %q stands there twice", ErrTopics, id)
			}
			met[id] = true
			t := n.Topic
			t.ID, t.Query, t.Venue = id, strings.TrimSpace(t.Query), strings.TrimSpace(t.Venue)
			if err := t.check(); err != nil {
				return err
			}
			if t.Query+t.Venue == "" && len(t.Pages) == 0 && len(n.Topics) == 0 && !t.Labelled {
				t.Query = named(id)
			}
			if t.Query+t.Venue != "" || len(t.Pages) > 0 || t.Labelled {
				out = append(out, t)
			}
			if err := walk(id, n.Topics); err != nil {
				return err
			}
		}
		return nil
	}
	if err := walk("", file.Topics); err != nil {
		return nil, nil, err
	}
	switch {
	case len(out) == 0:
		return nil, nil, fmt.Errorf("%w: there is none", ErrTopics)
	case len(out) > maxTopics:
		return nil, nil, fmt.Errorf("%w: %d are more than the %d that one crawl takes; cut the file in parts", ErrTopics, len(out), maxTopics)
	}
	return out, file.Settings, nil
}

// named returns a search for a topic by its name and that of the topic above it.
func named(id string) string {
	above, name, below := cutLast(id)
	if !below {
		return name
	}
	_, above, _ = cutLast(above)
	return name + " " + above
}

func cutLast(id string) (above, name string, below bool) {
	i := strings.LastIndexByte(id, '/')
	return id[:max(i, 0)], id[i+1:], i >= 0
}

// AllQueries returns the distinct searches for a topic: its query, further ones, and its path in
// the tree, except for a venue, whose name is a key.
func (t Topic) AllQueries() (out []string) {
	all := append([]string{t.Query}, t.Queries...)
	if t.Venue == "" {
		all = append(all, named(t.ID))
	}
	for _, q := range all {
		if q = strings.TrimSpace(q); q != "" && !slices.Contains(out, q) {
			out = append(out, q)
		}
	}
	return out
}

// check returns an error for a topic that the record or a search engine would reject.
func (t Topic) check() error {
	switch {
	case len(t.ID) > maxName:
		return fmt.Errorf("%w: %.60q… is a name of %d bytes, with those above it; %d is the most", ErrTopics, t.ID, len(t.ID), maxName)
	case strings.ContainsFunc(t.ID+t.Query+t.Venue, unicode.IsControl):
		return fmt.Errorf("%w: %.60q holds characters that cannot be seen", ErrTopics, t.ID)
	case len(t.Query) > maxQuery:
		return fmt.Errorf("%w: the query of %.60q has %d bytes; %d is the most", ErrTopics, t.ID, len(t.Query), maxQuery)
	case t.Venue != "" && (t.Query != "" || len(t.Pages) > 0):
		return fmt.Errorf("%w: %.60q has a venue beside a query or pages; it is made of one of them", ErrTopics, t.ID)
	case t.Labelled && (t.Query+t.Venue != "" || len(t.Pages) > 0):
		return fmt.Errorf("%w: %.60q is of labelled pages and has a query, pages or a venue beside them; it is made of one of them", ErrTopics, t.ID)
	case len(t.Categories) > maxCategories || slices.ContainsFunc(t.Categories, func(c string) bool { return strings.Trim(c, "/ ") == "" || len(c) > maxQuery }):
		return fmt.Errorf("%w: %.60q has more than %d categories, or one without a name", ErrTopics, t.ID, maxCategories)
	case len(t.Departments) > maxCategories || slices.ContainsFunc(t.Departments, func(d string) bool {
		return d == "" || strings.ContainsAny(d, "./ ") || d != strings.ToLower(d) || len(d) > maxName
	}):
		return fmt.Errorf("%w: %.60q has more than %d departments, or one that is no part of a host's name or directory in lower case, such as informatics", ErrTopics, t.ID, maxCategories)
	case len(t.Queries) > maxCategories || slices.ContainsFunc(t.Queries, func(q string) bool { return len(q) > maxQuery || strings.ContainsFunc(q, unicode.IsControl) }):
		return fmt.Errorf("%w: %.60q has more than %d queries, or one of more than %d bytes", ErrTopics, t.ID, maxCategories, maxQuery)
	case len(t.Pages) > maxPages:
		return fmt.Errorf("%w: %.60q has %d pages; %d is the most", ErrTopics, t.ID, len(t.Pages), maxPages)
	}
	for _, p := range t.Pages {
		if u, err := url.Parse(p); err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
			return fmt.Errorf("%w: %.60q: %.200q is not the address of a page", ErrTopics, t.ID, p)
		}
	}
	return nil
}
