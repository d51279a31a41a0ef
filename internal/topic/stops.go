package topic

import (
	"bytes"
	"cmp"
	_ "embed" // the default lists are data, beside the code that reads them
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"

	"gopkg.in/yaml.v3"

	"gleaner/internal/text"
)

//go:embed stops.yaml
var defaultStops []byte

// Stops are what a topical crawl passes over.
type Stops struct {
	Words []string `yaml:"words" json:"words,omitempty"` // that say nothing of a topic
	Links []string `yaml:"links" json:"links,omitempty"` // what links say that lead about a site, whole: "next"
	URLs  []string `yaml:"urls" json:"urls,omitempty"`   // parts of addresses: "/cgi-bin/"
}

// DefaultStops are the lists that ship with the program.
func DefaultStops() (Stops, error) { return ParseStops(defaultStops) }

// ParseStops reads lists from YAML or JSON. Unknown keys are an error.
func ParseStops(data []byte) (Stops, error) {
	var s Stops
	dec := yaml.NewDecoder(bytes.NewReader(data))
	dec.KnownFields(true)
	if err := dec.Decode(&s); err != nil {
		return s, fmt.Errorf("topic: stop lists: %w", err)
	}
	return s, nil
}

// Filter is the lists made ready.
type Filter struct {
	words, links map[string]bool
	urls         []string
}

// NewFilter makes lists ready.
func NewFilter(s Stops) *Filter {
	f := &Filter{words: map[string]bool{}, links: map[string]bool{}}
	for _, w := range s.Words {
		for _, folded := range text.Words(w) {
			f.words[folded] = true
		}
	}
	for _, l := range s.Links {
		f.links[strings.Join(text.Words(l), " ")] = true
	}
	for _, u := range s.URLs {
		f.urls = append(f.urls, strings.ToLower(u))
	}
	return f
}

// Passes reports whether a link may be followed, by its words and its address.
func (f *Filter) Passes(anchor, url string) bool {
	if f.links[strings.Join(text.Words(anchor), " ")] && strings.TrimSpace(anchor) != "" {
		return false
	}
	low := strings.ToLower(url)
	return !slices.ContainsFunc(f.urls, func(u string) bool { return strings.Contains(low, u) })
}

// longestWord bounds a word, in bytes: what a hostile page holds beyond is none.
const longestWord = 64

// Words are the words of a text that may say what it is about: folded, whole
// (there is no stemming), without stop words and without what has no letter.
func (f *Filter) Words(s string) []string {
	all := text.Words(s)
	out := all[:0]
	for _, w := range all {
		if len(w) > 1 && len(w) <= longestWord && !f.words[w] && strings.IndexFunc(w, unicode.IsLetter) >= 0 {
			out = append(out, w)
		}
	}
	return out
}

// Counts says how often each of the words of a page occurs.
func (f *Filter) Counts(p Page) map[string]int { return Count(f.Words(p.Title + "\n" + p.Text)) }

// Count says how often each word occurs.
func Count(words []string) map[string]int {
	n := make(map[string]int, len(words))
	for _, w := range words {
		n[w]++
	}
	return n
}

// Query is a search for what texts, such as titles, have in common: the words, at most
// so many, that most of them have; "" where they have none.
func (f *Filter) Query(texts []string, most int) string {
	in := map[string]int{}
	for _, t := range texts {
		for w := range Count(f.Words(t)) {
			in[w]++
		}
	}
	words := slices.SortedFunc(maps.Keys(in), func(a, b string) int {
		return cmp.Or(cmp.Compare(in[b], in[a]), cmp.Compare(a, b))
	})
	return strings.Join(words[:min(len(words), most)], " ")
}

// Pairs are the pairs of neighbouring words that most texts have, at most so many, of those
// that two or more have.
func (f *Filter) Pairs(texts []string, most int) []string {
	in := map[string]int{}
	for _, t := range texts {
		words := f.Words(t)
		pairs := map[string]bool{}
		for i := 1; i < len(words); i++ {
			pairs[words[i-1]+" "+words[i]] = true
		}
		for p := range pairs {
			in[p]++
		}
	}
	maps.DeleteFunc(in, func(_ string, n int) bool { return n < 2 })
	pairs := slices.SortedFunc(maps.Keys(in), func(a, b string) int {
		return cmp.Or(cmp.Compare(in[b], in[a]), cmp.Compare(a, b))
	})
	return pairs[:min(len(pairs), most)]
}
