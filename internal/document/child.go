package document

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"strconv"
	"time"
)

// childVariable in the environment makes a process a reading child.
const childVariable = "GLEANER_DOCUMENT_CHILD"

// Child tells a Reader how to start its own program as a reading child. The
// zero value means: do not.
type Child struct {
	executable string
}

// MaybeRunChild must be the first statement of a main function (or TestMain)
// whose readers shall run the built-in PDF reader in a child process. In such a
// child it reads the one file, prints the result and exits; otherwise it
// returns the Child to put in Options. The value can only be had from here, so
// no program starts copies of itself that do not know what they are for.
func MaybeRunChild() Child {
	if spec := os.Getenv(childVariable); spec != "" {
		os.Exit(childMain(spec))
	}
	exe, err := os.Executable()
	if err != nil {
		return Child{}
	}
	return Child{executable: exe}
}

// childSpec is what a reading child is told.
type childSpec struct {
	File        string
	First, Last int
	Memory      int64
}

func childMain(spec string) int {
	var s childSpec
	if err := json.Unmarshal([]byte(spec), &s); err != nil {
		fmt.Fprintln(os.Stderr, "reading child:", err)
		return 2
	}
	debug.SetMaxStack(64 << 20)
	debug.SetMemoryLimit(s.Memory * 6 / 10)
	body, err := os.ReadFile(s.File)
	if err != nil {
		fmt.Fprintln(os.Stderr, "reading child:", err)
		return 2
	}
	got := readGoPDF(body, s.First, s.Last, outOfProcessorTime())
	if err := json.NewEncoder(os.Stdout).Encode(got); err != nil {
		fmt.Fprintln(os.Stderr, "reading child:", err)
		return 2
	}
	return 0
}

// goScan reads a PDF with the built-in reader, in a child where there is one.
func (j *job) goScan(ctx context.Context, p Part) (*scan, error) {
	opt := j.r.opt
	if opt.Child.executable == "" {
		return j.r.goInProcess(ctx, p), nil
	}
	spec, err := json.Marshal(childSpec{j.file, opt.FirstPages, opt.LastPages, opt.Memory})
	if err != nil {
		return nil, err
	}
	got, err := j.run(ctx, limits{memory: opt.Memory, data: true}, []string{childVariable + "=" + string(spec), "GOMAXPROCS=2",
		"GOMEMLIMIT=" + strconv.FormatInt(opt.Memory*6/10, 10)}, opt.Child.executable)
	if err != nil {
		return nil, err
	}
	return childScan(got), nil
}

func childScan(got *run) *scan {
	s := &scan{}
	err := json.Unmarshal(got.stdout, s)
	s.Reader, s.PeakRSS = "go", got.peak
	switch {
	case got.late:
		s.Failed, s.Detail = Timeout, "the reading child used up its processor time"
	case got.stalled:
		s.Failed, s.Detail = Stalled, "the reading child was stopped by the clock or by the system"
	case outOfMemory(got), got.flooded:
		s.Failed, s.Detail = TooLarge, "the reading child wanted more than allowed"
	case err != nil || got.exit != 0:
		s.Failed, s.Detail = Unreadable, firstLine(got.stderr)
	}
	return s
}

// errOver stops the built-in reader from within.
var errOver = errors.New("its time is over")

// goInProcess reads without a child: bounded in time as far as the reader looks
// at its clock; a goroutine that does not is left behind.
func (r *Reader) goInProcess(ctx context.Context, p Part) *scan {
	deadline, ok := ctx.Deadline()
	if !ok {
		deadline = time.Now().Add(r.opt.Timeout)
	}
	done := make(chan *scan, 1)
	go func() {
		done <- readGoPDF(p.Body, r.opt.FirstPages, r.opt.LastPages, func() bool { return time.Now().After(deadline) })
	}()
	var s *scan
	select {
	case s = <-done:
		if s.Failed == Timeout { // by the clock: nobody counts a goroutine's processor time
			s.Failed = Stalled
		}
	case <-ctx.Done():
		s = &scan{Failed: Stalled, Detail: "the built-in reader passed its deadline"}
	}
	s.Reader = "go-inprocess"
	return s
}
