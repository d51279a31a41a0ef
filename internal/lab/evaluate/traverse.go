package evaluate

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"text/tabwriter"
	"unicode"

	"gleaner/internal/each"
	"gleaner/internal/rank"
)

// Followed is one link of a logged breadth-first crawl: from the page Parent ("" for
// a seed) to URL, in the order in which the pages were asked for. A link to what
// was found before is logged too.
type Followed struct {
	URL      string
	Parent   string
	Anchor   string
	Document bool // URL is an accepted document
}

// AnchorWeight is one row of the log analysis.
type AnchorWeight struct {
	Word        string  `json:"word"`
	Weight      float64 `json:"weight"`      // mean of equation (1) over the paths that it stands on
	Interesting int     `json:"interesting"` // anchors with the word on paths to documents
	Other       int     `json:"other"`       // anchors with the word elsewhere
	Sites       int     `json:"sites"`       // traverse trees that have it on a path to a document
	Class       string  `json:"class"`       // "high", "medium" or ""
}

// LinkReport says how TrainLinks came to its classes.
type LinkReport struct {
	Trees       int            `json:"trees"`
	Documents   int            `json:"documents"`
	Interesting int            `json:"interesting"` // anchors on paths to documents
	Other       int            `json:"other"`
	Words       []AnchorWeight `json:"words"` // the heaviest first
}

// The classes of TrainLinks. A word is common on paths to documents when at
// least minTrees sites have it there, or minAlone anchors of one site and none
// elsewhere; and rare elsewhere when the share of
// anchors with the word that lead to documents is at least minOdds times what
// it is for all anchors.
const (
	minTrees   = 2
	minAlone   = 3
	minOdds    = 1.5
	highWeight = 0.5
	longAnchor = 4 // words; a longer anchor is a title, whose words are its subject's
)

// TrainLinks is one automated cycle of Zhuang et al. (JCDL 2005, §3.3): the logs
// of breadth-first crawls become traverse trees, the anchor texts on the paths
// that lead to documents are the interesting ones, and words common there and
// rare elsewhere are weighted by equation (1), W(o→q) = D(q)/D(p): the hops from
// the seed to the page q that the anchor leads to, over the hops from the seed
// to the paper p. The words are put into the classes high and medium of base,
// whose other lists stay. Unlike in the paper the anchors of the documents themselves and
// long ones do not count: they are titles, which teach little about pages.
func TrainLinks(base rank.Lists, crawls [][]Followed) (rank.Lists, LinkReport) {
	stats := map[string]*wordStats{}
	var report LinkReport
	for i, log := range crawls {
		newTraverseTree(log).count(i, stats, &report)
	}
	report.Trees = len(crawls)
	need := min(minTrees, len(crawls))
	average := float64(report.Interesting) / math.Max(1, float64(report.Interesting+report.Other))
	out := base
	out.High, out.Medium = nil, nil
	for word, s := range stats {
		if s.interesting == 0 {
			continue
		}
		a := AnchorWeight{Word: word, Weight: s.weight / float64(s.interesting), Interesting: s.interesting, Other: s.other, Sites: len(s.sites)}
		odds := float64(s.interesting) / float64(s.interesting+s.other) / math.Max(average, 1e-9)
		if (a.Sites >= need || a.Interesting >= minAlone && a.Other == 0) && odds >= minOdds {
			a.Class = "medium"
			if a.Weight >= highWeight {
				a.Class = "high"
			}
		}
		report.Words = append(report.Words, a)
	}
	const last = "none" // after high and medium
	slices.SortFunc(report.Words, func(a, b AnchorWeight) int {
		return cmp.Or(cmp.Compare(cmp.Or(a.Class, last), cmp.Or(b.Class, last)), cmp.Compare(b.Sites, a.Sites),
			cmp.Compare(b.Interesting, a.Interesting), cmp.Compare(a.Word, b.Word))
	})
	for _, a := range report.Words {
		switch a.Class {
		case "high":
			out.High = append(out.High, a.Word)
		case "medium":
			out.Medium = append(out.Medium, a.Word)
		}
	}
	return out, report
}

