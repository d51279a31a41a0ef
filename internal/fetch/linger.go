package fetch

import (
	"context"
	"errors"
	"time"
)

// Linger returns a context for a request that is being sent, or an answer that is
// being worked on. If ctx is cancelled because the worker stops, the context lives
// for grace longer, so that the answer is not lost and asked for again. Any other
// cause, such as a lost lease, ends it at once.
func Linger(ctx context.Context, grace time.Duration) (context.Context, context.CancelFunc) {
	if grace <= 0 || ctx.Err() != nil {
		return ctx, func() {}
	}
	out, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		cause := context.Cause(ctx)
		if !errors.Is(cause, context.Canceled) {
			cancel(cause)
			return
		}
		t := time.AfterFunc(grace, func() { cancel(cause) })
		<-out.Done()
		t.Stop()
	})
	return out, func() { stop(); cancel(nil) }
}
