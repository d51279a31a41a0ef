package activities

import (
	"context"

	"gleaner/internal/harvest/tables"
)

// Tables do jobs on what is on record.
type Tables struct{ jobs *tables.Jobs }

// DoTableJob does a job from where the attempt before ended.
func (a *Tables) DoTableJob(ctx context.Context, run tables.Run) (tables.Progress, error) {
	beat, set, stop := heartbeats[tables.Progress](ctx)
	defer stop()
	p, err := a.jobs.Do(beat, run, set)
	return p, typed(err)
}
