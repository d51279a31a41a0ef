package synthesis_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"gleaner/internal/crawl"
	. "gleaner/internal/crawl/synthesis"
	"gleaner/internal/devstack/devtest"
	"gleaner/internal/each"
	"gleaner/internal/topic"
)

const (
	primes = "prime ring field group lattice ideal"
	verses = "sonnet rhyme metre stanza poet ballad"
	others = "kettle saucepan oven recipe flour butter"
)

// twoTopics are pages that make a topic each.
var twoTopics = map[string]string{"primes": "http://a.example/", "verses": "http://b.example/"}

// asTopics are topics of a page each, in one order.
func asTopics(pages map[string]string) (out []topic.Topic) {
	for _, id := range slices.Sorted(maps.Keys(pages)) {
		out = append(out, topic.Topic{ID: id, Pages: []string{pages[id]}})
	}
	return out
}

// made is what a collection has: addresses by topic, in order, and what was asked for.
type made struct {
	entries map[string][]string
	like    map[string]float64 // the correlation of each address that is an entry
	asked   []string
	ending  crawl.Ending
}

// collected makes a collection of the web that all cases of TestOptions share.
func (s *shop) collected(t *testing.T, name string, change func(*Request)) made {
	id := s.opens(t, name, twoTopics, change)
	before := len(s.web.asked())
	m := made{entries: map[string][]string{}, like: map[string]float64{}, ending: s.ends(t, name).Ending, asked: s.web.asked()[before:]}
	all := devtest.Must(s.record.Entries(t.Context(), id, ""))(t)
	for _, e := range all {
		address := strings.TrimPrefix(e.URL, "http://")
		m.entries[e.Topic] = append(m.entries[e.Topic], address)
		m.like[address] = e.Correlation
	}
	for _, addresses := range m.entries {
		slices.Sort(addresses)
	}
	return m
}

// TestOptions makes collections of one web, plainly and under each option of
// `starter collect` that changes what a collection has.
func TestOptions(t *testing.T) {
	t.Parallel()
	s := newShop(t, &smallWeb{pages: map[string]string{
		"a.example/":       primes + " one>a.example/one both>a.example/both copy>a.example/copy oven>a.example/off next>a.example/next far>c.example/",
		"a.example/one":    strings.Repeat(primes+" ", 6) + "divisor remainder modulus same>a.example/",
		"a.example/both":   primes + " prime ring " + verses + " third>a.example/third",
		"a.example/copy":   strings.Repeat(primes+" ", 6) + "divisor remainder modulus same>a.example/behind",
		"a.example/behind": primes + " prime prime behind the copy",
		"a.example/off":    others + " beyond>a.example/beyond",
		"a.example/beyond": primes + " ring ring beyond the kitchen",
		"a.example/next":   primes + " field field the second part",
		"a.example/third":  primes + " prime prime prime prime prime prime",
		"b.example/":       verses,
		"c.example/":       primes + " ideal ideal of another house",
	}})
	plain := s.collected(t, "plain", func(*Request) {})
	require.Equal(t, map[string][]string{
		"primes": {"a.example/", "a.example/behind", "a.example/both", "a.example/copy", "a.example/one", "a.example/third", "c.example/"}, "verses": {"b.example/"}}, plain.entries)
	require.Equal(t, Exhausted, plain.ending)
	require.NotContains(t, plain.asked, "a.example/beyond")
	require.NotContains(t, plain.asked, "a.example/next")
	for name, c := range map[string]struct {
		change func(*Request)
		check  func(t *testing.T, m made)
	}{
		"overlapping": {func(a *Request) { a.Overlapping = true }, func(t *testing.T, m made) {
			require.Equal(t, []string{"a.example/both", "b.example/"}, m.entries["verses"])
			require.Equal(t, plain.entries["primes"], m.entries["primes"])
		}},
		"off-site": {func(a *Request) { a.OffSite = true }, func(t *testing.T, m made) {
			require.Less(t, slices.Index(plain.asked, "a.example/one"), slices.Index(plain.asked, "c.example/"))
			require.Less(t, slices.Index(m.asked, "c.example/"), slices.Index(m.asked, "a.example/one"))
			require.Equal(t, plain.entries, m.entries)
		}},
		"distinct": {func(a *Request) { a.Distinct = true }, func(t *testing.T, m made) {
			require.NotContains(t, m.entries["primes"], "a.example/copy")
			require.Contains(t, m.entries["primes"], "a.example/one")
			require.NotContains(t, m.asked, "a.example/behind")
		}},
		"one-per-site": {func(a *Request) { a.OnePerSite = true }, func(t *testing.T, m made) {
			best := slices.MaxFunc([]string{"a.example/", "a.example/one"}, func(x, y string) int { return int(1e9 * (plain.like[x] - plain.like[y])) })
			require.Len(t, m.entries["primes"], 2)
			require.InDelta(t, plain.like[best], m.like[m.entries["primes"][0]], 1e-9, "the best of a.example")
			require.Contains(t, m.entries["primes"], "c.example/")
		}},
		"domain-share": {func(a *Request) { a.Size = 6 }, func(t *testing.T, m made) {
			require.Equal(t, 3, each.Count(m.entries["primes"], func(a string) bool { return strings.HasPrefix(a, "a.example/") }), "half of the size")
			require.Contains(t, m.entries["primes"], "c.example/", "links to others are followed")
		}},
		"cutoff": {func(a *Request) { a.Cutoff = 1 }, func(t *testing.T, m made) {
			require.Contains(t, m.entries["primes"], "a.example/beyond")
			require.NotContains(t, m.entries["primes"], "a.example/off")
		}},
		"stop-lists": {func(a *Request) { a.Stops = topic.Stops{Words: []string{"prime"}, URLs: []string{"/one"}} }, func(t *testing.T, m made) {
			require.Contains(t, m.entries["primes"], "a.example/next", "a link that the program's list leaves out")
			require.NotContains(t, m.asked, "a.example/one")
			require.Greater(t, m.like["a.example/third"], plain.like["a.example/third"], "its first word counts for nothing")
		}},
		"inspect": {func(a *Request) {
			a.Cutoff, a.Inspect, a.Pruning, a.Extracting = 1, true, []string{"one", "third"}, []string{"research"}
		}, func(t *testing.T, m made) {
			require.Equal(t, []string{"a.example/", "a.example/behind", "a.example/both", "a.example/copy", "c.example/"}, m.entries["primes"])
			require.Contains(t, m.asked, "a.example/off")
			require.NotContains(t, m.asked, "a.example/beyond", "no word of the link leads on")
		}},
		"learn-idf": {func(a *Request) { a.LearnIDF = true }, func(t *testing.T, m made) {
			require.Contains(t, plain.entries["primes"], "a.example/both")
			require.Contains(t, m.entries["verses"], "a.example/both", "words of primes are on most pages of the crawl so far, and tell less")
		}},
	} {
		t.Run(name, func(t *testing.T) { c.check(t, s.collected(t, name, c.change)) })
	}
}

