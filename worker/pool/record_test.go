package pool_test

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/api/workflowservice/v1"
	"google.golang.org/protobuf/encoding/protojson"
)

var record = flag.String("record", "", "write histories of the workflows that the tests run to this folder, for the replay test")

// histories are the runs of all tests, where they are recorded.
var histories struct {
	mu   sync.Mutex
	runs []recordedRun
}

type recordedRun struct {
	workflow string // its type
	history  *historypb.History
	marks    map[string]bool
}

// mostEvents bounds the histories that are kept.
const mostEvents = 1500

// record collects the histories of all runs in the world's namespace.
func (w *world) record(t *testing.T) {
	if *record == "" {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	list := &workflowservice.ListWorkflowExecutionsRequest{}
	for {
		page, err := w.client.ListWorkflow(ctx, list)
		require.NoError(t, err)
		for _, x := range page.Executions {
			it := w.client.GetWorkflowHistory(ctx, x.Execution.WorkflowId, x.Execution.RunId, false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
			h := &historypb.History{}
			for it.HasNext() && len(h.Events) <= mostEvents {
				e, err := it.Next()
				require.NoError(t, err)
				h.Events = append(h.Events, e)
			}
			if len(h.Events) > mostEvents {
				continue
			}
			histories.mu.Lock()
			histories.runs = append(histories.runs, recordedRun{x.Type.Name, h, marksOf(x.Type.Name, h)})
			histories.mu.Unlock()
		}
		if list.NextPageToken = page.NextPageToken; len(list.NextPageToken) == 0 {
			return
		}
	}
}

// marksOf are what a history has that others may not have: its kinds of events, each
// with the name of what it is about and the kind before it.
func marksOf(workflow string, h *historypb.History) map[string]bool {
	marks, names := map[string]bool{}, map[int64]string{}
	before := ""
	for _, e := range h.Events {
		name := strings.TrimPrefix(e.EventType.String(), "EVENT_TYPE_") + " " + nameOf(e, names)
		names[e.EventId] = nameOf(e, names)
		switch e.EventType {
		case enumspb.EVENT_TYPE_WORKFLOW_TASK_SCHEDULED, enumspb.EVENT_TYPE_WORKFLOW_TASK_STARTED, enumspb.EVENT_TYPE_WORKFLOW_TASK_COMPLETED,
			enumspb.EVENT_TYPE_ACTIVITY_TASK_STARTED, enumspb.EVENT_TYPE_UPSERT_WORKFLOW_SEARCH_ATTRIBUTES:
			continue
		}
		marks[workflow+": "+name] = true
		if strings.Contains(name, "SCHEDULED") || strings.Contains(name, "INITIATED") || strings.HasPrefix(name, "TIMER_STARTED") || strings.HasPrefix(name, "WORKFLOW_EXECUTION") {
			marks[workflow+": "+before+" > "+name] = true
			before = name
		}
	}
	return marks
}

// nameOf is what an event is about.
func nameOf(e *historypb.HistoryEvent, names map[int64]string) string {
	summary, _, _ := strings.Cut(string(e.GetUserMetadata().GetSummary().GetData()), ":")
	switch a := e.Attributes.(type) {
	case *historypb.HistoryEvent_ActivityTaskScheduledEventAttributes:
		return a.ActivityTaskScheduledEventAttributes.ActivityType.Name
	case *historypb.HistoryEvent_ActivityTaskFailedEventAttributes:
		return names[a.ActivityTaskFailedEventAttributes.ScheduledEventId]
	case *historypb.HistoryEvent_ActivityTaskTimedOutEventAttributes:
		return names[a.ActivityTaskTimedOutEventAttributes.ScheduledEventId]
	case *historypb.HistoryEvent_ActivityTaskCanceledEventAttributes:
		return names[a.ActivityTaskCanceledEventAttributes.ScheduledEventId]
	case *historypb.HistoryEvent_TimerStartedEventAttributes:
		return summary
	case *historypb.HistoryEvent_WorkflowExecutionSignaledEventAttributes:
		return a.WorkflowExecutionSignaledEventAttributes.SignalName
	case *historypb.HistoryEvent_SignalExternalWorkflowExecutionInitiatedEventAttributes:
		return a.SignalExternalWorkflowExecutionInitiatedEventAttributes.SignalName
	case *historypb.HistoryEvent_WorkflowExecutionUpdateAcceptedEventAttributes:
		return a.WorkflowExecutionUpdateAcceptedEventAttributes.AcceptedRequest.GetInput().GetName()
	case *historypb.HistoryEvent_StartChildWorkflowExecutionInitiatedEventAttributes:
		return a.StartChildWorkflowExecutionInitiatedEventAttributes.WorkflowType.Name
	}
	return ""
}

// writeHistories writes as few of the histories, and as short ones, as have all marks.
func writeHistories(folder string) error {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	runs := slices.SortedStableFunc(slices.Values(histories.runs), func(a, b recordedRun) int { return cmp.Compare(len(a.history.Events), len(b.history.Events)) })
	left := map[string]bool{}
	for _, r := range runs {
		maps.Copy(left, r.marks)
	}
	count := map[string]int{}
	for len(left) > 0 {
		var best recordedRun
		most := 0.0
		for _, r := range runs {
			n := 0
			for m := range r.marks {
				if left[m] {
					n++
				}
			}
			if gain := float64(n) / float64(len(r.history.Events)+50); gain > most {
				best, most = r, gain
			}
		}
		maps.DeleteFunc(left, func(m string, _ bool) bool { return best.marks[m] })
		count[best.workflow]++
		body, err := protojson.Marshal(best.history)
		if err != nil {
			return err
		}
		file := filepath.Join(folder, fmt.Sprintf("%s_%d.json", best.workflow, count[best.workflow]))
		if err := os.WriteFile(file, body, 0o644); err != nil {
			return err
		}
		fmt.Fprintln(os.Stderr, "recorded", file, len(best.history.Events), "events")
	}
	return nil
}
