package pool_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"gleaner/internal/devstack/devtest"
	"gleaner/internal/lab/topicweb"
	"gleaner/internal/record/collections"
	"gleaner/internal/synthesis"
	"gleaner/internal/topic"
	"gleaner/workflows"
)

// TestCollectOneTopic: a file of one topic collects what is about it, though every page of
// its centroid has the words that it is about.
func TestCollectOneTopic(t *testing.T) {
	devtest.Soak(t, "TestCollect collects, for many topics")
	t.Parallel()
	web := topicweb.New(topicweb.Options{Seed: 5, Hosts: 48, Pages: 6, Topics: 2, Share: 3})
	w, _ := topical(t, web)
	defer w.work(t)()
	one := web.Topics()[:1]
	run := w.collect(t, "one", one, func(a *synthesis.Ask) { a.Size, a.Threshold = 1000, 0.5 })
	var s workflows.CollectState
	require.NoError(t, run.Get(t.Context(), &s))
	require.Equal(t, synthesis.Exhausted, s.End)
	require.GreaterOrEqual(t, s.Prepared.Own, topic.EnoughOwn)

	c, err := collections.In(w.db).Get(t.Context(), "one")
	require.NoError(t, err)
	entries, err := collections.In(w.db).Entries(t.Context(), c.ID, "")
	require.NoError(t, err)
	right := 0
	for _, e := range entries {
		if web.About(e.URL) == one[0].ID {
			right++
		}
	}
	t.Logf("%d of %d entries are about it, of %d requests", right, len(entries), c.Requests)
	require.Greater(t, len(entries), 10)
	require.Greater(t, 10*right, 7*len(entries))
	require.Greater(t, c.Requests, len(entries), "it met pages about something else")
}
