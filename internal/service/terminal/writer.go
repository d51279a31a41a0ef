package terminal

import (
	"fmt"
	"io"
	"os"
	"sync"
	"unicode/utf8"

	"github.com/vbauerster/mpb/v8/cwriter"
)

// Writer passes on text in which every control character but newline and tab,
// and every character that turns the direction of writing, is spelt out as in
// JSON (\u001b): a terminal shows it and does not obey it, and JSON stays the same
// JSON.
type Writer struct {
	to       io.Writer
	terminal bool
	screen   *screen

	mu   sync.Mutex
	part []byte // of a character whose end has not been written yet
}

// New returns a writer to w. One that is a Writer already is returned as it is.
func New(w io.Writer) *Writer {
	if c, ok := w.(*Writer); ok {
		return c
	}
	f, ok := w.(*os.File)
	return &Writer{to: w, terminal: ok && cwriter.IsTerminal(int(f.Fd())), screen: &screen{}}
}

// Pair returns the writers of a program's results and of all else that it says. They
// may be one terminal: what one says while something is live on the other stands
// above that.
func Pair(out, errw io.Writer) (results, rest *Writer) {
	results, rest = New(out), New(errw)
	results.screen = rest.screen
	return results, rest
}

func (w *Writer) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.screen.say(w, w.welcome(p)); err != nil {
		return 0, err
	}
	return len(p), nil
}

// Line writes a line; on a terminal in a colour, by the number by which terminals know it
// ("31" is red).
func (w *Writer) Line(colour, text string) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	line := append(w.welcome([]byte(text)), '\n')
	if w.terminal {
		line = fmt.Appendf(nil, "\x1b[%sm%s\x1b[0m\n", colour, line[:len(line)-1])
	}
	return w.screen.say(w, line)
}

// welcome is what of the text so far may be shown; a character whose end is missing
// waits for the next part.
func (w *Writer) welcome(p []byte) []byte {
	in := append(w.part, p...)
	out := make([]byte, 0, len(in)+16)
	w.part = nil
	for len(in) > 0 {
		if !utf8.FullRune(in) {
			w.part = in
			break
		}
		r, n := utf8.DecodeRune(in)
		switch {
		case unwelcome(r):
			out = fmt.Appendf(out, `\u%04x`, r)
		default:
			out = utf8.AppendRune(out, r) // a byte that is no text becomes U+FFFD
		}
		in = in[n:]
	}
	return out
}

// Raw is where bytes go that are no text, such as a document's.
func (w *Writer) Raw() io.Writer { return w.to }

// Terminal reports whether a person looks at what is written.
func (w *Writer) Terminal() bool { return w.terminal }

// unwelcome reports whether a terminal might obey r, or r makes the text read
// other than it is written.
func unwelcome(r rune) bool {
	switch {
	case r == '\n', r == '\t':
		return false
	case r < 0x20, r >= 0x7f && r <= 0x9f: // C0, DEL and C1
		return true
	case r == 0x061c, r == 0x200e, r == 0x200f, r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x2069:
		return true // marks, embeddings, overrides and isolates of direction
	}
	return r == 0x2028 || r == 0x2029 // separators of lines and paragraphs
}
