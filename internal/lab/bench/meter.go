package bench

import (
	"runtime/debug"
	"runtime/metrics"
	"time"
)

// meter watches this process while a crawler runs.
type meter struct {
	start    time.Time
	cpu      float64
	database func() float64
	used     float64 // the database's CPU seconds at the start
	base     uint64  // memory at the start
	end      chan struct{}
	peak     chan uint64
}

func startMeter(database func() float64) *meter {
	debug.FreeOSMemory() // what the run before left is not this one's
	m := &meter{cpu: cpuSeconds(), base: memory(), database: database, end: make(chan struct{}), peak: make(chan uint64)}
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
	peak := memory()
	for {
		select {
		case <-m.end:
			m.peak <- max(peak, memory())
			return
		case <-tick.C:
			peak = max(peak, memory())
		}
	}
}

// memory is what the Go runtime holds of the system's, without what it gave back.
func memory() uint64 {
	s := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	metrics.Read(s)
	return s[0].Value.Uint64() - s[1].Value.Uint64()
}
