//go:build !linux

package growthtest

import "time"

var started = time.Now()

// processorTime is the clock's where no better is to be had.
func processorTime() time.Duration { return time.Since(started) }
