package main

import (
	"bytes"
	"context"
	"fmt"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gleaner/internal/devstack/devtest"
	"gleaner/internal/lab/sampleweb"
)

// TestTheDocsCanBeWalked does what a newcomer does: it takes the README and every page of
// docs/ from top to bottom, in an empty home, and runs each command that they show, in a
// shell, with the programs as they are built, the servers of `starter dev` and the sample
// web. What has to differ for that, what cannot run here and what ends with another code
// than 0 stands in the tables of walk_tables_test.go. With -short it takes two pages. For
// one page, after README, whose servers it needs: -run 'TestTheDocsCanBeWalked/(README|docs)/import'
func TestTheDocsCanBeWalked(t *testing.T) {
	t.Parallel()
	w := newWalk(t)
	pages := walkedPages(t)
	if testing.Short() {
		pages = []string{"../README.md", "../docs/documents.md"}
	}
	for _, page := range pages {
		t.Run(strings.TrimPrefix(page, "../"), func(t *testing.T) {
			w.t = t
			w.page(page)
		})
	}
	w.t = t
	t.Run("what all pages need", func(t *testing.T) {
		devtest.Soak(t, "walks each page")
		for _, rows := range []map[string]bool{w.unused(notHere), w.unused(before), w.unused(staysUp), w.unused(endsWith)} {
			for shown := range rows {
				t.Errorf("no page shows %q any more: take it out of the table", shown)
			}
		}
		w.completes(t)
	})
}

// tooLong is after which a command is taken for one that never ends.
const tooLong = 5 * time.Minute

// walk is somebody who reads the pages with a shell beside them.
type walk struct {
	t       *testing.T
	home    string // also where commands are typed
	renamed *strings.Replacer
	used    map[string]bool // rows of the tables
	done    map[string]bool // commands in a line of text, which are run once
	running []*left
}

// left is a command that is left running, as the page has it.
type left struct {
	cmd *exec.Cmd
	up  string // what it says once it is
	out *said
}

func newWalk(t *testing.T) *walk {
	web := sampleweb.New(sampleweb.Options{Seed: 1, FirstYear: 1998, Years: 7, Papers: 14, Authors: 12, Venues: 2, PagesPerSite: 1, NoCrawlDelay: true})
	server := httptest.NewServer(web)
	t.Cleanup(server.Close)
	home := t.TempDir()
	w := &walk{t: t, home: home, used: map[string]bool{}, done: map[string]bool{}, renamed: renames(t, web, home)}
	for name, body := range walkFiles(web) {
		require.NoError(t, os.WriteFile(filepath.Join(home, name), []byte(body), 0o600))
	}
	w.setEnvironment(server.URL, web)
	t.Cleanup(w.stopAll)
	require.NoError(t, os.CopyFS(filepath.Join(home, "bin"), os.DirFS(devtest.Programs(t)))) // before the first page
	return w
}

// setEnvironment writes what a shell of this user has: a home that is empty, the
// caches of the Go toolchain, and the way to the sample web.
func (w *walk) setEnvironment(proxy string, web *sampleweb.Web) {
	cache, err := os.UserCacheDir()
	require.NoError(w.t, err)
	raw, err := exec.CommandContext(w.t.Context(), "go", "env", "GOPATH", "GOCACHE", "GOMODCACHE", "GOFLAGS", "GOPROXY").Output()
	require.NoError(w.t, err)
	goenv := strings.Split(string(raw), "\n")
	lines := []string{
		"HOME=" + w.home, "PATH=" + filepath.Join(w.home, "bin") + ":" + os.Getenv("PATH"), "XDG_CACHE_HOME=" + cache,
		"GOPATH=" + goenv[0], "GOCACHE=" + goenv[1], "GOMODCACHE=" + goenv[2], "GOFLAGS=" + goenv[3], "GOPROXY=" + goenv[4],
		"GLEANER_PROXY=" + proxy, "GLEANER_DBLP_URL=" + sampleweb.DBLPURL, "GLEANER_DBLP_DELAY=1ms", "GLEANER_DELAY=10ms", "GLEANER_MIN_DELAY=0s",
		"GLEANER_POLICY=" + filepath.Join(w.home, "sample-policy.yaml"),
	}
	var env strings.Builder
	for _, line := range lines {
		name, value, _ := strings.Cut(line, "=")
		fmt.Fprintf(&env, "export %s='%s'\n", name, value)
	}
	require.NoError(w.t, os.WriteFile(w.environment(), []byte(env.String()), 0o600))
}

