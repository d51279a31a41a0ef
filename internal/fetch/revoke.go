package fetch

import (
	"context"
	"sync"
)

type revokeKey struct{}

// revoker cancels a request, even one that outlives its context.
type revoker struct {
	mu  sync.Mutex
	end []context.CancelCauseFunc
}

func (r *revoker) add(end context.CancelCauseFunc) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.end = append(r.end, end)
}

// Revocable returns a context that a gate may cancel by Revoke, for taking a turn and for the
// request in it.
func Revocable(ctx context.Context) (context.Context, context.CancelCauseFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	return context.WithValue(ctx, revokeKey{}, &revoker{end: []context.CancelCauseFunc{cancel}}), cancel
}

// Revoke cancels the request of a turn taken under ctx, since another caller has the turn now.
// cause must not be a plain cancellation, which would let the request finish.
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
