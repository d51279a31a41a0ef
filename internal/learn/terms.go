package learn

import (
	"hash/fnv"
	"math"
	"slices"
	"strings"
	"unicode"
)

// Tokens splits a text into lower-case words of letters, two runes at least
// (Chen 2008, Link Analyzer: letters only).
func Tokens(s string) []string {
	var out []string
	for _, w := range strings.FieldsFunc(strings.ToLower(s), func(r rune) bool { return !unicode.IsLetter(r) }) {
		if len([]rune(w)) >= 2 {
			out = append(out, w)
		}
	}
	return out
}

// Vector is a sparse vector of terms.
type Vector map[string]float64

// Norm is the Euclidean length.
func (v Vector) Norm() float64 {
	sum := 0.0
	for _, t := range v.terms() { // sums in one order, to the last bit
		sum += v[t] * v[t]
	}
	return math.Sqrt(sum)
}

func (v Vector) terms() []string {
	out := make([]string, 0, len(v))
	for t := range v {
		out = append(out, t)
	}
	slices.Sort(out)
	return out
}

// Dot is the inner product.
func (v Vector) Dot(w Vector) float64 {
	if len(w) < len(v) {
		v, w = w, v
	}
	sum := 0.0
	for _, t := range v.terms() {
		sum += v[t] * w[t]
	}
	return sum
}

// Cosine is the cosine of the angle, 0 where one vector is empty.
func (v Vector) Cosine(w Vector) float64 {
	n := v.Norm() * w.Norm()
	if n == 0 {
		return 0
	}
	return v.Dot(w) / n
}

// Top keeps the n heaviest terms; ties go by the alphabet (Bergmark 2002 cuts
// centroids to 20).
func (v Vector) Top(n int) Vector {
	terms := v.terms()
	slices.SortStableFunc(terms, func(a, b string) int {
		switch {
		case v[a] > v[b]:
			return -1
		case v[a] < v[b]:
			return 1
		}
		return 0
	})
	out := Vector{}
	for _, t := range terms[:min(n, len(terms))] {
		out[t] = v[t]
	}
	return out
}

// TFIDF weighs terms by frequency in the text and rarity in a collection,
// idf = log(N/df) (Bergmark, JCDL 2002, section 3).
type TFIDF struct {
	Docs int            `json:"docs"`
	DF   map[string]int `json:"df"`
}

// Add counts one document of the collection.
func (t *TFIDF) Add(tokens []string) {
	if t.DF == nil {
		t.DF = map[string]int{}
	}
	t.Docs++
	seen := map[string]bool{}
	for _, w := range tokens {
		if !seen[w] {
			seen[w] = true
			t.DF[w]++
		}
	}
}

// IDF of a term; a term never seen counts as seen once.
func (t *TFIDF) IDF(term string) float64 {
	if t.Docs == 0 {
		return 0
	}
	return math.Log(float64(t.Docs) / float64(max(1, t.DF[term])))
}

// Vector of a document: tf·idf, of length one.
func (t *TFIDF) Vector(tokens []string) Vector {
	v := Vector{}
	for _, w := range tokens {
		v[w]++
	}
	for w := range v {
		v[w] *= t.IDF(w)
	}
	if n := v.Norm(); n > 0 {
		for w := range v {
			v[w] /= n
		}
	}
	return v
}

// HashNGrams counts the n-grams of runes of a text in 2^bits buckets; the
// result is sparse: bucket to count.
func HashNGrams(s string, n int, bits uint) map[uint32]float64 {
	out := map[uint32]float64{}
	r := []rune(s)
	for i := 0; i+n <= len(r); i++ {
		out[HashFeature(string(r[i:i+n]), bits)]++
	}
	return out
}

// HashFeature is the bucket of a named feature in 2^bits.
func HashFeature(s string, bits uint) uint32 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(s))
	v := h.Sum64()
	return uint32((v ^ v>>32) & (1<<bits - 1))
}
