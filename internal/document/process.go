package document

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"strings"
	"time"
)

// maxOutput bounds what is taken from a child.
const maxOutput = 32 << 20

// run is one child process that has ended.
type run struct {
	stdout  []byte
	stderr  string // its first 4 KiB
	exit    int
	late    bool // used up the processor time that it was given
	stalled bool // stopped before that: by the clock, or by the system
	flooded bool // wrote more than maxOutput
	used    time.Duration
	peak    int64
}

// bounded collects up to a limit, then refuses, which ends the child.
type bounded struct {
	buf   bytes.Buffer
	limit int
	over  bool
	drop  bool // swallow the rest instead of refusing
}

func (b *bounded) Write(p []byte) (int, error) {
	room := b.limit - b.buf.Len()
	if room < len(p) {
		b.over = true
		b.buf.Write(p[:max(room, 0)])
		if b.drop {
			return len(p), nil
		}
		return 0, io.ErrShortWrite
	}
	return b.buf.Write(p)
}

// limits are what a child may use.
type limits struct {
	memory int64
	data   bool // memory is counted in data, not in address space: Go reserves far more than it uses
	cpu    time.Duration
	file   int64 // bytes of each file that it writes
}

// Limits of every child: of its open files, and of its processes and threads
// where it has a process space of its own, since elsewhere all of a user's count.
const (
	maxOpen      = 256
	maxProcesses = 64
)

// runChild runs a command in its own process group, shut in a box, and kills all
// of it at the context's end. The error is the system's: the program could not be
// started. How the program ended is in run.
func runChild(ctx context.Context, b box, lim limits, dir string, env []string, argv ...string) (*run, error) {
	program := argv[0]
	argv = b.command(limited(b, lim, argv))
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Dir, cmd.Env = dir, append(environment(dir), env...)
	out, errs := &bounded{limit: maxOutput}, &bounded{limit: 4 << 10, drop: true}
	cmd.Stdout, cmd.Stderr = out, errs
	cmd.WaitDelay = time.Second
	ownGroup(cmd)
	var started, err error
	b.apart(cmd, func() {
		if started = cmd.Start(); started == nil {
			err = cmd.Wait()
		}
	})
	if started != nil {
		if ctx.Err() != nil {
			return &run{exit: -1, stalled: true}, nil
		}
		return nil, fmt.Errorf("start %s: %w", argv[0], started)
	}
	var exitErr *exec.ExitError
	if err != nil && !errors.As(err, &exitErr) && ctx.Err() == nil && !out.over && !errors.Is(err, exec.ErrWaitDelay) {
		return nil, fmt.Errorf("run %s: %w", argv[0], err)
	}
	s := cmd.ProcessState
	got := &run{stdout: out.buf.Bytes(), stderr: errs.buf.String(), exit: s.ExitCode(),
		flooded: out.over, used: s.UserTime() + s.SystemTime(), peak: peakRSS(s)}
	if haveLimits && (got.exit == cannotRun || got.exit == notFound) || b.refused(got) {
		return nil, fmt.Errorf("run %s: %s", program, firstLine(got.stderr))
	}
	got.ended(how(s), lim, ctx.Err() != nil)
	return got, nil
}

// Exit codes of a shell that could not start the command.
const (
	cannotRun = 126
	notFound  = 127
)

// end is how a process came to its end.
type end int

const (
	byItself  end = iota
	killed        // by a signal that no program sends itself
	outOfTime     // by the kernel, for its processor time
	outOfRoom     // by the kernel, for the size of a file
)

// ended tells who ended a run before its time. A child that was killed though it
// had processor time left says nothing of its file: the clock ran out, or the
// machine was short of memory.
func (r *run) ended(e end, lim limits, stopped bool) {
	const blur = 100 * time.Millisecond // of the kernel's accounts
	spent := r.used+blur >= wholeSeconds(lim.cpu)
	switch {
	case e == outOfTime, e == killed && spent:
		r.late = true
	case e == killed, stopped:
		r.stalled = true
	case e == outOfRoom:
		r.flooded = true
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

// limited wraps a command so that the kernel refuses it more memory, processor
// time, files and processes. Where a limit is not known to the shell, the command
// runs without it. In a process space of its own the shell stays, since its first
// process is deaf to signals; elsewhere it replaces itself with the command.
func limited(b box, lim limits, argv []string) []string {
	if !haveLimits {
		return argv
	}
	var script strings.Builder
	set := func(what string, n int64) { fmt.Fprintf(&script, "ulimit %s %d 2>/dev/null; ", what, n) }
	set("-c", 0)
	set("-n", maxOpen)
	cpu := int64(wholeSeconds(lim.cpu) / time.Second)
	set("-S -t", cpu)
	set("-H -t", cpu+1)
	set("-f", max(1, lim.file/512)) // blocks of 512 bytes, or of a kibibyte
	if b.spaces {
		fmt.Fprintf(&script, "{ ulimit -u %[1]d || ulimit -p %[1]d; } 2>/dev/null; ", maxProcesses)
	}
	if lim.data {
		set("-d", lim.memory>>10)
	} else {
		set("-v", lim.memory>>10)
	}
	if b.spaces {
		script.WriteString(`"$@"; exit $?`)
	} else {
		script.WriteString(`exec "$@"`)
	}
	return append([]string{"/bin/sh", "-c", script.String(), "sh"}, argv...)
}

// firstLine shortens what a program complained to one line.
func firstLine(s string) string {
	s, _, _ = strings.Cut(strings.TrimSpace(s), "\n")
	if len(s) > 200 {
		s = s[:200]
	}
	return strings.ToValidUTF8(s, "")
}
