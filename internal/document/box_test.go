package document

import (
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// line is open as long as any process holds its end: a way to wait for the death
// of processes whose numbers nobody knows.
type line struct {
	t    *testing.T
	path string
	shut chan struct{}
}

func newLine(t *testing.T) *line {
	t.Helper()
	l := &line{t, filepath.Join(t.TempDir(), "line"), make(chan struct{})}
	if out, err := exec.CommandContext(t.Context(), "mkfifo", l.path).CombinedOutput(); err != nil {
		t.Skipf("no named pipes here: %v %s", err, out)
	}
	go func() {
		defer close(l.shut)
		f, err := os.Open(l.path) // when the first holds it
		if err != nil {
			return
		}
		defer func() { _ = f.Close() }()
		_, _ = io.Copy(io.Discard, f) // until the last is gone
	}()
	return l
}

func (l *line) wait() { <-l.shut }

// says makes a stand-in for pdftotext out of a script whose output is the text.
func says(t *testing.T, body string) *Reader {
	t.Helper()
	return NewReader(Options{PDFToText: script(t, `
page() { printf '<page width="612" height="792">\n<line xMin="1" yMin="1" xMax="9" yMax="9">\n'
	for w in "$@"; do printf '<word xMin="1" yMin="1" xMax="9" yMax="9">%s</word>\n' "$w"; done
	printf '</line>\n</page>\n'; }
`+body), PDFInfo: "-"})
}

// A reader's program sees nothing of the worker's environment.
func TestReaderHasABareEnvironment(t *testing.T) {
	t.Setenv("GLEANER_DATABASE_URL", "postgres://gleaner:secret@db/gleaner")
	got := read(t, says(t, `page one two three four five six $(env | tr -d ' ')`), "x.pdf", paperPDF(t, 2))
	require.Equal(t, OK, got.Outcome, got.Detail)
	assert.Contains(t, got.String(), "TMPDIR=")
	assert.NotContains(t, got.String(), "secret")
	assert.NotContains(t, got.String(), "GLEANER")
	for _, pair := range strings.Fields(got.String())[6:] {
		name, _, _ := strings.Cut(pair, "=")
		assert.Contains(t, []string{"PATH", "LANG", "LC_ALL", "HOME", "TMPDIR", "PWD", "OLDPWD", "SHLVL", "_"}, name)
	}
}

// A reader's program reaches no server, not even on this machine.
func TestReaderHasNoNetwork(t *testing.T) {
	t.Parallel()
	bash, err := exec.LookPath("bash")
	if err != nil || runtime.GOOS != "linux" {
		t.Skip("needs Linux, and a bash to connect with")
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = l.Close() })
	met := make(chan struct{}, 8)
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			met <- struct{}{}
			_ = c.Close()
		}
	}()
	way := "exec 3<>/dev/tcp/" + strings.Replace(l.Addr().String(), ":", "/", 1)
	connect := `"` + bash + `" -c '` + way + `' 2>/dev/null && page it reached a server on this machine ||
page it reached no server at all here`
	require.NoError(t, exec.CommandContext(t.Context(), bash, "-c", way).Run())
	<-met // the way there is right
	all := boxes()
	if alone := all[len(all)-1]; alone.mute {
		alone.wall = 0 // which would refuse it, too
		all = append(all, alone)
	}
	for _, b := range all {
		r := says(t, connect)
		r.box = b
		got := read(t, r, "x.pdf", paperPDF(t, 2))
		require.Equal(t, OK, got.Outcome, got.Detail)
		assert.Contains(t, got.String(), "no server at all", "%+v", b)
	}
	assert.Empty(t, met)
}

// reaching opens folders of a test's own to the stand-ins of a reader.
func reaching(b box, paths ...string) box {
	b.programs = slices.Concat(b.programs, paths)
	b.also = slices.Concat(b.also, paths)
	return b
}

// boxes are the ones that this system allows: with spaces of its own and without.
func boxes() []box {
	b := reaching(newBox(""), os.TempDir())
	b.user = -1 // nobody cannot reach a test's folder
	all := []box{b}
	if b.unshare != "" {
		b.unshare = ""
		all = append(all, b)
	}
	if b.spaces {
		b.spaces = false
		all = append(all, b)
	}
	return all
}

