// Package growthtest is for tests of what reads foreign bytes: it holds the work
// to a growth no faster than the input's, in bytes allocated, in allocations and
// in processor time. Nothing is compared with a clock, only with the same work
// on less input, so a slow or loaded machine changes nothing.
//
// Allocations are counted for the whole process and processor time for the
// calling thread. So a test that uses it is not parallel, and work that hands
// its input to other goroutines is held to its allocations only.
package growthtest

import (
	"errors"
	"fmt"
	"math"
	"runtime"
	"runtime/debug"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const (
	// factor is by how much the input grows. What is linear then costs 8 times,
	// what is quadratic 64 times as much.
	factor = 8
	// slack is what growth may be beyond the input's: memory is slower where
	// there is more of it, slices double. Quadratic work is at 8.
	timeSlack   = 4.0
	memorySlack = 2.0
	// A growth below these is none: tables, pools, a test's own machinery.
	freeBytes  = 256 << 10
	freeAllocs = 1000
	// leastTime is what the shorter work is repeated to, so that the clock's
	// steps and the caches' first misses do not count.
	leastTime  = 2 * time.Millisecond
	mostRuns   = 1 << 12
	timeTries  = 40
	measurings = 3    // of memory, at most; the least counts
	seldom     = 1000 // percent by which memory grows before it is collected
)

// Linear fails the test if work on input(8n) costs much more than eight times
// what it costs on input(n). input(n) is the worst that n can make; where it
// grows faster or slower than n, its length is what counts. Take n so large that
// what a call costs by itself does not hide what its input costs: a few KiB for
// what is quadratic in bytes.
func Linear(t testing.TB, n int, input func(n int) []byte, work func([]byte)) {
	t.Helper()
	if UnderRace {
		t.Skip("growth is not measured under the race detector")
	}
	require.NoError(t, check(n, input, work))
}

// Each is Linear for each of some inputs, by name.
func Each[S string | []byte](t *testing.T, n int, inputs map[string]func(n int) S, work func(*testing.T, []byte)) {
	for name, input := range inputs {
		t.Run(name, func(t *testing.T) {
			Linear(t, n, func(n int) []byte { return []byte(input(n)) }, func(in []byte) { work(t, in) })
		})
	}
}

func check(n int, input func(n int) []byte, work func([]byte)) error {
	short, long := input(n), input(factor*n)
	if len(long) <= len(short) {
		return fmt.Errorf("the input does not grow: %d bytes for %d, %d for %d", len(short), n, len(long), factor*n)
	}
	times := float64(len(long)) / float64(len(short))
	work(short) // tables and pools are filled
	return errors.Join(checkMemory(short, long, times, work), checkTime(short, long, times, work))
}

// memory is what work allocated.
type memory struct{ bytes, allocs uint64 }

// checkMemory tries again before it fails: what other goroutines allocate can only add.
func checkMemory(short, long []byte, times float64, work func([]byte)) (err error) {
	a := allocated(short, work)
	for range measurings - 1 {
		a = a.least(allocated(short, work))
	}
	b := memory{math.MaxUint64, math.MaxUint64}
	for range measurings {
		b, err = b.least(allocated(long, work)), nil
		if grew := float64(b.bytes) / float64(a.bytes+1); grew > times*memorySlack && b.bytes > a.bytes+freeBytes {
			err = fmt.Errorf("%.1f times the input allocates %.1f times the memory: %d bytes for %d, %d for %d",
				times, grew, a.bytes, len(short), b.bytes, len(long))
		}
		if grew := float64(b.allocs) / float64(a.allocs+1); grew > times*memorySlack && b.allocs > a.allocs+freeAllocs {
			err = errors.Join(err, fmt.Errorf("%.1f times the input makes %.1f times the allocations: %d, then %d",
				times, grew, a.allocs, b.allocs))
		}
		if err == nil {
			return nil
		}
	}
	return err
}

func (m memory) least(o memory) memory { return memory{min(m.bytes, o.bytes), min(m.allocs, o.allocs)} }

func allocated(in []byte, work func([]byte)) memory {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	work(in)
	runtime.ReadMemStats(&after)
	return memory{after.TotalAlloc - before.TotalAlloc, after.Mallocs - before.Mallocs}
}

// checkTime tries again before it fails: a machine that others use can make some
// measurings slow, but not forty. The collector runs seldom meanwhile, since
// fresh pages of memory, which a thread pays for in system time, cost several
// times as much as the work on them, and the longer input alone asks for them;
// what is allocated is held to its growth by itself.
func checkTime(short, long []byte, times float64, work func([]byte)) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	defer debug.SetGCPercent(debug.SetGCPercent(seldom))
	runs := 1
	took := spent(short, runs, work)
	for took < leastTime && runs < mostRuns {
		runs *= 2
		took = spent(short, runs, work)
	}
	longRuns := max(1, runs/factor)
	var a, b time.Duration // the least for one run
	for i := range timeTries {
		one, other := spent(short, runs, work)/time.Duration(runs), spent(long, longRuns, work)/time.Duration(longRuns)
		if i == 0 {
			a, b = one, other
		}
		a, b = min(a, one), min(b, other)
		if float64(b) <= float64(max(a, 1))*times*timeSlack {
			return nil
		}
	}
	return fmt.Errorf("%.1f times the input takes %.1f times the processor: %v for %d bytes, %v for %d",
		times, float64(b)/float64(max(a, 1)), a, len(short), b, len(long))
}

// spent is the processor time of some runs.
func spent(in []byte, runs int, work func([]byte)) time.Duration {
	before := processorTime()
	for range runs {
		work(in)
	}
	return processorTime() - before
}
