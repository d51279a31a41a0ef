package document

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"gleaner/internal/guard"
)

// intrudedVariable makes this program a worker that reads one file by a program that
// was broken into: words for its box, and the home folder of its user.
const intrudedVariable = "GLEANER_TEST_INTRUDED"

// intruder is what whoever broke into a reader would try. $1 is the home folder, $2 the
// worker's process.
const intruder = `#!/bin/sh
ways=
try() { what=$1; shift; ("$@") >/dev/null 2>&1 && ways="$ways $what"; }
append() { echo "evil" >> "$1"; }
empty() { : > "$1"; }
opens() { : >> "$1"; }
try key cat %[1]s/.ssh/id_ed25519
try list ls %[1]s/blobs
try startup append %[1]s/.bashrc
try overwrite empty %[1]s/blobs/0011
try remove rm %[1]s/blobs/0022
try rename mv %[1]s/blobs/0033 %[1]s/blobs/0044
try new mkdir %[1]s/evil
try temporary empty /tmp/gleaner-evil-%[2]d
try link ln %[1]s/.ssh/id_ed25519 "$TMPDIR/key"
try secrets cat /etc/passwd
try processes cat /proc/%[2]d/environ
try signal kill -0 %[2]d
try worker opens /proc/%[2]d/oom_score_adj
try kernel opens /proc/sys/kernel/core_pattern
try capable chroot / /bin/true
try usr ls /usr
try unlinked sh -c 'exec 3> "$TMPDIR/u" && rm "$TMPDIR/u"'
try replaced sh -c ': > "$TMPDIR/a" && exec 3> "$TMPDIR/b" && mv "$TMPDIR/a" "$TMPDIR/b"'
try nameless perl -e 'use Fcntl; sysopen(F, $ENV{TMPDIR}, 020000000 | O_DIRECTORY | O_WRONLY, 0600) or exit 1'
try memory perl -e 'my $n = "x"; syscall(%[3]d, $n, 0) >= 0 or exit 1'
try shared perl -e 'syscall(%[4]d, 0, 4096, 0600) >= 0 or exit 1'
try queue perl -e 'syscall(%[5]d, 0, 0600) >= 0 or exit 1'
try semaphore perl -e 'syscall(%[6]d, 0, 1, 0600) >= 0 or exit 1'
mkdir "$TMPDIR/kept" && empty "$TMPDIR/kept/file" && chmod 0500 "$TMPDIR/kept"
printf '<page width="612" height="792">\n<line xMin="1" yMin="1" xMax="9" yMax="9">\n'
for w in the ways that led out of here are: $ways; do printf '<word xMin="1" yMin="1" xMax="9" yMax="9">%%s</word>\n' "$w"; done
printf '</line>\n</page>\n'
`

func init() { //nolint:gochecknoinits // before the tests of this process begin
	spec, ok := os.LookupEnv(intrudedVariable)
	if !ok {
		return
	}
	kind, home, _ := strings.Cut(spec, "|")
	temp, shut, err := OpenTemp(filepath.Join(home, "tmp"))
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	r := NewReader(Options{PDFToText: filepath.Join(home, "bin", "pdftotext"), PDFInfo: "-", TempDir: temp})
	if strings.Contains(kind, "root") {
		r.box.user = -1
	}
	if strings.Contains(kind, "forking") {
		r.box.unshare = ""
	}
	if strings.Contains(kind, "plain") {
		r.box.spaces, r.box.unshare = false, ""
	}
	got, err := r.Read(context.Background(), Part{Name: "x.pdf", Kind: PDF, Body: []byte("%PDF-1.4")})
	left, _ := os.ReadDir(temp)
	for _, e := range left {
		if e.Name() != lockName {
			err = fmt.Errorf("%s is left: %w", e.Name(), err)
		}
	}
	shut()
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println(got.String())
	os.Exit(0)
}

// TestPicturesAreDrawnInABox: what draws a page reaches no more than what reads one.
func TestPicturesAreDrawnInABox(t *testing.T) {
	t.Parallel()
	if newBox("").wall < wallSignals {
		t.Skip("THIS KERNEL CONFINES NO FILES: it has no Landlock, or one before version 6")
	}
	secret := filepath.Join(t.TempDir(), "secret")
	require.NoError(t, os.WriteFile(secret, []byte("hidden"), 0o600))
	r := NewReader(Options{PDFToPPM: script(t, `{ echo drawn; cat `+secret+`; } > "$TMPDIR/page.png"; exit 0`)})
	drawn, err := r.Picture(t.Context(), paperPDF(t, 1))
	require.NoError(t, err)
	require.Equal(t, "drawn\n", string(drawn))
}

