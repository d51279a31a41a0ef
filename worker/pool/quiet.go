package pool

import (
	"context"
	"log/slog"
	"sync"
	"time"
)

// quiet passes on what the SDK warns of, and its chatter at debug only.
func quiet(log *slog.Logger) *slog.Logger {
	if log.Enabled(context.Background(), slog.LevelDebug) {
		return slog.New(atLeast{log.Handler(), slog.LevelDebug, nil})
	}
	return slog.New(atLeast{log.Handler(), slog.LevelWarn, &repeats{said: map[string]repeat{}}})
}

// atLeast passes on lines of a level, and where again is not nil what is said again and
// again once a minute: while Temporal is away, dozens of pollers say so every few seconds.
type atLeast struct {
	slog.Handler
	level slog.Level
	again *repeats
}

func (h atLeast) Enabled(ctx context.Context, l slog.Level) bool {
	return l >= h.level && h.Handler.Enabled(ctx, l)
}

// Handle leaves out what logActivities says, with more to it.
func (h atLeast) Handle(ctx context.Context, r slog.Record) error {
	if r.Message == "Activity error." {
		return nil
	}
	if h.again == nil {
		return h.Handler.Handle(ctx, r)
	}
	unsaid, say := h.again.next(r.Message, r.Time)
	if !say {
		return nil
	}
	if unsaid > 0 {
		r = r.Clone()
		r.AddAttrs(slog.Int("said_as_often_in_between", unsaid))
	}
	return h.Handler.Handle(ctx, r)
}

func (h atLeast) WithAttrs(a []slog.Attr) slog.Handler {
	return atLeast{h.Handler.WithAttrs(a), h.level, h.again}
}

func (h atLeast) WithGroup(n string) slog.Handler {
	return atLeast{h.Handler.WithGroup(n), h.level, h.again}
}

// repeats remembers what was said when.
type repeats struct {
	mu   sync.Mutex
	said map[string]repeat
}

type repeat struct {
	at     time.Time
	unsaid int
}

// next reports whether a message is to be said at a time, and how often it was
// not since it was said last.
func (r *repeats) next(message string, at time.Time) (unsaid int, say bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	had, known := r.said[message]
	if known && at.Sub(had.at) < time.Minute {
		had.unsaid++
		r.said[message] = had
		return 0, false
	}
	r.said[message] = repeat{at: at}
	return had.unsaid, true
}
