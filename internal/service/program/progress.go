package program

import (
	"fmt"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"gleaner/internal/service/terminal"
)

// quiet is how long a command may take before anything is said of its progress.
const quiet = 2 * time.Second

// Progress is how far work is that may take longer than two seconds. Until then
// nothing is shown; then it is a line that changes on a terminal, and lines of their
// own elsewhere.
type Progress struct {
	p     *Program
	start *time.Timer
	begun time.Time

	mu       sync.Mutex
	what     string
	done, of int
	live     *terminal.Live
	ended    bool
}

// Progress begins to tell of work that is called so, in the place of what was told of
// before.
func (p *Program) Progress(what string) *Progress {
	p.Settle()
	g := &Progress{p: p, what: what, begun: time.Now()}
	g.start = time.AfterFunc(quiet, g.show)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.going = g
	return g
}

// Settle ends what is told of progress: a result is printed now, or somebody is asked.
func (p *Program) Settle() {
	p.mu.Lock()
	g := p.going
	p.going = nil
	p.mu.Unlock()
	if g != nil {
		g.End()
	}
}

// Busy has every command tell that it is at it, where it does not tell more.
func (p *Program) Busy() { p.busy(p.Root) }

func (p *Program) busy(cmd *cobra.Command) {
	for _, c := range cmd.Commands() {
		p.busy(c)
	}
	if run := cmd.RunE; run != nil {
		cmd.RunE = func(cmd *cobra.Command, args []string) error {
			defer p.Settle()
			p.Progress(cmd.CommandPath())
			return run(cmd, args)
		}
	}
}

func (g *Progress) show() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.ended {
		g.live = g.p.Err.Live(view{g})
	}
}

// Show says what is going on now.
func (g *Progress) Show(what string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.what = what
}

// Count says that so much is done, of so much in all; 0 where that is not known.
func (g *Progress) Count(done, of int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.done, g.of = done, of
}

// End ends it; a terminal does not show it any longer.
func (g *Progress) End() {
	g.start.Stop()
	g.mu.Lock()
	live := g.live
	g.ended, g.live = true, nil
	g.mu.Unlock()
	if live != nil {
		live.Erase()
	}
}

// state is what is said of the work, and the share that is done, -1 where that is not
// known.
func (g *Progress) state() (s string, share float64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	took := time.Since(g.begun)
	rate := float64(g.done) / took.Seconds()
	switch {
	case g.of > 0 && g.done > 0:
		left := time.Duration(float64(g.of-g.done) / rate * float64(time.Second))
		return fmt.Sprintf("%s: %d of %d, %.0f a second, %s left", g.what, g.done, g.of, rate, Span(left)), float64(g.done) / float64(g.of)
	case g.of > 0:
		return fmt.Sprintf("%s: %d of %d, %s", g.what, g.done, g.of, Span(took)), 0
	case g.done > 0:
		return fmt.Sprintf("%s: %d, %.0f a second", g.what, g.done, rate), -1
	}
	return fmt.Sprintf("%s, %s", g.what, Span(took)), -1
}

// view shows a Progress.
type view struct{ g *Progress }

func (v view) String() string {
	s, share := v.g.state()
	if share >= 0 {
		s += fmt.Sprintf(" (%.0f %%)", 100*share)
	}
	return s
}

// barWidth is that of the bar beside the words.
const barWidth = 20

func (v view) Lines(int, int) []string {
	s, share := v.g.state()
	if share >= 0 {
		s = terminal.Bar(share, barWidth) + " " + s
	}
	return []string{s}
}

// Span is a duration as one says it of what takes long: 12s, 3m20s, 5h10m.
func Span(d time.Duration) string {
	switch {
	case d < time.Hour:
		return d.Round(time.Second).String()
	case d < 48*time.Hour:
		d = d.Round(time.Minute)
		return fmt.Sprintf("%dh%02dm", d/time.Hour, d%time.Hour/time.Minute)
	}
	return fmt.Sprintf("%.0f days", d.Hours()/24)
}
