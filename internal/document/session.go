package document

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"

	"gleaner/internal/guard"
)

// session is a box in which the programs that read one document run, one after the
// other: a shell that is told what to run line by line, since to start a box costs as
// much as many a program. Each program's output ends with a mark of the session, behind
// which the shell says how it ended. What a program that was broken into says in the
// shell's stead is of its own document. Without a process space the first program
// replaces the shell, so that the signal at its worker's death reaches it.
type session struct {
	lim    limits
	dir    string // where its programs work
	lasts  bool   // for more than one program
	kill   context.CancelFunc
	in     io.WriteCloser
	out    *os.File
	errs   *os.File
	mark   string           // a line
	used   time.Duration    // by its programs, up to now
	gone   chan struct{}    // closed when the shell has ended
	ending *os.ProcessState // how it has
}

// maxSaid is how much is kept of what a program complains.
const maxSaid = 4 << 10

// open starts a shell in the box that holds itself, and all that it starts, to the
// limits: each of them by itself to the processor time.
func (b box) open(ctx context.Context, lim limits, cpu time.Duration, dir string) (*session, error) {
	ctx, kill := context.WithCancel(context.WithoutCancel(ctx))
	argv := b.command([]string{"/bin/sh"})
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Dir, cmd.Env = dir, environment(dir)
	ownGroup(cmd)
	in, err := cmd.StdinPipe()
	if err != nil {
		kill()
		return nil, fmt.Errorf("start %s: %w", argv[0], err)
	}
	s := &session{lim: lim, dir: dir, lasts: b.spaces, kill: kill, in: in, gone: make(chan struct{})}
	s.mark = rand.Text() + "\n"
	var theirs [2]*os.File
	var failed [2]error
	s.out, theirs[0], failed[0] = os.Pipe()
	s.errs, theirs[1], failed[1] = os.Pipe()
	cmd.Stdout, cmd.Stderr = theirs[0], theirs[1]
	started := make(chan error)
	b.apart(cmd, func(err error) {
		if err = errors.Join(err, failed[0], failed[1]); err == nil {
			err = cmd.Start()
		}
		if started <- err; err == nil {
			_ = cmd.Wait()
			s.died(cmd.ProcessState)
		}
	})
	err = <-started
	_, _ = theirs[0].Close(), theirs[1].Close()
	if err != nil {
		s.died(nil)
		s.close()
		return nil, fmt.Errorf("start %s: %w", argv[0], err)
	}
	s.tell(lim.script(b.spaces) + atMost(cpu))
	return s, nil
}

// tell gives the shell a line. One that is gone is found so by what it does not answer.
func (s *session) tell(line string) { _, _ = io.WriteString(s.in, line+"\n") }

// died is told how the shell ended. What it started and did not take along may keep its
// output open, which is not waited for.
func (s *session) died(how *os.ProcessState) {
	soon := time.Now().Add(time.Second)
	_, _ = s.out.SetReadDeadline(soon), s.errs.SetReadDeadline(soon)
	s.ending = how
	close(s.gone)
}

// close ends all that is in the box.
func (s *session) close() {
	_ = s.in.Close()
	late := time.AfterFunc(time.Second, s.kill)
	<-s.gone
	late.Stop()
	s.kill()
	_, _ = s.out.Close(), s.errs.Close()
}

// run runs a program for so much processor time, and kills the session at the context's
// end. The error is the system's: the program could not be started. How the program
// ended is in run.
func (s *session) run(ctx context.Context, cpu time.Duration, env []string, argv ...string) (*run, error) {
	defer context.AfterFunc(ctx, s.kill)()
	full := s.watchFolder()
	s.tell(s.line(cpu, env, argv))
	complained := make(chan []byte, 1)
	guard.Go(func() {
		defer close(complained)
		said, _ := until(s.errs, s.mark, maxSaid, true)
		complained <- said[:min(len(said), maxSaid)]
	})
	out, err := until(s.out, s.mark, maxOutput, false)
	got := &run{flooded: errors.Is(err, errFlood)}
	answered := err == nil && s.answer(got, out)
	if !answered {
		if s.lasts || got.flooded {
			s.kill()
		}
		<-s.gone
		got.stdout, got.exit, got.used = out, exitCode(s.ending), s.ending.UserTime()+s.ending.SystemTime()-s.used
	}
	got.stderr = string(<-complained)
	got.flooded = full() || got.flooded
	got.ended(cpu, ctx.Err() != nil)
	wrong := s.lasts && !answered && !got.late && !got.stalled && !got.flooded
	s.lasts = s.lasts && answered
	if wrong || got.exit == cannotRun || got.exit == notFound {
		return nil, fmt.Errorf("run %s: %s", argv[0], firstLine(got.stderr))
	}
	return got, nil
}

// line has the shell run a program, and say how that ended where the shell remains.
func (s *session) line(cpu time.Duration, env []string, argv []string) string {
	var b strings.Builder
	b.WriteString(atMost(cpu))
	for _, e := range env {
		name, value, _ := strings.Cut(e, "=")
		fmt.Fprintf(&b, "export %s=%s; ", name, quoted(value))
	}
	b.WriteString("exec")
	for _, a := range argv {
		b.WriteString(" " + quoted(a))
	}
	b.WriteString(" </dev/null")
	if !s.lasts {
		return b.String()
	}
	return fmt.Sprintf("(%s); echo %[2]s $?; times; echo %[2]s; echo %[2]s >&2", b.String(), strings.TrimSpace(s.mark))
}

func quoted(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// answer takes what the shell said off the end of a program's output: its exit code,
// and the processor time of the shell and of all programs so far.
func (s *session) answer(got *run, out []byte) bool {
	at := max(0, bytes.LastIndex(out, []byte(strings.TrimSpace(s.mark))))
	words := strings.Fields(string(out[at:]))
	if len(words) != 6 {
		return false
	}
	var err error
	got.stdout = out[:at]
	got.exit, err = strconv.Atoi(words[1])
	used := time.Duration(0)
	for _, w := range words[2:] {
		d, derr := time.ParseDuration(w)
		used += d
		err = errors.Join(err, derr)
	}
	got.used = max(0, used-s.used)
	s.used = max(used, s.used)
	return err == nil
}

var errFlood = errors.New("more than is taken")

// until reads up to a mark, or to the end, and so much at most: what is beyond that is
// left out, or ends the reading.
func until(r io.Reader, mark string, most int, leaveOut bool) ([]byte, error) {
	var b []byte
	for {
		b = slices.Grow(b, 16<<10)
		n, err := r.Read(b[len(b):cap(b)])
		b = b[:len(b)+n]
		if said, ok := bytes.CutSuffix(b, []byte(mark)); ok {
			return said, nil
		}
		switch {
		case err != nil:
			return b, err
		case len(b) > most && !leaveOut:
			return b, errFlood
		case len(b) > 2*most:
			b = append(b[:most], b[len(b)-len(mark):]...)
		}
	}
}
