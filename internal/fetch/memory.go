package fetch

import (
	"context"
	"sync"

	"golang.org/x/sync/semaphore"
)

const (
	// smallBody is what a body may take without asking: most are smaller, and
	// as many of them as there are fetches at a time fit anywhere.
	smallBody = 1 << 20
	// inUse is how many times its size a body takes while it is read and
	// worked on: the buffer that grows, its text, what is made of it.
	inUse = 3
)

// Memory bounds what all bodies in flight take together, in bytes: those being
// read, and those not released yet. A body larger than smallBody asks once, for
// all that it may become, so nobody who holds a part waits for another. The windows
// of decoders have a share of their own, which a body takes first: who has a body
// never waits for one.
type Memory struct {
	size    int64
	free    *semaphore.Weighted
	windows *semaphore.Weighted
}

// NewMemory makes a bound of so many bytes for bodies, and of a third of it for
// windows beside.
func NewMemory(size int64) *Memory {
	size = max(size, 1)
	return &Memory{size: size, free: semaphore.NewWeighted(size), windows: semaphore.NewWeighted(windowsOf(size))}
}

func windowsOf(size int64) int64 { return max(size/3, 1) }

// take waits until a body of so many bytes may be held, and returns what gives
// its share back.
func (m *Memory) take(ctx context.Context, body int64) (release func(), err error) {
	return m.Hold(ctx, body*inUse)
}

// Hold waits until so many bytes may be held, and returns what gives them back.
// Who wants more than all there is takes all there is.
func (m *Memory) Hold(ctx context.Context, n int64) (release func(), err error) {
	if m == nil {
		return func() {}, nil
	}
	return hold(ctx, m.free, min(n, m.size))
}

// window waits until decoders may have windows of so many bytes.
func (m *Memory) window(ctx context.Context, n int64) (release func(), err error) {
	return hold(ctx, m.windows, min(n, windowsOf(m.size)))
}

func hold(ctx context.Context, of *semaphore.Weighted, n int64) (release func(), err error) {
	if err := of.Acquire(ctx, n); err != nil {
		return nil, context.Cause(ctx)
	}
	var once sync.Once
	return func() { once.Do(func() { of.Release(n) }) }, nil
}
