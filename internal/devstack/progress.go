package devstack

import (
	"context"
	"os/exec"
	"syscall"
	"time"
)

// withProgress says what is going on and runs f until it returns or ctx ends.
func withProgress(ctx context.Context, o Options, what string, f func() error) error {
	o.Progress(what)
	done := make(chan error, 1)
	go func() { done <- f() }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// OwnGroup puts a tool of many processes (go and its compilers) into a group,
// so that ending it early ends them all.
func OwnGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	setDeathSignal(cmd.SysProcAttr, syscall.SIGKILL)
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = 5 * time.Second
}
