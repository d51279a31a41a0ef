package topic

import (
	"bytes"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"unicode"

	"gopkg.in/yaml.v3"
)

// ErrTopics is what is wrong with a file of topics; its text says what and where.
var ErrTopics = errors.New("topics")

// Topic is one collection to be made.
type Topic struct {
	ID    string   `json:"id"` // its name below those of the topics above it: mathematics/number theory
	Query string   `json:"query,omitempty"`
	Pages []string `json:"pages,omitempty"` // that stand for the topic, in place of what a search finds
}

// node is a topic as it stands in a file.
type node struct {
	Name   string   `yaml:"name"`
	Query  string   `yaml:"query"`
	Pages  []string `yaml:"pages"`
	Topics []node   `yaml:"topics"`
}

// The bounds of a file of topics: what one crawl takes, and the record of it.
const (
	maxTopics = 1000
	maxPages  = 1000 // of a topic
	maxName   = 500  // bytes of an ID, which is a key
	maxQuery  = 2000
)

// Parse reads a hierarchy of topics from YAML or JSON: each has a name, and a query,
// pages, or narrower topics. One with neither is asked for by its name; one that has
// narrower topics alone is a heading. They come in the order of the file.
func Parse(data []byte) ([]Topic, error) {
	var file struct {
		Topics []node `yaml:"topics"`
	}
	dec := yaml.NewDecoder(bytes.NewReader(data))
	dec.KnownFields(true)
	if err := dec.Decode(&file); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrTopics, err)
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
			t := Topic{ID: id, Query: strings.TrimSpace(n.Query), Pages: n.Pages}
			if err := t.check(); err != nil {
				return err
			}
			if t.Query == "" && len(t.Pages) == 0 && len(n.Topics) == 0 {
				t.Query = name
			}
			if t.Query != "" || len(t.Pages) > 0 {
				out = append(out, t)
			}
			if err := walk(id, n.Topics); err != nil {
				return err
			}
		}
		return nil
	}
	if err := walk("", file.Topics); err != nil {
		return nil, err
	}
	switch {
	case len(out) == 0:
		return nil, fmt.Errorf("%w: there is none", ErrTopics)
	case len(out) > maxTopics:
		return nil, fmt.Errorf("%w: %d are more than the %d that one crawl takes; cut the file in parts", ErrTopics, len(out), maxTopics)
	}
	return out, nil
}

// check says what of a topic the record or a search engine would not take.
func (t Topic) check() error {
	switch {
	case len(t.ID) > maxName:
		return fmt.Errorf("%w: %.60q… is a name of %d bytes, with those above it; %d is the most", ErrTopics, t.ID, len(t.ID), maxName)
	case strings.ContainsFunc(t.ID+t.Query, unicode.IsControl):
		return fmt.Errorf("%w: %.60q holds characters that cannot be seen", ErrTopics, t.ID)
	case len(t.Query) > maxQuery:
		return fmt.Errorf("%w: the query of %.60q has %d bytes; %d is the most", ErrTopics, t.ID, len(t.Query), maxQuery)
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
