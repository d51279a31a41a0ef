//go:build !linux

package document

import "os/exec"

// box is how a child is shut in: nothing but its limits is known here.
type box struct {
	spaces         bool
	unshare        string
	user           int // always the worker's own
	wall           int
	programs, also []string
}

func newBox(string, ...string) box { return box{user: -1} }

func (b box) command(argv []string) []string { return argv }

func (b box) apart(_ *exec.Cmd, f func(error)) { go f(nil) }

func (b box) own(string) error { return nil }

func (b box) isolation() Isolation {
	return Isolation{Lacks: []string{NoNetwork, NoFiles, "no process outlives its reader", "another user"}}
}
