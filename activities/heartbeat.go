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

// Silence is after how long without a heartbeat the worker of an activity counts as dead,
// so that its work is begun again within ten seconds, and Beat how often it heartbeats:
// one that is short of a processor misses no three beats. The worker of a slice of a crawl
// is known to be dead by its leases, which are renewed together, so that a slice need not
// heartbeat often: each one is a write of the Temporal server, and there are thousands.
const (
	Beat         = Silence * 3 / 10
	Silence      = 5 * time.Second
	CrawlSilence = 5 * time.Minute
)

// Slices heartbeat every crawlBeat, and where a process has many of them so much more
// seldom that it sends crawlBeats a second, or as seldom as CrawlSilence allows.
const (
	crawlBeat  = 18 * time.Second
	crawlBeats = 5
)

// beating counts the activities of this process that heartbeat.
var beating atomic.Int64

// beatEvery is how often one of so many heartbeats, that may be silent for so long.
func beatEvery(silence time.Duration, of int64) time.Duration {
	seldom := time.Duration(of) * time.Second / crawlBeats
	return max(Beat, min(silence*3/10, max(crawlBeat, seldom)))
}

// heartbeats sends heartbeats with the details set last, until stop is called or ctx ends,
// and a last one if the details are newer. The context beat is cancelled when the attempt is
// over or the worker stops, so that the activity can finish in time. A server that does not
// answer does not end it.
func heartbeats[T any](ctx context.Context) (beat context.Context, set func(T), stop func()) {
	beat, cancel := context.WithCancel(context.WithoutCancel(ctx))
	over := context.AfterFunc(ctx, cancel)
	if !activity.IsActivity(ctx) { // called by a command: nobody listens
		return beat, func(T) {}, func() { over(); cancel() }
	}
	var latest atomic.Pointer[T]
	if before, ok := resumed[T](ctx); ok {
		latest.Store(&before) // a beat before the first word must not wipe it out
	}
	var told *T
	tell := func() {
		if told = latest.Load(); told != nil {
			say(ctx, *told)
		} else {
			say(ctx)
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
			case <-stopping: // the last request is finished, and needs beats
				cancel()
				stopping = nil
			case <-tick.C:
			}
			tell()
			tick.Reset(beatEvery(silence, beating.Load()))
		}
	})
	return beat, func(d T) { latest.Store(&d) }, func() {
		over()
		cancel()
		close(ended)
		<-done
		// What is not tried again says in its result or its error what it did.
		if retry := activity.GetInfo(ctx).RetryPolicy; latest.Load() != told && (retry == nil || retry.MaximumAttempts != 1) {
			tell()
		}
	}
}

// say sends a heartbeat. The SDK's own takes a silent server for the end of the attempt, so
// it is used only after the server has named an end.
func say(ctx context.Context, details ...any) {
	payload, err := converter.GetDefaultDataConverter().ToPayloads(details...)
	if err != nil {
		return // nobody could read it
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

// Still is for how long an activity that takes as long as it has to may come to nothing
// new: then it is begun again. No limit of its time is one of its work.
const Still = 6 * time.Hour

// errStill is an attempt that stood still.
var errStill = errors.New("nothing came of it in " + Still.String())

// moving gives a context for an attempt that ends when moved was not called for a while.
// heartbeats of it end with it, so that the server knows of one that cannot be stopped.
func moving(ctx context.Context) (moves context.Context, moved, stop func()) {
	moves, cancel := context.WithCancelCause(ctx)
	timer := time.AfterFunc(Still, func() { cancel(errStill) })
	return moves, func() { timer.Reset(Still) }, func() { timer.Stop(); cancel(nil) }
}

// stood gives the error of an attempt, which may be that it stood still.
func stood(moves context.Context, err error) error {
	if err != nil && errors.Is(context.Cause(moves), errStill) {
		return errStill
	}
	return err
}

// alive beats for an activity that has nothing to tell, until the function it
// returns is called.
func alive(ctx context.Context) (stop func()) {
	_, _, stop = heartbeats[string](ctx)
	return stop
}

// resumed is what the attempt before told last, if there was one.
func resumed[T any](ctx context.Context) (before T, ok bool) {
	if !activity.IsActivity(ctx) || !activity.HasHeartbeatDetails(ctx) {
		return before, false
	}
	err := activity.GetHeartbeatDetails(ctx, &before)
	return before, err == nil
}

// hurry begins at once what of a harvest's work waits for its next attempt: a
// person said that what it waits for is back, or resumed the harvest. A server too old for that lets it
// wait; the attempts come by themselves.
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
