//go:build linux

package chaos

import (
	"os"
	"os/exec"
	"syscall"

	"gleaner/internal/devstack"
)

// process is a program that is started again and again under one name.
type process struct {
	name    string
	command func() *exec.Cmd
	log     string
	extra   []string // of the environment
	cmd     *exec.Cmd
	done    chan struct{}
}

// start runs the program.
func (p *process) start() error {
	out, err := os.OpenFile(p.log, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	defer func() { _ = out.Close() }()
	cmd := p.command()
	cmd.Stdout, cmd.Stderr = out, out
	cmd.Env = append(cmd.Env, p.extra...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	done := make(chan struct{})
	p.cmd, p.done = cmd, done
	return devstack.StartOwned(cmd, func(error) { close(done) })
}

func (p *process) signal(s syscall.Signal) { _ = p.cmd.Process.Signal(s) }

// end sends a signal that ends the process, and waits until it is gone.
func (p *process) end(s syscall.Signal) {
	if p.cmd == nil {
		return
	}
	p.signal(s)
	<-p.done
}
