package fetch

import (
	"context"
	"sync"

	"golang.org/x/sync/semaphore"
)

const (
	// smallBody is the size in bytes up to which bodies need no share of the memory. Most are
	// smaller.
	smallBody = 1 << 20
	// firstBody is the share in bytes first taken for a body of unknown length. Few papers are
	// larger.
	firstBody = 16 << 20
	// inUse is the memory of a body as a multiple of its size, while it is read and processed:
	// the growing buffer, its text, and the results.
	inUse = 3
	// ownersShare is the divisor of a pool's size that gives the limit for hosts of one owner. A
	// single body may exceed it.
	ownersShare = 4
)

// Memory limits the bytes of all bodies in flight: those being read, and those not released yet.
// A body larger than smallBody takes its share once, for all of its possible size. One of unknown
// length takes more when it exceeds firstBody. Bytes beyond firstBody come from a separate pool,
// and so do the windows of decoders. Each request takes from the pools once and in one order
// (windows, bodies, large), so that there is no deadlock. Hold needs a Memory of its own for
// unpacked files; it takes from large before bodies, which small files need.
type Memory struct {
	windows, bodies, large *pool
	kept                   kept
}

// kept counts bytes that are held beyond their fetch.
type kept struct {
	most int64

	mu     sync.Mutex
	all    int64
	owners map[string]int64
}

// NewMemory returns a limit of size bytes for bodies and a further third for windows, a quarter
// of which is for kept bytes.
func NewMemory(size int64) *Memory {
	size = max(size, 2)
	return &Memory{windows: newPool(size/3 - size/12), bodies: newPool(size - size/3), large: newPool(size / 3),
		kept: kept{most: size / 12, owners: map[string]int64{}}}
}

// first returns the largest part of a body in the pool of bodies.
func (m *Memory) first() int64 { return max(1, min(firstBody, m.bodies.size/inUse)) }

// take waits until a body of an owner's host may grow from held bytes to body bytes, and returns
// a function that releases the share.
func (m *Memory) take(ctx context.Context, owner string, held, body int64) (release func(), err error) {
	if held > 0 {
		return m.large.hold(ctx, owner, (body-held)*inUse)
	}
	first, rest := m.parts(body * inUse)
	return hold(ctx, owner, first, rest)
}

// Hold waits until an owner's host may hold n bytes, and returns a function that releases them. A
// greater n than the whole memory takes all of it.
func (m *Memory) Hold(ctx context.Context, owner string, n int64) (release func(), err error) {
	if m == nil {
		return func() {}, nil
	}
	first, rest := m.parts(n)
	return hold(ctx, owner, rest, first)
}

// Keep reserves n bytes in a separate part for data that outlives its fetch, and reports whether
// there was room, in the owner's share too. That share is half of the part while only this owner
// keeps data. It never waits, since callers that wait for each other would deadlock. Forget
// releases the bytes.
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

// Forget releases bytes that an owner kept.
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

// parts divides n bytes between the pools.
func (m *Memory) parts(n int64) (first, rest part) {
	inBodies := min(n, m.bodies.size, max(firstBody*inUse, n-m.large.size))
	return part{m.bodies, inBodies}, part{m.large, n - inBodies}
}

// hold takes the parts one after the other.
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

// pool is a part of the memory. Hosts of one owner hold at most a share of it, so that endless
// bodies of some hosts leave room for others.
type pool struct {
	size int64
	all  *semaphore.Weighted

	mu     sync.Mutex
	owners map[string]*ownerShare
}

// ownerShare is the share of an owner's hosts.
type ownerShare struct {
	*semaphore.Weighted
	users int // holders and waiters; guarded by pool.mu
}

func newPool(size int64) *pool {
	size = max(size, 1)
	return &pool{size: size, all: semaphore.NewWeighted(size), owners: map[string]*ownerShare{}}
}

// hold waits until n bytes, or at most the whole pool, may be held.
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

// share waits until n bytes fit into the share of an owner.
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
