package synthesis_test

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"testing"

	"github.com/stretchr/testify/require"

	. "gleaner/internal/crawl/synthesis"
	"gleaner/internal/devstack/devtest"
	"gleaner/internal/topic"
)

// TestTopicsThatCannotBeToldApart: whoever prepares collections is told of topics whose own
// pages would not be collected for them, by the threshold that was asked for.
func TestTopicsThatCannotBeToldApart(t *testing.T) {
	t.Parallel()
	s := newShop(t, &smallWeb{pages: map[string]string{"a.example/": primes, "b.example/": verses, "c.example/": verses + " recipe recipe recipe"}})
	topics := []topic.Topic{{ID: "primes", Pages: []string{"http://a.example/"}}, {ID: "verses", Pages: []string{"http://b.example/", "http://c.example/"}}}
	var log bytes.Buffer
	s.tools.Log = slog.New(slog.NewTextHandler(&log, nil))
	prepared := func(name string, threshold float64) (Prepared, []topic.Check) {
		ask := defaultAsk(t)
		ask.LeastResults, ask.Threshold = 1, threshold
		_, _, err := s.record.Submit(t.Context(), name, ask, topics)
		require.NoError(t, err)
		log.Reset()
		p := devtest.Must(New(s.tools).Prepare(t.Context(), name, func(int) {}))(t)
		c := devtest.Must(s.record.Get(t.Context(), name))(t)
		var m topic.Model
		require.NoError(t, json.Unmarshal(c.Model, &m))
		return p, m.Checks
	}
	p, checks := prepared("well", 0.3)
	require.InDelta(t, 1, p.Own, 0)
	require.Empty(t, p.Unsure)
	require.NotContains(t, log.String(), "too few")
	require.Equal(t, []topic.Check{{Topic: "primes", Pages: 1, Own: 1}, {Topic: "verses", Pages: 2, Own: 2}}, checks)
	p, checks = prepared("badly", 0.9)
	require.InDelta(t, 2.0/3, p.Own, 1e-9)
	require.Equal(t, []string{"verses"}, p.Unsure)
	require.Contains(t, log.String(), "too few")
	require.Equal(t, []topic.Check{{Topic: "primes", Pages: 1, Own: 1}, {Topic: "verses", Pages: 2, Own: 1}}, checks)
}
