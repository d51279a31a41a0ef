package fetch

import (
	"context"
	"sync"
)

type revokeKey struct{}

// revoker ends a request, also one that is finished after its context has ended.
type revoker struct {
	mu  sync.Mutex
	end []context.CancelCauseFunc
}

func (r *revoker) add(end context.CancelCauseFunc) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.end = append(r.end, end)
}

// Revocable returns a context that a gate may end by Revoke: for asking for a
// turn, and for the request that is made in it.
func Revocable(ctx context.Context) (context.Context, context.CancelCauseFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	return context.WithValue(ctx, revokeKey{}, &revoker{end: []context.CancelCauseFunc{cancel}}), cancel
}

// Revoke ends the request of a turn that was asked for under ctx: the turn is
// another's by now. It must not name a plain cancellation as its cause, which
// would let the request be finished.
func Revoke(ctx context.Context, cause error) {
	r, ok := ctx.Value(revokeKey{}).(*revoker)
	if !ok {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, end := range r.end {
		end(cause)
	}
}
