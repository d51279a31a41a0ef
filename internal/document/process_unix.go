//go:build unix

package document

import (
	"os"
	"os/exec"
	"runtime"
	"syscall"
)

const haveLimits = true

// ownGroup makes the child the head of its own process group and kills that
// group at the deadline, so that nothing it started outlives it.
func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}

// how tells how a child ended; a shell between adds 128 to the signal.
func how(s *os.ProcessState) end {
	sig := syscall.Signal(s.ExitCode() - 128)
	if w, ok := s.Sys().(syscall.WaitStatus); ok && w.Signaled() {
		sig = w.Signal()
	}
	switch sig {
	case syscall.SIGKILL, syscall.SIGTERM:
		return killed
	case syscall.SIGXCPU:
		return outOfTime
	case syscall.SIGXFSZ:
		return outOfRoom
	}
	return byItself
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

// lockFile reports whether the lock on a file could be had, which this process then
// holds until it closes the file or dies.
func lockFile(f *os.File) bool {
	return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil
}
