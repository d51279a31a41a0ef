//go:build linux

package chaos

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"time"

	"gleaner/internal/each"
	"gleaner/internal/lab/sampleweb"
)

// Verdict is how a disturbed harvest compares with an undisturbed one.
type Verdict struct {
	Faults    map[string]int `json:"faults"`    // by kind
	Papers    int            `json:"papers"`    // found undisturbed
	Imported  int            `json:"imported"`  // files whose outcome was as undisturbed
	Collected int            `json:"collected"` // entries of collections, undisturbed
	Doubled   int            `json:"doubled"`   // files and URLs that are there twice
	Lost      []string       `json:"lost"`      // found undisturbed, not disturbed
	Gained    []string       `json:"gained"`    // the other way round
	Changed   []string       `json:"changed"`   // missing for another reason, or another file
	Requests  int            `json:"requests"`  // to web hosts
	Repeated  int            `json:"repeated"`  // of them answered well before
	Impolite  int            `json:"impolite"`  // under the delay, or beside another one
	SmallGap  time.Duration  `json:"smallest_gap"`
	Stalls    []Stall        `json:"stalls"` // longest first
	NoRow     []string       `json:"no_row"` // blobs without a row
	NoBlob    []string       `json:"no_blob"`
	Open      []string       `json:"open"` // workflows that wait for ever
	Wrong     []string       `json:"wrong"`
	GaveUp    []string       `json:"gave_up,omitempty"` // what the command said that was to wait for the end
}

// Stall is a stretch in which a host that had more to give was not asked though
// nothing was broken.
type Stall struct {
	Host   string        `json:"host"`  // "" is all of them at once, the services included
	After  string        `json:"after"` // the fault that ended before it
	Length time.Duration `json:"length"`
}

// The bounds of a good verdict, as docs/operations.md promises them. The client of a
// Temporal that is away comes to poll every ten seconds.
const (
	repeatedShare   = 0.01
	longestStall    = 10 * time.Second
	stallOfTemporal = 20 * time.Second
)

// late reports whether work was resumed later than promised.
func (s Stall) late() bool {
	if s.After == temporalAway {
		return s.Length > stallOfTemporal
	}
	return s.Length > longestStall
}

func judge(o Options, want, got outcome, windows []window) Verdict {
	v := Verdict{
		Faults:    map[string]int{},
		Papers:    len(want.papers),
		Imported:  len(want.imported),
		Collected: len(want.collected),
		Doubled:   got.doubled,
		Requests:  len(got.requests),
		Lost:      missing(want, got),
		Gained:    missing(got, want),
		NoRow:     without(got.blobs, got.rows),
		NoBlob:    without(got.rows, got.blobs),
		Open:      got.open,
		GaveUp:    got.gaveUp,
		Wrong:     got.wrong,
		SmallGap:  -1,
	}
	for _, f := range windows {
		v.Faults[f.name]++
	}
	for key, reason := range want.missing {
		if other, ok := got.missing[key]; ok && other != reason {
			v.Changed = append(v.Changed, fmt.Sprintf("%s: %s instead of %s", key, other, reason))
		}
	}
	if got.published != want.published || got.found != len(got.papers) {
		v.Wrong = append(v.Wrong, fmt.Sprintf("the report says %d of %d, the export has %d", got.found, got.published, len(got.papers)))
	}
	v.manners(o, got.requests)
	v.hostStalls(got, windows)
	v.stalls("", got.all, 0, 0, windows)
	slices.SortFunc(v.Stalls, func(a, b Stall) int { return cmp.Compare(b.Length, a.Length) })
	return v
}

// missing lists what one outcome holds and another lacks.
func missing(a, b outcome) []string {
	return slices.Concat(without(a.papers, b.papers), without(a.imported, b.imported), without(a.collected, b.collected))
}

// manners counts what a web master would complain of.
func (v *Verdict) manners(o Options, log []sampleweb.Request) {
	answered := map[string]bool{}
	for _, q := range log {
		if q.InFlight > 1 || q.Gap >= 0 && q.Gap < o.Delay {
			v.Impolite++
		}
		if q.Gap >= 0 && (v.SmallGap < 0 || q.Gap < v.SmallGap) {
			v.SmallGap = q.Gap
		}
		if answered[q.Host+q.Path] {
			v.Repeated++
		}
		if q.Status == 200 {
			answered[q.Host+q.Path] = true
		}
	}
}

// A pause of a harvest's host counts when so many requests lie before and after
// it: else it may be the wait for another wave. A collection asks few hosts at a
// time, the best first, so that its others wait.
const (
	before = 3
	after  = 10
)

