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
	ErrTypeUnavailable = "Unavailable" // an outside service; tried again
	ErrTypeDatabase    = "Database"    // away; tried again
	ErrTypeDiskFull    = "DiskFull"    // tried again when there may be room
	ErrTypeStoreAway   = "StoreAway"   // the blob store is not there, or not this record's; tried again
	ErrTypeLeaseLost   = "LeaseLost"   // another process has the host
	ErrTypePaused      = "Paused"      // the harvest is; looked at again
	ErrTypeHandedOver  = "HandedOver"  // the worker was told to stop; another one goes on at once
	ErrTypeWorkerGone  = "WorkerGone"  // the worker of a slice died, stood still or was cut off
	ErrTypeOther       = "Failure"     // nobody foresaw it; tried again
)

// Outage reports whether an error of that type tells of something that is away
// and comes back, and nothing of the work itself.
func Outage(kind string) bool {
	switch kind {
	case ErrTypeUnavailable, ErrTypeDatabase, ErrTypeDiskFull, ErrTypeStoreAway, ErrTypeLeaseLost, ErrTypePaused:
		return true
	}
	return false
}

// WorkerGone is the error of a slice whose worker no longer renews its lease. The crawl may
// be what its workers die of, so that it is no outage.
func WorkerGone(did crawl.Progress) error {
	return temporal.NewApplicationErrorWithOptions("its worker no longer renews the lease of the host", ErrTypeWorkerGone,
		temporal.ApplicationErrorOptions{Details: []any{did}})
}

// HandedOver is the error of an attempt that ended since its worker was told to stop, which
// is no failure.
func HandedOver() error {
	return temporal.NewApplicationErrorWithOptions("its worker was told to stop", ErrTypeHandedOver,
		temporal.ApplicationErrorOptions{NextRetryDelay: time.Millisecond})
}

// Failed reports whether an error of that type tells of a failure, and not of a wait that somebody wanted.
func Failed(kind string) bool { return kind != ErrTypePaused && kind != ErrTypeHandedOver }

// OutageLook is how often is looked whether something of our own that is away
// (the database, the blob store, room on a disk) has come back.
const OutageLook = 5 * time.Second

// typed gives every error that leaves an activity its name and whether, and
// after how long, it is tried again. It is the only place that decides this.
// details are handed to the workflow.
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

// lastWords is how long before its time is over an attempt tells that something is still
// away: one that only timed out would count as a failure of its own.
const lastWords = time.Minute

// untilBack does what it is given again while the record is away, and for as long as patience
// while something else is that it needs.
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

// classify names an error; after 0 leaves the time of the next try to the
// workflow.
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
