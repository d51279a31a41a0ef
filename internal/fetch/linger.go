package fetch

import (
	"context"
	"errors"
	"time"
)

// Linger returns a context for a request in flight and its answer. If ctx is cancelled because
// the worker stops, the context lasts for grace longer, so that the request is not repeated. Any
// other cause, such as a lost lease, ends it at once.
func Linger(ctx context.Context, grace time.Duration) (context.Context, context.CancelFunc) {
	if grace <= 0 || ctx.Err() != nil {
		return ctx, func() {}
	}
	out, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	if r, ok := ctx.Value(revokeKey{}).(*revoker); ok {
		r.add(cancel)
	}
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
