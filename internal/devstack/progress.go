package devstack

import (
	"os/exec"
	"syscall"
	"time"
)

// OwnGroup puts a tool of many processes (go and its compilers) into a group,
// so that ending it early ends them all.
func OwnGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	setDeathSignal(cmd.SysProcAttr, syscall.SIGKILL)
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = 5 * time.Second
}