// TestReaderHasItsFolderAlone: a reader that was broken into reads no key, changes no
// file of its worker's user and signals nobody, whoever runs the worker; and its worker
// removes what it, or one before it, left.
func TestReaderHasItsFolderAlone(t *testing.T) {
	t.Parallel()
	if newBox("").wall < wallSignals {
		t.Skip("THIS KERNEL CONFINES NO FILES: it has no Landlock, or one before version 6")
	}
	workers := map[string]int{"": os.Geteuid(), "forking": os.Geteuid(), "plain": os.Geteuid()}
	if os.Geteuid() == 0 {
		workers = map[string]int{
			"": 0, "root": 0, "root forking": 0, "root plain": 0, "user": 1234, "forking": 1234, "plain": 1234,
			"weak": 0, "root weak": 0, "root weak plain": 0,
		}
	}
	for kind, user := range workers {
		home, err := os.MkdirTemp("", "gleaner-home-*")
		require.NoError(t, err)
		t.Cleanup(func() { _ = os.RemoveAll(home) })
		files := map[string]string{".ssh/id_ed25519": "key", ".bashrc": "# mine\n", "blobs/0011": "blob", "blobs/0022": "blob", "blobs/0033": "blob"}
		dead := filepath.Join("tmp", tempPrefix+"dead")
		shut := filepath.Join(dead, "job", "shut")
		for _, dir := range []string{".ssh", "blobs", "bin", "tmp", dead, filepath.Dir(shut), shut} {
			require.NoError(t, os.Mkdir(filepath.Join(home, dir), 0o755))
		}
		require.NoError(t, os.WriteFile(filepath.Join(home, dead, "job", "shut", "file"), nil, 0o600))
		require.NoError(t, os.Chmod(filepath.Join(home, dead, "job", "shut"), 0o300))
		for name, body := range files {
			require.NoError(t, os.WriteFile(filepath.Join(home, name), []byte(body), 0o600))
		}
		itself := filepath.Join(home, "bin", "worker")
		require.NoError(t, os.Link(os.Args[0], itself))
		program := filepath.Join(home, "bin", "pdftotext")
		worker := exec.CommandContext(t.Context(), "/bin/sh", "-c", `cat > "$1" && sed -i "s/WORKER/$$/g" "$1" && chmod 755 "$1" "$2" && exec "$3"`, "sh", program, home, itself)
		worker.Stdin = strings.NewReader(strings.ReplaceAll(fmt.Sprintf(intruder, home, 424242,
			unix.SYS_MEMFD_CREATE, unix.SYS_SHMGET, unix.SYS_MSGGET, unix.SYS_SEMGET), "424242", "WORKER"))
		worker.Env = append(os.Environ(), intrudedVariable+"="+kind+"|"+home)
		if user != os.Geteuid() {
			worker.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(user), Gid: uint32(user)}}
		}
		require.NoError(t, filepath.WalkDir(home, func(path string, _ os.DirEntry, _ error) error { return os.Lchown(path, user, user) }))
		out, err := started(kind, worker)
		require.NoError(t, err, "%s: %s", kind, out)
		assert.Equal(t, "the ways that led out of here are:", strings.TrimSpace(string(out)), "%q, user %d", kind, user)
		for name, want := range files {
			got, err := os.ReadFile(filepath.Join(home, name))
			assert.Equal(t, want, string(got), "%q: %s: %v", kind, name, err)
		}
		left, err := os.ReadDir(filepath.Join(home, "tmp"))
		require.NoError(t, err)
		assert.Empty(t, left, kind)
	}
}

// started runs a worker, a weak one without CAP_SETPCAP, as in many containers.
func started(kind string, worker *exec.Cmd) (out []byte, err error) {
	<-guard.Go(func() {
		if strings.Contains(kind, "weak") {
			runtime.LockOSThread() // it ends with its thread
			if err = unix.Prctl(unix.PR_CAPBSET_DROP, unix.CAP_SETPCAP, 0, 0, 0); err != nil {
				return
			}
		}
		out, err = worker.CombinedOutput()
	})
	return out, err
}

