package rank_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"gleaner/internal/rank"
)

// TestAnchors: a word leads out, or on, by how its links fare on several sites; of one
// site's menu nothing is learnt, however many links it has.
func TestAnchors(t *testing.T) {
	t.Parallel()
	var a rank.Anchors
	for i := range 6 {
		site := fmt.Sprintf("s%d.example", i)
		a.Add(site, "Guestbook", false)
		a.Add(site, "Our theorems, theorems", true)
		a.Add(site, "Our weather", false)
		a.Add(site, "theorems", i > 1)
		a.Add("one.example", "menu", false)
		a.Add("one.example", "lemma", true)
		if i < 4 {
			a.Add(site, "rare", false)
		}
	}
	for range 100 { // no more than any other site
		a.Add("s0.example", "guestbook", true)
	}
	out, on := a.Lists()
	require.Equal(t, []rank.Anchor{{Word: "weather", Sites: 6}}, out)
	require.Equal(t, []rank.Anchor{{Word: "our", Sites: 6, Share: 0.5}, {Word: "theorems", Sites: 6, Share: 5.0 / 6}}, on)

	given := rank.Lists{PruningAnchors: []string{"home"}, ExtractingAnchors: []string{"research"}}
	got := given.With(out, on)
	require.Equal(t, []string{"home", "weather"}, got.PruningAnchors)
	require.Equal(t, []string{"research", "our", "theorems"}, got.ExtractingAnchors)
	require.Equal(t, []string{"home"}, given.PruningAnchors)
}

// TestAnchorsOfAHostileSite: of a site that makes up words without end some are counted, and
// of what others say nothing is lost.
func TestAnchorsOfAHostileSite(t *testing.T) {
	t.Parallel()
	var a rank.Anchors
	made := func(n int) string {
		return strings.Map(func(r rune) rune { return r - '0' + 'a' }, fmt.Sprintf("%06d", n))
	}
	for site := range 5 {
		for i := range 6000 {
			a.Add(fmt.Sprintf("s%d.example", site), made(i), true)
		}
		a.Add(fmt.Sprintf("s%d.example", site), made(7), false)
	}
	for i := range 5 {
		a.Add(fmt.Sprintf("t%d.example", i), made(5999), false)
	}
	out, on := a.Lists()
	require.Equal(t, []rank.Anchor{{Word: made(5999), Sites: 5}}, out, "beyond what is counted of the others")
	require.Contains(t, on, rank.Anchor{Word: made(7), Sites: 5, Share: 0.5})
}
