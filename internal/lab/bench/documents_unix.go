//go:build unix

package bench

import (
	"runtime"
	"syscall"
)

type used struct {
	cpu  float64 // seconds
	peak int64   // bytes
}

// usage is what this process and its children have used.
func usage() (own, children used) {
	of := func(who int) used {
		var u syscall.Rusage
		if syscall.Getrusage(who, &u) != nil {
			return used{}
		}
		unit := int64(1024)
		if runtime.GOOS == "darwin" {
			unit = 1
		}
		return used{float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9, int64(u.Maxrss) * unit}
	}
	return of(syscall.RUSAGE_SELF), of(syscall.RUSAGE_CHILDREN)
}
