package document

import (
	"fmt"
	"math"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

// maxOutput bounds what is taken from a child.
const maxOutput = 32 << 20

// run is a program that has ended.
type run struct {
	stdout  []byte
	stderr  string // its first 4 KiB
	exit    int    // as a shell has it: 128 and the signal that ended it
	late    bool   // used up the processor time that it was given
	stalled bool   // stopped before that: by the clock, or by the system
	flooded bool   // wrote more than maxOutput, or than a file or its folder may hold
	used    time.Duration
}

// limits are what a child may use.
type limits struct {
	memory int64
	data   bool  // memory is counted in data, not in address space: Go reserves far more than it uses
	file   int64 // bytes of each file that it writes
	folder int64 // bytes of all that it keeps in its folder
}

// Limits of every child: of its open files, and of its processes and threads
// where it has a process space of its own, since elsewhere all of a user's count.
const (
	maxOpen      = 256
	maxProcesses = 64
)

// Exit codes of a shell that could not start the command.
const (
	cannotRun = 126
	notFound  = 127
)

// ended sets which limit ended a run. A child that was killed with processor time left says
// nothing of its file: the clock ran out, or the machine was short of memory.
func (r *run) ended(cpu time.Duration, stopped bool) {
	const blur = 100 * time.Millisecond // of the kernel's accounts
	spent := r.used+blur >= wholeSeconds(cpu)
	signal := syscall.Signal(r.exit - 128)
	killed := signal == syscall.SIGKILL || signal == syscall.SIGTERM // which no program sends itself
	switch {
	case r.flooded: // and killed for it
	case signal == syscall.SIGXCPU, killed && spent:
		r.late = true
	case killed, stopped:
		r.stalled = true
	case signal == syscall.SIGXFSZ:
		r.flooded = true
	}
}

// exitCode is how a process ended, as a shell says it.
func exitCode(s *os.ProcessState) int {
	if w, ok := s.Sys().(syscall.WaitStatus); ok && w.Signaled() {
		return 128 + int(w.Signal())
	}
	return s.ExitCode()
}

// ownGroup makes the child the head of its own session and process group, which it
// cannot leave, and kills that group at the deadline with all that it started there.
func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	cmd.Cancel = func() error {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		return cmd.Process.Kill()
	}
}

// environment is all that a child sees of the worker's: where programs lie, and a
// folder of its own to work in. What else is there may be a password.
func environment(dir string) []string {
	return []string{"PATH=" + os.Getenv("PATH"), "LANG=C.UTF-8", "LC_ALL=C.UTF-8", "HOME=" + dir, "TMPDIR=" + dir}
}

func wholeSeconds(d time.Duration) time.Duration {
	return max(time.Second, time.Duration(math.Ceil(d.Seconds()))*time.Second)
}

// atMost are the words to a shell by which the kernel ends a program after so much
// processor time.
func atMost(cpu time.Duration) string {
	n := int64(wholeSeconds(cpu) / time.Second)
	return fmt.Sprintf("ulimit -S -t %d 2>/dev/null; ulimit -H -t %d 2>/dev/null; ", n, n+1)
}

// script are the words to a shell by which the kernel refuses it, and all that it
// starts, more memory, files and processes. Where a limit is not known
// to the shell, they run without it.
func (lim limits) script(spaces bool) string {
	var b strings.Builder
	set := func(what string, n int64) { fmt.Fprintf(&b, "ulimit %s %d 2>/dev/null; ", what, n) }
	set("-c", 0)
	set("-n", maxOpen)
	set("-f", max(1, lim.file/512)) // blocks of 512 bytes, or of a kibibyte
	if spaces {
		fmt.Fprintf(&b, "{ ulimit -u %[1]d || ulimit -p %[1]d; } 2>/dev/null; ", maxProcesses)
	}
	if lim.data {
		set("-d", lim.memory>>10)
	} else {
		set("-v", lim.memory>>10)
	}
	return b.String()
}

// firstLine shortens what a program complained to one line.
func firstLine(s string) string {
	s, _, _ = strings.Cut(strings.TrimSpace(s), "\n")
	if len(s) > 200 {
		s = s[:200]
	}
	return strings.ToValidUTF8(s, "")
}
