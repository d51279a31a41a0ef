package harvest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"gleaner/internal/each"
	"gleaner/internal/fetch"
	"gleaner/internal/gleaner"
	"gleaner/internal/guard"
	"gleaner/internal/metadata"
	"gleaner/internal/record/frontier"
	"gleaner/internal/record/store"
)

// passing reports whether a source's failure may be transient, and after which wait to retry.
// A bad answer may be a temporary failure of the service.
func passing(err error) (again bool, wait time.Duration) {
	var away metadata.ErrUnavailable
	var bad metadata.ErrBadAnswer
	switch {
	case errors.As(err, &away):
		return true, away.RetryAfter
	case errors.As(err, &bad):
		return true, 0
	}
	return false, 0
}

// gap is a volume, a year or a source that could not be listed.
type gap struct {
	source, subject string
	err             error
}

func (g gap) String() string {
	if _, ok := errors.AsType[metadata.ErrNoVolume](g.err); ok || g.source == SourceDBLP {
		return g.err.Error()
	}
	return g.source + ": " + g.err.Error()
}

func words(gaps []gap) []string {
	return each.Of(gaps, gap.String)
}

// openGaps records the gaps that are to be retried, and removes those that were closed.
func (s *Stages) openGaps(ctx context.Context, id string, gaps []gap) error {
	open := map[string][]store.Unanswered{}
	had, err := s.DB.Unanswered(ctx, id)
	if err != nil {
		return err
	}
	for _, u := range had {
		if u.Stage == store.UnansweredPapers {
			open[u.Source] = nil
		}
	}
	for _, g := range gaps {
		if again, wait := passing(g.err); again {
			open[g.source] = append(open[g.source], store.Unanswered{Subject: g.subject, Reason: g.err.Error(), MayAsk: wait})
		}
	}
	for _, source := range slices.Sorted(maps.Keys(open)) {
		if err := s.DB.SetUnanswered(ctx, id, store.UnansweredPapers, source, nil, open[source]); err != nil {
			return err
		}
	}
	return nil
}

// openCopies records the papers for which a source of copies is to be retried.
func (s *Stages) openCopies(ctx context.Context, id string, sources []metadata.CopySource, located []metadata.Located) error {
	keys := each.Of(located, func(l metadata.Located) string { return l.Paper.Key })
	for _, src := range sources {
		var open []store.Unanswered
		for _, l := range located {
			if again, wait := passing(l.Failed[src.Name()]); again {
				open = append(open, store.Unanswered{Subject: l.Paper.Key, Reason: l.Failed[src.Name()].Error(), MayAsk: wait})
			}
		}
		if err := s.DB.SetUnanswered(ctx, id, store.UnansweredCopies, src.Name(), keys, open); err != nil {
			return err
		}
	}
	return nil
}

// anew returns a context in which failures from before a person's retry of the harvest do not
// delay requests to sources.
func (s *Stages) anew(ctx context.Context, id string) (context.Context, error) {
	at, err := s.DB.RetriedAt(ctx, id)
	return metadata.Anew(ctx, at), err
}

// LocateAgain repeats only the queries for copies that failed.
func (s *Stages) LocateAgain(ctx context.Context, id string, report func(done, of int)) (Seeded, error) {
	ctx, err := s.anew(ctx, id)
	if err != nil {
		return Seeded{}, err
	}
	had, err := s.DB.Unanswered(ctx, id)
	if err != nil {
		return Seeded{}, err
	}
	wanted, err := s.DB.Missing(ctx, id)
	if err != nil {
		return Seeded{}, err
	}
	open := map[string]map[string]bool{}
	for _, u := range had {
		if u.Stage == store.UnansweredCopies {
			if open[u.Source] == nil {
				open[u.Source] = map[string]bool{}
			}
			open[u.Source][u.Subject] = true
		}
	}
	byHost := map[string][]frontier.Entry{}
	for _, src := range s.Copies {
		papers := each.Where(wanted, func(p gleaner.Paper) bool { return open[src.Name()][p.Key] })
		if len(papers) == 0 {
			continue
		}
		if err := s.locate(ctx, id, []metadata.CopySource{src}, papers, report, eachCopy(byCopyHost(byHost))); err != nil {
			return Seeded{}, err
		}
	}
	return s.seedCopies(ctx, id, byHost)
}

// Answers refuses answers of external services that repeatedly killed processes.
type Answers struct {
	DB *store.DB

	one guard.Mutex // held while an answer is read over which a process died
}

// answerBeat is the interval of heartbeats while an answer is read. A reader without one for
// seconds counts as dead.
const answerBeat = time.Second

// Begin notes that an answer is being read, until end is called or ctx is done. It refuses an
// answer over which frontier.MaxDeaths processes died. Answers over which one died are read
// one at a time, so that none is charged with another's deaths. If the record is
// unavailable, Begin notes nothing.
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

// reading sends heartbeats for an answer, until end is called or ctx is done.
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
