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

// TestATerminatedHarvestSaysWhatToDo, and a migration what was done.
func TestATerminatedHarvestSaysWhatToDo(t *testing.T) {
	t.Parallel()
	c := newConsole(t)
	c.crawlsSites("a.example")
	assert.ErrorContains(t, endedBadly(t.Context(), c.DB, "conf/x/2001", &temporal.TerminatedError{}), "`starter harvest conf/x --years 2001` goes on")
	assert.Regexp(t, `the database is at \d+, and was at \d+`, c.ok("migrate"))
}
