package document

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"
	"time"

	"gleaner/internal/guard"
)

// nobody is the user of least rights on every system.
const nobody = 65534

// box is how a child is shut in, beside its limits, its process group and its bare
// environment. What the system allows was tried out once.
type box struct {
	spaces  bool   // in user, process, network and message spaces of its own
	unshare string // the program that makes them; "" where the worker forks for that
	mute    bool   // may open no socket
	user    int    // whom it runs as; -1 is the worker's own user

	wall     int      // version of Landlock that keeps it from other files; 0 for none
	programs []string // that it may run beside those of the system
	also     []string // files and folders that it may write beside its own
}

// newBox finds out what this system allows for programs that work in a folder. As
// root they run as nobody, where that user can reach them. A fork into a user space
// copies the worker's page tables, and every page that it then writes to: a program
// of the system that makes the spaces costs a third of that.
func newBox(dir string, programs ...string) box {
	b := box{user: -1, mute: canMute(), wall: wallVersion(), programs: programs}
	if os.Geteuid() == 0 && allReach(dir, programs) {
		b.user = nobody
	}
	unshare, _ := exec.LookPath("unshare")
	for _, by := range []struct {
		spaces  bool
		unshare string
		wall    int
	}{{true, unshare, b.wall}, {true, "", b.wall}, {false, "", b.wall},
		{true, unshare, 0}, {true, "", 0}, {false, "", 0}} {
		b.spaces, b.unshare, b.wall = by.spaces, by.unshare, by.wall
		if b.works() {
			if !b.spaces && b.user < 0 {
				hide()
			}
			return b
		}
	}
	return box{user: -1, programs: programs}
}

// works runs the system's shell in the box.
func (b box) works() bool {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	r, err := b.open(ctx, limits{memory: 1 << 30, file: 1 << 20, folder: 1 << 40}, time.Second, os.TempDir())
	if err != nil {
		return false
	}
	defer r.close()
	got, err := r.run(ctx, time.Second, nil, "/bin/sh", "-c", "exit 7")
	return err == nil && got.exit == 7
}

// command is what to start for a command to run in the box. No user is mapped into its
// user space: to map one, it would have to write to /proc.
func (b box) command(argv []string) []string {
	if b.unshare == "" {
		return argv
	}
	return append([]string{b.unshare, "--user", "--net", "--ipc", "--pid", "--fork", "--kill-child"}, argv...)
}

// apart runs f, which starts cmd and waits for it, on a thread of its own that
// ends with it. The error given to f is that of a wall that the kernel refused. What
// the thread gave up, its children never had; and the signal that ends a child at its
// parent's death comes at the death of the thread that started it, which so is not
// before the child's own.
func (b box) apart(cmd *exec.Cmd, f func(error)) {
	a := cmd.SysProcAttr
	a.Pdeathsig = syscall.SIGKILL
	fork := b.spaces && b.unshare == ""
	if fork {
		a.Cloneflags = syscall.CLONE_NEWUSER | syscall.CLONE_NEWPID | syscall.CLONE_NEWNET | syscall.CLONE_NEWIPC
	} else if b.user >= 0 {
		a.Credential = &syscall.Credential{Uid: uint32(b.user), Gid: uint32(b.user), NoSetGroups: true}
	}
	guard.Go(func() {
		runtime.LockOSThread() // and never unlocked, so that the thread is used for nothing else
		if b.user >= 0 {
			noGroups()
		}
		noNewPrivileges()
		if b.mute {
			_ = noSockets()
		}
		var err error
		if b.wall > 0 {
			err = b.wallIn(cmd.Dir)
		}
		dropCapabilities(b.user >= 0)
		if fork && b.user >= 0 { // the child could no longer change
			err = errors.Join(err, become(b.user))
		}
		f(err)
	})
}

// own gives a file to the user of the box.
func (b box) own(path string) error {
	if b.user < 0 {
		return nil
	}
	return os.Lchown(path, b.user, b.user)
}

func (b box) isolation() Isolation {
	i := Isolation{Has: []string{"no new privileges", "ends with its worker"}}
	say := func(has bool, what string) {
		if has {
			i.Has = append(i.Has, what)
		} else {
			i.Lacks = append(i.Lacks, what)
		}
	}
	say(b.spaces || b.mute, NoNetwork)
	say(b.wall > 0, NoFiles)
	say(b.spaces, "processes and users of its own")
	say(b.spaces || b.wall >= wallSignals, "no signals to others")
	if os.Geteuid() == 0 {
		say(b.user >= 0, NotAsRoot)
	}
	return i
}

// allReach reports whether any user can get to the folder and run the programs.
func allReach(dir string, programs []string) bool {
	for _, path := range append(programs, dir) {
		real, err := filepath.EvalSymlinks(path)
		if err != nil {
			continue // it is not there, and will not be run
		}
		for {
			info, err := os.Stat(real)
			if err != nil || info.Mode().Perm()&0o001 == 0 {
				return false
			}
			up := filepath.Dir(real)
			if up == real {
				break
			}
			real = up
		}
	}
	return true
}