// TestReaderIsHeldToItsFolder: what fills its folder is too large for good, by few files
// or by many, and so it is not read again.
func TestReaderIsHeldToItsFolder(t *testing.T) {
	t.Parallel()
	for name, body := range map[string]string{
		"large": `n=0; while :; do head -c 1000000 /dev/zero > "$TMPDIR/$n"; n=$((n+1)); done`,
		"unseen": `: > "$TMPDIR/unseen"; fallocate -n -l 8000000 "$TMPDIR/unseen" 2>/dev/null && exit 3
			n=0; while :; do head -c 1000000 /dev/zero > "$TMPDIR/$n"; n=$((n+1)); done`,
		"many": `n=0; while :; do : > "$TMPDIR/$n"; n=$((n+1)); done`,
		"deep": `d=$(printf '%0250d' 0); n=0; while [ $n -lt 20 ]; do mkdir $d && cd -P $d || exit 1; n=$((n+1)); done 2>/dev/null
			while :; do :; done`,
	} {
		r := says(t, body)
		r.opt.Folder = 4 << 20
		got := read(t, r, "x.pdf", []byte("%PDF-1.4\n%%EOF"))
		assert.Equal(t, TooLarge, got.Outcome, "%s: %s", name, got.Detail)
	}
}

// TestWhatIsSetAsideCounts, though no byte of it is written.
func TestWhatIsSetAsideCounts(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	f, err := os.Create(filepath.Join(dir, "unseen"))
	require.NoError(t, err)
	defer f.Close()
	require.NoError(t, unix.Fallocate(int(f.Fd()), unix.FALLOC_FL_KEEP_SIZE, 0, 2<<20))
	assert.True(t, overfull(dir, 1<<20))
}

// TestWhatCannotBeCountedIsFull: a folder that its worker may not list, or look into,
// holds too much.
func TestWhatCannotBeCountedIsFull(t *testing.T) {
	t.Parallel()
	for _, mode := range []os.FileMode{0o300, 0o400} {
		dir, err := os.MkdirTemp("", "gleaner-test-*")
		require.NoError(t, err)
		t.Cleanup(func() { removeAll(dir) })
		shut := filepath.Join(dir, "shut")
		require.NoError(t, os.Mkdir(shut, 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(shut, "file"), nil, 0o600))
		require.NoError(t, os.Chmod(shut, mode))
		full := make(chan bool)
		go func() {
			runtime.LockOSThread() // it ends with its thread
			if os.Geteuid() == 0 {
				_ = os.Lchown(shut, nobody, nobody)
				_ = os.Lchown(dir, nobody, nobody)
				_ = unix.Setfsuid(nobody)
			}
			full <- overfull(dir, 1<<20)
		}()
		assert.True(t, <-full, "%o", mode)
	}
}

// TestPostScriptHasNoTemporaryFiles: PostScript can ask for files, write to them and
// remove what is in their folder; none of it is given to it.
func TestPostScriptHasNoTemporaryFiles(t *testing.T) {
	t.Parallel()
	temp := t.TempDir()
	r := withGhostscript(t, Options{TempDir: temp})
	for name, program := range map[string]string{
		"fills":   `/s 65000 string def 0 1 40000 { pop null (w) .tempfile exch pop /f exch def 16 { f s writestring } repeat f closefile } for`,
		"lists":   `(` + temp + `/*/*) { pop quit } 256 string filenameforall`,
		"removes": `(` + temp + `/*/document.ps) { dup deletefile } 256 string filenameforall (out) { } pop pop (%stdout) (w) file (gone) writestring`,
	} {
		got := read(t, r, "x.ps", []byte("%!PS-Adobe-2.0\n%%Pages: 1\n"+program+"\nshowpage\n"))
		assert.NotEqual(t, Stalled, got.Outcome, "%s: %s", name, got.Detail)
		if name == "fills" {
			assert.Contains(t, []Outcome{Unreadable, TooLarge}, got.Outcome, got.Detail)
			assert.Contains(t, got.Detail, "temporary file")
		}
	}
}
