package main

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/temporal"
)

// TestHasEnded: a harvest that ends while a retry is on its way to it is one that does not
// run, so that the retry begins it again.
func TestHasEnded(t *testing.T) {
	t.Parallel()
	for err, want := range map[error]bool{
		serviceerror.NewNotFound("workflow execution already completed"):                                                                                                true,
		fmt.Errorf("retry: %w", temporal.NewNonRetryableApplicationError("the Workflow completed before the Update completed", "AcceptedUpdateCompletedWorkflow", nil)): true,
		temporal.NewApplicationError("no such reason", "usage"):                                                                                                         false,
		errors.New("out"): false,
	} {
		assert.Equal(t, want, hasEnded(err), err)
	}
	assert.False(t, hasEnded(nil))
}
