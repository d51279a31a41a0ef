package harvest

import (
	"context"
	"fmt"

	"gleaner/internal/guard"
	"gleaner/internal/metadata"
	"gleaner/internal/record/frontier"
	"gleaner/internal/record/store"
)

// Answers sets aside the answers of outside services over which process after process dies.
type Answers struct {
	DB *store.DB

	one guard.Mutex // held while an answer over which a process died is read
}

// Begin notes that an answer is being read, until end is called. One over which
// frontier.MaxDeaths processes died is refused. Those over which one died are read one at a
// time, so that none is charged with another's deaths. Where the record is away, nothing is
// noted.
func (a *Answers) Begin(ctx context.Context, what string) (end func(), err error) {
	deaths, err := a.DB.BeginAnswer(ctx, what, false)
	switch {
	case err != nil:
		return func() {}, nil
	case deaths >= frontier.MaxDeaths:
		return nil, fmt.Errorf("%w: %d processes ended while they read it", metadata.ErrSetAside, deaths)
	}
	read := func() { _ = a.DB.EndAnswer(context.WithoutCancel(ctx), what) } // else the next finds a death
	if deaths == 0 {
		return read, nil
	}
	if err := a.one.Lock(ctx); err != nil {
		return nil, err
	}
	_, _ = a.DB.BeginAnswer(ctx, what, true)
	return func() { read(); a.one.Unlock() }, nil
}
