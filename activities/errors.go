package activities

import (
	"context"
	"errors"
	"time"

	"go.temporal.io/sdk/temporal"

	"gleaner/internal/metadata"
	"gleaner/internal/politeness"
	"gleaner/internal/rank"
	"gleaner/internal/repository"
	"gleaner/internal/store"
)

// Types of application errors, as the Temporal UI shows them.
const (
	ErrTypeInput       = "BadInput"    // the user has to change something
	ErrTypeUnavailable = "Unavailable" // an outside service; tried again
	ErrTypeDatabase    = "Database"    // away; tried again
	ErrTypeDiskFull    = "DiskFull"    // tried again when there may be room
	ErrTypeLeaseLost   = "LeaseLost"   // another process has the host
)

// typed gives every error that leaves an activity its name and whether, and
// after how long, it is tried again. It is the only place that decides this.
func typed(err error) error {
	if err == nil {
		return nil
	}
	var (
		unknown   metadata.ErrUnknownVenue
		ambiguous metadata.ErrAmbiguousVenue
		noVolume  metadata.ErrNoVolume
		refused   metadata.ErrRefused
		away      metadata.ErrUnavailable
		app       *temporal.ApplicationError
	)
	later := func(kind string, after time.Duration) error {
		return temporal.NewApplicationErrorWithOptions(err.Error(), kind, temporal.ApplicationErrorOptions{Cause: err, NextRetryDelay: after})
	}
	switch {
	case errors.As(err, &app), errors.Is(err, context.Canceled):
		return err
	case errors.As(err, &unknown), errors.As(err, &ambiguous), errors.As(err, &noVolume), errors.As(err, &refused), errors.Is(err, store.ErrNoHarvest), errors.Is(err, rank.ErrUnknownStrategy):
		return temporal.NewNonRetryableApplicationError(err.Error(), ErrTypeInput, err)
	case errors.As(err, &away):
		return later(ErrTypeUnavailable, max(away.RetryAfter, 10*time.Second))
	case errors.Is(err, politeness.ErrLost):
		return later(ErrTypeLeaseLost, 5*time.Second)
	case errors.Is(err, repository.ErrFull), store.Full(err):
		return later(ErrTypeDiskFull, time.Minute)
	case store.Away(err):
		return later(ErrTypeDatabase, 2*time.Second)
	}
	return err
}
