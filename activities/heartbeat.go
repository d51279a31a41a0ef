package activities

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/converter"

	"gleaner/internal/guard"
)

// Silence is the time without a heartbeat after which the worker of an activity counts as
// dead, so that its work begins again within ten seconds. Beat is the interval of
// heartbeats: three fit into Silence, in case the worker is short of processor time.
// Slices of crawls heartbeat less often, since each heartbeat is a write of the Temporal
// server and there are thousands of slices. Their leases show whether the worker is dead.
const (
	Beat         = Silence * 3 / 10
	Silence      = 5 * time.Second
	CrawlSilence = 5 * time.Minute
)

// Slices heartbeat every crawlBeat. A process with many slices sends crawlBeats a second, or
// fewer as far as CrawlSilence allows.
const (
	crawlBeat  = 18 * time.Second
	crawlBeats = 5
)

// beating counts the activities of this process that heartbeat.
var beating atomic.Int64

// beatEvery returns the interval of heartbeats of one of several activities with a timeout.
func beatEvery(silence time.Duration, of int64) time.Duration {
	seldom := time.Duration(of) * time.Second / crawlBeats
	return max(Beat, min(silence*3/10, max(crawlBeat, seldom)))
}

// heartbeats sends heartbeats with the details set last, until stop is called or ctx ends,
// and a last one if the details are newer. The context beat is cancelled when the attempt
// ends or the worker stops, so that the activity can finish in time. A server that does not
// answer does not cancel it.
func heartbeats[T any](ctx context.Context) (beat context.Context, set func(T), stop func()) {
	beat, cancel := context.WithCancel(context.WithoutCancel(ctx))
	over := context.AfterFunc(ctx, cancel)
	if !activity.IsActivity(ctx) { // called by a command
		return beat, func(T) {}, func() { over(); cancel() }
	}
	var latest atomic.Pointer[T]
	if before, ok := resumed[T](ctx); ok {
		latest.Store(&before) // a heartbeat before the first set must not erase it
	}
	var sent *T
	send := func() {
		if sent = latest.Load(); sent != nil {
			sendHeartbeat(ctx, *sent)
		} else {
			sendHeartbeat(ctx)
		}
	}
	ended := make(chan struct{})
	done := guard.Go(func() {
		beating.Add(1)
		defer beating.Add(-1)
		silence := activity.GetInfo(ctx).HeartbeatTimeout
		tick := time.NewTicker(beatEvery(silence, beating.Load()))
		defer tick.Stop()
		stopping := activity.GetWorkerStopChannel(ctx)
		for {
			select {
			case <-ended:
				return
			case <-ctx.Done():
				return
			case <-stopping: // heartbeats go on until the last request is finished
				cancel()
				stopping = nil
			case <-tick.C:
			}
			send()
			tick.Reset(beatEvery(silence, beating.Load()))
		}
	})
	return beat, func(d T) { latest.Store(&d) }, func() {
		over()
		cancel()
		close(ended)
		<-done
		// An activity without retries reports its progress in its result or error.
		if retry := activity.GetInfo(ctx).RetryPolicy; latest.Load() != sent && (retry == nil || retry.MaximumAttempts != 1) {
			send()
		}
	}
}

// sendHeartbeat sends a heartbeat. The SDK's own function cancels the attempt if the server does not
// answer, so it is called only after the server has ended the attempt.
func sendHeartbeat(ctx context.Context, details ...any) {
	payload, err := converter.GetDefaultDataConverter().ToPayloads(details...)
	if err != nil {
		return // such details cannot be decoded either
	}
	in := activity.GetInfo(ctx)
	asked, cancel := context.WithTimeout(context.WithoutCancel(ctx), max(Beat, in.HeartbeatTimeout/10))
	defer cancel()
	answer, err := activity.GetClient(ctx).WorkflowService().RecordActivityTaskHeartbeat(asked,
		&workflowservice.RecordActivityTaskHeartbeatRequest{TaskToken: in.TaskToken, Details: payload, Namespace: in.Namespace})
	var gone *serviceerror.NotFound
	if errors.As(err, &gone) || answer.GetCancelRequested() || answer.GetActivityPaused() || answer.GetActivityReset() {
		activity.RecordHeartbeat(ctx, details...)
	}
}

// Still is how long an activity without a time limit may make no progress. Then it begins
// again.
const Still = 6 * time.Hour

// errStill is the error of an attempt that made no progress.
var errStill = errors.New("nothing came of it in " + Still.String())

// moving returns a context for an attempt, which ends when moved was not called for Still.
// The heartbeats of the context end with it, so that the server detects an attempt that
// cannot be stopped.
func moving(ctx context.Context) (moves context.Context, moved, stop func()) {
	moves, cancel := context.WithCancelCause(ctx)
	timer := time.AfterFunc(Still, func() { cancel(errStill) })
	return moves, func() { timer.Reset(Still) }, func() { timer.Stop(); cancel(nil) }
}

// orStill returns errStill instead of err if the attempt made no progress.
func orStill(moves context.Context, err error) error {
	if err != nil && errors.Is(context.Cause(moves), errStill) {
		return errStill
	}
	return err
}

// alive sends heartbeats without details until stop is called.
func alive(ctx context.Context) (stop func()) {
	_, _, stop = heartbeats[string](ctx)
	return stop
}

// resumed returns the last heartbeat details of the attempt before, if there was one.
func resumed[T any](ctx context.Context) (before T, ok bool) {
	if !activity.IsActivity(ctx) || !activity.HasHeartbeatDetails(ctx) {
		return before, false
	}
	err := activity.GetHeartbeatDetails(ctx, &before)
	return before, err == nil
}

// hurry starts the activities of a harvest that wait for their next attempt: a person said
// that a service is back, or resumed the harvest. On a server too old for that they begin
// after their wait.
func hurry(ctx context.Context) {
	in := activity.GetInfo(ctx)
	c := activity.GetClient(ctx)
	if c == nil {
		return
	}
	for _, id := range []string{in.WorkflowExecution.ID, HomepagesID(in.WorkflowExecution.ID)} {
		d, err := c.DescribeWorkflowExecution(ctx, id, "")
		if err != nil {
			continue
		}
		run := &commonpb.WorkflowExecution{WorkflowId: id, RunId: d.GetWorkflowExecutionInfo().GetExecution().GetRunId()}
		for _, a := range d.GetPendingActivities() {
			if a.GetState() != enumspb.PENDING_ACTIVITY_STATE_SCHEDULED || a.GetAttempt() < 2 {
				continue
			}
			_, err := c.WorkflowService().ResetActivity(ctx, &workflowservice.ResetActivityRequest{Namespace: in.Namespace, Execution: run,
				Identity: "retry", Activity: &workflowservice.ResetActivityRequest_Id{Id: a.GetActivityId()}})
			if err != nil {
				activity.GetLogger(ctx).Warn("what waits for its next attempt goes on waiting", "workflow", id, "activity", a.GetActivityType().GetName(), "error", err)
			}
		}
	}
}

// HomepagesID is the id of the workflow by which a harvest's workflow finds its
// homepages.
func HomepagesID(harvest string) string { return harvest + "/homepages" }
