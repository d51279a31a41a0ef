package console

import (
	"context"
	"errors"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"
)

// lately keeps figures that take a while to count, for pages that renew themselves:
// they are counted anew when they are twenty times as old as that takes. What is
// counted at once is never kept.
type lately[V any] struct {
	flight singleflight.Group // who asks meanwhile waits for the one count
	mu     sync.Mutex
	kept   map[string]counted[V]
}

// counted is a figure, and till when it is good enough.
type counted[V any] struct {
	figure V
	until  time.Time
}

// Bounds of what is kept.
const (
	atOnce      = 100 * time.Millisecond
	mostFigures = 200
)

// get returns the figure of a key, counted lately or now.
func (l *lately[V]) get(key string, count func() (V, error)) (V, error) {
	l.mu.Lock()
	k, ok := l.kept[key]
	l.mu.Unlock()
	if ok && time.Now().Before(k.until) {
		return k.figure, nil
	}
	v, err, _ := l.flight.Do(key, func() (any, error) { return l.count(key, count) })
	if errors.Is(err, context.Canceled) { // whoever asked first has gone
		return l.count(key, count)
	}
	return v.(V), err
}

// count counts a figure, and keeps it where that takes a while.
func (l *lately[V]) count(key string, count func() (V, error)) (V, error) {
	began := time.Now()
	v, err := count()
	if took := time.Since(began); err == nil && took > atOnce {
		l.mu.Lock()
		defer l.mu.Unlock()
		if l.kept == nil || len(l.kept) >= mostFigures {
			l.kept = map[string]counted[V]{}
		}
		l.kept[key] = counted[V]{v, time.Now().Add(20 * took)}
	}
	return v, err
}
