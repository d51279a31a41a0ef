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
	// firstBody is what is first held for a body of unknown length. Few papers are larger.
	firstBody = 16 << 20
	// inUse is how many times its size a body takes while it is read and
	// worked on: the buffer that grows, its text, what is made of it.
	inUse = 3
	// ownersShare is the part of a pool, as its divisor, that hosts of one owner may hold,
	// unless it is one body.
	ownersShare = 4
)

// Memory bounds what all bodies in flight take together, in bytes: those being
// read, and those not released yet. A body larger than smallBody asks once, for
// all that it may become; one of unknown length asks again when it is larger than
// firstBody. What is beyond firstBody comes from a pool of its own, and so do the
// windows of decoders. Each asks the pools in one order, windows, bodies, large, and each
// pool once: nobody waits for one who waits for him. Hold is of a Memory for what is unpacked
// alone, and asks for large before bodies, which small files need.
type Memory struct {
	windows, bodies, large *pool
	kept                   kept
}

// kept is what outlives its fetch, in bytes.
type kept struct {
	most int64

	mu     sync.Mutex
	all    int64
	owners map[string]int64
}

// NewMemory makes a bound of so many bytes for bodies, and of a third of it beside for
// windows, a quarter of which is for what is kept.
func NewMemory(size int64) *Memory {
	size = max(size, 2)
	return &Memory{windows: newPool(size/3 - size/12), bodies: newPool(size - size/3), large: newPool(size / 3),
		kept: kept{most: size / 12, owners: map[string]int64{}}}
}

// first is how much of a body the pool of bodies holds.
func (m *Memory) first() int64 { return max(1, min(firstBody, m.bodies.size/inUse)) }

// take waits until a body of an owner's host may be held up to a size, of which a part is
// held already, and returns what gives the share back.
func (m *Memory) take(ctx context.Context, owner string, held, body int64) (release func(), err error) {
	if held > 0 {
		return m.large.hold(ctx, owner, (body-held)*inUse)
	}
	first, rest := m.parts(body * inUse)
	return hold(ctx, owner, first, rest)
}

// Hold waits until an owner's host may hold so many bytes, and returns what gives them back.
// Who wants more than all there is takes all there is.
func (m *Memory) Hold(ctx context.Context, owner string, n int64) (release func(), err error) {
	if m == nil {
		return func() {}, nil
	}
	first, rest := m.parts(n)
	return hold(ctx, owner, rest, first)
}

// Keep holds so many bytes for what outlives its fetch, in a part of its own, if there is
// room, also in the owner's share, which is half of it while nobody else keeps anything:
// nobody waits for who keeps something and waits himself. Forget gives them back.
func (m *Memory) Keep(owner string, n int64) bool {
	if m == nil {
		return true
	}
	k := &m.kept
	k.mu.Lock()
	defer k.mu.Unlock()
	own, share := k.owners[owner], k.most/ownersShare
	if k.all == own {
		share = k.most / 2
	}
	if k.all+n > k.most || own > 0 && own+n > share {
		return false
	}
	k.all, k.owners[owner] = k.all+n, own+n
	return true
}

// Forget gives back bytes that an owner kept.
func (m *Memory) Forget(owner string, n int64) {
	if m == nil {
		return
	}
	k := &m.kept
	k.mu.Lock()
	defer k.mu.Unlock()
	k.all -= n
	if k.owners[owner] -= n; k.owners[owner] == 0 {
		delete(k.owners, owner)
	}
}

// part is a number of bytes of a pool.
type part struct {
	*pool
	n int64
}

// parts are the pools that bytes are of.
func (m *Memory) parts(n int64) (first, rest part) {
	inBodies := min(n, m.bodies.size, max(firstBody*inUse, n-m.large.size))
	return part{m.bodies, inBodies}, part{m.large, n - inBodies}
}

// hold waits for one part after the other.
func hold(ctx context.Context, owner string, parts ...part) (release func(), err error) {
	release = func() {}
	for _, p := range parts {
		if p.n == 0 {
			continue
		}
		before := release
		one, err := p.hold(ctx, owner, p.n)
		if err != nil {
			before()
			return nil, err
		}
		release = func() { one(); before() }
	}
	return release, nil
}

// window waits until decoders may have windows of so many bytes.
func (m *Memory) window(ctx context.Context, owner string, n int64) (release func(), err error) {
	return m.windows.hold(ctx, owner, n)
}

// pool is a part of the memory. Hosts of one owner hold a share of it at most, so that some
// that send without end leave room for others.
type pool struct {
	size int64
	all  *semaphore.Weighted

	mu     sync.Mutex
	owners map[string]*ownerShare
}

// ownerShare is what the hosts of an owner may hold.
type ownerShare struct {
	*semaphore.Weighted
	users int // that hold a part, or wait; guarded by pool.mu
}

func newPool(size int64) *pool {
	size = max(size, 1)
	return &pool{size: size, all: semaphore.NewWeighted(size), owners: map[string]*ownerShare{}}
}

// hold waits until so many bytes may be held, all there are at most.
func (p *pool) hold(ctx context.Context, owner string, n int64) (release func(), err error) {
	n = min(n, p.size)
	share := func() {}
	if owner != "" {
		if share, err = p.share(ctx, owner, n); err != nil {
			return nil, err
		}
	}
	if err := p.all.Acquire(ctx, n); err != nil {
		share()
		return nil, context.Cause(ctx)
	}
	return sync.OnceFunc(func() { p.all.Release(n); share() }), nil
}

// share waits until an owner's hosts hold so little that so many bytes fit beside.
func (p *pool) share(ctx context.Context, owner string, n int64) (release func(), err error) {
	most := max(1, p.size/ownersShare)
	n = min(n, most)
	p.mu.Lock()
	s := p.owners[owner]
	if s == nil {
		s = &ownerShare{Weighted: semaphore.NewWeighted(most)}
		p.owners[owner] = s
	}
	s.users++
	p.mu.Unlock()
	leave := func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		if s.users--; s.users == 0 {
			delete(p.owners, owner)
		}
	}
	if err := s.Acquire(ctx, n); err != nil {
		leave()
		return nil, context.Cause(ctx)
	}
	return func() { s.Release(n); leave() }, nil
}
