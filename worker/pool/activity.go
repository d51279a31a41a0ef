package pool

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/interceptor"
	sdk "go.temporal.io/sdk/temporal"

	"gleaner/activities"
	"gleaner/internal/guard"
	"gleaner/internal/record/frontier"
	"gleaner/internal/service/telemetry"
)

// logActivities adds the activity, its attempt, its harvest and its host to all lines that an
// activity logs, and logs how each attempt ended.
type logActivities struct {
	interceptor.WorkerInterceptorBase
	log *slog.Logger
	of  func(ctx context.Context, host string) ([]string, error) // harvests that want a host's crawl

	mu     sync.Mutex
	panics map[string]int // by retried activity
}

func (l *logActivities) InterceptActivity(_ context.Context, next interceptor.ActivityInboundInterceptor) interceptor.ActivityInboundInterceptor {
	i := &logActivity{logActivities: l}
	i.Next = next
	return i
}

type logActivity struct {
	interceptor.ActivityInboundInterceptorBase
	*logActivities
}

func (l *logActivity) ExecuteActivity(ctx context.Context, in *interceptor.ExecuteActivityInput) (any, error) {
	ctx = l.about(ctx)
	started := time.Now()
	out, err := l.guarded(ctx, in)
	took := slog.Duration("took", time.Since(started).Round(time.Millisecond))
	switch {
	case err == nil:
		l.log.LogAttrs(ctx, slog.LevelDebug, "activity done", took)
	case paused(err):
		l.log.LogAttrs(ctx, slog.LevelDebug, "activity waits: its harvest is paused", took)
	case handedOver(ctx, err):
		l.log.LogAttrs(ctx, slog.LevelInfo, "activity handed over: the worker stops", took)
		err = activities.HandedOver()
	case ctx.Err() != nil:
		l.log.LogAttrs(ctx, slog.LevelInfo, "activity cancelled", took)
	default:
		l.log.LogAttrs(ctx, slog.LevelWarn, "activity failed", took, slog.String("error", err.Error()))
	}
	return out, err
}

// guarded runs an activity. One that panics is retried like any failed one, but only a limited
// number of times, since the cause, such as a catalogue's answer, may persist.
func (l *logActivity) guarded(ctx context.Context, in *interceptor.ExecuteActivityInput) (out any, err error) {
	err = guard.Run(func() (err error) {
		out, err = l.Next.ExecuteActivity(ctx, in)
		return err
	})
	if guard.Panicked(err) && l.panicked(activity.GetInfo(ctx)) >= frontier.MaxDeaths {
		err = sdk.NewNonRetryableApplicationError(err.Error(), string(frontier.Panicked), err)
	}
	return out, err
}

// maxPanics is the number of activities whose panics are counted.
const maxPanics = 1000

// panicked counts a panic of an activity, and returns the number of its attempts that panicked in
// this process. Other attempts do not count, since there may be any number while a harvest is
// paused.
func (l *logActivities) panicked(info activity.Info) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.panics) >= maxPanics || l.panics == nil {
		l.panics = map[string]int{}
	}
	id := info.WorkflowExecution.RunID + "/" + info.ActivityID
	l.panics[id]++
	return l.panics[id]
}

// paused reports whether an activity waits because its harvest is paused, perhaps for months.
func paused(err error) bool {
	var app *sdk.ApplicationError
	return errors.As(err, &app) && app.Type() == activities.ErrTypePaused
}

// handedOver reports whether an activity ended because its worker stops, which is no failure.
func handedOver(ctx context.Context, err error) bool {
	select {
	case <-activity.GetWorkerStopChannel(ctx):
		return errors.Is(err, context.Canceled) && ctx.Err() == nil
	default:
		return false
	}
}

// about adds the subject of an activity from its workflow's id, which is harvest/VENUE/YEARS or
// site/HOST. A site's crawl belongs to every harvest that wants the site.
func (l *logActivity) about(ctx context.Context) context.Context {
	info := activity.GetInfo(ctx)
	attrs := []slog.Attr{slog.String("activity", info.ActivityType.Name), slog.Int("attempt", int(info.Attempt))}
	kind, rest, _ := strings.Cut(info.WorkflowExecution.ID, "/")
	switch kind {
	case "harvest":
		attrs = append(attrs, slog.String("harvest", strings.TrimSuffix(rest, "/homepages")))
	case "site":
		if ids, err := l.of(ctx, rest); err == nil && len(ids) > 0 {
			attrs = append(attrs, slog.String("harvest", strings.Join(ids, ",")))
		}
		attrs = append(attrs, slog.String("host", rest))
	default:
		attrs = append(attrs, slog.String("workflow", info.WorkflowExecution.ID))
	}
	return telemetry.With(ctx, attrs...)
}
