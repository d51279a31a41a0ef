package document

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
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
	killed  bool // at the deadline
	flooded bool // wrote more than maxOutput
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

// runChild runs a command in its own process group and kills the whole group
// at the context's end. The error is the system's: the program could not be
// started. How the program ended is in run.
func runChild(ctx context.Context, env []string, argv ...string) (*run, error) {
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "LC_ALL=C.UTF-8", "HOME=" + os.TempDir()}, env...)
	out, errs := &bounded{limit: maxOutput}, &bounded{limit: 4 << 10, drop: true}
	cmd.Stdout, cmd.Stderr = out, errs
	cmd.WaitDelay = time.Second
	ownGroup(cmd)
	if err := cmd.Start(); err != nil {
		if ctx.Err() != nil {
			return &run{exit: -1, killed: true}, nil
		}
		return nil, fmt.Errorf("start %s: %w", argv[0], err)
	}
	err := cmd.Wait()
	var exitErr *exec.ExitError
	if err != nil && !errors.As(err, &exitErr) && ctx.Err() == nil && !out.over && !errors.Is(err, exec.ErrWaitDelay) {
		return nil, fmt.Errorf("run %s: %w", argv[0], err)
	}
	return &run{
		stdout: out.buf.Bytes(), stderr: errs.buf.String(), exit: cmd.ProcessState.ExitCode(),
		killed: ctx.Err() != nil, flooded: out.over, peak: peakRSS(cmd.ProcessState),
	}, nil
}

// limited wraps a command so that the kernel refuses it more memory and
// processor time. The shell replaces itself with the command: one process.
// Where a limit is not known to the shell, the command runs without it.
func limited(memory int64, cpu time.Duration, argv ...string) []string {
	return limitedBy("", memory, cpu, argv...)
}

// limitedBy adds further limits of the shell's, such as "-f 2048".
func limitedBy(further string, memory int64, cpu time.Duration, argv ...string) []string {
	if !haveLimits {
		return argv
	}
	script := fmt.Sprintf("ulimit -v %d 2>/dev/null; ulimit -t %d 2>/dev/null; ulimit -c 0 2>/dev/null; ", memory>>10, int(cpu.Seconds())+1)
	if further != "" {
		script += "ulimit " + further + " 2>/dev/null; "
	}
	return append([]string{"/bin/sh", "-c", script + `exec "$@"`, "sh"}, argv...)
}

// tempFile writes a body where a child can read it.
func tempFile(dir, pattern string, body []byte) (string, func(), error) {
	f, err := os.CreateTemp(dir, pattern)
	if err != nil {
		return "", nil, fmt.Errorf("temporary file: %w", err)
	}
	remove := func() { _ = os.Remove(f.Name()) }
	if _, err := f.Write(body); err != nil {
		_ = f.Close()
		remove()
		return "", nil, fmt.Errorf("temporary file: %w", err)
	}
	if err := f.Close(); err != nil {
		remove()
		return "", nil, fmt.Errorf("temporary file: %w", err)
	}
	return f.Name(), remove, nil
}

// firstLine shortens what a program complained to one line.
func firstLine(s string) string {
	s, _, _ = strings.Cut(strings.TrimSpace(s), "\n")
	if len(s) > 200 {
		s = s[:200]
	}
	return strings.ToValidUTF8(s, "")
}
