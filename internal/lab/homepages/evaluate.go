// Package homepages measures how well homepages are found, by labels, and learns the weights
// of the evidence for them.
package homepages

import (
	"bufio"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"gleaner/internal/gleaner"
	"gleaner/internal/gleaner/evidence"
	"gleaner/internal/homepage"
)

// Label says where an author's homepage is. With no Homepages it says that
// there is none to be found.
type Label struct {
	Author    gleaner.Author `json:"author"`
	Homepages []string       `json:"homepages"` // a page is right on or below any of them
}

// ReadLabels reads tab-separated author, pid, homepage with a header line (any
// order, further columns ignored). Several lines of one author are several
// homepages; an empty homepage says that there is none.
func ReadLabels(r io.Reader) ([]Label, error) {
	sc := bufio.NewScanner(r)
	sc.Buffer(make([]byte, 0, 64<<10), 1<<20)
	column := map[string]int{}
	var out []Label
	index := map[string]int{}
	for line := 1; sc.Scan(); line++ {
		cells := strings.Split(strings.TrimRight(sc.Text(), "\r"), "\t")
		if line == 1 {
			for i, c := range cells {
				column[strings.ToLower(strings.TrimSpace(c))] = i
			}
			for _, want := range []string{"author", "homepage"} {
				if _, ok := column[want]; !ok {
					return nil, fmt.Errorf("labels: line 1: no column %q (want author, pid, homepage, separated by tabs)", want)
				}
			}
			continue
		}
		if strings.TrimSpace(sc.Text()) == "" {
			continue
		}
		cell := func(name string) string {
			if i, ok := column[name]; ok && i < len(cells) {
				return strings.TrimSpace(cells[i])
			}
			return ""
		}
		a := gleaner.Author{PID: cell("pid"), Name: cell("author")}
		if a.Name == "" {
			return nil, fmt.Errorf("labels: line %d: no author", line)
		}
		i, ok := index[a.ID()]
		if !ok {
			i = len(out)
			index[a.ID()] = i
			out = append(out, Label{Author: a})
		}
		if u := cell("homepage"); u != "" {
			out[i].Homepages = append(out[i].Homepages, u)
		}
	}
	return out, sc.Err()
}

// Score is what became of the authors by one way of deciding.
type Score struct {
	Authors  int `json:"authors"`   //
	Exist    int `json:"exist"`     // of these, with a homepage to be found
	Right    int `json:"right"`     // the best page is theirs
	Wrong    int `json:"wrong"`     // a page that is kept is not theirs
	NotFound int `json:"not_found"` // there is one and none was found
	None     int `json:"none"`      // there is none, or no label, and none was given
}

// Found is the share of authors with a homepage whose best page is theirs.
func (s Score) Found() float64 { return ratio(s.Right, s.Exist) }

// WrongRate is the share of all authors who were given a page that is not theirs.
func (s Score) WrongRate() float64 { return ratio(s.Wrong, s.Authors) }

func ratio(part, whole int) float64 { return float64(part) / float64(max(whole, 1)) }

// Report compares the decisions with labels.
type Report struct {
	Score
	BySource  map[string]Score `json:"by_source"` // right and wrong of the best pages by the source that brought them
	Unlabeled int              `json:"unlabeled"` // authors without a label who were given a page that no label gives to another
	Searches  int              `json:"searches"`
	Fetches   int              `json:"fetches"`
	Mistakes  []Mistake        `json:"mistakes"`
}

// Mistake is one author who came out wrong.
type Mistake struct {
	Author   gleaner.Author `json:"author"`
	Got      string         `json:"got"` // "" when nothing was found
	Want     []string       `json:"want"`
	Rule     string         `json:"rule"`
	Distinct bool           `json:"distinct"` // a page was given that is not theirs
}

