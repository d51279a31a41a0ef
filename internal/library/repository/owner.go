package repository

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// The errors of a store that is not the record's. Both are the operator's to
// mend, and say nothing of any document.
var (
	ErrAway    = errors.New("the blob store is not there (is its folder mounted, is it the right bucket?): it holds no mark and none of the record's documents")
	ErrForeign = errors.New("the blob store is another record's")
)

// Owner is the record to which a store belongs.
type Owner interface {
	RecordID(ctx context.Context) (string, error)
	// SomeFiles names some documents whose files the store must have: none where
	// the record is new.
	SomeFiles(ctx context.Context) ([]string, error)
}

// markKey is the blob that says whose a store is. The folder of a disk that is
// not mounted is empty, and so is a bucket of a misspelt name: without a mark
// every document would seem to be lost, and new ones would go to the wrong place.
const markKey = "record"

// BelongTo makes the repository reject stores of other owners. It must be called before the first
// use.
func (r *Repository) BelongTo(o Owner) { r.owner = o }

// first checks the mark before any other operation, until it was seen once.
func (r *Repository) first(ctx context.Context) error {
	if r.owner == nil || r.seen.Load() {
		return nil
	}
	return r.There(ctx)
}

// There reports whether the store is there and is the owner's: nil, ErrAway,
// ErrForeign or what keeps it from being asked. A store without a mark gets one
// where the record has no file yet, or where the store has some of them.
func (r *Repository) There(ctx context.Context) error {
	if r.owner == nil {
		return nil
	}
	id, err := r.ownerID(ctx)
	if err != nil {
		return fmt.Errorf("repository: %w", err)
	}
	mark, err := r.bucket.ReadAll(ctx, markKey)
	switch err = typed(err); {
	case errors.Is(err, ErrNotFound):
		if err := r.claim(ctx, id); err != nil {
			return err
		}
	case err != nil:
		return fmt.Errorf("%s: %w", r.url, err)
	case strings.TrimSpace(string(mark)) != id:
		return fmt.Errorf("%s: %w: its file %q says %.60q, the database is %q; delete that file only if the store is to change hands",
			r.url, ErrForeign, markKey, strings.TrimSpace(string(mark)), id)
	}
	r.seen.Store(true)
	return nil
}

// ownerID asks the owner once: whoever stores a file with a connection to the record
// in hand must not wait for a second one.
func (r *Repository) ownerID(ctx context.Context) (string, error) {
	if id := r.id.Load(); id != nil {
		return *id, nil
	}
	id, err := r.owner.RecordID(ctx)
	if err == nil {
		r.id.Store(&id)
	}
	return id, err
}

// claim marks a store that holds some of the record's files, or a new one: where the
// record has no file, and this process has seen no mark before.
func (r *Repository) claim(ctx context.Context, id string) error {
	some, err := r.owner.SomeFiles(ctx)
	if err != nil {
		return fmt.Errorf("repository: %w", err)
	}
	found := len(some) == 0 && !r.seen.Load()
	for _, sha := range some {
		if found {
			break
		}
		if found, err = r.bucket.Exists(ctx, Path(sha)); err != nil {
			return fmt.Errorf("%s: %w", r.url, typed(err))
		}
	}
	if !found {
		if mark, err := r.bucket.ReadAll(ctx, markKey); err == nil && strings.TrimSpace(string(mark)) == id {
			return nil // another one has marked it meanwhile
		}
		return fmt.Errorf("%s: %w", r.url, ErrAway)
	}
	if err = r.put(ctx, file{markKey, strings.NewReader(id + "\n")}); errors.Is(err, ErrNotFound) {
		return fmt.Errorf("%s: %w", r.url, ErrAway) // the folder itself is gone
	}
	return err
}

// told names an error. What is not there may be so because nothing is: then the
// error is the store's, not the document's.
func (r *Repository) told(ctx context.Context, err error) error {
	if err = typed(err); errors.Is(err, ErrNotFound) {
		if away := r.There(ctx); away != nil {
			return away
		}
	}
	return err
}
