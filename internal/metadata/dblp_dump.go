package metadata

import (
	"context"

	"gleaner/internal/venue"
)

func (d *DBLP) volumeFromDump(ctx context.Context, vol Volume) ([]record, error) {
	return nil, ErrUnavailable{Service: "dump"}
}
func (d *DBLP) listFromDump(ctx context.Context, key string, years venue.Years, cause error) ([]venue.Paper, error) {
	return nil, cause
}
