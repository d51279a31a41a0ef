package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"gleaner/internal/each"
	"gleaner/internal/gleaner"
	"gleaner/internal/record/store"
	"gleaner/internal/service/program"
	"gleaner/internal/service/terminal"
	"gleaner/internal/text"
	"gleaner/workflows"
)

const (
	rateOver   = time.Minute // by what a rate is measured
	sitesShown = 60          // as many as a window has, and some that fail
	barWidth   = 16
)

// harvestView is a harvest as it is shown to somebody who waits for it.
type harvestView struct {
	db    *store.DB
	id    string
	pace  time.Duration // of a site that was not asked yet
	begun time.Time

	viewState
	h   store.Harvest
	n   store.Counts
	now store.Now

	open store.Questions
}

// viewState is what is kept of harvests and of collections alike while somebody waits.
type viewState struct {
	mu    sync.Mutex
	doing []string
	past  []sample
}

// sample is how much was done at a moment.
type sample struct {
	at               time.Time
	answers, decided int
}

// refresh asks the record once. After an error what is shown stays as it was.
func (l *harvestView) refresh(ctx context.Context) error {
	h, err := l.db.FindHarvest(ctx, l.id)
	if err != nil {
		return err
	}
	n, err := l.db.HarvestCounts(ctx, l.id)
	if err != nil {
		return err
	}
	now, err := l.db.HarvestNow(ctx, l.id, l.pace, sitesShown)
	if err != nil {
		return err
	}
	open, err := l.db.StillOpen(ctx, l.id)
	if err != nil {
		return err
	}
	at := sample{time.Now(), n.Pages + n.Documents + n.Failures, n.Decided}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.h.Stage != h.Stage {
		l.past = nil
	}
	l.h, l.n, l.now, l.open = h, n, now, open
	l.past = recentSamples(l.past, at)
	return nil
}

// recentSamples adds a sample to those by which a rate is measured.
func recentSamples(past []sample, at sample) []sample {
	return slices.DeleteFunc(append(past, at), func(s sample) bool { return at.at.Sub(s.at) > rateOver })
}

// setDoing keeps what the work says of itself.
func (l *viewState) setDoing(doing []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.doing = doing
}

// rates are answers and authors a second.
func rates(past []sample) (answers, decided float64) {
	if len(past) < 2 {
		return 0, 0
	}
	a, b := past[0], past[len(past)-1]
	s := b.at.Sub(a.at).Seconds()
	return max(0, float64(b.answers-a.answers)/s), max(0, float64(b.decided-a.decided)/s)
}

// left is about how long the stage takes, by what is known now; "" where nothing is.
func (l *harvestView) left() string {
	answers, decided := rates(l.past)
	switch {
	case l.h.Paused:
		return ""
	case l.h.Stage == gleaner.StageHomepages && decided > 0 && l.n.Decided < l.n.Authors:
		return "about " + program.Span(time.Duration(float64(l.n.Authors-l.n.Decided)/decided*float64(time.Second))) + " left for the authors"
	case l.n.Unexamined > 0 && (answers == 0 || l.n.Unexamined >= l.now.Waiting):
		return "" // reading takes longer than asking
	case (l.h.Stage == gleaner.StageCrawl || l.h.Stage == gleaner.StageCopies) && l.now.Waiting > 0:
		takes := atPace(l.now, 0)
		if answers > 0 { // a busy machine takes longer than the sites ask for
			takes = max(takes, time.Duration(float64(l.now.Waiting)/answers*float64(time.Second)))
		}
		return "about " + program.Span(max(takes, time.Second)) + " left for the links known now"
	}
	return ""
}

// atPace is how long what waits takes, site beside site.
func atPace(n store.Now, window int) time.Duration {
	return max(n.Longest, n.All/time.Duration(cmp.Or(window, workflows.DefaultWindow)))
}

func (l *harvestView) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.h.ID == "" {
		return ""
	}
	parts := []string{progressText(l.h, l.n)}
	if l.h.Stage == gleaner.StagePapers && l.now.Listed > 0 {
		parts = append(parts, text.Count(l.now.Listed, "paper")+" listed")
	}
	parts = append(parts, l.doing...)
	if rate, _ := rates(l.past); rate > 0 {
		parts = append(parts, fmt.Sprintf("%.1f answers a second", rate))
	}
	if left := l.left(); left != "" {
		parts = append(parts, left)
	}
	if n, first := l.failing(); n > 0 {
		parts = append(parts, fmt.Sprintf("%d of the sites fail, such as %s", n, first))
	}
	return strings.Join(parts, " | ")
}

