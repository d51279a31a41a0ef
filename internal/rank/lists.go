package rank

import (
	_ "embed" // the default lists are data, beside the code that reads them
	"fmt"
	"maps"
	"strings"

	"gopkg.in/yaml.v3"

	"gleaner/internal/web/page"
)

//go:embed lists.yaml
var defaultLists []byte

// Lists are the word lists and address rules that rate links before anything is learnt: the
// keyword classes of Zhuang et al. (JCDL 2005, §3.3 and Table 4), and the URL pattern and anchor
// text inspections of Chen's CINDI robot (Concordia 2008). All words are lower case.
type Lists struct {
	High   []string `yaml:"high,omitempty" json:"high,omitempty"`     // keywords of weight 2
	Medium []string `yaml:"medium,omitempty" json:"medium,omitempty"` // keywords of weight 1

	DepartmentWords   []string `yaml:"department_words,omitempty" json:"department_words,omitempty"`
	StopDirectories   []string `yaml:"stop_directories,omitempty" json:"stop_directories,omitempty"`
	AvoidDirectories  []string `yaml:"avoid_directories,omitempty" json:"avoid_directories,omitempty"`
	UnwelcomeNames    []string `yaml:"unwelcome_names,omitempty" json:"unwelcome_names,omitempty"`
	PruningAnchors    []string `yaml:"pruning_anchors,omitempty" json:"pruning_anchors,omitempty"`
	ExtractingAnchors []string `yaml:"extracting_anchors,omitempty" json:"extracting_anchors,omitempty"`
	MetaKeywords      []string `yaml:"meta_keywords,omitempty" json:"meta_keywords,omitempty"`

	// Concepts are the subjects of the words of a link; see lists.yaml.
	Concepts map[string][]string `yaml:"concepts,omitempty" json:"concepts,omitempty"`
}

// DefaultLists returns the lists that ship with the program.
func DefaultLists() (Lists, error) { return ParseLists(defaultLists) }

// ParseLists reads lists from YAML or JSON. Unknown keys are an error, so that a misspelt list is
// not ignored.
func ParseLists(data []byte) (Lists, error) {
	var l Lists
	dec := yaml.NewDecoder(strings.NewReader(string(data)))
	dec.KnownFields(true)
	if err := dec.Decode(&l); err != nil {
		return Lists{}, fmt.Errorf("rank: word lists: %w", err)
	}
	for _, list := range l.all() {
		for i, w := range *list {
			(*list)[i] = strings.ToLower(strings.TrimSpace(w))
		}
	}
	return l, nil
}

// Override returns l with each list replaced that own sets.
func (l Lists) Override(own Lists) Lists {
	out := l
	from := own.all()
	for i, list := range out.all() {
		if *from[i] != nil {
			*list = *from[i]
		}
	}
	if len(own.Concepts) > 0 {
		out.Concepts = maps.Clone(l.Concepts)
		maps.Copy(out.Concepts, own.Concepts)
	}
	return out
}

func (l *Lists) all() []*[]string {
	return []*[]string{&l.High, &l.Medium, &l.DepartmentWords, &l.StopDirectories, &l.AvoidDirectories, &l.UnwelcomeNames,
		&l.PruningAnchors, &l.ExtractingAnchors, &l.MetaKeywords}
}

// weight returns the weight of a link's anchor text (high 2, medium 1, low 0) and its keyword.
// For a link without text it uses the last segment of the path.
func (l Lists) weight(link page.Link) (weight int, word string) {
	text := words(link.Anchor)
	if len(text) == 0 {
		text = words(lastOf(link.URL))
	}
	if w := prefixMatch(text, l.High); w != "" {
		return QueueHigh, w
	}
	if w := prefixMatch(text, l.Medium); w != "" {
		return QueueMedium, w
	}
	return QueueLow, ""
}

// prefixMatch returns the first keyword that is a prefix of one of the words.
func prefixMatch(text, keywords []string) string {
	for _, w := range text {
		for _, k := range keywords {
			if k != "" && strings.HasPrefix(w, k) {
				return k
			}
		}
	}
	return ""
}
