package report

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"gleaner/internal/each"
	"gleaner/internal/gleaner"
	"gleaner/internal/text"
)

// WriteText prints the report for a terminal.
func (r *Report) WriteText(w io.Writer) error {
	s := r.Summary
	fmt.Fprintf(w, "%s  (%s)\n", r.Harvest.ID, r.Harvest.Stage)
	if failed := r.Failed(); failed != "" {
		fmt.Fprintln(w, failed)
	}
	if e := r.Ended; e != nil {
		fmt.Fprintf(w, "%s\n", e.words(r, time.DateTime))
	}
	if unread := r.Unread(); unread != "" {
		fmt.Fprintln(w, unread)
	}
	fmt.Fprintln(w)
	if r.ofSite() {
		fmt.Fprintf(w, "papers %d, in %s of %s; pages %d\n", r.Files.Papers, text.Count(r.Files.Accepted, "academic document"), text.Count(r.Files.Documents, "file"), r.Files.Pages)
		if r.Answer != "" {
			fmt.Fprintf(w, "the address itself answered no page: %s\n", r.Answer)
		}
		return r.writeSites(w)
	}
	if unlisted := r.NotListed(); unlisted != "" {
		fmt.Fprintln(w, unlisted)
	}
	whole := Whole(r.Harvest.Venue)
	fmt.Fprintf(w, "%s %d, held %d, wanted %d: found %d, missing %d, recall %s\n", whole, s.Published, s.Held, s.Wanted, s.Found, s.Missing, RecallOf(s.Recall, s.Wanted))
	if s.Held > 0 {
		fmt.Fprintf(w, "of all %s found %.1f %%, %d held ones among them; held or found %.1f %%\n", whole, 100*s.Target, s.HeldMet, 100*s.Covered)
	}
	fmt.Fprintf(w, "homepages of %d of %s", r.Homepages, text.Count(r.Authors, "author"))
	if r.Sought < r.Authors {
		fmt.Fprintf(w, ", %d looked for", r.Sought)
	}
	if r.Open > 0 {
		fmt.Fprintf(w, ", %d to be looked for again since something did not answer", r.Open)
	}
	fmt.Fprintln(w)
	for _, e := range r.Elsewhere {
		fmt.Fprintf(w, "%s (%s): papers at %s\n", e.Author, e.Homepage, e.Papers)
	}
	fmt.Fprintln(w)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "year\t"+whole+"\theld\twanted\tfound\tmissing\trecall\tof all\tcovered\t")
	for _, y := range r.Years {
		fmt.Fprintf(t, "%s\t%d\t%d\t%d\t%d\t%d\t%s\t%s\t%s\t\n", YearOf(y.Year), y.Published, y.Held, y.Wanted, y.Found, y.Missing,
			RecallOf(y.Recall, y.Wanted), RecallOf(y.Target, y.Published), RecallOf(y.Covered, y.Published))
	}
	if err := t.Flush(); err != nil {
		return err
	}
	if err := r.writeSites(w); err != nil {
		return err
	}
	r.writeMissing(w)
	return nil
}

// Failed says that the harvest failed, and why; it is "" of others.
func (r *Report) Failed() string {
	if r.Harvest.Stage != gleaner.StageFailed {
		return ""
	}
	return fmt.Sprintf("It failed %s. What follows was known before.", r.Harvest.Note)
}

// Unread says how many documents are not read yet; it is "" where there are none.
func (r *Report) Unread() string {
	if r.Counters.Unexamined == 0 {
		return ""
	}
	return text.CountIs(r.Counters.Unexamined, "document") + " not read yet"
}

// words say of which day the figures of the report are, in a form for days.
func (e *Ending) words(r *Report, day string) string {
	then, now := e.At.Local().Format(day), r.Made.Local().Format(day)
	if r.ofSite() {
		return fmt.Sprintf("ended %s; academic documents, files and pages are of then, papers and sites of now, %s", then, now)
	}
	return fmt.Sprintf("ended %s with %d found and %d missing; held papers and homepages are of then, all else of now, %s", then, e.Found, e.Missing, now)
}

