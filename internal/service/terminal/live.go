package terminal

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/mattn/go-runewidth"
	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/cwriter"
	"github.com/vbauerster/mpb/v8/decor"
)

const (
	redraw    = 200 * time.Millisecond // of a terminal
	firstLine = 10 * time.Second       // elsewhere, after the first line; then twice as long each time
	everyLine = time.Minute            // up to this
)

// View is work under way. It is asked at any time, from another goroutine.
type View interface {
	Lines(width, height int) []string // for a terminal of that size
	String() string                   // in a line for a file; "" says nothing
}

// Live shows a view. On a terminal its lines change in their place, cut to the width,
// and what else is said stands above them; elsewhere it is a line after ten seconds
// and, in the end, every minute, where it changed.
type Live struct {
	w    *Writer
	view View

	bars *mpb.Progress
	bar  *mpb.Bar

	stop chan struct{}
	done chan struct{}
	once sync.Once
}

// Live begins to show a view, in the place of one that is shown already.
func (w *Writer) Live(v View) *Live {
	w.Settle()
	l := &Live{w: w, view: v, stop: make(chan struct{}), done: make(chan struct{})}
	if w.terminal && os.Getenv("TERM") != "dumb" {
		l.draw()
		close(l.done)
	} else {
		go l.tell()
	}
	w.screen.put(l)
	return l
}

// Settle takes away what is shown live.
func (w *Writer) Settle() {
	if l := w.screen.now(); l != nil {
		l.end(true)
	}
}

// End leaves the last lines where they are.
func (l *Live) End() { l.end(false) }

// Erase takes the lines away.
func (l *Live) Erase() { l.end(true) }

func (l *Live) end(erase bool) {
	l.once.Do(func() {
		close(l.stop)
		<-l.done
		l.w.screen.end(l, erase)
	})
}

// draw shows the view as a bar of the library's whose rows are its lines.
func (l *Live) draw() {
	l.bars = mpb.New(mpb.WithOutput(l.w.to), mpb.WithRefreshRate(redraw))
	var rest []string
	first := mpb.BarFillerFunc(func(w io.Writer, _ decor.Statistics) error {
		lines := l.lines()
		rest = lines[1:]
		_, err := io.WriteString(w, lines[0])
		return err
	})
	others := mpb.BarFillerFunc(func(w io.Writer, _ decor.Statistics) error {
		for _, s := range rest {
			if _, err := fmt.Fprintln(w, s); err != nil {
				return err
			}
		}
		return nil
	})
	l.bar = l.bars.MustAdd(0, first, mpb.BarFillerTrim(), mpb.BarExtender(others, false))
}

// Columns is how wide the terminal is.
func (w *Writer) Columns() int {
	width, _ := w.size()
	return width
}

// size is that of the terminal, in characters; 80 by 24 where it is not known.
func (w *Writer) size() (width, height int) {
	if f, ok := w.to.(*os.File); ok {
		if width, height, err := cwriter.GetSize(int(f.Fd())); err == nil && width > 0 && height > 0 {
			return width, height
		}
	}
	return 80, 24
}

// lines are the view's, one at least, as the terminal can show them.
func (l *Live) lines() []string {
	width, height := l.w.size()
	lines := l.view.Lines(width-1, height-1) // the cursor stands behind the last
	lines = lines[:min(len(lines), height-1)]
	for i, s := range lines {
		lines[i] = Cut(string((&Writer{}).welcome([]byte(s))), width-1)
	}
	if len(lines) == 0 {
		lines = []string{""}
	}
	return lines
}

// tell writes a line at once, after ten seconds, and then less often.
func (l *Live) tell() {
	defer close(l.done)
	last := ""
	for wait := firstLine; ; wait = min(2*wait, everyLine) {
		if s := l.view.String(); s != "" && s != last {
			fmt.Fprintln(l.w, s)
			last = s
		}
		select {
		case <-l.stop:
			return
		case <-time.After(wait):
		}
	}
}

// Cut is s in at most so many columns.
func Cut(s string, width int) string {
	return runewidth.Truncate(strings.ReplaceAll(s, "\n", " "), max(width, 1), "…")
}

// Width is how many columns s takes.
func Width(s string) int { return runewidth.StringWidth(s) }

// Bar is a share from 0 to 1 in so many columns.
func Bar(share float64, width int) string {
	full := int(max(0, min(share, 1)) * float64(width))
	return strings.Repeat("━", full) + strings.Repeat("─", width-full)
}

// screen is what two writers may share, and what is live there.
type screen struct {
	mu   sync.Mutex
	live *Live
	rest []byte // of a line whose end has not been said
}

func (s *screen) now() *Live {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.live
}

func (s *screen) put(l *Live) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.live = l
}

// end draws what was live for the last time. Meanwhile nothing else is said.
func (s *screen) end(l *Live, erase bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if l.bars != nil {
		if erase {
			l.bar.Abort(true)
		} else {
			l.bar.SetTotal(-1, true)
		}
		l.bars.Wait()
		_, _ = l.w.to.Write(s.rest)
		s.rest = nil
	}
	if s.live == l {
		s.live = nil
	}
}

// say writes text to w: above what is live on the same terminal, in whole lines.
func (s *screen) say(w *Writer, text []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.live == nil || s.live.bars == nil || !w.terminal {
		_, err := w.to.Write(text)
		return err
	}
	s.rest = append(s.rest, text...)
	n := bytes.LastIndexByte(s.rest, '\n') + 1
	whole := s.rest[:n]
	s.rest = bytes.Clone(s.rest[n:])
	if n == 0 {
		return nil
	}
	_, err := s.live.bars.Write(whole)
	return err
}
