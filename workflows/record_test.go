package workflows

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	sdklog "go.temporal.io/sdk/log"
	"go.temporal.io/sdk/worker"
	"google.golang.org/protobuf/encoding/protojson"

	"gleaner/activities"
	"gleaner/internal/devstack"
	"gleaner/internal/devstack/devtest"
	"gleaner/internal/devstack/temporalapi"
	"gleaner/internal/gleaner"
)

var record = flag.String("record", "", "write the histories of TestRecord to this folder, for TestReplay")

// suggestContinueAsNew is the number of events after which the server of TestRecord
// suggests that a workflow continues as new.
const suggestContinueAsNew = "30"

// TestRecord runs each workflow on a Temporal server, with activities whose answers are
// written down in stories, so that every command of every workflow is given: by pauses,
// retries, failures, cancellations and new runs, too. With -record it writes the histories.
func TestRecord(t *testing.T) {
	devtest.Soak(t, "starts a Temporal server of its own, and waits minutes for a lost heartbeat")
	t.Parallel()
	stack, err := devstack.Start(context.Background(), devstack.Options{
		DataDir:          t.TempDir(),
		NoPostgres:       true,
		Headless:         true,
		Ready:            temporalapi.EnsureSearchAttributes,
		SearchAttributes: gleaner.SearchAttributes(),
		DynamicConfig:    map[string]string{"limit.historyCount.suggestContinueAsNew": suggestContinueAsNew},
	})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, stack.Stop()) })
	quiet := sdklog.NewStructuredLogger(slog.New(slog.DiscardHandler))
	c, err := client.Dial(client.Options{HostPort: stack.TemporalAddress, Logger: quiet})
	require.NoError(t, err)
	t.Cleanup(c.Close)
	stories := stories()
	s := &script{c: c, answers: map[string][]any{}}
	for _, story := range stories {
		for name, answers := range story.answers {
			s.answers[story.id+" "+name] = answers
		}
	}
	for _, queue := range activities.Queues() {
		w := worker.New(c, queue, worker.Options{DeadlockDetectionTimeout: time.Minute})
		Register(w)
		w.RegisterDynamicActivity(s.answer, activity.DynamicRegisterOptions{})
		w.RegisterActivity(stages.TellEnd) // no local activity is a dynamic one
		require.NoError(t, w.Start())
		t.Cleanup(w.Stop)
	}
	var running sync.WaitGroup
	ctx, cancel := context.WithTimeout(t.Context(), activities.CrawlSilence+2*time.Minute) // then it names what has not ended
	defer cancel()
	for _, story := range stories {
		if story.workflow == nil {
			continue // a child
		}
		running.Go(func() {
			var args []any
			if story.arg != nil {
				args = append(args, story.arg)
			}
			o := client.StartWorkflowOptions{ID: story.id, TaskQueue: activities.QueueHarvest}
			run, err := c.ExecuteWorkflow(ctx, o, story.workflow, args...)
			if err == nil {
				err = run.Get(ctx, nil)
			}
			assert.NoError(t, ctx.Err(), "%s has not ended", story.id)
			assert.Equal(t, story.fails, err != nil, "%s: %v", story.id, err)
		})
	}
	running.Wait()
	runs := recorded(t, c)
	if *record != "" {
		require.NoError(t, writeHistories(*record, runs))
	}
}

// script answers activities.
type script struct {
	c       client.Client
	mu      sync.Mutex
	answers map[string][]any // by the workflow's id and the activity's name
}

// answer is any activity: it returns the next answer of the story of its workflow, and
// then zero.
func (s *script) answer(ctx context.Context, _ converter.EncodedValues) (any, error) {
	info := activity.GetInfo(ctx)
	key := info.WorkflowExecution.ID + " " + info.ActivityType.Name
	s.mu.Lock()
	var next any
	if answers := s.answers[key]; len(answers) > 0 {
		next, s.answers[key] = answers[0], answers[1:]
	}
	s.mu.Unlock()
	if during, is := next.(meanwhile); is {
		defer beat(ctx)()
		if err := during.do(ctx, s.c); err != nil {
			return nil, fmt.Errorf("%s: %w", key, err)
		}
		next = during.answer
	}
	if pause, is := next.(silent); is {
		return nil, received(ctx, time.After(time.Duration(pause)))
	}
	if err, is := next.(error); is {
		return nil, err
	}
	return next, nil
}

// beat heartbeats until it is stopped.
func beat(ctx context.Context) (stop func()) {
	ctx, stop = context.WithCancel(ctx)
	go func() {
		for tick := time.NewTicker(activities.Beat); ; {
			activity.RecordHeartbeat(ctx)
			select {
			case <-tick.C:
			case <-ctx.Done():
				tick.Stop()
				return
			}
		}
	}()
	return stop
}

// meanwhile is an answer that is given after something was done.
type meanwhile struct {
	do     func(context.Context, client.Client) error
	answer any
}

// silent is an answer that comes after so long without a heartbeat.
type silent time.Duration

// recorded returns the histories of all runs.
func recorded(t *testing.T, c client.Client) (runs []*historypb.History) {
	page, err := c.ListWorkflow(t.Context(), &workflowservice.ListWorkflowExecutionsRequest{PageSize: 1000})
	require.NoError(t, err)
	for _, x := range page.Executions {
		it := c.GetWorkflowHistory(t.Context(), x.Execution.WorkflowId, x.Execution.RunId, false,
			enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
		h := &historypb.History{}
		for it.HasNext() {
			e, err := it.Next()
			require.NoError(t, err)
			h.Events = append(h.Events, e)
		}
		runs = append(runs, h)
	}
	return runs
}

// writeHistories writes the histories but for those all of whose steps shorter ones have.
func writeHistories(folder string, runs []*historypb.History) error {
	slices.SortStableFunc(runs, func(a, b *historypb.History) int { return cmp.Compare(len(a.Events), len(b.Events)) })
	seen, count := map[string]bool{}, map[string]int{}
	for _, r := range runs {
		workflow, known, before := r.Events[0].GetWorkflowExecutionStartedEventAttributes().WorkflowType.Name, len(seen), ""
		for _, e := range r.Events { // what it does after what
			now := e.EventType.String() + e.GetActivityTaskScheduledEventAttributes().GetActivityType().GetName() +
				e.GetStartChildWorkflowExecutionInitiatedEventAttributes().GetWorkflowType().GetName()
			seen[workflow+": "+before+" > "+now], before = true, now
		}
		if len(seen) == known {
			continue
		}
		count[workflow]++
		body, err := protojson.Marshal(r)
		if err != nil {
			return err
		}
		file := filepath.Join(folder, fmt.Sprintf("%s_%d.json", workflow, count[workflow]))
		if err := os.WriteFile(file, body, 0o644); err != nil {
			return err
		}
	}
	return nil
}

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
