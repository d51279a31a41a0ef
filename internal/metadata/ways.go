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

// way is one way to the same data.
type way struct {
	name string
	try  func(context.Context) error
}

// errElsewhere is a way's word that its answer may be wanting, so that the next
// way is asked without blaming this one.
var errElsewhere = errors.New("the answer may be incomplete")

// breaker tries ways in order and leaves those alone that keep failing: without
// it, each volume of a harvest would wait once more for a service that is out
// for weeks.
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

// One failure may be one broken record; two in a row are the service. A check for
// browsers stays for days.
const (
	failuresToRest = 2
	restAtWall     = time.Hour
)

type anewKey struct{}

// Anew makes rests that began before a time count for nothing under the returned
// context: a person said that the service is back.
func Anew(ctx context.Context, since time.Time) context.Context {
	return context.WithValue(ctx, anewKey{}, since)
}

// first returns at the first way that answers, be it with data or with the word
// that there is none. If all are unavailable, so is the whole, until the first
// of them may be asked again. What each would answer may be set aside: no waiting helps.
func (b *breaker) first(ctx context.Context, ways []way) error {
	var failed []failure
	var aside error // of the last way whose answer is set aside
	for _, w := range ways {
		if err := b.resting(ctx, w.name); err != nil {
			failed = append(failed, failure{w.name, err})
			continue
		}
		err := w.try(ctx)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if is[ErrGate](err) {
			return err // the next way would have no turn either
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
			return err
		}
		failed = append(failed, failure{w.name, err})
	}
	if aside != nil && !slices.ContainsFunc(failed, func(f failure) bool { return !errors.Is(f.err, ErrSetAside) }) {
		return aside
	}
	return summarise(failed)
}

// failure is a way that did not answer.
type failure struct {
	way string
	err error
}

// String says why, without calling unavailable once more what all ways lead to.
func (f failure) String() string {
	down, ok := f.err.(ErrUnavailable) //nolint:errorlint // another one would be in the words of what wraps it
	if !ok {
		return f.way + ": " + f.err.Error()
	}
	down.RetryAfter = 0
	return f.way + strings.TrimPrefix(down.Error(), down.Service+" is unavailable")
}

// eachWay says why none of the ways answered.
type eachWay []string

func (e eachWay) Error() string { return strings.Join(e, "; ") }

// summarise makes one error of all ways' failures.
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
		return // the gate keeps it, which all workers share, and says it again
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
