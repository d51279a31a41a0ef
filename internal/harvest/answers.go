package harvest

import (
	"context"
	"fmt"
	"time"

	"gleaner/internal/fetch"
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

// answerBeat is how often it is noted that an answer is still being read: a reader that does
// not say so for seconds died.
const answerBeat = time.Second

// Begin notes that an answer is being read, until end is called or ctx is done. One over which
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
	if deaths == 0 {
		return a.reading(ctx, what), nil
	}
	if err := a.one.Lock(ctx); err != nil {
		return nil, err
	}
	_, _ = a.DB.BeginAnswer(ctx, what, true)
	read := a.reading(ctx, what)
	return func() { read(); a.one.Unlock() }, nil
}

// reading says of an answer that it is being read, until end is called or ctx is done.
func (a *Answers) reading(ctx context.Context, what string) (end func()) {
	beat, stop := context.WithCancel(ctx)
	over := guard.Go(func() {
		fetch.Every(beat, answerBeat, func() bool {
			_ = a.DB.KeepAnswer(beat, what)
			return true
		})
	})
	return func() {
		stop()
		<-over
		_ = a.DB.EndAnswer(context.WithoutCancel(ctx), what) // else the next finds a death
	}
}