// ofSite reports whether academic documents of a site were wanted, and no papers.
func (r *Report) ofSite() bool { return gleaner.ParseGoal(r.Harvest.Venue).Site != "" }

func (r *Report) writeSites(w io.Writer) error {
	if len(r.Sites) == 0 {
		return nil
	}
	fmt.Fprintln(w)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "site\tpages\tdocuments\taccepted\tfound\tfailed\twaiting\tpace\tstate")
	for _, s := range r.Sites {
		state := string(s.State)
		if s.Reason != "" {
			state += ": " + s.Reason
		}
		fmt.Fprintf(t, "%s\t%d\t%d\t%d\t%d\t%d\t%d\t%s\t%s\n", s.Host, s.Pages, s.Documents, s.Accepted, s.Found, s.Failed, s.Waiting, s.Words(time.DateTime), state)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	if barred := r.NotAsked(); barred != "" {
		fmt.Fprintln(w, barred)
	}
	if links := r.linksOnRecord(); links != "" {
		fmt.Fprintln(w, links)
	}
	if len(r.LeftOut) == 0 {
		return nil
	}
	_, err := fmt.Fprintln(w, "links left out:", r.leftOut())
	return err
}

// NotAsked names sites that nobody asks, since they are paused or on the blacklist, and
// why; it is "" where there are none.
func (r *Report) NotAsked() string {
	if len(r.Barred) == 0 {
		return ""
	}
	return text.CountIs(len(r.Barred), "site") + " not asked: " + firstTen(r.Barred)
}

// NotListed says how many papers of a list are left out and which sources of papers did not answer,
// and why; it is "" where there are none.
func (r *Report) NotListed() string {
	said := r.Unasked
	if n := len(r.Untitled); n > 0 {
		left := text.CountIs(n, "entry") + " not listed, since no title is known for its DOI: " + firstTen(r.Untitled)
		said = append([]string{left}, said...)
	}
	return firstTen(said)
}

func firstTen(all []string) string {
	said := strings.Join(all[:min(len(all), 10)], "; ")
	if more := len(all) - 10; more > 0 {
		said += fmt.Sprintf("; and %d more", more)
	}
	return said
}

// linksOnRecord says what of the record was taken up: links of pages read before, and documents.
func (r *Report) linksOnRecord() string {
	var said []string
	say := func(n int, what, why string) {
		if n > 0 {
			said = append(said, text.Count(n, what)+why)
		}
	}
	say(r.Links.Found, "link", " of pages read before taken for these papers")
	say(r.Links.Reopened, "link", " of pages read before taken, since the options changed")
	say(r.Links.Documents, "document", " judged again, since the filter changed")
	return strings.Join(said, "; ")
}

// leftOut are the links that were not asked for, by why, in one line.
func (r *Report) leftOut() string {
	say := func(why string) string { return fmt.Sprintf("%s %d", why, r.LeftOut[why]) }
	return strings.Join(each.Of(slices.Sorted(maps.Keys(r.LeftOut)), say), ", ")
}

func (r *Report) writeMissing(w io.Writer) {
	for _, g := range r.groups() {
		settle := ""
		if g.Reason == Ambiguous {
			settle = "; settle them: starter review " + r.Harvest.Venue
		}
		fmt.Fprintf(w, "\nmissing: %s (%s)%s\n", g.Reason, text.Count(len(g.Papers), "paper"), settle)
		for _, m := range g.Papers {
			fmt.Fprintf(w, "  %-4s  %s\n        %s\n", YearOf(m.Year), m.Title, strings.Join(m.Authors, ", "))
			for _, e := range m.Evidence {
				fmt.Fprintf(w, "        · %s\n", e)
			}
		}
	}
}
