package fetch

import (
	"context"
	"time"
)

// Clock returns the time and waits; tests have their own.
type Clock interface {
	Now() time.Time
	// Wait blocks for d or until ctx is done, whose cause it returns then.
	Wait(ctx context.Context, d time.Duration) error
}

// systemClock is the clock of the system.
type systemClock struct{}

func (systemClock) Now() time.Time { return time.Now() }

func (systemClock) Wait(ctx context.Context, d time.Duration) error { return Wait(ctx, d) }

// Wait blocks for d or until ctx is done, whose cause it returns then.
func Wait(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return context.Cause(ctx)
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Every calls do at intervals of d until it returns false or ctx is done.
func Every(ctx context.Context, d time.Duration, do func() (more bool)) {
	tick := time.NewTicker(d)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if !do() {
			return
		}
	}
}
