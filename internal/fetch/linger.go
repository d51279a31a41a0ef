package fetch

import (
	"context"
	"errors"
	"time"
)

// linger returns a context for a request that is being sent. Where ctx is
// cancelled because its caller is told to stop, it lives so much longer, so that
// the answer is not thrown away and asked for again; any other end, such as a
// lost lease, is an end at once.
func linger(ctx context.Context, grace time.Duration) (context.Context, context.CancelFunc) {
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
