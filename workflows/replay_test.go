package workflows

import (
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
	sdklog "go.temporal.io/sdk/log"
	"go.temporal.io/sdk/worker"
)

// TestReplay replays recorded histories: a change of a workflow that would break
// the ones under way fails here. They are recorded by
//
//	go test ./workflows -run TestRecord -record FOLDER
func TestReplay(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/histories/*.json")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			r := worker.NewWorkflowReplayer()
			Register(r)
			require.NoError(t, r.ReplayWorkflowHistoryFromJSONFile(sdklog.NewStructuredLogger(slog.New(slog.DiscardHandler)), file))
		})
	}
}

// TestRecordedHistoriesHaveAllThatHappens: what goes wrong, is cancelled, paused or
// continued is replayed, too.
func TestRecordedHistoriesHaveAllThatHappens(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/histories/*.json")
	require.NoError(t, err)
	met := map[string]bool{}
	for _, file := range files {
		raw, err := os.ReadFile(file)
		require.NoError(t, err)
		for _, kind := range regexp.MustCompile(`"EVENT_TYPE_(\w+)"`).FindAllStringSubmatch(string(raw), -1) {
			met[kind[1]] = true
		}
	}
	for _, kind := range []string{"ACTIVITY_TASK_CANCELED", "ACTIVITY_TASK_FAILED", "ACTIVITY_TASK_TIMED_OUT",
		"CHILD_WORKFLOW_EXECUTION_CANCELED", "CHILD_WORKFLOW_EXECUTION_FAILED", "EXTERNAL_WORKFLOW_EXECUTION_SIGNALED", "SIGNAL_EXTERNAL_WORKFLOW_EXECUTION_FAILED",
		"START_CHILD_WORKFLOW_EXECUTION_FAILED", "TIMER_CANCELED", "TIMER_FIRED", "WORKFLOW_EXECUTION_CANCELED", "WORKFLOW_EXECUTION_COMPLETED", "WORKFLOW_EXECUTION_CONTINUED_AS_NEW",
		"WORKFLOW_EXECUTION_SIGNALED", "WORKFLOW_EXECUTION_UPDATE_COMPLETED"} {
		require.True(t, met[kind], kind)
	}
}
