package bench

import (
	"runtime/debug"
	"syscall"
	"time"
)

// cpuSeconds is what this process has used.
func cpuSeconds() float64 {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
}

// meter watches a process while it crawls.
type meter struct {
	pid      int
	base     int64 // memory at the start
	start    time.Time
	cpu      float64
	database func() float64
	used     float64 // the database's CPU seconds at the start
	end      chan struct{}
	peak     chan int64
}

func startMeter(pid int, database func() float64) *meter {
	debug.FreeOSMemory() // what the run before left is not this one's
	m := &meter{pid: pid, base: resident(pid), cpu: cpuSeconds(), database: database, end: make(chan struct{}), peak: make(chan int64)}
	if database != nil {
		m.used = database()
	}
	go m.watch()
	m.start = time.Now()
	return m
}

func (m *meter) stop() Run {
	r := Run{Seconds: time.Since(m.start).Seconds(), CPU: cpuSeconds() - m.cpu}
	if m.database != nil {
		r.DatabaseCPU = m.database() - m.used
	}
	close(m.end)
	r.PeakBytes = <-m.peak
	return r
}

func (m *meter) watch() {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	peak := resident(m.pid)
	for {
		select {
		case <-m.end:
			m.peak <- max(peak, resident(m.pid))
			return
		case <-tick.C:
			peak = max(peak, resident(m.pid))
		}
	}
}
