package telemetry

import (
	"context"
	"io"
	"log/slog"
	"slices"
	"strings"
)

// Logger writes lines of key=value at a level (debug, info, warn, error) and
// above. Lines logged with a context carry what With put into it.
func Logger(w io.Writer, level string) *slog.Logger {
	var l slog.Level
	if err := l.UnmarshalText([]byte(strings.ToUpper(level))); err != nil {
		l = slog.LevelInfo
	}
	return slog.New(contextual{slog.NewTextHandler(w, &slog.HandlerOptions{Level: l})})
}

type attrsKey struct{}

// With returns a context whose log lines carry further attributes.
func With(ctx context.Context, attrs ...slog.Attr) context.Context {
	had, _ := ctx.Value(attrsKey{}).([]slog.Attr)
	return context.WithValue(ctx, attrsKey{}, append(had[:len(had):len(had)], attrs...))
}

// contextual adds the attributes of the context to each line that has none of their keys.
type contextual struct{ slog.Handler }

func (h contextual) Handle(ctx context.Context, r slog.Record) error {
	if attrs, ok := ctx.Value(attrsKey{}).([]slog.Attr); ok {
		r = r.Clone()
		had := map[string]bool{}
		r.Attrs(func(a slog.Attr) bool { had[a.Key] = true; return true })
		r.AddAttrs(slices.DeleteFunc(slices.Clone(attrs), func(a slog.Attr) bool { return had[a.Key] })...)
	}
	return h.Handler.Handle(ctx, r)
}

func (h contextual) WithAttrs(a []slog.Attr) slog.Handler { return contextual{h.Handler.WithAttrs(a)} }

func (h contextual) WithGroup(n string) slog.Handler { return contextual{h.Handler.WithGroup(n)} }
