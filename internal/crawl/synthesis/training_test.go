package synthesis_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	. "gleaner/internal/crawl/synthesis"
	"gleaner/internal/rank"
	"gleaner/internal/record/collections"
	"gleaner/internal/record/frontier"
)

// TestWordsOfLinksAreLearnt: a crawl that is to learn soon passes over links with a word
// that led out of pages on topic on several sites, and follows those from other pages with a
// word that led to such; and says which words they are. Else all stays as it was given.
func TestWordsOfLinksAreLearnt(t *testing.T) {
	t.Parallel()
	for _, learn := range []bool{false, true} {
		web := &smallWeb{pages: map[string]string{"a.example/": primes, "b.example/": verses}}
		for i := range 150 {
			if i < 40 {
				web.pages["a.example/"] += fmt.Sprintf(" x>on%d.example/", i)
			}
			web.pages[fmt.Sprintf("on%d.example/", i)] = primes + fmt.Sprintf(" x>on%d.example/ x>off%d.example/ album>book%d.example/", i+40, i, i)
			web.pages[fmt.Sprintf("off%d.example/", i)] = others + fmt.Sprintf(" lemma>on%d.example/ lemma>hidden%d.example/", i, i)
			web.pages[fmt.Sprintf("book%d.example/", i)], web.pages[fmt.Sprintf("hidden%d.example/", i)] = others, primes
		}
		s := newShop(t, web)
		s.tools.Config.SlicePages = 50
		id := s.opens(t, "some", twoTopics, func(a *Request) {
			a.Size, a.Cutoff, a.Inspect, a.LearnLinks = 1000, 1, true, learn
			a.Pruning, a.Extracting = []string{"home"}, []string{"research"}
		})
		s.ends(t, "some")
		books, hidden := 0, 0
		for address := range s.outcomes(t, id) {
			switch {
			case strings.HasPrefix(address, "book"):
				books++
			case strings.HasPrefix(address, "hidden"):
				hidden++
			}
		}
		raw, _, err := collections.Crawl{Record: s.record, ID: id}.LastTraining(t.Context())
		require.NoError(t, err)
		if !learn {
			require.Nil(t, raw)
			require.Equal(t, []int{150, 0}, []int{books, hidden})
			continue
		}
		require.Less(t, books, 120)
		require.Positive(t, hidden)
		var got LinkTraining
		require.NoError(t, json.Unmarshal(raw, &got))
		word := func(all []rank.Anchor) (out []string) {
			for _, a := range all {
				require.GreaterOrEqual(t, a.Sites, 5)
				out = append(out, a.Word)
			}
			return out
		}
		require.Equal(t, []string{"album"}, word(got.Pruning))
		require.Equal(t, []string{"lemma"}, word(got.Extracting))
		require.Nil(t, got.Second, "the second layer is the context graph's")
	}
	a := defaultAsk(t)
	a.LearnLinks = true
	require.ErrorContains(t, a.Check(), "inspect")
}

// TestHostsOfADomainAreOneSite: who has a domain, and as many hosts as he likes, has no word
// of links pruned by that everywhere.
func TestHostsOfADomainAreOneSite(t *testing.T) {
	t.Parallel()
	learnt := func(host string) []rank.Anchor {
		out := "http://out.example/"
		pages := []collections.Linked{{URL: out, Host: "out.example", Hash: frontier.HashOf(out)}}
		for i := range 6 {
			at := fmt.Sprintf(host, i)
			pages = append(pages, collections.Linked{URL: "http://" + at + "/", Host: at, Hash: frontier.HashOf("http://" + at + "/"), Correlation: 1,
				Links: []collections.Lead{{To: frontier.HashOf(out), Anchor: "publications"}}})
		}
		pruning, _ := Anchors(pages, 0.5)
		return pruning
	}
	require.Equal(t, []rank.Anchor{{Word: "publications", Sites: 6}}, learnt("h%d.example"))
	require.Empty(t, learnt("h%d.hostile.example"))
}
