package evaluate

import (
	"fmt"
	"sort"

	"gleaner/internal/page"
	"gleaner/internal/rank"
	"gleaner/internal/weburl"
)

// Kind is what a document turned out to be: "paper", "slides", "thesis", …;
// "" when that is not known.
type Kind string

// Paper is the kind that a crawl is after.
const Paper Kind = "paper"

// Judge says what the document at a canonical URL is. In the product it is the
// document filter; over a labelled snapshot, its labels.
type Judge func(url string) Kind

// Setup is what a simulated crawl needs beside its strategy.
type Setup struct {
	Site   Site
	Judge  Judge
	Wanted func(page.Link) float64 // likeness to a wanted title; nil for 0
	Follow func(host string, link page.Link, document bool) bool
	// Window is how many waiting links a strategy is shown at a pick; 0 for
	// the crawl's 500.
	Window int
	// Limit ends the crawl after so many requests; 0 for none.
	Limit int
}

// Step is one request of a simulated crawl.
type Step struct {
	URL       string         `json:"url"`
	Parent    string         `json:"parent,omitempty"`
	Depth     int            `json:"depth"`
	Document  bool           `json:"document,omitempty"`
	Kind      Kind           `json:"kind,omitempty"`
	Failed    bool           `json:"failed,omitempty"` // not in the snapshot: asked, but not counted
	Reason    string         `json:"reason,omitempty"`
	Queue     int            `json:"queue"`
	Priority  float64        `json:"priority"`
	Candidate rank.Candidate `json:"-"`
	Page      *page.Page     `json:"-"`
}

// Run is a simulated crawl.
type Run struct {
	Strategy string `json:"strategy"`
	Steps    []Step `json:"steps"`
}

// Simulate crawls a snapshot from its start to its end with one request at a
// time, showing the strategy the same window of the frontier as the crawl does.
func Simulate(setup Setup, s rank.Strategy) (Run, error) {
	sim := simulation{setup: setup, strategy: s, seen: map[string]bool{}, frontier: newFrontier(setup.Window)}
	sim.host = weburl.Host(setup.Site.Start())
	sim.enter(page.Link{URL: setup.Site.Start(), Source: page.SourceSeed}, "", 0)
	for sim.frontier.size > 0 && (setup.Limit == 0 || len(sim.run.Steps) < setup.Limit) {
		window := sim.frontier.window()
		i, reason := s.Next(window)
		if i < 0 || i >= len(window) {
			return sim.run, fmt.Errorf("evaluate: %s picked %d of %d", s.Name(), i, len(window))
		}
		c := window[i]
		sim.frontier.remove(c)
		sim.step(c, reason)
	}
	sim.run.Strategy = s.Name()
	return sim.run, nil
}

type simulation struct {
	setup    Setup
	strategy rank.Strategy
	host     string
	seen     map[string]bool
	frontier *frontier
	next     int64
	run      Run
}

// enter puts a link into the frontier unless it was met before; it reports
// whether it was new.
func (s *simulation) enter(l page.Link, parent string, depth int) (fresh, document bool) {
	document = weburl.IsDocumentName(l.URL)
	if parent != "" {
		if weburl.Host(l.URL) != s.host {
			return false, document
		}
		if s.setup.Follow != nil && !s.setup.Follow(s.host, l, document) {
			return false, document
		}
	}
	key := weburl.Key(l.URL)
	if s.seen[key] {
		return false, document
	}
	s.seen[key] = true
	s.next++
	c := rank.Candidate{ID: s.next, Link: l, Parent: parent, Depth: depth, Document: document}
	if s.setup.Wanted != nil {
		c.Wanted = s.setup.Wanted(l)
	}
	s.strategy.Enter(&c)
	s.frontier.add(c)
	return true, document
}

func (s *simulation) step(c rank.Candidate, reason string) {
	st := Step{URL: c.Link.URL, Parent: c.Parent, Depth: c.Depth, Reason: reason, Queue: c.Queue, Priority: c.Priority, Candidate: c}
	a, err := s.setup.Site.Get(c.Link.URL)
	if err != nil {
		st.Failed = true
		s.run.Steps = append(s.run.Steps, st)
		s.strategy.Observe(c, rank.Result{Failed: true})
		return
	}
	if key := weburl.Key(a.URL); key != weburl.Key(c.Link.URL) {
		if s.seen[key] { // a redirect to what is known already costs nothing more
			st.Failed = true
			s.run.Steps = append(s.run.Steps, st)
			s.strategy.Observe(c, rank.Result{})
			return
		}
		s.seen[key] = true
	}
	st.URL, st.Document, st.Page = a.URL, a.Document, a.Page
	res := rank.Result{Page: a.Page, Document: a.Document}
	if a.Document {
		st.Kind = s.setup.Judge(a.URL)
		res.Accepted = st.Kind == Paper
	}
	if a.Page != nil && !a.Page.NoFollow {
		for _, l := range a.Page.Links {
			if l.NoFollow {
				continue
			}
			fresh, document := s.enter(l, a.URL, c.Depth+1)
			if fresh {
				res.Found++
				if document {
					res.NewDocs++
				}
			}
		}
	}
	s.run.Steps = append(s.run.Steps, st)
	s.strategy.Observe(c, res)
}

// frontier is the crawl's window over the waiting links, in memory: the best of
// each queue and mark by stored priority, ties by order of discovery.
type frontier struct {
	limit  int
	size   int
	groups map[[2]int]*group
	keys   [][2]int // sorted, so that the window is the same every time
}

type group struct{ waiting []rank.Candidate }

func newFrontier(limit int) *frontier {
	if limit <= 0 {
		limit = 500
	}
	return &frontier{limit: limit, groups: map[[2]int]*group{}}
}

func before(a, b rank.Candidate) bool {
	if a.Priority != b.Priority {
		return a.Priority > b.Priority
	}
	return a.ID < b.ID
}

func (f *frontier) add(c rank.Candidate) {
	k := [2]int{c.Queue, c.Mark}
	g := f.groups[k]
	if g == nil {
		g = &group{}
		f.groups[k] = g
		at := sort.Search(len(f.keys), func(i int) bool {
			return f.keys[i][0] < k[0] || f.keys[i][0] == k[0] && f.keys[i][1] > k[1]
		})
		f.keys = append(f.keys, k)
		copy(f.keys[at+1:], f.keys[at:])
		f.keys[at] = k
	}
	at := sort.Search(len(g.waiting), func(i int) bool { return before(c, g.waiting[i]) })
	g.waiting = append(g.waiting, c)
	copy(g.waiting[at+1:], g.waiting[at:])
	g.waiting[at] = c
	f.size++
}

func (f *frontier) remove(c rank.Candidate) {
	g := f.groups[[2]int{c.Queue, c.Mark}]
	for i := range g.waiting {
		if g.waiting[i].ID == c.ID {
			g.waiting = append(g.waiting[:i], g.waiting[i+1:]...)
			f.size--
			return
		}
	}
}

// window shares its places evenly among the groups that have links waiting.
func (f *frontier) window() []rank.Candidate {
	waiting := 0
	for _, k := range f.keys {
		if len(f.groups[k].waiting) > 0 {
			waiting++
		}
	}
	each := max(1, f.limit/max(1, waiting))
	out := make([]rank.Candidate, 0, min(f.size, f.limit))
	for _, k := range f.keys {
		g := f.groups[k].waiting
		out = append(out, g[:min(each, len(g))]...)
	}
	return out
}
