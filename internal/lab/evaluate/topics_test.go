package evaluate_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"gleaner/internal/lab/evaluate"
	"gleaner/internal/lab/topicweb"
)

// Under each policy the same web gives the same figures again; links that are chosen
// find more than all in turn, and through regions off topic gleaner comes to sites that
// best-first does not.
func TestTopicsComparesPolicies(t *testing.T) {
	t.Parallel()
	o := topicweb.Options{Seed: 11, Hosts: 150, Pages: 20, Topics: 3, Share: 10, Gap: 2}
	got, err := evaluate.Topics(t.Context(), o, 1500)
	require.NoError(t, err)
	again, err := evaluate.Topics(t.Context(), o, 1500)
	require.NoError(t, err)
	require.Equal(t, got, again)
	by := map[string]evaluate.TopicRun{}
	for _, r := range got.Runs {
		t.Logf("%s: pages %d precision %.3f gain %.2f recall %.3f of half %d, all %.3f", r.Policy, r.Pages, r.Precision, r.Gain, r.Recall, got.Half, r.All)
		by[r.Policy] = r
	}
	require.Greater(t, by["gleaner"].Precision, by["bfs"].Precision)
	require.Less(t, by["gleaner"].Precision, got.Most)
	require.Greater(t, by["gleaner"].Found, by["bfs"].Found)
	best, web := by["best"], topicweb.New(o)
	early := min(float64(best.Pages), evaluate.Early*float64(web.Pages()))
	require.InDelta(t, best.Precision*early/float64(web.Relevant()), best.Found, 1e-9)
	require.LessOrEqual(t, best.Found, 1.0)
	require.Greater(t, by["gleaner"].All, by["best"].All)
	require.Greater(t, by["graph"].All, by["best"].All)
}
