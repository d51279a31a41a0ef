package homepage

import (
	"slices"
	"strings"

	"gleaner/internal/each"
	"gleaner/internal/gleaner"
	"gleaner/internal/text"
)

// person is a Subject prepared for comparison with pages.
type person struct {
	names     []name // the author's own first, then aliases
	titles    []string
	coAuthors []name
	venues    []string // folded, at least three letters
	topic     map[string]bool
}

// minTitle is the least number of letters of a title that is looked for: "Introduction"
// is on many pages.
const minTitle = 16

// maxTitles bounds the titles looked for. The longest come first, since they are the most specific.
const maxTitles = 60

func newPerson(s Subject) *person {
	p := &person{}
	for _, n := range append([]string{s.Author.Name}, s.Aliases...) {
		if pn := parseName(displayName(n)); len(pn.surname) > 0 {
			p.names = append(p.names, pn)
		}
	}
	for _, paper := range s.Papers {
		if t := text.Letters(paper.Title); len(t) >= minTitle && !slices.Contains(p.titles, t) {
			p.titles = append(p.titles, t)
		}
	}
	p.topic = topicWords(s.Papers)
	slices.SortStableFunc(p.titles, func(a, b string) int { return len(b) - len(a) })
	p.titles = p.titles[:min(len(p.titles), maxTitles)]
	for _, a := range coAuthors(s) {
		if n := parseName(a.Name); len(n.given) > 0 {
			p.coAuthors = append(p.coAuthors, n)
		}
	}
	for _, v := range s.Venue {
		if f := strings.Join(text.Words(v), " "); len(f) >= 3 {
			p.venues = append(p.venues, f)
		}
	}
	return p
}

// coAuthors returns the co-authors given and those of the wanted papers, each once.
func coAuthors(s Subject) []gleaner.Author {
	seen := map[string]bool{s.Author.ID(): true, "name:" + text.Fold(displayName(s.Author.Name)): true}
	var out []gleaner.Author
	add := func(as []gleaner.Author) {
		for _, a := range as {
			nameID := "name:" + text.Fold(displayName(a.Name))
			if seen[a.ID()] || seen[nameID] {
				continue
			}
			seen[a.ID()], seen[nameID] = true, true
			out = append(out, a)
		}
	}
	add(s.CoAuthors)
	for _, paper := range s.Papers {
		if slices.ContainsFunc(paper.Authors, func(a gleaner.Author) bool { return a.ID() == s.Author.ID() }) {
			add(paper.Authors)
		}
	}
	return out
}

// in returns the strength of the best mention of the person among the words, and whether
// somebody else of the surname is mentioned instead.
func (p *person) in(ws []string) (strength float64, other bool) {
	for _, n := range p.names {
		s, o := n.in(ws)
		strength = max(strength, s)
		other = other || o
	}
	return strength, other && strength < nameInitials
}

// inLabel returns how strongly a host label or path segment reads as the person's name.
func (p *person) inLabel(s string) float64 {
	best := 0.0
	for _, n := range p.names {
		best = max(best, n.inLabel(s))
		if one, ok := n.firstOfTwo(); ok {
			best = max(best, min(nameInitials, one.inLabel(s)))
		}
	}
	return best
}

// mentions counts full mentions of the person among the words, at most limit.
func (p *person) mentions(ws []string, limit int) int {
	count := 0
	for _, n := range p.names {
		for i := range ws {
			if count == limit {
				return count
			}
			if end, sure := n.surnameAt(ws, i); end > 0 {
				if s, _ := n.around(ws, i, end); s*sure >= nameInitials {
					count++
				}
			}
		}
	}
	return count
}

// topicWords returns the words of titles that tell their topic: long words that are not
// in titles of any topic.
func topicWords(papers []gleaner.Paper) map[string]bool {
	set := map[string]bool{}
	for _, paper := range papers {
		for _, w := range text.Words(paper.Title) {
			if len(w) >= 5 && !titleNoise[w] {
				set[w] = true
			}
		}
	}
	return set
}

var titleNoise = wordSet(`about analysis approach application applications based between beyond efficient evaluation framework general improved method methods
	model models multiple novel online optimal problem problems system systems study theory through toward towards under using without within learning algorithm algorithms results`)

// topicIn returns the share of the topic's words in a text, lowered if the topic has few
// words.
func (p *person) topicIn(ws []string) float64 {
	if len(p.topic) == 0 {
		return 0
	}
	seen := map[string]bool{}
	for _, w := range ws {
		if p.topic[w] {
			seen[w] = true
		}
	}
	return float64(len(seen)) / float64(len(p.topic)+2)
}

// titlesIn counts the titles in a text given as letters alone.
func (p *person) titlesIn(text string) int {
	return each.Count(p.titles, func(t string) bool { return strings.Contains(text, t) })
}
