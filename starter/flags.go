package main

import (
	"time"

	"github.com/spf13/pflag"

	"gleaner/internal/service/config"
)

// duration is a flag that reads durations as settings do, days included.
type duration struct{ to *time.Duration }

// Set implements pflag.Value.
func (d duration) Set(s string) (err error) {
	*d.to, err = config.ParseDuration(s)
	return err
}

// String implements pflag.Value; what is not given has no text, so that no help
// shows it as a default.
func (d duration) String() string {
	if d.to == nil || *d.to == 0 {
		return ""
	}
	return d.to.String()
}

// Type implements pflag.Value.
func (duration) Type() string { return "duration" }

func durationVar(fl *pflag.FlagSet, to *time.Duration, name string, usual time.Duration, help string) {
	*to = usual
	fl.Var(duration{to}, name, help)
}
