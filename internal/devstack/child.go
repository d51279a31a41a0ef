package devstack

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"sync/atomic"
	"syscall"
	"time"
)

const (
	sigTerm = syscall.SIGTERM
	sigInt  = syscall.SIGINT
)

// child is a server process in a process group of its own.
type child struct {
	name    string
	cmd     *exec.Cmd
	logFile string
	done    chan struct{} // closed when the process is gone and reaped
	asked   atomic.Bool
	err     error // valid after done
}

// StartOwned starts a command, and calls ended when it is gone. The kernel ties the
// parent-death signal to the *thread* that forked, so the fork and the wait share one
// goroutine locked to its thread: the thread lives exactly as long as the child.
func StartOwned(cmd *exec.Cmd, ended func(error)) error {
	started := make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		err := cmd.Start()
		if started <- err; err == nil {
			ended(cmd.Wait())
		}
	}()
	return <-started
}

// startChild starts cmd; onDeath is the signal that the kernel sends it when
// this process dies (Linux only).
func startChild(name string, cmd *exec.Cmd, logFile string, onDeath syscall.Signal) (*child, error) {
	out, err := openLog(logFile)
	if err != nil {
		return nil, err
	}
	defer func() { _ = out.Close() }()
	cmd.Stdin, cmd.Stdout, cmd.Stderr = nil, out, out
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Setpgid = true
	setDeathSignal(cmd.SysProcAttr, onDeath)
	c := &child{name: name, cmd: cmd, logFile: logFile, done: make(chan struct{})}
	if err := StartOwned(cmd, func(err error) { c.err = err; close(c.done) }); err != nil {
		return nil, fmt.Errorf("cannot start %s: %w", name, err)
	}
	return c, nil
}

// openLog appends, but starts over when the file has grown past 16 MiB; the
// previous one is kept beside it.
func openLog(name string) (*os.File, error) {
	if st, err := os.Stat(name); err == nil && st.Size() > 16<<20 {
		_ = os.Rename(name, name+".old")
	}
	return os.OpenFile(name, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
}

func (c *child) pid() int {
	if c == nil {
		return 0
	}
	return c.cmd.Process.Pid
}

// exitError describes how the process ended and quotes the end of its log.
// Only after done.
func (c *child) exitError() error {
	err := c.err
	if err == nil {
		err = errors.New("exit status 0")
	}
	if tail := logTail(c.logFile, 600); tail != "" {
		return fmt.Errorf("%w (see %s)\n%s", err, c.logFile, tail)
	}
	return err
}

func logTail(name string, n int64) string {
	f, err := os.Open(name)
	if err != nil {
		return ""
	}
	defer func() { _ = f.Close() }()
	st, err := f.Stat()
	if err != nil {
		return ""
	}
	from := max(0, st.Size()-n)
	buf := make([]byte, st.Size()-from)
	read, _ := f.ReadAt(buf, from)
	return string(buf[:read])
}

// stop asks with sig, waits up to grace, then kills the whole process group.
func (c *child) stop(sig syscall.Signal, grace time.Duration) error {
	if c == nil {
		return nil
	}
	c.asked.Store(true)
	_ = c.cmd.Process.Signal(sig)
	select {
	case <-c.done:
	case <-time.After(grace):
		// SIGQUIT first: postmaster passes it on to backends, which live in
		// sessions of their own and out of the group's reach.
		_ = c.cmd.Process.Signal(syscall.SIGQUIT)
		select {
		case <-c.done:
		case <-time.After(2 * time.Second):
		}
	}
	// Whatever the server itself had started goes with it.
	_ = syscall.Kill(-c.cmd.Process.Pid, syscall.SIGKILL)
	select {
	case <-c.done:
		return nil
	case <-time.After(10 * time.Second):
		return fmt.Errorf("%s (process %d) did not stop", c.name, c.pid())
	}
}
