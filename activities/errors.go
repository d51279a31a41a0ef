package activities

import (
	"context"
	"errors"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"

	"gleaner/internal/crawl"
	"gleaner/internal/crawl/synthesis"
	"gleaner/internal/fetch"
	"gleaner/internal/guard"
	"gleaner/internal/harvest/tables"
	"gleaner/internal/ingest"
	"gleaner/internal/library/repository"
	"gleaner/internal/metadata"
	"gleaner/internal/politeness"
	"gleaner/internal/rank"
	"gleaner/internal/record/collections"
	"gleaner/internal/record/store"
)

// Types of application errors, as the Temporal UI shows them.
const (
	ErrTypeInput       = "BadInput"    // the user has to change something
	ErrTypeUnavailable = "Unavailable" // an external service; retried
	ErrTypeDatabase    = "Database"    // unavailable; retried
	ErrTypeDiskFull    = "DiskFull"    // retried
	ErrTypeStoreAway   = "StoreAway"   // the blob store is unavailable, or not this record's; retried
	ErrTypeLeaseLost   = "LeaseLost"   // another process has the host
	ErrTypePaused      = "Paused"      // the harvest is paused; retried
	ErrTypeHandedOver  = "HandedOver"  // the worker stops; another one continues at once
	ErrTypeWorkerGone  = "WorkerGone"  // the worker of a slice died, was suspended or lost its connection
	ErrTypeOther       = "Failure"     // any other error; retried
)

// Outage reports whether an error type is a temporary outage, which is not caused by the work.
func Outage(kind string) bool {
	switch kind {
	case ErrTypeUnavailable, ErrTypeDatabase, ErrTypeDiskFull, ErrTypeStoreAway, ErrTypeLeaseLost, ErrTypePaused:
		return true
	}
	return false
}

// WorkerGone is the error of a slice whose worker no longer renews its lease. It is no outage,
// since the crawl may have killed the worker.
func WorkerGone(did crawl.Progress) error {
	return temporal.NewApplicationErrorWithOptions("its worker no longer renews the lease of the host", ErrTypeWorkerGone,
		temporal.ApplicationErrorOptions{Details: []any{did}})
}

// HandedOver is the error of an attempt that ended since its worker stops, which is no
// failure.
func HandedOver() error {
	return temporal.NewApplicationErrorWithOptions("its worker was told to stop", ErrTypeHandedOver,
		temporal.ApplicationErrorOptions{NextRetryDelay: time.Millisecond})
}

// Failed reports whether an error type is a failure, and not a wait that somebody wanted.
func Failed(kind string) bool { return kind != ErrTypePaused && kind != ErrTypeHandedOver }

// OutageLook is the time between two tries during an outage of our own (the database, the blob
// store, room on a disk).
const OutageLook = 5 * time.Second

// typed assigns every error that leaves an activity its type, and whether and when it is
// retried. No other function decides this. details are passed to the workflow.
func typed(err error, details ...any) error {
	var app *temporal.ApplicationError
	if err == nil || errors.As(err, &app) || errors.Is(err, context.Canceled) {
		return err
	}
	kind, after := classify(err)
	o := temporal.ApplicationErrorOptions{NonRetryable: kind == ErrTypeInput, NextRetryDelay: after, Details: details}
	if guard.Panicked(err) { // the worker counts these; of others a cause would say the same once more
		o.Cause = err
	}
	return temporal.NewApplicationErrorWithOptions(err.Error(), kind, o)
}

// result is what an activity returns, with a typed error.
func result[T any](of T, err error) (T, error) { return of, typed(err) }

// lastWords is how long before its timeout an attempt returns the error of an outage: a
// timeout would count as a failure of the work.
const lastWords = time.Minute

// untilBack repeats a function while the record is unavailable, and up to patience while
// another service that it needs is.
func untilBack(ctx context.Context, patience time.Duration, do func() error) error {
	for began, logged := time.Now(), false; ; logged = true {
		err := do()
		kind, _ := classify(err)
		waits := kind == ErrTypeDatabase || Outage(kind) && time.Since(began) < patience
		if !waits {
			return err
		}
		if !logged && activity.IsActivity(ctx) {
			activity.GetLogger(ctx).Warn("waits for what is away", "error", err)
		}
		if activity.IsActivity(ctx) && time.Until(activity.GetInfo(ctx).Deadline) < lastWords || fetch.Wait(ctx, OutageLook) != nil {
			return err
		}
	}
}

// classify returns the type of an error, and the time until its next try; 0 leaves that to the
// retry policy.
func classify(err error) (kind string, after time.Duration) {
	var (
		refused metadata.ErrRefused
		away    metadata.ErrUnavailable
	)
	switch {
	case errors.Is(err, errPaused):
		return ErrTypePaused, 0 // the time grows to a minute; a resume begins the next try at once
	case metadata.UserError(err), errors.As(err, &refused),
		errors.Is(err, store.ErrNoHarvest), errors.Is(err, store.ErrNoJob), errors.Is(err, store.ErrJobOver), errors.Is(err, ingest.ErrInput), errors.Is(err, tables.ErrInput), errors.Is(err, rank.ErrUnknownStrategy),
		errors.Is(err, collections.ErrNone), errors.Is(err, synthesis.ErrInput):
		return ErrTypeInput, 0
	case errors.As(err, &away):
		return ErrTypeUnavailable, max(away.RetryAfter, 10*time.Second)
	case errors.Is(err, politeness.ErrLost):
		return ErrTypeLeaseLost, time.Second
	case errors.Is(err, repository.ErrAway), errors.Is(err, repository.ErrForeign):
		return ErrTypeStoreAway, OutageLook
	case errors.Is(err, repository.ErrFull), store.Full(err):
		return ErrTypeDiskFull, OutageLook
	case store.Away(err):
		return ErrTypeDatabase, 2 * time.Second
	}
	return ErrTypeOther, 0
}
