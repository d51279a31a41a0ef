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

// The bounds of a word that is kept, in bytes, and of the words of a page: what a
// hostile page holds beyond them is not read.
const (
	maxLetters = 30
	maxWords   = 20_000
)

// Words are the stems of a page (§4.3.1): the words of its title and its text that are
// letters alone, without stop words, cut by Porter's algorithm of 1980. At most 20,000
// are kept.
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

// Phrases are words and, after them, the pairs of neighbours.
func Phrases(words []string) []string {
	out := append(make([]string, 0, 2*len(words)), words...)
	for i := 1; i < len(words); i++ {
		out = append(out, words[i-1]+" "+words[i])
	}
	return out
}

// Pages classifies pages for a crawl: a topic with a learnt classifier by that, any
// other by the correlation with its centroid. A learnt score is laid on the scale of
// correlations (topic.Options.Likened).
type Pages struct {
	*topic.Vectors
	filter *topic.Filter
	topics []string // that have a learnt classifier, sorted
	by     map[string]*Classifier
	like   func(score float64) float64
	sites  map[string]*Sites // by topic: what it said of the pages of hosts so far
}

// Over lays classifiers, by topic, over centroids. Each must have passed Check.
func Over(centroids *topic.Vectors, f *topic.Filter, by map[string]*Classifier, o topic.Options) *Pages {
	c := &Pages{Vectors: centroids, filter: f, like: o.Likened, topics: slices.Sorted(maps.Keys(by)), by: by, sites: map[string]*Sites{}}
	for t := range by {
		c.sites[t] = &Sites{}
	}
	return c
}

// Topics implements topic.Classifier: those with a centroid, and those with a learnt
// classifier that have none.
func (c *Pages) Topics() []string {
	ids := c.Vectors.Topics()
	for _, t := range c.topics {
		if !slices.Contains(ids, t) {
			ids = append(ids, t)
		}
	}
	return ids
}

// leastKnown is how many words a page and a classifier have in common, at least:
// as many as with a centroid.
const leastKnown = 4

func (c *Pages) Classify(p topic.Page) []topic.Score {
	if len(c.topics) == 0 { // all decide by centroids: nobody asks for stems
		return c.Vectors.Classify(p)
	}
	return c.over(c.Vectors.Classify(p), p.URL, Words(c.filter, p))
}

// Scores implements topic.Scorer. A classifier that learnt from pairs of words finds none
// of them: the order of the words is not known.
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

// over puts what classifiers say of a page in the place of what their centroids do.
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
