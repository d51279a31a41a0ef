package growthtest

import (
	"time"

	"golang.org/x/sys/unix"
)

// processorTime is what the calling thread has used so far, to the nanosecond
// and whatever else the machine does.
func processorTime() time.Duration {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t); err != nil {
		panic(err) // there is no Linux without it
	}
	return time.Duration(t.Nano())
}
