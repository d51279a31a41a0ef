package devstack

import (
	"context"
	"fmt"
	"os/exec"
	"syscall"
	"time"
)

// withProgress runs f and says what is going on, with the time it has taken,
// until it returns or ctx ends.
func withProgress(ctx context.Context, o Options, what string, f func() error) error {
	line := func(d time.Duration) string { return fmt.Sprintf("%s (%s)", what, d.Round(time.Second)) }
	begin := time.Now()
	o.Progress(line(0))
	done := make(chan error, 1)
	go func() { done <- f() }()
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		select {
		case err := <-done:
			return err
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
			o.Progress(line(time.Since(begin)))
		}
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