func (l *harvestView) failing() (n int, first string) {
	failing := each.Where(l.now.At, store.SiteNow.Fails)
	if len(failing) > 0 {
		first = failing[0].Host + " " + whyFails(failing[0])
	}
	return len(failing), first
}

// took is how long the harvest has run, or ran.
func (l *harvestView) took() time.Duration {
	if end := l.h.CompletedAt; end != nil && !end.Before(l.begun) {
		return end.Sub(l.h.StartedAt)
	}
	return time.Since(l.h.StartedAt)
}

// headLine is the first line: what is shown, and on its right for how long it has run.
func headLine(what string, time time.Duration, width int) string {
	took := program.Span(time)
	if width >= 60 {
		took = "running " + took
	}
	head := terminal.Cut(what, width-len(took)-2)
	return head + strings.Repeat(" ", max(1, width-terminal.Width(head)-len(took))) + took
}

func (l *harvestView) Lines(width, height int) []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.h.ID == "" {
		return nil
	}
	lines := []string{headLine(l.h.ID+"  "+l.stage(), l.took(), width)}
	row := func(label, text string) {
		if text != "" {
			lines = append(lines, fmt.Sprintf("%-10s %s", label, text))
		}
	}
	if gleaner.ParseGoal(l.h.Venue).Site == "" {
		row("papers", l.papers())
		row("homepages", l.homepages())
	}
	if l.n.Sites > 0 {
		bar := terminal.Bar(float64(l.n.SitesDone)/float64(l.n.Sites), barWidth)
		row("sites", fmt.Sprintf("%s %s; %s, %s, %d academic", bar, l.n.SiteWords(), text.Count(l.n.Pages, "page"), text.Count(l.n.Documents, "file"), l.n.Accepted))
	}
	row("reading", unread(l.h, l.n))
	row("now", strings.Join(l.doing, "; "))
	if l.h.CompletedAt != nil {
		return lines
	}
	rate, _ := rates(l.past)
	if l.n.Waiting > 0 || rate > 0 {
		row("links", fmt.Sprintf("%d wait; %.1f answers a second", l.n.Waiting, rate))
	}
	row("left", l.left())
	return append(lines, l.sites(width, height-len(lines))...)
}

// stage says where the harvest stands.
func (l *harvestView) stage() string {
	s := string(l.h.Stage)
	if l.h.CompletedAt != nil && l.h.CompletedAt.Before(l.begun) {
		return "begins" // what is on record is of the last time
	}
	all := []gleaner.Stage{gleaner.StagePapers, gleaner.StageHeld, gleaner.StageCopies, gleaner.StageHomepages, gleaner.StageCrawl, gleaner.StageReport}
	if i := slices.Index(all, l.h.Stage); i >= 0 && gleaner.ParseGoal(l.h.Venue).Site == "" {
		s = fmt.Sprintf("%s (%d of %d)", s, i+1, len(all))
	}
	if l.h.Paused {
		s += ", paused"
	}
	return s
}

func (l *harvestView) papers() string {
	switch {
	case l.n.Published == 0 && l.now.Listed > 0:
		return fmt.Sprintf("%d listed so far", l.now.Listed)
	case l.n.Published == 0 && l.h.Stage == gleaner.StagePapers:
		return "being listed"
	case l.n.Published == 0:
		return "none"
	}
	s := countBar(l.n.Found, l.n.Wanted) + " wanted ones found"
	if l.n.Held > 0 {
		s += fmt.Sprintf("; %d held", l.n.Held)
	}
	return s
}

func (l *harvestView) homepages() string {
	if l.n.Authors == 0 || l.h.Stage == gleaner.StagePapers || l.h.Stage == gleaner.StageHeld || l.h.Stage == gleaner.StageCopies {
		return ""
	}
	if l.h.CompletedAt != nil {
		s := countBar(l.n.Homepages, l.n.Authors) + " authors have one"
		if again := l.open.Authors; again > 0 {
			s += fmt.Sprintf("; %d did not answer, and will be looked for again", again)
		}
		return s
	}
	return countBar(l.n.Decided, l.n.Authors) + fmt.Sprintf(" authors looked for, %d have one", l.n.Homepages)
}

