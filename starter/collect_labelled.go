package main

import (
	"fmt"
	"slices"
	"strings"

	"gleaner/internal/topic"
	"gleaner/internal/topic/seeds"
)

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