func (w *walk) environment() string { return filepath.Join(w.home, ".exported") }

// page runs what a page shows. What the README exports holds from there on, what another
// page does ends with it, as do the commands that it leaves running.
func (w *walk) page(page string) {
	exported, err := os.ReadFile(w.environment())
	require.NoError(w.t, err)
	first := len(w.running)
	for _, s := range steps(w.t, page) {
		w.step(s)
	}
	if filepath.Base(page) != "README.md" {
		require.NoError(w.t, os.WriteFile(w.environment(), exported, 0o600))
		for len(w.running) > first {
			w.stopLast()
		}
	}
}

func (w *walk) step(s step) {
	if _, ok := w.row(notHere, s.line); ok {
		return
	}
	if s.inText && (w.done[s.line] || !runnable(s.line)) {
		return
	}
	w.done[s.line] = true
	if first, ok := w.row(before, s.line); ok {
		w.run(step{where: s.where + ", before", line: first})
	}
	if up, ok := w.row(staysUp, s.line); ok && up != "" {
		if !s.inText {
			w.leave(s, up)
		} // else the text only speaks of it
		return
	}
	w.run(s)
}

// row looks a command up in a table, by how it begins; the longest row counts.
func (w *walk) row(table map[string]string, line string) (string, bool) {
	best := ""
	for begin := range table {
		if strings.HasPrefix(line, begin) && len(begin) > len(best) {
			best = begin
		}
	}
	w.used[best] = best != ""
	return table[best], best != ""
}

func (w *walk) unused(table map[string]string) map[string]bool {
	left := map[string]bool{}
	for begin := range table {
		if !w.used[begin] {
			left[begin] = true
		}
	}
	return left
}

// shell is a shell that has read what was exported before, and writes down what is
// exported after.
func (w *walk) shell(ctx context.Context, line string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "bash", "-c", ". ./.exported\n"+w.renamed.Replace(line)+"\ncode=$?\nexport -p >.exported\nexit $code")
	cmd.Dir, cmd.Env = w.home, []string{"TERM=dumb"}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = 10 * time.Second
	return cmd
}

func (w *walk) run(s step) {
	ctx, cancel := context.WithTimeout(w.t.Context(), tooLong)
	defer cancel()
	cmd := w.shell(ctx, s.line)
	var out bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader("quit\n"), &out, &out
	began := time.Now()
	err := cmd.Run()
	want, ok := w.row(endsWith, s.line)
	if !ok {
		want = "0"
	}
	code := fmt.Sprint(cmd.ProcessState.ExitCode())
	w.t.Logf("%s: %s [%s, %.1f s]", s.where, s.line, code, time.Since(began).Seconds())
	if s.inText && code == "2" && len(strings.Fields(s.line)) <= 3 {
		return // the text only names it: it wants more words
	}
	if !slices.Contains(strings.Split(want, " or "), code) {
		w.t.Errorf("%s\n  %s\nended with %s and not %s (%v), as\n  %s\n%s", s.where, s.line, code, want, err, w.renamed.Replace(s.line), lastLines(out.String()))
	}
}

// leave starts a command that runs on, and waits until it says that it is up. Another
// of the kind has ended before.
func (w *walk) leave(s step, up string) {
	if n := len(w.running); n > 0 && w.running[n-1].up == up {
		w.stopLast()
	}
	cmd := w.shell(context.Background(), "exec "+strings.TrimSuffix(strings.TrimSpace(comment.ReplaceAllString(s.line, "")), "&"))
	l := &left{cmd: cmd, up: up, out: &said{}}
	cmd.Stdout, cmd.Stderr = l.out, l.out
	require.NoError(w.t, cmd.Start(), s.line)
	w.running = append(w.running, l)
	require.Eventually(w.t, func() bool { return strings.Contains(l.out.String(), up) }, tooLong, 100*time.Millisecond, "%s: %s is not up: %s", s.where, s.line, l.out)
	w.t.Logf("%s: %s, left running", s.where, s.line)
}

