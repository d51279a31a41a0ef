package evaluate

import (
	"flag"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"gleaner/internal/rank"
)

var words = flag.String("words", "", "measure the ranking without these words of its concepts: concept:word,…; several sets are parted by semicolons")

// TestWordsLeftOut says of words on how many sites they serve: with priors that have not
// seen the site, trained with the words and without. A word that serves one site alone
// is a rule for that site.
func TestWordsLeftOut(t *testing.T) {
	if *words == "" {
		t.Skip("some seconds a set: give -args -words concept:word")
	}
	lists, examples, goals := recordedGoals(t)
	for _, goal := range goals {
		runs := edges(t, goal.sites)
		of := func(l rank.Lists) *saving {
			n, sums := nesting{t, goal.sites, l, examples, runs, map[string]*rank.Prior{}}, savings{}
			for fold := range folds {
				n.measure(sums, choice{rank.DefaultFit(), rank.DefaultTuning()}, fold, fold)
			}
			return sums[rank.Gleaner]
		}
		all := of(lists)
		t.Logf("%s: %s, score %.4f", goal.of, all, all.score())
		for set := range strings.SplitSeq(*words, ";") {
			without := of(withoutWords(t, lists, strings.Split(set, ",")))
			served, harmed := map[string]bool{}, map[string]bool{}
			for i := range measured {
				for j, v := range without.values[i] {
					site, _, _ := strings.Cut(all.names[i][j], ":")
					served[site] = served[site] || v < all.values[i][j]
					harmed[site] = harmed[site] || v > all.values[i][j]
				}
			}
			t.Logf("without %s: worse on %d sites, better on %d: %s, score %.4f", set, count(served), count(harmed), without, without.score())
		}
	}
}

// withoutWords are lists without words of their concepts.
func withoutWords(t *testing.T, l rank.Lists, words []string) rank.Lists {
	own := rank.Lists{Concepts: map[string][]string{}}
	for _, w := range words {
		concept, word, _ := strings.Cut(strings.TrimSpace(w), ":")
		list := own.Concepts[concept]
		if list == nil {
			list = slices.Clone(l.Concepts[concept])
		}
		require.Contains(t, list, word, "concept %s", concept)
		own.Concepts[concept] = slices.DeleteFunc(list, func(o string) bool { return o == word })
	}
	return l.Override(own)
}

func count(of map[string]bool) (n int) {
	for _, is := range of {
		if is {
			n++
		}
	}
	return n
}
