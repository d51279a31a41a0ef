package pool

import (
	"context"
	"log/slog"

	"gleaner/internal/service/config"
)

// OpenHouse opens what a worker has, and returns what it does for all workers.
func OpenHouse(ctx context.Context, cfg *config.Config, log *slog.Logger) (house func(context.Context), shut func(), err error) {
	p, err := open(ctx, cfg, Options{Log: log}.withDefaults())
	if err != nil {
		return nil, nil, err
	}
	return p.house, p.close, nil
}
