package terminal_test

import (
	"bytes"
	"fmt"
	"os"
	"regexp"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"gleaner/internal/service/terminal"
)

// open opens a terminal of a size. what is all that was written to it so far.
func open(t *testing.T, width, height uint16) (w *os.File, what func() string) {
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	require.NoError(t, err)
	require.NoError(t, unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0))
	n, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	require.NoError(t, err)
	w, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	require.NoError(t, err)
	require.NoError(t, unix.IoctlSetWinsize(int(w.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Col: width, Row: height}))
	var mu sync.Mutex
	var all bytes.Buffer
	go func() {
		buf := make([]byte, 4096)
		for {
			n, err := master.Read(buf)
			mu.Lock()
			all.Write(buf[:n])
			mu.Unlock()
			if err != nil {
				return
			}
		}
	}()
	t.Cleanup(func() { w.Close(); master.Close() })
	return w, func() string {
		mu.Lock()
		defer mu.Unlock()
		return all.String()
	}
}

// screen is what a terminal shows in the end: lines are gone that the cursor went up
// over and erased.
func screen(written string) (lines []string) {
	up := regexp.MustCompile(`^\x1b\[(\d+)A\x1b\[J`)
	line := ""
	for written = strings.ReplaceAll(written, "\r", ""); written != ""; {
		if m := up.FindStringSubmatch(written); m != nil {
			n := 0
			_, _ = fmt.Sscan(m[1], &n)
			lines, line, written = lines[:max(0, len(lines)-n)], "", written[len(m[0]):]
			continue
		}
		if written[0] == '\n' {
			lines, line = append(lines, line), ""
		} else {
			line += written[:1]
		}
		written = written[1:]
	}
	return append(lines, line)
}

type work struct {
	mu    sync.Mutex
	lines []string
	asked int
}

func (w *work) Lines(int, int) []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.asked++
	return append([]string{}, w.lines...)
}

func (w *work) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.lines[0]
}

func (w *work) drawn() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.asked
}

// TestLiveFitsTheTerminal: every line is cut to the width, as many are shown as the
// terminal is high, nothing is left of those before, words of strangers are not
// obeyed, and what else is said stands above.
func TestLiveFitsTheTerminal(t *testing.T) {
	t.Parallel()
	for _, width := range []uint16{40, 80, 200} {
		f, written := open(t, width, 10)
		out, errs := terminal.Pair(f, f)
		w := &work{lines: []string{"a harvest " + strings.Repeat("long ", 60), "\x1b[2Jhost 陳.example " + strings.Repeat("陳", 120)}}
		for i := range 30 {
			w.lines = append(w.lines, fmt.Sprint("line ", i))
		}
		live := errs.Live(w)
		require.Eventually(t, func() bool { return w.drawn() > 1 }, time.Minute, time.Millisecond)
		fmt.Fprint(out, "a result ")
		fmt.Fprintln(out, "in two parts")
		n := w.drawn()
		require.Eventually(t, func() bool { return w.drawn() > n+1 }, time.Minute, time.Millisecond)
		live.End()
		fmt.Fprintln(out, "the end")
		require.Eventually(t, func() bool { return strings.Contains(written(), "the end") }, time.Minute, time.Millisecond)
		shown := screen(written())
		require.Equal(t, "a result in two parts", shown[0])
		require.Regexp(t, `^a harvest long .*…$`, shown[1])
		require.Regexp(t, `^\\u001b\[2Jhost 陳.example`, shown[2])
		require.Equal(t, []string{"the end", ""}, shown[len(shown)-2:])
		require.Len(t, shown, 1+9+2, "as many lines as there is room for, once")
		for _, s := range shown {
			require.Less(t, terminal.Width(s), int(width))
		}
	}
}

// TestColouredLinesStandAboveWhatIsLive, each in its own row, and are words.
func TestColouredLinesStandAboveWhatIsLive(t *testing.T) {
	t.Parallel()
	f, written := open(t, 80, 24)
	out, errs := terminal.Pair(f, f)
	w := &work{lines: []string{"an import"}}
	live := errs.Live(w)
	for i := range 3 {
		require.NoError(t, out.Line("31", fmt.Sprintf("file %d\x1b[2J", i)))
	}
	n := w.drawn()
	require.Eventually(t, func() bool { return w.drawn() > n+1 }, time.Minute, time.Millisecond)
	live.End()
	fmt.Fprintln(out, "the end")
	require.Eventually(t, func() bool { return strings.Contains(written(), "the end") }, time.Minute, time.Millisecond)
	want := []string{}
	for i := range 3 {
		want = append(want, fmt.Sprintf("\x1b[31mfile %d\\u001b[2J\x1b[0m", i))
	}
	require.Equal(t, append(want, "an import", "the end", ""), screen(written()))
}

func TestErasedLeavesNothing(t *testing.T) {
	t.Parallel()
	f, written := open(t, 80, 24)
	w := &work{lines: []string{"one", "two"}}
	errs := terminal.New(f)
	live := errs.Live(w)
	require.Eventually(t, func() bool { return w.drawn() > 1 }, time.Minute, time.Millisecond)
	errs.Settle()
	live.End() // once more does no harm
	fmt.Fprintln(errs, "the end")
	require.Eventually(t, func() bool { return strings.Contains(written(), "the end") }, time.Minute, time.Millisecond)
	require.Equal(t, []string{"the end", ""}, screen(written()))
}

// TestLinesIntoAFile: at once, then where something changed, and each minute of long work.
func TestLinesIntoAFile(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var out strings.Builder
		w := &work{lines: []string{"one"}}
		live := terminal.New(&out).Live(w)
		says := func(s string) {
			synctest.Wait()
			w.mu.Lock()
			defer w.mu.Unlock()
			w.lines = []string{s}
		}
		says("two")
		time.Sleep(9 * time.Second)
		says("three")
		time.Sleep(11 * time.Second)
		says("three")
		time.Sleep(15 * time.Second)
		says("four")
		require.Equal(t, "one\nthree\n", out.String())
		for i := range 300 {
			time.Sleep(time.Second)
			says(strings.Repeat("i", i))
		}
		live.End()
		require.Equal(t, 2+5, strings.Count(out.String(), "\n"))
	})
}
