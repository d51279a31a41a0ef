// Mutants breaks the program in one place at a time, by the patches of the tables
// beside it, and runs the test that must notice. It fails where a test passes over
// its patch: then nothing holds what the patch breaks. It also fails where a test does
// not pass without a patch. With an argument, a regular expression, it takes the patches
// whose names match.
package main

import (
	"bytes"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

//go:embed *.txt
var tables embed.FS

// mutant is one patch of one file of the program, and the test that fails with it.
type mutant struct {
	name          string // what no longer holds
	pkg, test     string
	file          string
	before, after string
}

// mutants reads all tables. A patch begins with a line "= name", followed by "test
// package name", "file path", the lines that go, each after a "-", and those that come
// for them, each after a "+".
func mutants() (all []mutant, err error) {
	files, err := fs.Glob(tables, "*.txt")
	if err != nil {
		return nil, err
	}
	for _, name := range files {
		raw, err := tables.ReadFile(name)
		if err != nil {
			return nil, err
		}
		for n, line := range strings.Split(string(raw), "\n") {
			if name, ok := strings.CutPrefix(line, "= "); ok {
				all = append(all, mutant{name: name})
				continue
			}
			if line == "" || strings.HasPrefix(line, "#") {
				continue
			}
			if len(all) == 0 || !all[len(all)-1].read(line) {
				return nil, fmt.Errorf("%s:%d: not a line of a patch: %q", name, n+1, line)
			}
		}
	}
	return all, nil
}

func (m *mutant) read(line string) bool {
	switch fields := strings.Fields(line); {
	case line[0] == '-':
		m.before = strings.TrimPrefix(m.before+"\n"+line[1:], "\n")
	case line[0] == '+':
		m.after = strings.TrimPrefix(m.after+"\n"+line[1:], "\n")
	case fields[0] == "test" && len(fields) == 3:
		m.pkg, m.test = fields[1], fields[2]
	case fields[0] == "file" && len(fields) == 2:
		m.file = fields[1]
	default:
		return false
	}
	return true
}

// apply returns the file with the patch. The text that goes stands in it once.
func (m *mutant) apply(root string) ([]byte, error) {
	raw, err := os.ReadFile(filepath.Join(root, m.file))
	if err != nil {
		return nil, err
	}
	if n := bytes.Count(raw, []byte(m.before)); n != 1 || m.before == "" {
		return nil, fmt.Errorf("%s: %s has the text that goes %d times, not once: %s", m.name, m.file, n, m.before)
	}
	return bytes.Replace(raw, []byte(m.before), []byte(m.after), 1), nil
}

// run runs the test over the patched program, and reports whether it failed.
func (m *mutant) run(root, dir string) (killed bool, output []byte, err error) {
	patched, err := m.apply(root)
	if err != nil {
		return false, nil, err
	}
	copied, overlay := filepath.Join(dir, "patched"+filepath.Ext(m.file)), filepath.Join(dir, "overlay.json")
	table, err := json.Marshal(map[string]any{"Replace": map[string]string{filepath.Join(root, m.file): copied}})
	if err != nil {
		return false, nil, err
	}
	for name, content := range map[string][]byte{copied: patched, overlay: table} {
		if err := os.WriteFile(name, content, 0o600); err != nil {
			return false, nil, err
		}
	}
	output, err = m.runTest(root,
		"GOFLAGS="+os.Getenv("GOFLAGS")+" -overlay="+overlay, // programs that a test builds are patched, too
		"PATCHED_FILE="+m.file+"="+copied)                    // for tests that read the file themselves
	if bytes.Contains(output, []byte("build failed]")) || bytes.Contains(output, []byte("setup failed]")) {
		return false, output, fmt.Errorf("%s: the patched program does not build", m.name)
	}
	return err != nil, output, nil
}

// runTest runs the test with these variables added.
func (m *mutant) runTest(root string, env ...string) (output []byte, err error) {
	cmd := exec.Command("go", "test", "-count=1", "-timeout=5m", "-run=^"+m.test+"$", "./"+m.pkg)
	cmd.Dir, cmd.Env = root, append(os.Environ(), env...)
	return cmd.CombinedOutput()
}

// all runs those whose names match, and each of their tests once without a patch.
func all(root string, list []mutant, only *regexp.Regexp) (survivors int, err error) {
	dir, err := os.MkdirTemp("", "mutants")
	if err != nil {
		return 0, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	passes := map[string]bool{}
	for _, m := range list {
		if !only.MatchString(m.name) {
			continue
		}
		test := m.pkg + "." + m.test
		if _, ran := passes[test]; !ran {
			output, err := m.runTest(root)
			if passes[test] = err == nil; err != nil {
				fmt.Printf("ERROR     %s fails without a patch\n%s", test, output)
			}
		}
		if !passes[test] {
			survivors++
			continue
		}
		began := time.Now()
		killed, output, err := m.run(root, dir)
		took := time.Since(began).Round(time.Second)
		switch {
		case err != nil:
			fmt.Printf("ERROR     %5s  %s: %v\n%s", took, m.name, err, output)
			survivors++
		case !killed:
			fmt.Printf("SURVIVED  %5s  %s: %s.%s\n%s", took, m.name, m.pkg, m.test, output)
			survivors++
		default:
			fmt.Printf("killed    %5s  %s\n", took, m.name)
		}
	}
	return survivors, nil
}

func main() {
	only, err := regexp.Compile(strings.Join(os.Args[1:], "|"))
	list, rerr := mutants()
	root, werr := os.Getwd()
	survivors := 0
	if err = errors.Join(err, rerr, werr); err == nil {
		survivors, err = all(root, list, only)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		os.Exit(2)
	}
	if survivors > 0 {
		fmt.Printf("%d patches were not noticed\n", survivors)
		os.Exit(1)
	}
}
