package activities

import (
	"context"
	"sync/atomic"
	"time"

	"go.temporal.io/sdk/activity"
)

// Beat is how often an activity says that it is alive, and Silence after how long
// without a word its worker counts as dead. A dead worker's work is begun again
// within ten seconds; one that is short of a processor misses no three beats.
const (
	Beat    = 1500 * time.Millisecond
	Silence = 5 * time.Second
)

// heartbeats beats with the details set last, until stop is called, and then once
// more where they are newer: a slow page or a busy service must not look like a
// dead worker, and an attempt that fails tells all that it did. The context it
// returns ends, too, when the worker is told to stop, so that an
// activity can hand its work back within the worker's stop timeout.
func heartbeats[T any](ctx context.Context) (beat context.Context, set func(T), stop func()) {
	beat, cancel := context.WithCancel(ctx)
	if !activity.IsActivity(ctx) { // called by a command: nobody listens
		return beat, func(T) {}, cancel
	}
	var latest atomic.Pointer[T]
	if before, ok := resumed[T](ctx); ok {
		latest.Store(&before) // a beat before the first word must not wipe it out
	}
	var told *T
	tell := func() {
		if told = latest.Load(); told != nil {
			activity.RecordHeartbeat(ctx, *told)
		} else {
			activity.RecordHeartbeat(ctx)
		}
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(Beat)
		defer tick.Stop()
		for {
			select {
			case <-beat.Done():
				return
			case <-activity.GetWorkerStopChannel(ctx):
				cancel()
				return
			case <-tick.C:
			}
			tell()
		}
	}()
	return beat, func(d T) { latest.Store(&d) }, func() {
		cancel()
		<-done
		if latest.Load() != told {
			tell()
		}
	}
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
