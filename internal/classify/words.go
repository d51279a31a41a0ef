package classify

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"unicode"

	porterstemmer "github.com/blevesearch/go-porterstemmer"

	"gleaner/internal/topic"
	"gleaner/internal/web/weburl"
)

// Limits of the bytes of a word and of the words of a page, for hostile pages.
const (
	maxLetters = 30
	maxWords   = 20_000
)

// Words returns the stems of a page (§4.3.1): the words of title and text that have only letters,
// without stop words, by Porter's algorithm of 1980. At most 20,000 are kept.
func Words(f *topic.Filter, p topic.Page) []string { return stems(f.Words(p.Title + "\n" + p.Text)) }

func stems(words []string) (out []string) {
	for _, w := range words {
		if len(out) == maxWords {
			break
		}
		if len(w) <= maxLetters && strings.IndexFunc(w, notLetter) < 0 {
			out = append(out, porterstemmer.StemString(w))
		}
	}
	return out
}

func notLetter(r rune) bool { return !unicode.IsLetter(r) }

// Phrases returns the words, followed by the pairs of neighbours.
func Phrases(words []string) []string {
	out := append(make([]string, 0, 2*len(words)), words...)
	for i := 1; i < len(words); i++ {
		out = append(out, words[i-1]+" "+words[i])
	}
	return out
}

// Pages classifies pages for a crawl: by the learnt classifier of a topic if there is one, else
// by the correlation with its centroid. Learnt scores are mapped to the scale of correlations
// (topic.Options.Likened).
type Pages struct {
	*topic.Vectors
	filter *topic.Filter
	topics []string // with a learnt classifier, sorted
	by     map[string]*Classifier
	like   func(score float64) float64
	sites  map[string]*Sites // by topic: results on pages of hosts so far
}

// Over returns Pages with classifiers by topic over centroids. Each must have passed Check.
func Over(centroids *topic.Vectors, f *topic.Filter, by map[string]*Classifier, o topic.Options) *Pages {
	c := &Pages{Vectors: centroids, filter: f, like: o.Likened, topics: slices.Sorted(maps.Keys(by)), by: by, sites: map[string]*Sites{}}
	for t := range by {
		c.sites[t] = &Sites{}
	}
	return c
}

// Topics implements topic.Classifier. It returns topics with a centroid or a learnt classifier.
func (c *Pages) Topics() []string {
	ids := c.Vectors.Topics()
	for _, t := range c.topics {
		if !slices.Contains(ids, t) {
			ids = append(ids, t)
		}
	}
	return ids
}

// leastKnown is the least number of words of a page that a classifier must know, as for a
// centroid.
const leastKnown = 4

func (c *Pages) Classify(p topic.Page) []topic.Score {
	if len(c.topics) == 0 { // without learnt classifiers no stems are needed
		return c.Vectors.Classify(p)
	}
	return c.over(c.Vectors.Classify(p), p.URL, Words(c.filter, p))
}

// Scores implements topic.Scorer. Samples have no pairs of words, since the order of their words
// is lost.
func (c *Pages) Scores(p topic.Sample) []topic.Score {
	if len(c.topics) == 0 {
		return c.Vectors.Scores(p)
	}
	var words []string
	for _, w := range slices.Sorted(maps.Keys(p.Counts)) {
		words = append(words, slices.Repeat([]string{w}, p.Counts[w])...)
	}
	return c.over(c.Vectors.Scores(p), p.URL, stems(words))
}

// over replaces the scores of centroids by those of classifiers.
func (c *Pages) over(out []topic.Score, url string, words []string) []topic.Score {
	out = slices.DeleteFunc(out, func(s topic.Score) bool { return c.by[s.Topic] != nil })
	host := weburl.Host(url)
	for _, t := range c.topics {
		if s := c.by[t].sure(c.sites[t], host, words); s > 0 {
			out = append(out, topic.Score{Topic: t, Correlation: c.like(s)})
		}
	}
	slices.SortStableFunc(out, func(a, b topic.Score) int { return cmp.Compare(b.Correlation, a.Correlation) })
	return out
}
