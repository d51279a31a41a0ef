package pool

import (
	"testing"

	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/converter"

	"gleaner/internal/crawl/synthesis"
	"gleaner/internal/devstack/devtest/temporaltest"
	"gleaner/internal/devstack/storetest"
	"gleaner/internal/record/collections"
	"gleaner/workflows"
)

// TestACollectionIsStartedAgainAsItWasAskedFor: with as many hosts at a time.
func TestACollectionIsStartedAgainAsItWasAskedFor(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	db := storetest.Open(t, 2)
	record := collections.In(db)
	_, _, err := record.Ask(ctx, "some", synthesis.Ask{Parallel: 7}, []string{})
	require.NoError(t, err)
	open, err := collections.Open(ctx, record)
	require.NoError(t, err)
	require.Len(t, open, 1)
	c, _, _ := temporaltest.Client(t)
	require.NoError(t, temporal{c}.Collect(ctx, open[0]))
	first, err := c.GetWorkflowHistory(ctx, workflows.CollectionsID("some"), "", false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT).Next()
	require.NoError(t, err)
	var p workflows.CollectParams
	require.NoError(t, converter.GetDefaultDataConverter().FromPayloads(first.GetWorkflowExecutionStartedEventAttributes().GetInput(), &p))
	require.Equal(t, workflows.CollectParams{Name: "some", Run: 1, Parallel: 7}, p)
}
