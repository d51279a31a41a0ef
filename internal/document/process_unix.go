//go:build unix

package document

import (
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"time"
)

const haveLimits = true

// ownGroup makes the child the head of its own process group and kills that
// group at the deadline, so that nothing it started outlives it.
func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}

// peakRSS is the largest resident size of an ended child, in bytes.
func peakRSS(s *os.ProcessState) int64 {
	u, ok := s.SysUsage().(*syscall.Rusage)
	if !ok {
		return 0
	}
	if runtime.GOOS == "darwin" { // bytes there, kilobytes elsewhere
		return int64(u.Maxrss)
	}
	return int64(u.Maxrss) << 10
}

// limitSelf bounds this process: data and processor time. Address space is not
// bounded, because Go reserves far more of it than it ever uses.
func limitSelf(memory int64, cpu time.Duration) {
	lower(syscall.RLIMIT_DATA, uint64(memory))
	lower(syscall.RLIMIT_CPU, uint64(cpu.Seconds())+2)
	lower(syscall.RLIMIT_CORE, 0)
}

// lower sets a limit; where the system refuses, the deadline still holds.
func lower(which int, to uint64) {
	var l syscall.Rlimit
	if syscall.Getrlimit(which, &l) != nil {
		return
	}
	l.Cur = min(to, l.Max)
	_ = syscall.Setrlimit(which, &l)
}