// Evaluate compares decisions with labels. An author without a label is wrong
// only where they were given a page that a label gives to another.
func Evaluate(decisions []evidence.Decision, labels []Label) Report {
	r := Report{BySource: map[string]Score{}}
	byID := map[string]Label{}
	for _, l := range labels {
		byID[l.Author.ID()] = l
	}
	for _, d := range decisions {
		r.Searches += d.Searches
		r.Fetches += d.Fetches
		l, labelled := byID[d.Author.ID()]
		if !labelled {
			r.unlabelled(d, labels)
			continue
		}
		wrong := firstWrong(d, l)
		r.Score.count(d.Best(), wrong != "", l)
		if len(d.Homepages) > 0 {
			source, _, _ := strings.Cut(d.Homepages[0].Source, "#")
			s := r.BySource[source]
			s.count(d.Best(), wrong != "", l)
			r.BySource[source] = s
		}
		switch {
		case wrong != "":
			r.Mistakes = append(r.Mistakes, Mistake{Author: d.Author, Got: wrong, Want: l.Homepages, Rule: ruleOf(d, wrong), Distinct: true})
		case len(l.Homepages) > 0 && d.Best() == "":
			r.Mistakes = append(r.Mistakes, Mistake{Author: d.Author, Want: l.Homepages, Rule: d.NotFound})
		}
	}
	return r
}

// unlabelled looks at an author of whom nothing is known but whose pages are
// not: those that the labels give to others.
func (r *Report) unlabelled(d evidence.Decision, labels []Label) {
	r.Authors++
	for _, c := range d.Homepages {
		if slices.ContainsFunc(labels, func(l Label) bool { return right(c.URL, l) }) {
			r.Wrong++
			r.Mistakes = append(r.Mistakes, Mistake{Author: d.Author, Got: c.URL, Rule: c.Rule, Distinct: true})
			return
		}
	}
	if len(d.Homepages) > 0 {
		r.Unlabeled++
		return
	}
	r.None++
}

func (s *Score) count(best string, wrong bool, l Label) {
	s.Authors++
	exists := len(l.Homepages) > 0
	if exists {
		s.Exist++
	}
	switch {
	case wrong:
		s.Wrong++
	case best == "" && exists:
		s.NotFound++
	case best == "":
		s.None++
	}
	// The best page can be right though a further one is wrong: both count.
	if best != "" && right(best, l) {
		s.Right++
	}
}

// firstWrong is the first kept page that is not the author's, or "".
func firstWrong(d evidence.Decision, l Label) string {
	for _, c := range d.Homepages {
		if !right(c.URL, l) {
			return c.URL
		}
	}
	return ""
}

// right reports whether u is one of the labelled pages or lies below it.
func right(u string, l Label) bool {
	k := homepage.AddressKey(u)
	for _, h := range l.Homepages {
		hk := homepage.AddressKey(h)
		if k == hk || strings.HasPrefix(k, hk+"/") {
			return true
		}
	}
	return false
}

func ruleOf(d evidence.Decision, u string) string {
	for _, c := range d.Candidates {
		if c.Kept && c.URL == u {
			return c.Rule
		}
	}
	return ""
}

// String is the report as a table for a terminal.
func (r Report) String() string {
	var b strings.Builder
	line := func(name string, s Score) {
		fmt.Fprintf(&b, "%-22s %7d %6d %6d %6d %10d %6d  %6.2f%% %6.2f%%\n", name, s.Authors, s.Exist, s.Right, s.Wrong, s.NotFound, s.None, 100*s.Found(), 100*s.WrongRate())
	}
	fmt.Fprintf(&b, "%-22s %7s %6s %6s %6s %10s %6s  %7s %7s\n", "", "authors", "exist", "right", "wrong", "not found", "none", "found", "wrong")
	line("evidence", r.Score)
	for _, s := range slices.Sorted(maps.Keys(r.BySource)) {
		line("  by "+s, r.BySource[s])
	}
	fmt.Fprintf(&b, "%d searches, %d pages asked for, %d pages for authors without a label\n", r.Searches, r.Fetches, r.Unlabeled)
	return b.String()
}
