package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/pflag"
	"gopkg.in/yaml.v3"

	"gleaner/internal/topic"
	"gleaner/internal/topic/seeds"
)

// topics reads the topics and the settings of their collections. A setting of --set takes
// precedence over the file's, as does a flag.
func (f *collectFlags) topics(file string) (topics []topic.Topic, err error) {
	switch {
	case f.given != nil:
		topics = f.given
	case file == "":
		f.name = cmp.Or(f.name, strings.ReplaceAll(strings.Join(f.venues, "+"), "/", "-"))
		topics, err = topic.OfVenues(f.venues)
	default:
		topics, err = f.readFile(file)
	}
	for _, one := range f.set {
		name, value, _ := strings.Cut(one, "=")
		if err == nil {
			err = f.apply(name, &yaml.Node{Kind: yaml.ScalarNode, Value: value})
		}
	}
	return topics, err
}

func (f *collectFlags) readFile(file string) ([]topic.Topic, error) {
	raw, err := readBounded(file)
	if err != nil {
		return nil, err
	}
	topics, settings, err := topic.Parse(raw)
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		if flag := f.settings.Lookup(name); err == nil && (flag == nil || !flag.Changed) {
			node := settings[name]
			err = f.apply(name, &node)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return topics, nil
}

// apply gives a setting a value as it stands in a file.
func (f *collectFlags) apply(name string, n *yaml.Node) (err error) {
	flag := f.settings.Lookup(name)
	if flag == nil {
		return fmt.Errorf("no setting is called %q; `starter collect --example` lists them", name)
	}
	list, isList := flag.Value.(pflag.SliceValue)
	switch {
	case n.Kind == yaml.ScalarNode:
		err = flag.Value.Set(n.Value)
	case n.Kind == yaml.SequenceNode && isList:
		var texts []string
		if err = n.Decode(&texts); err == nil {
			err = list.Replace(texts)
		}
	case n.Kind == yaml.MappingNode && flag.Value.Type() == "stringToString":
		var pairs map[string]string
		err = n.Decode(&pairs)
		for key, value := range pairs {
			pair := strings.ReplaceAll(key+"="+value, `"`, `""`)
			err = cmp.Or(err, flag.Value.Set(`"`+pair+`"`))
		}
	default:
		err = errors.New("want a " + flag.Value.Type())
	}
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// exampleTopics begin the file that `starter collect --example` prints.
const exampleTopics = `# Topics, and the settings of their collections.

# A topic is a search for its query, or else for its name. Pages, the papers found of a
# venue, person or list, or labelled pages (labelled: true, with a classifier) stand for
# a topic in place of a search. Categories are those of seeds, queries those of search-seeds.
topics:
  - name: mathematics
    topics:
      - {name: number theory, query: prime numbers congruences, queries: [sieve]}
      - {name: graphs, pages: ["https://graphs.example/"]}
  - {name: databases, venue: conf/webdb}
  - {name: verse, categories: [Top/Arts/Poetry], departments: [english]}
`

// writeExample writes a file in which every setting is a comment with its default.
func (f *collectFlags) writeExample(w io.Writer) (err error) {
	fmt.Fprint(w, exampleTopics)
	f.settings.SortFlags = false
	f.settings.VisitAll(func(fl *pflag.Flag) {
		value := fl.DefValue
		switch {
		case fl.Value.Type() == "stringToString":
			value = "{}"
		case value == "":
			value = `""`
		}
		_, e := fmt.Fprintf(w, "\n# %s\n#%s: %s\n", fl.Usage, fl.Name, value)
		err = cmp.Or(err, e)
	})
	return err
}

// beginAtLabelled has the crawl begin at the pages that a person labelled as being about a
// topic, where these are what it is made of.
func (f *collectFlags) beginAtLabelled(topics []topic.Topic) error {
	for _, t := range topics {
		if !t.Labelled {
			continue
		}
		if len(f.labelled[t.ID]) == 0 {
			return fmt.Errorf("topic %q is made of labelled pages; name them by the setting classifier, %q, in a file of 'lab train topic', which writes them into it", t.ID, t.ID+"=FILE")
		}
		begin := f.Seeds[t.ID]
		for _, p := range f.labelled[t.ID] {
			if p.About && strings.HasPrefix(p.URL, "http") && !slices.Contains(begin, p.URL) && len(begin) < seeds.PerTopic {
				begin = append(begin, p.URL)
			}
		}
		if len(begin) == 0 {
			return fmt.Errorf("topic %q: none of its labelled pages that are about it has an address to begin at", t.ID)
		}
		if f.Seeds == nil {
			f.Seeds = map[string][]string{}
		}
		f.Seeds[t.ID] = begin
	}
	return nil
}
