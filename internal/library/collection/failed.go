package collection

import (
	"context"
	"errors"
	"fmt"
	"syscall"

	"github.com/jackc/pgx/v5/pgconn"

	"gleaner/internal/document"
	"gleaner/internal/gleaner"
	"gleaner/internal/guard"
	"gleaner/internal/library/repository"
	"gleaner/internal/record/store"
)

// lost is the outcome of a document whose file is missing.
const lost = "file-not-found"

// Later reports whether after an error of Judge the document waits and others can be judged.
func Later(err error) bool {
	return errors.Is(err, ErrStalled) || errors.Is(err, ErrUnrecognised) || errors.Is(err, errAlone) ||
		errors.Is(err, errCounted) || guard.Panicked(err)
}

// errCounted is returned for a document whose own failure is recorded.
var errCounted = errors.New("it failed")

// failed records a failure of a document. Failures of the store, the database or the machine
// affect all documents and are not recorded; they are waited for. A document judged before keeps
// its verdict.
func (c *Collection) failed(ctx context.Context, d store.Document, err error) (Judgement, error) {
	j := Judgement{State: d.State, Outcome: d.Outcome, Class: d.Class}
	why := fmt.Errorf("collection: %s: %w", d.SHA256, err)
	gone := errors.Is(err, repository.ErrNotFound)
	if errors.Is(err, ErrUnrecognised) || d.State == gleaner.DocumentAccepted || d.State == gleaner.DocumentRejected || errors.Is(err, store.ErrPruned) || !gone && !Later(err) && c.others(ctx, err) {
		return j, why
	}
	outcome := "failed"
	switch {
	case gone:
		outcome = lost
	case errors.Is(err, ErrStalled):
		outcome = string(document.Stalled)
	}
	if err := c.db.SaveFailure(ctx, d.SHA256, outcome, clean(err.Error()), gone); err != nil {
		return j, errors.Join(why, err)
	}
	if gone {
		return Judgement{State: gleaner.DocumentFailed, Outcome: outcome}, nil
	}
	return j, fmt.Errorf("%w: %w", errCounted, why)
}

// others reports whether an error is not specific to the document.
func (c *Collection) others(ctx context.Context, err error) bool {
	for _, is := range []error{repository.ErrFull, repository.ErrAway, repository.ErrForeign, syscall.ENOSPC, syscall.EDQUOT, syscall.EROFS,
		syscall.ENOMEM, syscall.EAGAIN, syscall.EMFILE, syscall.ENFILE, syscall.ENOENT} {
		if errors.Is(err, is) {
			return true
		}
	}
	if refused, ok := errors.AsType[*pgconn.PgError](err); ok {
		// Data rejected by the database, or a row that is too large.
		return refused.Code[:2] != "22" && refused.Code[:2] != "54"
	}
	// A store with its mark but without this file works.
	return c.repo.There(ctx) != nil
}