// completes asks a bash that reads what the last page made it write for names of
// harvests, as it does when somebody types a tabulator.
func (w *walk) completes(t *testing.T) {
	library := "/usr/share/bash-completion/bash_completion"
	if _, err := os.Stat(library); err != nil {
		t.Skip("bash-completion is not installed")
	}
	for typed, want := range map[string]string{"starter report conf/s": "conf/sample/1998-2004", "starter harvest conf/sample c": "conf/sample2", "starter export conf/sample --format b": "bibtex"} {
		words := strings.Fields(typed)
		out, err := w.shell(t.Context(), fmt.Sprintf(`. %s; . ./starter.bash
			COMP_WORDS=(%s); COMP_CWORD=%d; COMP_LINE=%q; COMP_POINT=%d; COMP_TYPE=9
			__start_starter; printf '%%s\n' "${COMPREPLY[@]}"`, library, typed, len(words)-1, typed, len(typed))).Output()
		require.NoError(t, err, typed)
		require.Contains(t, strings.Fields(string(out)), want, typed)
	}
}

// stopLast interrupts, as Ctrl-C does.
func (w *walk) stopLast() {
	l := w.running[len(w.running)-1]
	w.running = w.running[:len(w.running)-1]
	if err := l.cmd.Process.Signal(os.Interrupt); err != nil {
		w.t.Errorf("%v has ended by itself: %v\n%s", l.cmd.Args, err, lastLines(l.out.String()))
		return
	}
	require.NoError(w.t, l.cmd.Wait(), "%v %v", l.cmd.Args, lastLines(l.out.String()))
}

func (w *walk) stopAll() {
	for len(w.running) > 0 {
		w.stopLast()
	}
}

// step is a command that a page shows.
type step struct {
	where, line string
	inText      bool
}

func walkedPages(t *testing.T) []string {
	pages, err := filepath.Glob("../docs/*.md")
	require.NoError(t, err)
	return append([]string{"../README.md"}, append(pages, "../deploy/README.md")...)
}

// commandWords are the words with which a command begins; other lines of a block are what it
// prints, a file or a drawing.
var commandWords = regexp.MustCompile(`^(?:export|starter|bin/\w+|go|make|lab|curl|pass|docker|install|systemctl|temporal|\(umask)\s`)

// optional are the brackets round what may be left out; it is run with it.
var optional = strings.NewReplacer("[", "", "]", "")

// steps are the commands of a page, in order.
func steps(t *testing.T, page string) (all []step) {
	raw, err := os.ReadFile(page)
	require.NoError(t, err)
	block := false
	for n, line := range strings.Split(string(raw), "\n") {
		where := fmt.Sprintf("%s:%d", strings.TrimPrefix(page, "../"), n+1)
		indented, isIndented := strings.CutPrefix(line, "    ")
		switch {
		case strings.HasPrefix(line, "```"):
			block = !block
		case block && commandWords.MatchString(line) && !strings.Contains(line, "──"):
			all = append(all, step{where: where, line: optional.Replace(line)})
		case block:
		case isIndented && commandWords.MatchString(indented):
			all = append(all, step{where: where, line: optional.Replace(comment.ReplaceAllString(indented, ""))})
		}
		if !block {
			for _, m := range inline.FindAllStringSubmatch(line, -1) {
				all = append(all, step{where: where, line: "starter " + optional.Replace(m[1]), inText: true})
			}
		}
	}
	return all
}

// runnable tells a command that a line of text shows whole from one that it only names.
func runnable(line string) bool {
	args := words.FindAllString(line, -1)[1:]
	if slices.ContainsFunc(args, func(a string) bool { return strings.Contains(a, "…") }) {
		return false
	}
	cmd, rest, err := newRoot(&said{}, &said{}).Find(args)
	if err != nil || !cmd.Runnable() || cmd.ParseFlags(rest) != nil {
		return false
	}
	return cmd.ValidateArgs(cmd.Flags().Args()) == nil
}
