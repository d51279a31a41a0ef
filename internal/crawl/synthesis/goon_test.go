package synthesis_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	. "gleaner/internal/crawl/synthesis"
)

// TestGoingOnUnderOtherRules: a full collection of which the second entries of sites, or
// texts nearly the same, are put out goes on to its size, with what was on topic while it
// was full.
func TestGoingOnUnderOtherRules(t *testing.T) {
	t.Parallel()
	s := newShop(t, &smallWeb{pages: map[string]string{
		"a.example/":      primes + " one>a.example/one two>a.example/two far>c.example/ farther>d.example/ farthest>e.example/",
		"a.example/one":   primes + " prime second of the house",
		"a.example/two":   primes + " prime third of the house",
		"b.example/":      verses + " poet>b.example/poet",
		"b.example/poet":  verses + " poet house",
		"c.example/":      primes + " ideal ideal of another house link>c.example/off",
		"c.example/off":   others,
		"d.example/":      primes + " prime prime of a fourth house",
		"e.example/":      primes + " last>e.example/last",
		"e.example/last":  primes + " lattice last",
		"b.example/other": verses,
	}})
	best := s.collected(t, "best", func(a *Request) { a.Size, a.DomainShare = 3, 1 })
	require.Equal(t, []string{"a.example/", "a.example/one", "e.example/"}, best.entries["primes"], "the best of all that was read")
	sizes := func(onePerSite bool, size int) func(*Request) {
		return func(a *Request) { a.Size, a.OnePerSite, a.DomainShare, a.Adapt = size, onePerSite, 1, false }
	}
	m := s.collected(t, "some", sizes(false, 3))
	require.Equal(t, []string{"a.example/", "a.example/one", "a.example/two"}, m.entries["primes"], "it is full with the first three")
	require.Equal(t, Exhausted, m.ending, "the other topic is not")
	require.Contains(t, m.asked, "c.example/")

	m = s.collected(t, "some", sizes(true, 3))
	require.Len(t, m.entries["primes"], 3, "it goes on to its size")
	require.Equal(t, []string{"a.example/", "c.example/", "d.example/"}, m.entries["primes"])
	require.Contains(t, m.asked, "c.example/", "for which there was no place before")
	require.NotContains(t, m.asked, "a.example/one", "a worse entry of a site that has one")
	require.Equal(t, []string{"b.example/"}, m.entries["verses"], "the best of the site")

	m = s.collected(t, "some", sizes(false, 10))
	require.Contains(t, m.entries["primes"], "e.example/")
	require.Contains(t, m.asked, "e.example/last", "what its pages link to is followed now")
	require.Equal(t, Exhausted, m.ending)
}
