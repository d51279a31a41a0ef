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

// House is what a worker does for all workers.
type House struct{ *pool }

// OpenHouse opens what a worker has.
func OpenHouse(ctx context.Context, cfg *config.Config, log *slog.Logger) (House, error) {
	p, err := open(ctx, cfg, Options{Log: log}.withDefaults())
	return House{p}, err
}

// Once does each chore that is due.
func (h House) Once(ctx context.Context) {
	for _, c := range h.chores() {
		h.chore(ctx, c)
	}
}

// Keep is what a worker does all the time.
func (h House) Keep(ctx context.Context, every time.Duration) { h.keepHouse(ctx, every) }

// Close closes what OpenHouse opened.
func (h House) Close() { h.close() }

// Pending is pending.
var Pending = pending
