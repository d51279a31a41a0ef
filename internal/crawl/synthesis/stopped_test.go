package synthesis_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"gleaner/internal/crawl"
	. "gleaner/internal/crawl/synthesis"
	"gleaner/internal/politeness"
)

// TestACollectionNamesThePausedHosts that it would ask where nothing else waits.
func TestACollectionNamesThePausedHosts(t *testing.T) {
	t.Parallel()
	s := newShop(t, &smallWeb{pages: map[string]string{
		"a.example/": primes + " far>c.example/", "b.example/": verses, "c.example/": primes + " lattice",
	}})
	s.opens(t, "some", twoTopics, func(*Ask) {})
	require.NoError(t, politeness.Pause(t.Context(), s.tools.DB.Pool, "c.example", "by its owner's wish"))
	r := s.ends(t, "some")
	require.Equal(t, Exhausted, r.Ending)
	require.Equal(t, "these hosts are paused, and pages of theirs wait: c.example", r.Reason)
}

// TestStoppedAtAnyRequest: a worker that is told to stop while a request is under way
// finishes it, and writes what came: no URL is asked for twice.
func TestStoppedAtAnyRequest(t *testing.T) {
	t.Parallel()
	s := newShop(t, &smallWeb{
		pages: map[string]string{
			"a.example/":      primes + " one>a.example/one paper>a.example/p.pdf old>a.example/old none>a.example/none far>c.example/moved",
			"a.example/one":   primes + " ring two>a.example/two",
			"a.example/two":   primes + " field",
			"a.example/old":   "redirects to a.example/new",
			"a.example/new":   primes + " ideal",
			"b.example/":      verses,
			"c.example/":      primes + " lattice",
			"c.example/moved": "redirects to c.example/",
		},
		files: map[string]string{"a.example/p.pdf": pdfOf(t, primes+" portable")},
	})
	all := func(a *Ask) { a.WARC = true }
	whole := s.collected(t, "whole", all)
	require.Len(t, whole.entries["primes"], 6)
	for k := range whole.asked {
		name := string(rune('a' + k))
		id := s.opens(t, name, twoTopics, all)
		before := len(s.web.asked())
		ctx, cancel := context.WithCancel(t.Context())
		s.web.at = func(n int) {
			if n == before+k+1 {
				cancel()
			}
		}
		for ctx.Err() == nil {
			_, err := New(s.tools).Slice(ctx, name, func(crawl.Progress) {})
			if err != nil {
				require.ErrorIs(t, err, context.Canceled)
			}
		}
		require.Equal(t, Exhausted, s.ends(t, name).Ending)
		require.ElementsMatch(t, whole.asked, s.web.asked()[before:], "stopped at %d", k)
		entries, err := s.record.Entries(t.Context(), id, "primes")
		require.NoError(t, err)
		require.Len(t, entries, 6, "stopped at %d", k)
	}
}
