package document

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// victimVariable makes this program a worker that reads one file with the program
// named, in a temporary folder within the one named, until it is killed.
const victimVariable = "GLEANER_TEST_VICTIM"

func maybeVictim() {
	spec := os.Getenv(victimVariable)
	if spec == "" {
		return
	}
	program, within, _ := strings.Cut(spec, "|")
	dir, _, err := OpenTemp(within)
	fmt.Println(dir, err)
	r := NewReader(Options{PDFToText: program, PDFInfo: "-", TempDir: dir})
	r.box = reaching(r.box, os.TempDir())
	if os.Getenv("GLEANER_TEST_PLAIN") != "" {
		r.box.spaces, r.box.unshare = false, ""
	}
	_, err = r.Read(context.Background(), Part{Name: "x.pdf", Kind: PDF, Body: []byte("%PDF-1.4")})
	fmt.Println(err)
	os.Exit(1)
}

// A killed worker takes its readers with it, and the next one its files.
func TestKilledWorkerLeavesNothing(t *testing.T) {
	t.Parallel()
	for _, plain := range []string{"", "yes"} {
		line := newLine(t)
		begun := filepath.Join(t.TempDir(), "begun")
		require.NoError(t, exec.CommandContext(t.Context(), "mkfifo", begun).Run())
		within := t.TempDir()
		victim := exec.CommandContext(t.Context(), os.Args[0])
		victim.Env = append(os.Environ(), "GLEANER_TEST_PLAIN="+plain,
			victimVariable+"="+script(t, `exec 3> `+line.path+`; : > `+begun+`; exec sleep 600 2>&3`)+"|"+within)
		out, err := victim.StdoutPipe()
		require.NoError(t, err)
		require.NoError(t, victim.Start())
		said, err := bufio.NewReader(out).ReadString('\n')
		require.NoError(t, err)
		left, _, _ := strings.Cut(said, " ")
		_, err = os.ReadFile(begun) // comes back when the reader has begun
		require.NoError(t, err)

		// One that lives keeps its files.
		_, shut, err := OpenTemp(within)
		require.NoError(t, err)
		files, err := filepath.Glob(filepath.Join(left, "*", "document.pdf"))
		require.NoError(t, err)
		assert.Len(t, files, 1)
		shut()

		require.NoError(t, victim.Process.Kill())
		_ = victim.Wait()
		line.wait() // its reader is dead

		mine, shut, err := OpenTemp(within)
		require.NoError(t, err)
		assert.NoDirExists(t, left)
		assert.DirExists(t, mine)
		shut()
		rest, err := os.ReadDir(within)
		require.NoError(t, err)
		assert.Empty(t, rest)
	}
}
