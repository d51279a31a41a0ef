package pool

import (
	"context"
	"log/slog"
	"time"

	"gleaner/internal/service/config"
)

// Gone is the slice of a worker that lost its lease.
var Gone = gone

// Patience is for how long a lease must be seen to have run out at the last of some looks.
func Patience(looks []time.Time) (enough time.Duration) {
	var s steady
	for _, at := range looks {
		enough = s.lapsed(at)
	}
	return enough
}

// Maintenance is what a worker does for all workers.
type Maintenance struct{ *pool }

// OpenMaintenance opens what a worker has.
func OpenMaintenance(ctx context.Context, cfg *config.Config, log *slog.Logger) (Maintenance, error) {
	p, err := open(ctx, cfg, Options{Log: log}.withDefaults())
	return Maintenance{p}, err
}

// Once does each chore that is due.
func (m Maintenance) Once(ctx context.Context) {
	for _, c := range m.chores() {
		m.chore(ctx, c)
	}
}

// Keep is what a worker does all the time.
func (m Maintenance) Keep(ctx context.Context, every time.Duration) { m.maintain(ctx, every) }

// Close closes what OpenMaintenance opened.
func (m Maintenance) Close() { m.close() }

// Pending is pending.
var Pending = pending
