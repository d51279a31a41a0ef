package workflows

import (
	"context"

	"github.com/stretchr/testify/mock"
	"go.temporal.io/sdk/testsuite"

	"gleaner/activities"
)

// onRecord has no link on record that a harvest could take.
func onRecord(env *testsuite.TestWorkflowEnvironment) {
	none := func(_ context.Context, s activities.LinkSearch) (activities.LinkCounts, error) { return s.Counted, nil }
	env.OnActivity(crawler.FindLinks, mock.Anything, mock.Anything).Return(none).Maybe()
	env.OnActivity(crawler.ReopenLinks, mock.Anything, mock.Anything).Return(none).Maybe()
}
