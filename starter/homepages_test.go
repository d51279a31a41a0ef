package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"gleaner/internal/gleaner"
	"gleaner/internal/gleaner/evidence"
	"gleaner/internal/harvest"
	"gleaner/internal/record/store"
)

// TestExplainTellsWhatIsProvisionalAndWhereThePapersAre, beside the homepage.
func TestExplainTellsWhatIsProvisionalAndWhereThePapersAre(t *testing.T) {
	t.Parallel()
	const home, list = "http://ada.example/", "http://lab.example/pubs.html"
	ada := gleaner.Author{PID: "1/1", Name: "Ada Lovelace"}
	tell := func(c evidence.Candidate) string {
		d := evidence.Decision{Author: ada, Homepages: []evidence.Candidate{c}, Places: []evidence.Place{{URL: list, Scope: "/pubs", Of: home, Rule: "names the person"}}}
		var b strings.Builder
		require.NoError(t, writeExplained(&b, harvest.Explained{Author: ada, Decision: &d,
			Kept: []store.Homepage{{URL: home, Source: c.Source}, {URL: list, Source: evidence.SourcePapers, Scope: "/pubs"}}}))
		return b.String()
	}
	byName := evidence.Candidate{URL: home, Source: evidence.SourceVenue, Features: map[string]float64{"name_title": 1}}
	out := tell(byName)
	require.Contains(t, out, home+" is taken by the name alone")
	require.Contains(t, out, "papers at "+list+"  (crawled: /pubs; linked from "+home)
	require.Equal(t, 1, strings.Count(out, "homepage 1"))
	require.NotContains(t, out, "homepage 2")
	byName.Confirmed = 2
	require.NotContains(t, tell(byName), "by the name alone")
}

// TestBudgetOfEachEngine: several search engines have a budget each.
func TestBudgetOfEachEngine(t *testing.T) {
	t.Parallel()
	c := newConsole(t)
	c.args = append(c.args, "--contact", "test@example.org", "--search", "searxng,brave", "--searxng-url", "http://searx.example", "--brave-key-file", secretFile(t, "key"), "--search-budget", "7")
	b := answer[searchBudget](c.read, "stats", "searches")
	require.Equal(t, []string{"searxng", "brave"}, []string{b.Provider, b.Others[0].Provider})
	require.Equal(t, 7, b.Others[0].Limit)
	require.Contains(t, c.ok("stats", "searches"), "brave: 0 of 7")
}
