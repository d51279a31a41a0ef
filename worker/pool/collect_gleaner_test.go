package pool_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"gleaner/internal/devstack/devtest"
	"gleaner/internal/lab/topicweb"
	"gleaner/internal/record/collections"
	"gleaner/internal/synthesis"
	"gleaner/workflows"
)

// TestCollectByGleaner: the policy gleaner, on the record, goes through pages off topic to
// what lies behind them, asks hosts by what they brought, and keeps to the manners of any.
func TestCollectByGleaner(t *testing.T) {
	devtest.Soak(t, "TestCollect collects, by another order")
	t.Parallel()
	web := topicweb.New(topicweb.Options{Seed: 5, Hosts: 48, Pages: 6, Topics: 2, Share: 3})
	w, server := topical(t, web)
	defer w.work(t)()
	run := w.collect(t, "two", web.Topics(), func(a *synthesis.Ask) {
		a.Size, a.Threshold, a.Policy = 1000, 0.5, synthesis.Gleaner
	})
	var s workflows.CollectState
	require.NoError(t, run.Get(t.Context(), &s))
	require.Equal(t, synthesis.Exhausted, s.End)
	c, err := collections.In(w.db).Get(t.Context(), "two")
	require.NoError(t, err)
	w.checkEntries(t, web, c)
	checkMannersOf(t, server.Log())

	var behind, hosts, worth int
	require.NoError(t, w.db.Pool.QueryRow(t.Context(), `SELECT count(*) FROM collection_entries e JOIN collection_urls u ON u.collection=e.collection AND u.hash=e.hash
		JOIN collection_urls p ON p.collection=u.collection AND p.url=u.parent WHERE e.collection=$1 AND p.outcome='off-topic'`, c.ID).Scan(&behind))
	require.Positive(t, behind, "entries to which pages off topic lead")
	require.NoError(t, w.db.Pool.QueryRow(t.Context(), `SELECT count(*), count(DISTINCT worth) FROM collection_hosts WHERE collection=$1 AND requests > 0`, c.ID).Scan(&hosts, &worth))
	require.Greater(t, worth, 3, "hosts are worth what their pages were")
	requests := c.Requests

	best := w.collect(t, "best", web.Topics(), func(a *synthesis.Ask) { a.Size, a.Threshold = 1000, 0.5 })
	require.NoError(t, best.Get(t.Context(), &s))
	c, err = collections.In(w.db).Get(t.Context(), "best")
	require.NoError(t, err)
	require.Greater(t, requests, c.Requests, "best asks for nothing behind a page off topic")
	t.Logf("%d hosts of %d different worths, %d entries behind pages off topic; %d requests, %d by best", hosts, worth, behind, requests, c.Requests)
}
