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

// Stops lists what a topical crawl ignores.
type Stops struct {
	Words []string `yaml:"words" json:"words,omitempty"` // without meaning for topics
	Links []string `yaml:"links" json:"links,omitempty"` // whole texts of navigation links: "next"
	URLs  []string `yaml:"urls" json:"urls,omitempty"`   // parts of addresses: "/cgi-bin/"
}

// DefaultStops returns the lists that ship with the program.
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

// Filter holds compiled lists.
type Filter struct {
	words, links map[string]bool
	urls         []string
}

// NewFilter compiles lists.
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

// longestWord is the greatest length of a word in bytes; hostile pages have longer ones.
const longestWord = 64

// Words returns the words of a text that may indicate a topic: folded, without stemming, stop
// words and words without letters.
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

// Counts returns the counts of the words of a page.
func (f *Filter) Counts(p Page) map[string]int { return Count(f.Words(p.Title + "\n" + p.Text)) }

// Count returns the count of each word.
func Count(words []string) map[string]int {
	n := make(map[string]int, len(words))
	for _, w := range words {
		n[w]++
	}
	return n
}

// Query returns a search query for the subject of texts, such as titles: at most most words that
// most of them have, or "".
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

// Pairs returns at most most pairs of neighbouring words that are in the most texts, and in at
// least two.
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
