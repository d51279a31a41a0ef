package fetch

import "context"

type revokeKey struct{}

// Revocable returns a context that a gate may end by Revoke: for asking for a
// turn, and for the request that is made in it.
func Revocable(ctx context.Context) (context.Context, context.CancelCauseFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	return context.WithValue(ctx, revokeKey{}, cancel), cancel
}

// Revoke ends the request of a turn that was asked for under ctx: the turn is
// another's by now. It must not name a plain cancellation as its cause, which
// would let the request be finished.
func Revoke(ctx context.Context, cause error) {
	if cancel, ok := ctx.Value(revokeKey{}).(context.CancelCauseFunc); ok {
		cancel(cause)
	}
}
