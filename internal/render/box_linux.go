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

// nobody is the user of least privileges on every system.
const nobody = 65534

// shut gives the browser a root with read-only programs and libraries of the system and a folder
// in memory, and then drops the privileges used for it. It exits if any step is refused.
const shut = `set -e
mount -t tmpfs -o nosuid,nodev,mode=755,size=1m none /tmp
cd /tmp
for p in /usr /bin /sbin /lib /lib32 /lib64 /libx32 /etc/fonts /etc/ssl /etc/alternatives /etc/chromium \
	/etc/chromium.d /etc/ld.so.cache "$3"; do
	if [ -L "$p" ]; then
		ln -s "$(readlink "$p")" ".$p"
	elif [ -e "$p" ] && [ ! -e ".$p" ]; then
		if [ -d "$p" ]; then mkdir -p ".$p"; else mkdir -p ".${p%/*}"; : >".$p"; fi
		mount --rbind "$p" ".$p"
		mount -o remount,bind,ro ".$p"
	fi
done
mkdir dev proc tmp old
for d in null zero full random urandom; do
	: >dev/$d
	mount --bind /dev/$d dev/$d
done
mount -t proc -o nosuid,nodev,noexec none proc
mount -t tmpfs -o nosuid,nodev,noexec,size=128m,nr_inodes=8k none tmp
pivot_root . old
cd /
umount -n -l /old
rmdir /old
mount -o remount,bind,ro /
cd /tmp
ulimit -c 0
ulimit -t $1
ulimit -d $2
shift 3
exec setpriv --no-new-privs --inh-caps=-all --ambient-caps=-all --bounding-set=-all -- "$@"`

// folder returns the folder of a program for the box. A program among a user's files has none.
func folder(program string) (string, error) {
	file, err := filepath.EvalSymlinks(program)
	if err != nil {
		return "", err
	}
	dir := filepath.Dir(file)
	for _, system := range []string{"/usr/", "/bin", "/opt/"} {
		if strings.HasPrefix(dir, system) {
			return dir, nil
		}
	}
	return "", fmt.Errorf("%s lies in no folder of the system's programs", file)
}

// process is a browser in its box.
type process struct {
	in, out *os.File // of the protocol
	pid     int
	kill    context.CancelFunc
	gone    chan struct{}
	stderr  bytes.Buffer // start of its stderr; valid after its end

	spent map[string]time.Duration // processor time by process, including ended ones
}

// start starts a program in new user, network, process and mount namespaces.
func start(ctx context.Context, l limits, program ...string) (*process, error) {
	dir, err := folder(program[0])
	if err != nil {
		return nil, err
	}
	ctx, kill := context.WithCancel(ctx)
	p := &process{kill: kill, gone: make(chan struct{}), spent: map[string]time.Duration{}}
	argv := []string{
		"--user", "--map-current-user", "--keep-caps", "--net", "--ipc", "--pid", "--mount", "--fork", "--kill-child",
		"--mount-proc", "/bin/sh", "-c", shut, "sh",
		strconv.Itoa(int(l.cpu / time.Second)), strconv.FormatInt(l.memory>>10, 10), dir,
	}
	cmd := exec.CommandContext(ctx, "unshare", append(argv, program...)...)
	cmd.Dir, cmd.Env = "/", []string{"PATH=" + os.Getenv("PATH"), "LANG=C.UTF-8", "HOME=/tmp", "TMPDIR=/tmp"}
	cmd.Stderr, cmd.WaitDelay = &firstBytes{&p.stderr}, time.Second
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
		runtime.LockOSThread() // and never unlocked: the parent-death signal is sent when the thread ends
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

// end kills the browser with all of its processes, and waits for it.
func (p *process) end() {
	p.kill()
	<-p.gone
	_, _ = p.in.Close(), p.out.Close()
}

// used returns the processor time of the browser's processes and their memory in bytes. They
// descend from the first in its process namespace, which inherits orphans.
func (p *process) used() (cpu time.Duration, memory int64) {
	const tick = time.Second / 100 // the kernel's, for programs
	files, _ := filepath.Glob("/proc/[0-9]*/stat")
	stats, children := map[string][]string{}, map[string][]string{}
	for _, f := range files {
		raw, _ := os.ReadFile(f)
		field := strings.Fields(string(raw[bytes.LastIndexByte(raw, ')')+1:])) // from the third field on
		if len(field) >= 22 {
			pid := filepath.Base(filepath.Dir(f))
			stats[pid], children[field[1]] = field, append(children[field[1]], pid)
		}
	}
	for tree := []string{strconv.Itoa(p.pid)}; len(tree) > 0; tree = tree[1:] {
		pid := tree[0]
		tree = append(tree, children[pid]...)
		field := stats[pid]
		if field == nil {
			continue
		}
		number := func(n int) int64 { v, _ := strconv.ParseInt(field[n-3], 10, 64); return v }
		own, who := number(14)+number(15), pid+" "+field[22-3] // unique with the start time
		p.spent[who] = max(p.spent[who], time.Duration(own)*tick)
		cpu += time.Duration(own+number(16)+number(17)) * tick // plus that of waited-for children
		memory += number(24) * int64(os.Getpagesize())
	}
	var all time.Duration
	for _, spent := range p.spent {
		all += spent
	}
	return max(cpu, all), memory
}

// firstBytes is a writer that keeps only the first bytes.
type firstBytes struct{ *bytes.Buffer }

func (b *firstBytes) Write(p []byte) (int, error) {
	if room := 4<<10 - b.Len(); room > 0 {
		_, _ = b.Buffer.Write(p[:min(room, len(p))])
	}
	return len(p), nil
}

// complaint returns the last line of stderr of a browser that has ended.
func (p *process) complaint() string {
	lines := strings.Split(strings.TrimSpace(p.stderr.String()), "\n")
	return strings.ToValidUTF8(lines[len(lines)-1], "")
}
