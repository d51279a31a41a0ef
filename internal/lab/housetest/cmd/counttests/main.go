// Counttests reads what `go test -json` prints, shows it as `go test` does, and
// ends with the tests that were skipped and why. A test may be skipped for want of
// data that are not part of the repository, or of a program; it fails where one is
// skipped for a reason that is not listed here, so that no test falls silent unseen.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
)

// allowed are the reasons for which a test may be skipped.
var allowed = []*regexp.Regexp{
	regexp.MustCompile(`not measured: no real data`),                                // shared data: recorded sites, documents, farms
	regexp.MustCompile(`^no files in `),                                             // shared data: robots.txt of real hosts
	regexp.MustCompile(`is not installed|no Chromium is installed|needs pdftotext`), // README lists what to install
	regexp.MustCompile(`gives no process space|only root can be|nobody can reach the programs|needs Linux|needs a shell|no named pipes`), // isolation that a system lacks
	regexp.MustCompile(`only as a child of|a million titles|set GLEANER_MODEL_OUT|measures on|give -args|the race detector`),             // no tests but tools, or measurements for who asks
}

// event is a line of `go test -json`.
type event struct {
	Action, Package, Test, Output string
}

type skipped struct{ test, reason string }

func main() {
	skips, failed, err := count(os.Stdin, os.Stdout)
	if err != nil {
		fmt.Fprintln(os.Stderr, "counttests:", err)
		os.Exit(2)
	}
	if !report(os.Stdout, skips) || failed {
		os.Exit(1)
	}
}

// count shows what a run printed of packages and failures, and gathers what was
// skipped.
func count(in io.Reader, out io.Writer) (skips []skipped, failed bool, err error) {
	said := map[string]string{} // by test
	lines := bufio.NewReader(in)
	for {
		line, rerr := lines.ReadBytes('\n')
		if rerr != nil && len(line) == 0 {
			if rerr == io.EOF {
				rerr = nil
			}
			return skips, failed, rerr
		}
		var e event
		if json.Unmarshal(line, &e) != nil { // what the compiler says
			fmt.Fprint(out, string(line))
			continue
		}
		name := e.Package + "." + e.Test
		switch e.Action {
		case "output", "build-output":
			if e.Test == "" {
				fmt.Fprint(out, e.Output)
			} else {
				said[name] += e.Output
			}
		case "fail", "build-fail":
			failed = true
			fmt.Fprint(out, said[name])
			if e.Test == "" { // tests that a panic or the time limit took with it
				unfinished(out, said, e.Package)
			}
		case "skip":
			if e.Test != "" {
				skips = append(skips, skipped{name, reason(said[name])})
			}
		}
		if e.Action == "pass" || e.Action == "fail" || e.Action == "skip" {
			delete(said, name)
		}
	}
}

// unfinished shows what the tests of a package said that came to no end, and forgets it.
func unfinished(out io.Writer, said map[string]string, pkg string) {
	for _, name := range slices.Sorted(maps.Keys(said)) {
		if strings.HasPrefix(name, pkg+".") {
			fmt.Fprint(out, said[name])
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
