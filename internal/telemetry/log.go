package telemetry

import (
	"io"
	"log/slog"
	"strings"
)

// Logger writes lines of key=value at a level (debug, info, warn, error) and
// above.
func Logger(w io.Writer, level string) *slog.Logger {
	var l slog.Level
	if err := l.UnmarshalText([]byte(strings.ToUpper(level))); err != nil {
		l = slog.LevelInfo
	}
	return slog.New(slog.NewTextHandler(w, &slog.HandlerOptions{Level: l}))
}
