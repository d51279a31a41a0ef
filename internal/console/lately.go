package console

import (
	"sync"
	"time"
)

// lately keeps figures that take a while to count, for pages that renew themselves:
// they are counted anew when they are twenty times as old as that takes. What is
// counted at once is never kept.
type lately[V any] struct {
	mu   sync.Mutex
	kept map[string]counted[V]
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
