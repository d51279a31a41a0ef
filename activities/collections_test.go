package activities_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"gleaner/internal/crawl"
	"gleaner/internal/crawl/synthesis"
	"gleaner/internal/gleaner"
	"gleaner/internal/record/collections"
	"gleaner/internal/topic"
)

// TestASliceTellsOfTheAttemptBefore: what a worker did that was killed over a slice counts,
// for when classifiers learn anew and for what is told.
func TestASliceTellsOfTheAttemptBefore(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	l := openLibrary(t, "conf/exa", gleaner.Years{From: 2003, To: 2003}, map[string]string{"search": "none"})
	record := collections.In(l.DB)
	ask, err := synthesis.DefaultAsk()
	require.NoError(t, err)
	_, _, err = record.Ask(ctx, "some", ask, []topic.Topic{{ID: "a", Query: "a"}})
	require.NoError(t, err)
	require.NoError(t, record.Begin(ctx, "some"))
	require.NoError(t, record.Pause(ctx, "some", true))
	var r crawl.Result
	_, err = attempt(t, l, l.acts.Collections.CollectSlice, "some", &crawl.Progress{Requests: 5, Pages: 4}, nil, &r)
	require.NoError(t, err)
	require.Equal(t, crawl.Result{Progress: crawl.Progress{Requests: 5, Pages: 4}, Ending: crawl.Paused}, r)
}