// TestAdapt: a full collection goes on, and a better page puts out its worst; a page that
// is nearly on topic takes little of the cutoff.
func TestAdapt(t *testing.T) {
	t.Parallel()
	s := newShop(t, &smallWeb{pages: map[string]string{
		"a.example/":       primes + " weak>a.example/weak better>a.example/better nearly>a.example/nearly",
		"a.example/weak":   primes + " prime prime prime",
		"a.example/better": primes + " prime last>a.example/last",
		"a.example/last":   primes,
		"a.example/nearly": primes + " prime prime prime prime prime prime hidden>a.example/hidden",
		"a.example/hidden": primes,
		"b.example/":       verses,
	}})
	change := func(adapt bool) func(*Request) {
		return func(a *Request) {
			a.Size, a.Threshold, a.Cutoff, a.Adapt, a.DomainShare = 2, 0.6, 0.5, adapt, 1
		}
	}
	plain, adapted := s.collected(t, "plain", change(false)), s.collected(t, "adapted", change(true))
	require.Equal(t, []string{"a.example/", "a.example/weak"}, plain.entries["primes"], "the first two")
	for _, address := range []string{"a.example/last", "a.example/hidden"} {
		require.NotContains(t, plain.asked, address)
		require.Contains(t, adapted.asked, address)
	}
	require.Len(t, adapted.entries["primes"], 2)
	for _, address := range adapted.entries["primes"] {
		require.Greater(t, adapted.like[address], plain.like["a.example/weak"], address)
	}
}

// TestOneTopic: where there is one topic alone, what its pages say is what it is about, and
// what pages about something else say, too, tells less and less.
func TestOneTopic(t *testing.T) {
	t.Parallel()
	for common, want := range map[string][]string{
		"oven":        {"a.example/", "a.example/late"},
		"field group": {"a.example/"},
	} {
		s := newShop(t, &smallWeb{pages: map[string]string{
			"a.example/":     primes + " one>a.example/1 two>a.example/2 three>a.example/3 late>a.example/late",
			"a.example/1":    "kettle " + common,
			"a.example/2":    "saucepan " + common,
			"a.example/3":    "recipe " + common,
			"a.example/late": "prime ring field group",
		}})
		id := s.opens(t, "one", map[string]string{"primes": "http://a.example/"}, func(a *Request) { a.Threshold = 0.75 })
		require.Equal(t, Exhausted, s.ends(t, "one").Ending)
		all := devtest.Must(s.record.Entries(t.Context(), id, ""))(t)
		var got []string
		for _, e := range all {
			got = append(got, strings.TrimPrefix(e.URL, "http://"))
		}
		require.Equal(t, want, got, common)
	}
}