// A program that wants more than its share is stopped, and the outcome says of what.
func TestReaderIsHeldToItsLimits(t *testing.T) {
	t.Parallel()
	for _, b := range boxes() {
		for name, c := range map[string]struct {
			body string
			want Outcome
		}{
			"memory":         {`dd if=/dev/zero of=/dev/null bs=2G count=1 2>/dev/null || { echo "out of memory" >&2; exit 1; }`, TooLarge},
			"processor time": {`while :; do :; done`, Timeout},
			"a file":         {`exec head -c 200000000 /dev/zero > "$TMPDIR/big"`, TooLarge},
			"killed":         {`kill -9 $$`, Stalled},
		} {
			r := says(t, c.body)
			r.opt.CPU, r.box = time.Second, b
			got := read(t, r, "x.pdf", []byte("%PDF-1.4\n%%EOF"))
			assert.Equal(t, c.want, got.Outcome, "%s: %s, %+v", name, got.Detail, b)
		}
	}
}

// What a reader leaves behind in the background, even in a session of its own, does
// not outlive it; and it can fill the machine with processes no more than with files.
func TestReaderLeavesNoProcess(t *testing.T) {
	t.Parallel()
	b := boxes()[0]
	if !b.spaces {
		t.Skip("this system gives no process space")
	}
	line, late := newLine(t), filepath.Join(t.TempDir(), "late")
	// The line is held before the program could be over.
	r := says(t, `exec 3> `+line.path+`; setsid sh -c 'sleep 60; : > `+late+`' >/dev/null 2>&1 < /dev/null &
page a text with as many words as it needs`)
	r.box = b
	assert.Equal(t, OK, read(t, r, "x.pdf", paperPDF(t, 2)).Outcome)
	line.wait()
	require.NoFileExists(t, late)

	line = newLine(t)
	r = says(t, `exec 3> `+line.path+`; n=0; while [ $n -lt 80 ]; do sleep 600 >/dev/null & n=$((n+1)); done; page it started as many as $n of them`)
	r.box = b
	got := read(t, r, "x.pdf", []byte("%PDF-1.4\n%%EOF"))
	if os.Geteuid() != 0 { // root has no such limit
		assert.NotContains(t, got.String(), "80")
	}
	line.wait()
}

// A program that is gone is no fault of the file.
func TestMissingReaderIsNoVerdict(t *testing.T) {
	t.Parallel()
	for _, b := range boxes() {
		r := NewReader(Options{PDFToText: filepath.Join(t.TempDir(), "gone")})
		r.box = b
		_, err := r.Read(t.Context(), Part{Name: "x.pdf", Kind: PDF, Body: paperPDF(t, 2)})
		assert.ErrorContains(t, err, "gone")
	}
}

// All programs that read a document share one box.
func TestOneBoxForADocument(t *testing.T) {
	t.Parallel()
	r := NewReader(withPoppler(t))
	if r.box.unshare == "" {
		t.Skip("this system gives no process space by a program")
	}
	boxes := filepath.Join(t.TempDir(), "boxes")
	r.box = reaching(r.box, os.TempDir())
	r.box.user, r.box.unshare = -1, script(t, `echo >> `+boxes+`; exec `+r.box.unshare+` "$@"`)
	got := read(t, r, "x.pdf", paperPDF(t, 30))
	require.Equal(t, OK, got.Outcome, got.Detail)
	assert.Len(t, got.Pages, 24) // in three parts
	b, err := os.ReadFile(boxes)
	require.NoError(t, err)
	assert.Len(t, b, 1)
}

// A system that has no more spaces to give is no fault of the file.
func TestRefusedBoxIsNoVerdict(t *testing.T) {
	t.Parallel()
	r := says(t, `page a text with as many words as it needs`)
	if r.box.unshare == "" {
		t.Skip("this system gives no process space by a program")
	}
	r.box = reaching(r.box, os.TempDir())
	r.box.user, r.box.unshare = -1, script(t, `echo "unshare: unshare failed: No space left on device" >&2; exit 1`)
	_, err := r.Read(t.Context(), Part{Name: "x.pdf", Kind: PDF, Body: paperPDF(t, 2)})
	assert.ErrorContains(t, err, "No space left")
}

