//go:build linux

package chaos

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync/atomic"
	"syscall"
)

// process is a program that is started again and again under one name.
type process struct {
	name    string
	command func() *exec.Cmd
	log     string
	extra   []string // of the environment
	cmd     *exec.Cmd
	done    chan struct{}
	ended   atomic.Bool // by itself
	asked   atomic.Bool
}

// start runs the program. The kernel ties the signal of the parent's death to
// the thread that forked, which therefore lives as long as the program.
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
	p.cmd, p.done = cmd, make(chan struct{})
	p.asked.Store(false)
	started := make(chan error, 1)
	go func(done chan struct{}) {
		runtime.LockOSThread()
		err := cmd.Start()
		started <- err
		if err != nil {
			return
		}
		_ = cmd.Wait()
		if !p.asked.Load() {
			p.ended.Store(true)
		}
		close(done)
	}(p.done)
	return <-started
}

func (p *process) signal(s syscall.Signal) { _ = p.cmd.Process.Signal(s) }

// end sends a signal that ends the process, and waits until it is gone.
func (p *process) end(s syscall.Signal) {
	if p.cmd == nil {
		return
	}
	p.asked.Store(true)
	p.signal(s)
	<-p.done
}

// busy starts n programs that compute without end.
func busy(n int, dir string) (stop func(), err error) {
	var all []*process
	stop = func() {
		for _, p := range all {
			p.end(syscall.SIGKILL)
		}
	}
	for i := range n {
		p := &process{name: fmt.Sprintf("busy %d", i), log: filepath.Join(dir, "busy.log"),
			command: func() *exec.Cmd { return exec.Command("sh", "-c", "while :; do :; done") }}
		if err := p.start(); err != nil {
			stop()
			return nil, err
		}
		all = append(all, p)
	}
	return stop, nil
}
