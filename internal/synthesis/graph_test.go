package synthesis_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	. "gleaner/internal/synthesis"
	"gleaner/internal/topic"
)

// TestDepartments: what a page off topic links to is asked for after all that pages on
// topic link to, unless its address is one of a topic's departments; by words such links
// are always followed.
func TestDepartments(t *testing.T) {
	t.Parallel()
	for _, inspect := range []bool{false, true} {
		s := newShop(t, &smallWeb{pages: map[string]string{
			"a.example/":            primes + " oven>a.example/off kitchen>a.example/late",
			"a.example/off":         others + " table>a.example/low chair>a.example/dept/high",
			"a.example/late":        others,
			"a.example/low":         others,
			"a.example/dept/high":   primes + " ideal ring>a.example/dept/higher",
			"a.example/dept/higher": primes,
			"b.example/":            verses,
		}})
		ask, err := DefaultAsk()
		require.NoError(t, err)
		ask.LeastResults, ask.Policy, ask.Inspect = 1, ContextGraph, inspect
		_, _, err = s.record.Ask(t.Context(), "some", ask, []topic.Topic{{ID: "primes", Pages: []string{"http://a.example/"}, Departments: []string{"dept"}}, {ID: "verses", Pages: []string{"http://b.example/"}}})
		require.NoError(t, err)
		_, err = New(s.tools).Prepare(t.Context(), "some", func(int) {})
		require.NoError(t, err)
		before := len(s.web.asked())
		s.ends(t, "some")
		want := []string{"a.example/", "b.example/", "a.example/off", "a.example/late", "a.example/dept/high", "a.example/dept/higher", "a.example/low"}
		if inspect {
			want = want[:6]
		}
		require.Equal(t, want, s.web.asked()[before:])
	}
}

// TestTunnellingIsOnRecord: a crawl tunnels from when nothing of high priority is left of
// it, whichever slice it is in, until its worker died over that and another went on.
func TestTunnellingIsOnRecord(t *testing.T) {
	t.Parallel()
	s := newShop(t, &smallWeb{pages: map[string]string{
		"a.example/": primes + " oven>o.example/", "o.example/": others + " kettle>p.example/ stove>q.example/", "b.example/": verses,
		"p.example/": primes, "q.example/": others,
	}})
	s.tools.Config.SlicePages = 2
	s.opens(t, "some", twoTopics, func(a *Ask) { a.Policy = ContextGraph })
	at := func() *int {
		c, err := s.record.Get(t.Context(), "some")
		require.NoError(t, err)
		return c.Tunnel
	}
	slice := func(ctx context.Context, m *Maker) error {
		_, err := m.Slice(ctx, "some", func(Progress) {})
		return err
	}
	require.NoError(t, slice(t.Context(), New(s.tools))) // the seeds
	require.Nil(t, at())
	require.NoError(t, slice(t.Context(), New(s.tools))) // what a.example leads to is still high, p.example is low
	require.NotNil(t, at())
	require.Equal(t, 1, *at())
	require.True(t, s.dies(t, "q.example/", slice))
	require.Equal(t, 1, *at())
	require.Equal(t, Exhausted, s.ends(t, "some").Ending)
	require.Equal(t, 1, *at())
}
