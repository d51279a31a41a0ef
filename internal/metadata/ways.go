package metadata

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"
)

// way is one of several ways to the same data.
type way[T any] struct {
	name string
	try  func(context.Context) (T, error)
}

// errElsewhere marks an answer that may be incomplete: the next way is tried, and this one
// counts as working.
var errElsewhere = errors.New("the answer may be incomplete")

// breaker is the circuit breaker of the ways. Without it, each volume of a harvest would wait
// for a service that is down for weeks.
type breaker struct {
	log  *slog.Logger
	rest time.Duration

	mu     sync.Mutex
	states map[string]*wayState
}

type wayState struct {
	failures int       // calls in a row
	since    time.Time // the last failure
	until    time.Time
	err      error
}

// One failure may be one broken record; two in a row are the service. A browser check stays
// for days.
const (
	failuresToRest = 2
	restAtWall     = time.Hour
)

type anewKey struct{}

// Anew returns a context under which ways that failed before a time are tried again: a person
// said that the service is back.
func Anew(ctx context.Context, since time.Time) context.Context {
	return context.WithValue(ctx, anewKey{}, since)
}

// first returns the answer of the first way that works, which may be that there is no data.
// If all are unavailable, the error is ErrUnavailable, until the first of them may be tried
// again. If all answers are set aside, it is ErrSetAside, since waiting does not help.
func first[T any](ctx context.Context, b *breaker, ways []way[T]) (answer T, err error) {
	var failed []failure
	var aside error // of the last way whose answer is set aside
	for _, w := range ways {
		if err := b.resting(ctx, w.name); err != nil {
			failed = append(failed, failure{w.name, err})
			continue
		}
		answer, err = w.try(ctx)
		if ctx.Err() != nil {
			return answer, ctx.Err()
		}
		if is[ErrGate](err) {
			return answer, err // the next way would get no turn either
		}
		if errors.Is(err, ErrSetAside) { // which says nothing of the way
			failed, aside = append(failed, failure{w.name, err}), err
			continue
		}
		if is[ErrUnavailable](err) || is[ErrBadAnswer](err) {
			b.note(w.name, err)
			failed = append(failed, failure{w.name, err})
			continue
		}
		b.note(w.name, nil)
		if !errors.Is(err, errElsewhere) {
			return answer, err
		}
		failed = append(failed, failure{w.name, err})
	}
	if aside != nil && !slices.ContainsFunc(failed, func(f failure) bool { return !errors.Is(f.err, ErrSetAside) }) {
		return answer, aside
	}
	return answer, summarise(failed)
}

// failure is a way that did not work.
type failure struct {
	way string
	err error
}

// String returns the reason, without the name of the service that all ways have in common.
func (f failure) String() string {
	down, ok := f.err.(ErrUnavailable) //nolint:errorlint // another one would be in the words of what wraps it
	if !ok {
		return f.way + ": " + f.err.Error()
	}
	down.RetryAfter = 0
	return f.way + strings.TrimPrefix(down.Error(), down.Service+" is unavailable")
}

// eachWay holds the reason of each way.
type eachWay []string

func (e eachWay) Error() string { return strings.Join(e, "; ") }

// summarise returns one error for the failures of all ways.
func summarise(failed []failure) error {
	out := ErrUnavailable{Service: "DBLP"}
	var words eachWay
	for _, f := range failed {
		words = append(words, f.String())
		var down ErrUnavailable
		if !errors.As(f.err, &down) {
			continue
		}
		out.Wall = out.Wall || down.Wall
		if out.URL == "" {
			out.URL, out.Status = down.URL, down.Status
		}
		if down.RetryAfter > 0 && (out.RetryAfter == 0 || down.RetryAfter < out.RetryAfter) {
			out.RetryAfter = down.RetryAfter
		}
	}
	out.Err = words
	return out
}

func (b *breaker) resting(ctx context.Context, name string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	st, ok := b.states[name]
	if !ok {
		return nil
	}
	left := time.Until(st.until)
	if anew, _ := ctx.Value(anewKey{}).(time.Time); left <= 0 || st.since.Before(anew) {
		return nil
	}
	var down ErrUnavailable
	if !errors.As(st.err, &down) {
		down = ErrUnavailable{Service: name, Err: st.err}
	}
	down.RetryAfter = left.Round(time.Second)
	return down
}

func (b *breaker) note(name string, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	st, ok := b.states[name]
	if !ok {
		st = &wayState{}
		b.states[name] = st
	}
	if err == nil {
		*st = wayState{}
		return
	}
	if errors.Is(err, errNoTurn) {
		return // the gate, which all workers share, remembers it
	}
	st.failures++
	st.since, st.err = time.Now(), err
	pause := b.rest
	if down, ok := errors.AsType[ErrUnavailable](err); ok {
		pause = max(pause, down.RetryAfter)
	}
	if st.failures >= failuresToRest || pause > b.rest {
		st.until = time.Now().Add(pause)
		b.log.Warn("a way to a source is left alone for a while", "way", name, "for", pause, "because", err.Error())
	}
}

// is reports whether an error, or what it wraps, is an E.
func is[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}