func (v *Verdict) hostStalls(got outcome, windows []window) {
	byHost := map[string][]sampleweb.Request{}
	for _, q := range got.requests {
		if got.harvested[q.Host] {
			byHost[q.Host] = append(byHost[q.Host], q)
		}
	}
	for host, requests := range byHost {
		v.stalls(host, requests, before, after, windows)
	}
}

// stalls measures, for each pause between requests, the longest stretch of it in
// which nothing was broken. The rest that a host is given after an answer which says
// that it is in trouble is manners, not a stall.
func (v *Verdict) stalls(host string, log []sampleweb.Request, before, after int, windows []window) {
	slices.SortFunc(log, func(a, b sampleweb.Request) int { return a.Time.Compare(b.Time) })
	for i := max(1, before); i+after < len(log); i++ {
		if status := log[i-1].Status; host != "" && (status == http.StatusTooManyRequests || status >= http.StatusInternalServerError) {
			continue
		}
		if s := longestQuiet(log[i-1].End, log[i].Time, windows); s.Length > 2*time.Second {
			s.Host = host
			v.Stalls = append(v.Stalls, s)
		}
	}
}

// longestQuiet is the longest part of from…to that lies in no window, and the
// fault that ended before it.
func longestQuiet(from, to time.Time, windows []window) Stall {
	var best Stall
	consider := func(a, b time.Time, after string) {
		if d := b.Sub(a); d > best.Length {
			best = Stall{After: after, Length: d}
		}
	}
	after := ""
	for _, f := range windows {
		if f.begin.After(to) {
			break
		}
		if f.begin.After(from) {
			consider(from, f.begin, after)
		}
		if f.end.After(from) {
			from = f.end
		}
		after = f.name
	}
	consider(from, to, after)
	return best
}

// Slow says that work was not resumed as soon as it should be, which a busy
// machine can be the cause of; "" is well.
func (v Verdict) Slow() string {
	late := each.Where(v.Stalls, Stall.late)
	if len(late) == 0 {
		return ""
	}
	return fmt.Sprintf("%d stalls that are too long, the longest: %v", len(late), late[:min(5, len(late))])
}

// Faulty lists why the verdict is not a good one, whatever the machine's speed.
func (v Verdict) Faulty() []string {
	var out []string
	add := func(bad bool, format string, args ...any) {
		if bad {
			out = append(out, fmt.Sprintf(format, args...))
		}
	}
	add(len(v.Lost) > 0, "lost: %v", v.Lost)
	add(len(v.Gained) > 0, "not there undisturbed: %v", v.Gained)
	add(v.Doubled > 0, "%d doubled", v.Doubled)
	add(len(v.Changed) > 0, "reasons changed: %v", v.Changed)
	add(float64(v.Repeated) > repeatedShare*float64(v.Requests), "%d of %d requests repeated", v.Repeated, v.Requests)
	add(v.Impolite > 0, "%d impolite requests, the smallest gap %s", v.Impolite, v.SmallGap)
	add(len(v.NoRow) > 0, "blobs without a row: %v", v.NoRow)
	add(len(v.NoBlob) > 0, "rows without a blob: %v", v.NoBlob)
	add(len(v.Open) > 0, "workflows that do not end: %v", v.Open)
	add(len(v.Wrong) > 0, "the record: %v", v.Wrong)
	add(len(v.GaveUp) > 0, "the command that waits gave up: %v", v.GaveUp)
	return out
}

// WriteText writes the verdict for a person.
func (v Verdict) WriteText(w io.Writer) error {
	n := 0
	for _, kind := range slices.Sorted(maps.Keys(v.Faults)) {
		n += v.Faults[kind]
		fmt.Fprintf(w, "%5d  %s\n", v.Faults[kind], kind)
	}
	longest := time.Duration(0)
	if len(v.Stalls) > 0 {
		longest = v.Stalls[0].Length
	}
	fmt.Fprintf(w, "%d faults; %d papers found, %d files imported and %d pages collected undisturbed; %d of all lost, %d doubled\n",
		n, v.Papers, v.Imported, v.Collected, len(v.Lost), v.Doubled)
	fmt.Fprintf(w, "%d requests, %d repeated (%.2f %%), %d impolite, smallest gap %s\n", v.Requests, v.Repeated,
		100*float64(v.Repeated)/float64(max(v.Requests, 1)), v.Impolite, v.SmallGap.Round(time.Millisecond))
	fmt.Fprintf(w, "longest pause of a host while nothing was broken: %s\n", longest.Round(100*time.Millisecond))
	for _, line := range v.Faulty() {
		fmt.Fprintln(w, "NOT GOOD:", line)
	}
	if slow := v.Slow(); slow != "" {
		fmt.Fprintln(w, "SLOW:", slow)
	}
	_, err := fmt.Fprintln(w, "good:", len(v.Faulty()) == 0 && v.Slow() == "")
	return err
}