type wordStats struct {
	weight             float64
	interesting, other int
	sites              []int
}

// traverseTree is a crawl's log as the tree of what was first found on what.
type traverseTree struct {
	log     []Followed
	hops    map[string]int    // from the seed
	up      map[string]string // first found on
	nearest map[string]int    // hops from the seed to the nearest document at or below a page; absent without one
}

func newTraverseTree(log []Followed) traverseTree {
	t := traverseTree{log: log, hops: map[string]int{}, up: map[string]string{}, nearest: map[string]int{}}
	for _, l := range log {
		if _, known := t.hops[l.URL]; known {
			continue
		}
		t.hops[l.URL] = 0
		if h, ok := t.hops[l.Parent]; ok && l.Parent != "" {
			t.hops[l.URL], t.up[l.URL] = h+1, l.Parent
		}
	}
	for _, l := range log {
		if !l.Document || l.Parent == "" {
			continue
		}
		d := t.hops[l.Parent] + 1
		for q := l.Parent; q != ""; q = t.up[q] {
			if n, ok := t.nearest[q]; !ok || d < n {
				t.nearest[q] = d
			}
		}
	}
	return t
}

// count adds the anchors of one tree to the words' statistics, each text once
// for a page that it leads to. An anchor is interesting when a document hangs
// below its page q, and its weight is that of the nearest.
func (t traverseTree) count(site int, stats map[string]*wordStats, report *LinkReport) {
	met := map[[2]string]bool{}
	for _, l := range t.log {
		anchor := strings.ToLower(strings.Join(strings.Fields(l.Anchor), " "))
		if l.Document && !met[[2]string{"", l.URL}] {
			met[[2]string{"", l.URL}] = true
			report.Documents++
		}
		if l.Document || strings.Count(anchor, " ") >= longAnchor || l.Parent == "" || t.hops[l.URL] == 0 || met[[2]string{l.URL, anchor}] {
			continue
		}
		met[[2]string{l.URL, anchor}] = true
		p, interesting := t.nearest[l.URL]
		if interesting {
			report.Interesting++
		} else {
			report.Other++
		}
		for _, w := range keywords(anchor) {
			s := stats[w]
			if s == nil {
				s = &wordStats{}
				stats[w] = s
			}
			if !interesting {
				s.other++
				continue
			}
			s.interesting++
			s.weight += float64(t.hops[l.URL]) / float64(p)
			if !slices.Contains(s.sites, site) {
				s.sites = append(s.sites, site)
			}
		}
	}
}

// keywords are the words of an anchor that can be one, without a plural's s, as
// the lists match the beginnings of words.
func keywords(anchor string) []string {
	list := strings.FieldsFunc(anchor, func(r rune) bool { return !unicode.IsLetter(r) })
	n := 0
	for _, w := range list {
		if len(w) > 4 && strings.HasSuffix(w, "s") && !strings.HasSuffix(w, "ss") {
			w = w[:len(w)-1]
		}
		if len(w) >= 3 && !emptyWords[w] {
			list[n] = w
			n++
		}
	}
	list = list[:n]
	slices.Sort(list)
	return slices.Compact(list)
}

// emptyWords say nothing about where a link leads.
var emptyWords = each.Members(strings.Fields(`the and for with from our are this that here see all more
	you not can how what who was has into over via its`))

// WriteText prints the classes as the paper's Table 4 does, and the evidence.
func (r LinkReport) WriteText(w io.Writer) error {
	tw := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
	fmt.Fprintf(tw, "%d traverse trees, %d documents, %d interesting anchors, %d others\n", r.Trees, r.Documents, r.Interesting, r.Other)
	fmt.Fprintln(tw, "class\tword\tweight\tinteresting\tother\tsites")
	for _, a := range r.Words {
		if a.Class != "" {
			fmt.Fprintf(tw, "%s\t%s\t%.2f\t%d\t%d\t%d\n", a.Class, a.Word, a.Weight, a.Interesting, a.Other, a.Sites)
		}
	}
	return tw.Flush()
}
