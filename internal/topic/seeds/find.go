package seeds

import (
	"io"
	"path"
	"strings"
	"unicode"

	"gleaner/internal/topic"
	"gleaner/internal/web/weburl"
)

const (
	// PerTopic is how many seeds a topic has at most: as many as the Seed Finder takes
	// of a search.
	PerTopic = 200
	perHost  = 5      // of them
	all      = 20_000 // of all topics, each of which has its share
)

// Found are the seeds of topics in some dumps.
type Found struct {
	Of      map[string][]string // pages by topic, in the order of the dumps
	Entries int                 // that were read
	Met     int                 // of them, in a category of a topic
	Left    int                 // of these, addresses of documents or of no web page
	Broken  int                 // entries that could not be read
}

// Finder gathers the seeds of topics from dumps.
type Finder struct {
	Found
	named, under map[string][]string        // topics by an element of a category's path, and by such a path
	met          map[string]map[string]bool // pages by topic
	hosts        map[string]map[string]int  // pages by topic and host
	wanting      int                        // topics that have not enough
	enough       int                        // seeds of a topic
}

// NewFinder has no seeds yet.
func NewFinder(topics []topic.Topic) *Finder {
	f := &Finder{Found: Found{Of: map[string][]string{}}, named: map[string][]string{}, under: map[string][]string{},
		met: map[string]map[string]bool{}, hosts: map[string]map[string]int{}, wanting: len(topics), enough: min(PerTopic, all/max(1, len(topics)))}
	for _, t := range topics {
		if name := plain(path.Base(t.ID)); len(t.Categories) == 0 && name != "" {
			f.named[name] = append(f.named[name], t.ID)
		}
		for _, c := range t.Categories {
			f.under[plain(c)] = append(f.under[plain(c)], t.ID)
		}
		f.met[t.ID], f.hosts[t.ID] = map[string]bool{}, map[string]int{}
	}
	return f
}

// Read takes what a dump has, until all topics have enough.
func (f *Finder) Read(dump io.Reader) error {
	broken, err := Each(dump, func(e Entry) bool {
		f.Entries++
		if of := f.topics(plain(e.Category)); len(of) > 0 {
			f.take(e.URL, of)
		}
		return f.wanting > 0
	})
	f.Broken += broken
	return err
}

// maxDepth is how many parts of a category's path are looked at.
const maxDepth = 100

// topics are those to which a category belongs, or one above it: one of the first of its
// path, which may be as long as a dump likes.
func (f *Finder) topics(category string) (of []string) {
	for end, from, n := 0, 0, 0; from < len(category) && n < maxDepth; from, n = end+1, n+1 {
		if end = strings.IndexByte(category[from:], '/') + from; end < from {
			end = len(category)
		}
		of = append(append(of, f.named[category[from:end]]...), f.under[category[:end]]...)
	}
	return of
}

func (f *Finder) take(address string, of []string) {
	f.Met++
	url, err := weburl.Canonical("", strings.TrimSpace(address))
	if err != nil || weburl.IsDocumentName(url) {
		f.Left++
		return
	}
	host, key := weburl.Host(url), weburl.Key(url)
	for _, t := range of {
		if f.met[t][key] || f.hosts[t][host] == perHost || len(f.Of[t]) == f.enough {
			continue
		}
		f.met[t][key], f.Of[t] = true, append(f.Of[t], url)
		f.hosts[t][host]++
		if len(f.Of[t]) == f.enough {
			f.wanting--
		}
	}
}

// plain is the path of a category, or a name, in one spelling: Number_Theory and "number
// theory" are one.
func plain(category string) string {
	var parts []string
	for _, part := range strings.Split(category, "/") {
		words := strings.FieldsFunc(strings.ToLower(part), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '+' && r != '#' })
		if len(words) > 0 {
			parts = append(parts, strings.Join(words, " "))
		}
	}
	return strings.Join(parts, "/")
}
