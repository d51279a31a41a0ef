package program

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"time"

	"gleaner/internal/service/terminal"
)

// Progress is a line of progress: on a terminal it is one line that changes,
// elsewhere a line every five seconds.
type Progress struct {
	w       *terminal.Writer
	last    string
	printed time.Time
}

// Progress begins one.
func (p *Program) Progress() *Progress { return &Progress{w: p.Err} }

// Show says how far it is.
func (l *Progress) Show(s string) {
	terminal := l.w.Terminal()
	if s == l.last || !terminal && time.Since(l.printed) < 5*time.Second {
		return
	}
	l.last, l.printed = s, time.Now()
	if terminal {
		_ = l.w.Replace(s)
		return
	}
	fmt.Fprintln(l.w, s)
}

// End leaves the line as it is.
func (l *Progress) End() {
	if l.last != "" && l.w.Terminal() {
		fmt.Fprintln(l.w)
	}
}

// WriteFile makes a file of what write writes.
func WriteFile(name string, write func(io.Writer) error) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	if err := write(f); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}

func encode(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}

// WriteJSON makes a file of a value.
func WriteJSON(name string, v any) error {
	return WriteFile(name, func(w io.Writer) error { return encode(w, v) })
}
