package render

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"gleaner/internal/guard"
)

// nobody is the user of least rights on every system.
const nobody = 65534

// shut hides from the browser all files but those of the system, gives it a folder in
// memory, and takes the rights away by which this was done. It ends where any of that is
// refused.
const shut = `set -e
for d in /var /run /home /root /srv /mnt /media /dev/shm; do
	if [ -d $d ] && [ ! -L $d ]; then mount -t tmpfs -o ro,nosuid,nodev,noexec,size=4k none $d; fi
done
mount -t tmpfs -o nosuid,nodev,noexec,size=128m,nr_inodes=8k none /tmp
cd /tmp
ulimit -c 0
ulimit -t $1
ulimit -d $2
shift 2
exec setpriv --no-new-privs --inh-caps=-all --ambient-caps=-all --bounding-set=-all -- "$@"`

// process is a browser in its box.
type process struct {
	in, out *os.File // of the protocol
	pid     int
	kill    context.CancelFunc
	gone    chan struct{}
	said    bytes.Buffer // what it complained of; to be read when it is gone
}

// start starts a program in user, network, process and mount spaces of its own.
func start(ctx context.Context, l limits, program ...string) (*process, error) {
	ctx, kill := context.WithCancel(ctx)
	p := &process{kill: kill, gone: make(chan struct{})}
	argv := []string{
		"--user", "--map-current-user", "--keep-caps", "--net", "--ipc", "--pid", "--mount", "--fork", "--kill-child",
		"--mount-proc", "/bin/sh", "-c", shut, "sh",
		strconv.Itoa(int(l.cpu / time.Second)), strconv.FormatInt(l.memory>>10, 10),
	}
	cmd := exec.CommandContext(ctx, "unshare", append(argv, program...)...)
	cmd.Dir, cmd.Env = "/", []string{"PATH=" + os.Getenv("PATH"), "LANG=C.UTF-8", "HOME=/tmp", "TMPDIR=/tmp"}
	cmd.Stderr, cmd.WaitDelay = &firstBytes{&p.said}, time.Second
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}
	if os.Geteuid() == 0 {
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: nobody, Gid: nobody, Groups: []uint32{}}
	}
	theirIn, in, err := os.Pipe()
	out, theirOut, failed := os.Pipe()
	if err = errors.Join(err, failed); err != nil {
		kill()
		return nil, err
	}
	p.in, p.out, cmd.ExtraFiles = in, out, []*os.File{theirIn, theirOut}
	started := make(chan error, 1)
	guard.Go(func() {
		defer close(p.gone)
		runtime.LockOSThread() // and never unlocked: the signal at the parent's death comes at that of its thread
		err := cmd.Start()
		started <- err
		if err == nil {
			_ = cmd.Wait()
		}
	})
	err = <-started
	_, _ = theirIn.Close(), theirOut.Close()
	if err != nil {
		p.end()
		return nil, fmt.Errorf("start a browser: %w", err)
	}
	p.pid = cmd.Process.Pid
	return p, nil
}

// end ends the browser with all of its processes, and waits for it.
func (p *process) end() {
	p.kill()
	<-p.gone
	_, _ = p.in.Close(), p.out.Close()
}

// used is what the processes of the browser have used of the processors, and hold of the
// memory, in bytes. They are those of its session: one that leaves it is not counted, and ends
// with the others.
func (p *process) used() (cpu time.Duration, memory int64) {
	const tick = time.Second / 100 // the kernel's, for programs
	files, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, f := range files {
		raw, _ := os.ReadFile(f)
		_, rest, _ := strings.Cut(string(raw), ") ")
		field := strings.Fields(rest) // from the third on
		if len(field) < 22 || field[3] != strconv.Itoa(p.pid) {
			continue
		}
		number := func(n int) int64 { v, _ := strconv.ParseInt(field[n-3], 10, 64); return v }
		for _, n := range []int{14, 15, 16, 17} { // its own and that of children which have ended
			cpu += time.Duration(number(n)) * tick
		}
		memory += number(24) * int64(os.Getpagesize())
	}
	return cpu, memory
}

// firstBytes keeps the first of what is written.
type firstBytes struct{ *bytes.Buffer }

func (b *firstBytes) Write(p []byte) (int, error) {
	if room := 4<<10 - b.Len(); room > 0 {
		_, _ = b.Buffer.Write(p[:min(room, len(p))])
	}
	return len(p), nil
}

// complaint is the last line of what a browser that has ended complained of.
func (p *process) complaint() string {
	lines := strings.Split(strings.TrimSpace(p.said.String()), "\n")
	return strings.ToValidUTF8(lines[len(lines)-1], "")
}
