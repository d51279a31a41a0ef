//go:build linux

package chaos

import (
	"cmp"
	"io"
	"time"
)

// Options say what to break, and how often.
type Options struct {
	// Bin is the folder of the programs starter and worker.
	Bin string
	// Dir holds the servers' data, the blobs and the logs.
	Dir string
	// Seed decides the web and the order of the faults.
	Seed uint64
	// Faults is how many are made in the course of the harvest.
	Faults int
	// Kinds are the names of the faults to choose from; empty is all.
	Kinds []string
	// Outage is how long the faults last that are made only where Kinds names them.
	Outage time.Duration
	// Workers is how many worker processes there are.
	Workers int
	// Delay is between two requests to one host.
	Delay time.Duration
	// PagesPerSite makes the harvest longer.
	PagesPerSite int
	// Patience is how long the harvest may go on after the last fault.
	Patience time.Duration
	// Log is told what is broken, a line a fault.
	Log io.Writer
}

func (o Options) withDefaults() Options {
	o.Seed = cmp.Or(o.Seed, 1)
	o.Faults = cmp.Or(o.Faults, 200)
	o.Outage = cmp.Or(o.Outage, time.Hour)
	o.Workers = cmp.Or(o.Workers, 2)
	o.Delay = cmp.Or(o.Delay, 500*time.Millisecond)
	o.PagesPerSite = cmp.Or(o.PagesPerSite, 110)
	o.Patience = cmp.Or(o.Patience, 30*time.Minute)
	if o.Log == nil {
		o.Log = io.Discard
	}
	return o
}