// countBar is a bar with its numbers.
func countBar(done, of int) string {
	return fmt.Sprintf("%s %d of %d", terminal.Bar(float64(done)/float64(max(of, 1)), barWidth), done, of)
}

// sites are lines of the sites that fail, then of those that are crawled, as many as
// there is room for.
func (l *harvestView) sites(width, room int) []string {
	what, found := "paper", func(s store.SiteNow) int { return s.Papers }
	if gleaner.ParseGoal(l.h.Venue).Site != "" {
		what, found = "file", func(s store.SiteNow) int { return s.Documents }
	}
	host := func(s store.SiteNow) string { return s.Host }
	return linesThatFit(l.now.At, room, width-52, host, func(s store.SiteNow, name string) string {
		if s.Fails() {
			return "! " + name + "  " + whyFails(s)
		}
		n := found(s)
		return fmt.Sprintf("  %s %5d %-5s %4d %-6s %5d waiting  %s", name, s.Pages, text.Noun(s.Pages, "page"),
			n, text.Noun(n, what), s.Waiting, nextRequest(s))
	})
}

// linesThatFit are lines of as many of a list as there is room for, behind an empty one, and
// how many more there are. Their names are a column, at most so wide.
func linesThatFit[T any](
	all []T, room, most int, name func(T) string, line func(one T, name string) string,
) (lines []string) {
	if len(all) == 0 || room < 3 {
		return nil
	}
	shown, wide := all[:min(len(all), room-2)], 0
	for _, one := range shown {
		wide = max(wide, terminal.Width(name(one)))
	}
	wide = min(wide, max(16, most))
	lines = append(lines, "")
	for _, one := range shown {
		cut := terminal.Cut(name(one), wide)
		lines = append(lines, line(one, cut+strings.Repeat(" ", wide-terminal.Width(cut))))
	}
	if more := len(all) - len(shown); more > 0 {
		lines = append(lines, fmt.Sprintf("  and %d more", more))
	}
	return lines
}

// nextRequest says when a site is asked next.
func nextRequest(s store.SiteNow) string {
	wait := time.Until(s.Next)
	if wait < time.Second {
		return "now"
	}
	return "in " + program.Span(wait)
}

func whyFails(s store.SiteNow) string {
	if s.State != gleaner.SiteCrawling {
		return string(s.State) + ": " + cmp.Or(s.Reason, "no reason was noted")
	}
	return fmt.Sprintf("%s, %s in a row; asked again %s", cmp.Or(s.Reason, "did not answer"), text.Count(s.Failures, "time"), nextRequest(s))
}

// unread says how many documents are not read yet; it is "" of none.
func unread(h store.Harvest, c store.Counts) string {
	if c.Unexamined == 0 {
		return ""
	}
	state := "being read"
	if h.Paused || h.CompletedAt != nil {
		state = "not read yet"
	}
	return fmt.Sprintf("%s %s, scans among them: %d", text.Count(c.Unexamined, "document"), state, c.Scans)
}

// progressText says in a line how far a harvest is.
func progressText(h store.Harvest, c store.Counts) string {
	reading := unread(h, c)
	if reading != "" {
		reading = " | " + reading
	}
	state := string(h.Stage)
	if h.Paused {
		state += ", paused"
	}
	then := ""
	if c.Kept {
		then = "at its end " // a cleaning or another harvest may have changed it since
	}
	if gleaner.ParseGoal(h.Venue).Site != "" {
		return fmt.Sprintf("%s [%s] %ssites %s | %s | documents %d, academic %d%s",
			h.ID, state, then, c.SiteWords(), c.URLWords(), c.Documents, c.Accepted, reading)
	}
	found := fmt.Sprint(c.Found)
	if c.FoundNow != c.Found {
		found = fmt.Sprintf("%d (%d now)", c.Found, c.FoundNow)
	}
	return fmt.Sprintf("%s [%s] wanted %d, found %s | %sauthors %d, looked for %d, homepages of %d | sites %s | %s | documents %d, accepted %d%s",
		h.ID, state, c.Wanted, found, then, c.Authors, c.Decided, c.Homepages, c.SiteWords(), c.URLWords(), c.Documents, c.Accepted, reading)
}
