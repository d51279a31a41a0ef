// Counttests runs a command that runs `go test -json`:
//
//	counttests [-logs] withstack go test -json ./...
//
// It shows what `go test` does, and ends with the tests that were skipped and why, the
// slowest tests and packages, and the processor time of the command with all that it
// started. With -logs it also shows what tests printed that passed on real data. A test
// may be skipped for want of data that are not part of the repository, or of a program,
// or because it takes minutes; counttests fails where one is skipped for a reason that is
// not listed here.
package main

import (
	"bufio"
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"os/signal"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"
)

// allowed are the reasons for which a test may be skipped.
var allowed = []*regexp.Regexp{
	// shared data: recorded sites, documents, farms
	regexp.MustCompile(`^needs data: `),
	// takes minutes: `make soak` runs it
	regexp.MustCompile(`^soak: `),
	// shared data: robots.txt of real hosts
	regexp.MustCompile(`^no files in `),
	// README lists what to install
	regexp.MustCompile(`is not installed|no Chromium is installed|needs (pdftotext|ghostscript)`),
	// what a system or a copy of the program lacks
	regexp.MustCompile(`gives no process space|no browser can be shut in here|only root can be|nobody can reach the programs|needs Linux|needs a shell|no named pipes|^no git repository|needs /proc|THIS KERNEL CONFINES NO FILES`),
	// no tests but tools, or measurements for who asks
	regexp.MustCompile(`only as a child of|measures on|give -args|the race detector`),
}

// event is a line of `go test -json`.
type event struct {
	Action, Package, Test, Output, Key string
	Elapsed                            float64 // seconds
}

type skipped struct{ test, reason string }

// took is how long a test, or a package, ran.
type took struct {
	name    string
	seconds float64
}

// totals is what a run came to.
type totals struct {
	skips           []skipped
	tests, packages []took
	failed          bool
}

func main() {
	logs := flag.Bool("logs", false, "show what tests printed that passed on real data")
	flag.Parse()
	if flag.NArg() == 0 {
		fmt.Fprintln(os.Stderr, "counttests: no command given")
		os.Exit(2)
	}
	fine, err := run(os.Stdout, flag.Args(), *logs)
	if err != nil {
		fmt.Fprintln(os.Stderr, "counttests:", err)
		os.Exit(2)
	}
	if !fine {
		os.Exit(1)
	}
}

// run runs the command, and reports whether all went well. The command's own status says
// so, too: it may fail before it runs a test.
func run(out io.Writer, args []string, logs bool) (fine bool, err error) {
	began := time.Now()
	// Where it is interrupted, the command ends, and what it left is shown.
	signal.Notify(make(chan os.Signal, 1), os.Interrupt, syscall.SIGTERM)
	cmd := exec.Command(args[0], args[1:]...) // #nosec G702 -- it is there to run the command it is given
	cmd.Stderr = os.Stderr
	lines, err := cmd.StdoutPipe()
	if err != nil {
		return false, err
	}
	if err := cmd.Start(); err != nil {
		return false, err
	}
	t, err := count(lines, out, logs)
	failed := cmd.Wait()
	if err != nil {
		return false, err
	}
	fine = report(out, t.skips)
	slowest(out, "tests", t.tests)
	slowest(out, "packages", t.packages)
	used := cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	fmt.Fprintf(out, "%.0f processor seconds in %.0f seconds\n", used.Seconds(), time.Since(began).Seconds())
	if failed != nil {
		fmt.Fprintln(out, "FAIL:", failed)
	}
	return fine && !t.failed && failed == nil, nil
}

// slowest prints the ten that ran longest.
func slowest(out io.Writer, what string, all []took) {
	slices.SortFunc(all, func(a, b took) int { return cmp.Compare(b.seconds, a.seconds) })
	fmt.Fprintf(out, "the slowest %s:\n", what)
	for _, t := range all[:min(10, len(all))] {
		fmt.Fprintf(out, "%8.1f s  %s\n", t.seconds, t.name)
	}
}

// count shows what a run printed of packages, of failures and, with logs, of measurements,
// and gathers what was skipped.
func count(in io.Reader, out io.Writer, logs bool) (t totals, err error) {
	said, measures := map[string]string{}, map[string]bool{} // by test
	lines := bufio.NewReader(in)
	for {
		line, rerr := lines.ReadBytes('\n')
		if rerr != nil && len(line) == 0 {
			if rerr == io.EOF {
				rerr = nil
			}
			unfinished(out, said, "") // of a run that was stopped
			return t, rerr
		}
		var e event
		if json.Unmarshal(line, &e) != nil { // what the compiler says
			fmt.Fprint(out, string(line))
			continue
		}
		test, _, _ := strings.Cut(e.Test, "/") // without the subtest
		name, whole := e.Package+"."+e.Test, e.Package+"."+test
		switch e.Action {
		case "attr": // of package realdata
			measures[whole] = measures[whole] || e.Key == "realdata"
		case "output", "build-output":
			if e.Test == "" {
				fmt.Fprint(out, e.Output)
			} else {
				said[name] += e.Output
			}
		case "fail", "build-fail":
			t.failed = true
			fmt.Fprint(out, said[name])
			if e.Test == "" { // tests that a panic or the time limit took with it
				unfinished(out, said, e.Package+".")
			}
		case "pass":
			if logs && measures[whole] {
				fmt.Fprint(out, said[name])
			}
		case "skip":
			if e.Test != "" {
				t.skips = append(t.skips, skipped{name, reason(said[name])})
			}
		}
		if e.Action == "pass" || e.Action == "fail" || e.Action == "skip" {
			delete(said, name)
			t.time(e)
		}
	}
}

// time notes how long a test or a package took.
func (t *totals) time(e event) {
	of := took{strings.TrimPrefix(e.Package, "gleaner/"), e.Elapsed}
	if e.Test == "" {
		t.packages = append(t.packages, of)
		return
	}
	of.name += " " + e.Test
	t.tests = append(t.tests, of)
}

// unfinished shows what tests said that came to no end, and forgets it.
func unfinished(out io.Writer, said map[string]string, prefix string) {
	for _, name := range slices.Sorted(maps.Keys(said)) {
		if strings.HasPrefix(name, prefix) {
			fmt.Fprintf(out, "%s did not end:\n%s", name, said[name])
			delete(said, name)
		}
	}
}

var place = regexp.MustCompile(`^\s*\S+\.go:\d+: `)

// reason is what a test said last before it was skipped.
func reason(said string) string {
	why := "without a reason"
	for line := range strings.Lines(said) {
		if at := place.FindString(line); at != "" {
			why = strings.TrimSpace(strings.TrimPrefix(line, at))
		}
	}
	return why
}

// report prints what was skipped, and says whether all of it may be.
func report(out io.Writer, skips []skipped) bool {
	fine := true
	slices.SortFunc(skips, func(a, b skipped) int { return strings.Compare(a.test, b.test) })
	for _, s := range skips {
		note := ""
		if !isAllowed(s.reason) {
			fine, note = false, "NOT ALLOWED: "
		}
		fmt.Fprintf(out, "skipped  %s  %s%s\n", s.test, note, s.reason)
	}
	fmt.Fprintf(out, "%d tests skipped\n", len(skips))
	return fine
}

func isAllowed(reason string) bool {
	return slices.ContainsFunc(allowed, func(r *regexp.Regexp) bool { return r.MatchString(reason) })
}
