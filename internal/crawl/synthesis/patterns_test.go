package synthesis_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	. "gleaner/internal/crawl/synthesis"
	"gleaner/internal/each"
	"gleaner/internal/web/rules"
)

// TestURLPatterns: each part of the inspection of URL patterns is switched by itself.
func TestURLPatterns(t *testing.T) {
	t.Parallel()
	const pages = 230
	web := &smallWeb{pages: map[string]string{
		"a.example/":                     primes + " deep>a.example/i/j/k/l/m/n/o/p/deep stop>a.example/forum/stop trap>trap.example/",
		"a.example/i/j/k/l/m/n/o/p/deep": primes,
		"a.example/forum/stop":           primes,
		"b.example/":                     verses,
		"trap.example/":                  others,
	}}
	for i := range pages {
		web.pages["trap.example/"] += fmt.Sprintf(" kettle>trap.example/%d", i)
		web.pages[fmt.Sprintf("trap.example/%d", i)] = others
	}
	s := newShop(t, web)
	s.tools.Config.SlicePages = 1000
	for _, parts := range [][]string{nil, {Directories}, {Levels}, {Traps}, Patterns()} {
		on := strings.Join(parts, ",")
		m := s.collected(t, "with "+on, func(a *Request) { a.Policy, a.HostPages, a.Patterns = BreadthFirst, 0, parts })
		trap := each.Count(m.asked, func(a string) bool { return strings.HasPrefix(a, "trap.example/") })
		require.Equal(t, map[bool]int{false: pages + 1, true: PatternTrap().After}[strings.Contains(on, Traps)], trap, on)
		require.Equal(t, !strings.Contains(on, Levels), strings.Contains(strings.Join(m.asked, " "), "/deep"), on)
		require.Equal(t, !strings.Contains(on, Directories), strings.Contains(strings.Join(m.asked, " "), "/stop"), on)
	}
	m := s.collected(t, "own lists", func(a *Request) {
		a.Patterns, a.Links = Patterns(), &rules.Lists{StopDirectories: []string{rules.None}}
	})
	require.Contains(t, m.asked, "a.example/forum/stop", "what a person says goes before")
	ask := defaultAsk(t)
	ask.Patterns = []string{"tarps"}
	require.ErrorContains(t, ask.Check(), "traps")
}