// As root, programs run as another user who can read nothing but their file, nor
// what root's groups may.
func TestReaderIsNotRoot(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("only root can be another user")
	}
	dir, err := os.MkdirTemp("", "gleaner-test-*")
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	require.NoError(t, os.Chmod(dir, 0o755))
	b, err := os.ReadFile(says(t, `cat "$5" > /dev/null || exit 1; : > "$TMPDIR/mine" || exit 1; page one two three four five six user $(id -u) secret $(cat `+dir+`/secret `+dir+`/shared 2>&1)`).opt.PDFToText)
	require.NoError(t, err)
	program := filepath.Join(dir, "pdftotext")
	write := exec.CommandContext(t.Context(), "/bin/sh", "-c",
		`cat > "$1" && chmod 755 "$1" && echo hidden | tee "$2" > "$3" && chmod 600 "$2" && chmod 640 "$3"`,
		"sh", program, filepath.Join(dir, "secret"), filepath.Join(dir, "shared"))
	write.Stdin = strings.NewReader(strings.ReplaceAll(string(b), `"$5"`, `"$8"`))
	require.NoError(t, write.Run())
	r := NewReader(Options{PDFToText: program, PDFInfo: "-"})
	if r.box.user < 0 {
		t.Skip("nobody can reach the programs here")
	}
	forking := r.box
	forking.unshare = ""
	for _, b := range []box{r.box, forking} {
		r.box = b
		got := read(t, r, "x.pdf", paperPDF(t, 2))
		require.Equal(t, OK, got.Outcome, got.Detail)
		assert.Contains(t, got.String(), "user "+strconv.Itoa(nobodyID))
		assert.NotContains(t, got.String(), "hidden", "%+v", b)
	}
}

// A reader that was stopped by somebody, or stands still on a busy machine, says
// nothing of its file; one whose processor time is over does, however long that
// took by the clock.
func TestStoppedReaderSaysNothing(t *testing.T) {
	t.Parallel()
	for _, b := range boxes() {
		for _, body := range []string{`kill -STOP $$`, `exec perl -e 'setpgrp(0, getpgrp(getppid)); sleep 600'`} {
			r := says(t, body)
			r.opt.Timeout, r.box = 300*time.Millisecond, b
			got := read(t, r, "x.pdf", paperPDF(t, 2))
			assert.Equal(t, Stalled, got.Outcome, "%s %+v %s", body, b, got.Detail)
		}
	}
}

// Time spent waiting is not held against a file.
func TestSlowMachineReadsTheSame(t *testing.T) {
	t.Parallel()
	r := says(t, `sleep 2; page what a slow machine reads is a text`)
	r.opt.CPU = time.Second
	assert.Equal(t, OK, read(t, r, "x.pdf", paperPDF(t, 2)).Outcome)
}

// What was read before the processor time was over is judged.
func TestWhatWasReadIsJudged(t *testing.T) {
	t.Parallel()
	r := NewReader(Options{CPU: 2 * time.Second, PDFInfo: "-", PDFToText: script(t, `case "$1" in -bbox-layout) ;; *) while :; do :; done;; esac
for p in 1 2 3; do printf '<page width="612" height="792">\n<line xMin="1" yMin="1" xMax="9" yMax="9">\n<word xMin="1" yMin="1" xMax="9" yMax="9">A text of six words here</word>\n</line>\n</page>\n'; done`)})
	got := read(t, r, "x.pdf", []byte("%PDF-1.4\n1 0 obj\nendobj\nstartxref\n0\n%%EOF"))
	assert.Equal(t, OK, got.Outcome, got.Detail)
	assert.True(t, got.Stopped)
	assert.Contains(t, got.Detail, "judged by what was read")
}

// What a program leaves where its text is expected is read only if it is a file:
// one that was broken into shows the worker nothing else of the machine, and does
// not hold it up.
func TestReaderPointsNowhereElse(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "secret"), []byte("hidden words that are long enough to be the text of a page"), 0o600))
	for name, leave := range map[string]string{
		"a link":         `ln -s ` + dir + `/secret "$out/1"`,
		"a linked way":   `cd ` + dir + ` && mkdir way && ln secret way/1 && rmdir "$out" && ln -s ` + dir + `/way "$out"`,
		"a pipe":         `mkfifo "$out/1"`,
		"a folder":       `mkdir "$out/1"`,
		"an endless one": `ln -s /dev/zero "$out/1"`,
	} {
		r := NewReader(Options{Ghostscript: script(t, `for way in "$HOME"/*/; do out=${way%/}; done && `+leave+` && : > "$HOME/../done"`), TempDir: t.TempDir()})
		r.box = reaching(r.box, os.TempDir())
		got := read(t, r, "x.ps", []byte("%!PS-Adobe-2.0\n%%Pages: 1\nshowpage\n"))
		assert.FileExists(t, filepath.Join(r.opt.TempDir, "done"), name)
		assert.Equal(t, Unreadable, got.Outcome, "%s: %s", name, got.Detail)
		assert.NotContains(t, got.String(), "hidden", name)
	}
}
