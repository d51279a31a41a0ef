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

// passing reports whether a source's failure may pass, and when the source wants
// to be asked again. A broken answer may be a broken service's.
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

// openGaps records which of the gaps are to be asked for again, and forgets those
// that were closed.
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

// openCopies records for which papers a source of copies is to be asked again.
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

// anew lets no source rest for what it did before a person's retry of the harvest.
func (s *Stages) anew(ctx context.Context, id string) (context.Context, error) {
	at, err := s.DB.RetriedAt(ctx, id)
	return metadata.Anew(ctx, at), err
}

// LocateAgain asks for the copies of which a source did not say anything because
// it was out, and of nothing else.
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
