package devstack

import (
	"os/exec"
	"syscall"
	"time"
)

// RunGroup runs a tool of many processes (go and its compilers) as a group, so that ending
// it early ends them all. It calls started when the tool runs.
func RunGroup(cmd *exec.Cmd, started func()) error {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	setDeathSignal(cmd.SysProcAttr, syscall.SIGKILL)
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = 5 * time.Second
	ended := make(chan error, 1)
	if err := StartOwned(cmd, func(err error) { ended <- err }); err != nil {
		return err
	}
	started()
	return <-ended
}
