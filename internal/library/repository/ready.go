package repository

import (
	"context"
	"crypto/rand"
	"errors"
	"io"
)

// probeKey is what is written to find out whether the store takes files again.
// What a crash leaves of it is swept with other temporary files.
const probeKey = ".partial/probe"

// leastProbe is the size in bytes of the smallest probe. A store with less room is full.
const leastProbe = 64 << 10

// Ready reports whether the store takes files: nil without looking while it took
// the last one, else what became of a probe as large as the file that it did not
// take. Who is about to fetch a document asks first, so that a full or missing
// store does not have the same file downloaded at each try.
func (r *Repository) Ready(ctx context.Context) error {
	if r.refused.Load() == 0 {
		return nil
	}
	r.probing.Lock()
	defer r.probing.Unlock()
	size := r.refused.Load()
	if size == 0 {
		return nil // another one has just found room
	}
	if err := r.There(ctx); err != nil {
		return err
	}
	// Bytes that no file system can pack.
	if err := r.told(ctx, r.put(ctx, file{probeKey, withContext(ctx, io.LimitReader(rand.Reader, size))})); err != nil {
		return err
	}
	if err := typed(r.bucket.Delete(ctx, probeKey)); err != nil && !errors.Is(err, ErrNotFound) {
		return err
	}
	r.refused.Store(0)
	return nil
}

// noted records that the store rejected a file of this size.
func (r *Repository) noted(err error, size int64) error {
	for _, is := range []error{ErrFull, ErrAway, ErrForeign} {
		if errors.Is(err, is) {
			r.refused.Store(max(size, leastProbe))
		}
	}
	return err
}
