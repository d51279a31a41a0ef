package rank

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"gleaner/internal/devstack/devtest"
	"gleaner/internal/web/page"
)

// like makes candidate n of a page of papers, slides and further pages, of the
// size that links have on real pages.
func like(n int) page.Candidate {
	parent := fmt.Sprintf("http://www.example.org/~ada/list%d.html", n/40)
	c := page.Candidate{ID: int64(n + 2), Parent: parent, Depth: 2 + n/400, Link: page.Link{
		Position: n % 40, Source: page.SourceAnchor, TagPath: "html>body>div.main>ul.papers>li>a", Heading: "Publications of the year",
		Context: strings.Repeat("Ada Lovelace, Charles Babbage: Notes on the analytical engine, Proc. of a conference, 1843. ", 2),
	}}
	switch n % 4 {
	case 0:
		c.Document, c.Link.URL, c.Link.Anchor = true, fmt.Sprintf("http://www.example.org/~ada/papers/engine-%d.pdf", n), "Notes on the analytical engine"
	case 1:
		c.Document, c.Link.URL, c.Link.Anchor = true, fmt.Sprintf("http://www.example.org/~ada/slides/talk%d.pdf", n), "slides"
	default:
		c.Link.URL, c.Link.Anchor, c.Link.TagPath = fmt.Sprintf("http://www.example.org/~ada/notes/%d.html", n), fmt.Sprintf("Note %d", n), "html>body>nav>a"
	}
	return c
}

// walk lets a strategy take links from a made-up site, in which documents under
// good/ are papers, and returns the order. restart, where not 0, replaces the
// strategy by a restored one after so many picks.
func walk(t *testing.T, good string, restart int) (order, reasons []string) {
	s := mustNew(t, Gleaner, Options{})
	var waiting []page.Candidate
	for i := range 60 {
		dir, path := "papers", "html>body>ul>li>a"
		if i%2 == 0 {
			dir, path = "lectures", "html>body>table>tr>td>a"
		}
		c := page.Candidate{ID: int64(i + 1), Parent: "http://a.test/", Depth: 1, Document: true,
			Link: page.Link{URL: fmt.Sprintf("http://a.test/%s/%d.pdf", dir, i), Anchor: fmt.Sprintf("Part %d", i), TagPath: path, Position: i, Source: page.SourceAnchor}}
		s.Enter(&c)
		waiting = append(waiting, c)
	}
	for n := 0; len(waiting) > 0; n++ {
		if n > 0 && n == restart {
			raw := devtest.Must(s.State())(t)
			require.Less(t, len(raw), 256<<10)
			s = mustNew(t, Gleaner, Options{})
			require.NoError(t, s.Restore(raw))
		}
		i, reason := s.Next(waiting)
		c := waiting[i]
		order, reasons = append(order, c.Link.URL), append(reasons, reason)
		waiting = append(waiting[:i:i], waiting[i+1:]...)
		s.Observe(c, Result{Document: true, Accepted: splitAddress(c.Link.URL).dir == "/"+good+"/"})
	}
	return order, reasons
}

func placeOfLast(order []string, dir string) int {
	last := 0
	for i, u := range order {
		if splitAddress(u).dir == "/"+dir+"/" {
			last = i + 1
		}
	}
	return last
}

// TestGleanerLearnsEitherWay: what courses are called is not what they are worth.
// Where the directory with the course-like name is the good one, it goes first
// after a few failures.
func TestGleanerLearnsEitherWay(t *testing.T) {
	t.Parallel()
	for _, good := range []string{"papers", "lectures"} {
		order, _ := walk(t, good, 0)
		require.Len(t, order, 60)
		require.Less(t, placeOfLast(order, good), 47, "30 papers under %s/ among 60 documents", good)
	}
}

// TestGleanerRepeats: the same site gives the same order and the same reasons,
// whether or not the strategy was put down and taken up in between.
func TestGleanerRepeats(t *testing.T) {
	t.Parallel()
	order, reasons := walk(t, "papers", 0)
	for _, restart := range []int{1, 7, 20, 59} {
		o, r := walk(t, "papers", restart)
		require.Equal(t, order, o, "restored after %d picks", restart)
		require.Equal(t, reasons, r)
	}
}

// TestBoundsLoseNothing: picks are those of a strategy that computes every promise
// anew each time.
func TestBoundsLoseNothing(t *testing.T) {
	t.Parallel()
	order := func(forget bool) (ids []int64) {
		s := mustNew(t, Gleaner, Options{})
		var waiting []page.Candidate
		for n := range 400 {
			c := like(n)
			c.Link.Anchor = fmt.Sprint(c.Link.Anchor, " ", n%7, " about ", []string{"proofs", "slides", "proofs proofs", "queries", "errata"}[n%5])
			s.Enter(&c)
			waiting = append(waiting, c)
		}
		for n := 0; len(waiting) > 0; n++ {
			if forget {
				s.(*gleaner).memory = newMemory()
			}
			i, _ := s.Next(waiting)
			c := waiting[i]
			ids = append(ids, c.ID)
			last := len(waiting) - 1
			waiting[i] = waiting[last]
			waiting = waiting[:last]
			r := Result{Document: c.Document, Accepted: c.Document && (n%3 != 0)}
			if !c.Document {
				r.Page = &page.Page{URL: c.Link.URL}
			}
			s.Observe(c, r)
		}
		return ids
	}
	require.Equal(t, order(true), order(false))
}

func TestMemoryIsBounded(t *testing.T) {
	t.Parallel()
	s := mustNew(t, Gleaner, Options{})
	var waiting []page.Candidate
	for n := range maxKnown + 10 {
		c := like(n)
		s.Enter(&c)
		waiting = append(waiting[:min(n, 100)], c)
	}
	s.Next(waiting)
	require.Len(t, s.(*gleaner).memory.links, len(waiting))
}

// TestWantedGoesFirst: a link with a wanted title goes before all others, half a title
// counts nothing, and another paper teaches less than a wanted one.
func TestWantedGoesFirst(t *testing.T) {
	t.Parallel()
	expected := map[Result]float64{}
	for _, r := range []Result{{Document: true}, {Document: true, Accepted: true}, {Document: true, Accepted: true, Unwanted: true}} {
		s := mustNew(t, Gleaner, Options{})
		var waiting []page.Candidate
		for i := range 20 {
			c := page.Candidate{ID: int64(i + 1), Parent: "http://a.test/", Document: true, Link: page.Link{URL: fmt.Sprintf("http://a.test/papers/%d.pdf", i), Anchor: "Paper"}}
			c.Wanted = map[int]float64{7: 0.5, 13: 0.95}[i]
			s.Enter(&c)
			waiting = append(waiting, c)
		}
		i, reason := s.Next(waiting)
		require.Equal(t, 13, i, reason)
		require.Contains(t, reason, "wanted")
		require.InDelta(t, waiting[8].Priority, waiting[7].Priority, 1e-9)
		s.Observe(waiting[0], r)
		expected[r] = s.(*gleaner).Expect(&waiting[8])
	}
	require.Less(t, expected[Result{Document: true, Accepted: true, Unwanted: true}], expected[Result{Document: true, Accepted: true}])
	require.Less(t, expected[Result{Document: true}], expected[Result{Document: true, Accepted: true, Unwanted: true}])
}

// TestExplorationTakesTurns: one pick goes to the link that has waited longest, and one to
// the link whose like was tried least.
func TestExplorationTakesTurns(t *testing.T) {
	t.Parallel()
	s := mustNew(t, Gleaner, Options{})
	g := s.(*gleaner)
	link := func(id int64, url string) page.Candidate {
		c := page.Candidate{ID: id, Parent: "http://a.test/", Link: page.Link{URL: url, Anchor: "More", TagPath: "html>body>a", Source: page.SourceAnchor}}
		s.Enter(&c)
		return c
	}
	for i := range 500 {
		c := link(int64(i+100), fmt.Sprintf("http://a.test/list%d.html", i))
		s.Observe(c, Result{Page: &page.Page{URL: c.Link.URL}})
	}
	waiting := []page.Candidate{link(902, "http://a.test/list900.html"), link(901, "http://a.test/list901.html"), link(903, "http://a.test/~who/")}
	s.Next(waiting)
	for picks, want := range map[int]int{g.tune.Explore: 1, g.tune.Explore + g.tune.Explore/2: 2} {
		g.picks = picks
		i, why := g.exploration(waiting)
		require.NotEmpty(t, why)
		require.Equal(t, want, i, "pick %d", picks)
	}
	g.picks = g.tune.Explore + 2
	_, why := g.exploration(waiting)
	require.Empty(t, why)
}

// TestExplorationReachesTheTail: a link that promises nothing has its turn even
// while the site keeps giving better-looking ones that bring nothing.
func TestExplorationReachesTheTail(t *testing.T) {
	t.Parallel()
	s := mustNew(t, Gleaner, Options{})
	dull := page.Candidate{ID: 1, Parent: "http://a.test/", Link: page.Link{URL: "http://a.test/terms/privacy.html", Anchor: "Privacy", TagPath: "html>footer>a", Source: page.SourceAnchor}}
	s.Enter(&dull)
	waiting := []page.Candidate{dull}
	next := int64(2)
	for n := 1; n <= 600; n++ {
		for len(waiting) < 4 {
			c := page.Candidate{ID: next, Parent: fmt.Sprintf("http://a.test/publications/%d/", next/4), Link: page.Link{
				URL: fmt.Sprintf("http://a.test/publications/%d/list%d.html", next/4, next), Anchor: "Publications", TagPath: "html>main>a", Source: page.SourceAnchor}}
			s.Enter(&c)
			waiting = append(waiting, c)
			next++
		}
		i, _ := s.Next(waiting)
		c := waiting[i]
		if c.ID == 1 {
			return
		}
		waiting = append(waiting[:i:i], waiting[i+1:]...)
		s.Observe(c, Result{Page: &page.Page{URL: c.Link.URL}})
	}
	t.Fatal("600 picks and the oldest link still waits")
}

// TestARunOfFailuresIsNotTheEndOfAList: a document promises no less than the share of
// its group that was accepted, whatever the last ones were.
func TestARunOfFailuresIsNotTheEndOfAList(t *testing.T) {
	t.Parallel()
	s := mustNew(t, Gleaner, Options{})
	g := s.(*gleaner)
	document := func(i int) page.Candidate {
		c := page.Candidate{ID: int64(i + 1), Parent: "http://a.test/", Document: true,
			Link: page.Link{URL: fmt.Sprintf("http://a.test/papers/%d.pdf", i), Anchor: "Paper", TagPath: "html>body>ul>li>a", Source: page.SourceAnchor}}
		s.Enter(&c)
		return c
	}
	const accepted, rejected = 20, 60
	for i := range accepted + rejected {
		s.Observe(document(i), Result{Document: true, Accepted: i < accepted})
	}
	waiting := []page.Candidate{document(accepted + rejected)}
	s.Next(waiting)
	share := math.Log(float64(accepted) / (rejected + doubt))
	require.GreaterOrEqual(t, g.promise(waiting, 0), share-g.tune.Floor)
}

func TestRestoreRefusesDamage(t *testing.T) {
	t.Parallel()
	s := mustNew(t, Gleaner, Options{})
	require.NoError(t, s.Restore(nil))
	require.Error(t, s.Restore([]byte(`{"version": `)))
	require.NoError(t, s.Restore([]byte(`{"version": 99}`)), "a later version's state is learnt anew")
	shared := s.(*gleaner).x.shared
	require.Error(t, s.Restore([]byte(fmt.Sprintf(`{"version":%d,"shared":%d,"docs":"?"}`, stateVersion, shared))))
}

func TestLexicon(t *testing.T) {
	t.Parallel()
	x, err := newLexicon(Lists{High: []string{"pub"}, Concepts: map[string][]string{"cv": {"=cv"}, "slides": {"slide", "talk"}}})
	require.NoError(t, err)
	names := func(s string) (out []string) {
		m := x.scan(s)
		for bit, n := range x.names {
			if m&(1<<bit) != 0 {
				out = append(out, n)
			}
		}
		return out
	}
	for text, want := range map[string][]string{
		"My Publications": {"high"}, "cv.pdf": {"cv"}, "cvpr19.pdf": nil, "MyCV": {"cv"}, "2020-popl-slides": {"slides"},
		"republish": nil, "PopTalk": {"slides"}, "": nil, "curriculum": nil, "the CV": {"cv"},
	} {
		require.Equal(t, want, names(text), text)
	}
}

func TestArmsGroupLikePaths(t *testing.T) {
	t.Parallel()
	a := newArms(nil)
	link := func(path string) page.Link { return page.Link{Source: page.SourceAnchor, TagPath: path} }
	list := a.of(link("html>body>div.main>ul.papers>li>a"))
	require.Equal(t, list, a.of(link("html>body>div.main>ul.papers>li>b>a")), "one step more is alike")
	nav := a.of(link("html>body>nav>ul.menu>li>a"))
	require.NotEqual(t, list, nav)
	again := newArms(a.leaders)
	require.Equal(t, nav, again.of(link("html>body>nav>ul.menu>li>a")), "groups survive")
	for i := range 500 {
		require.Less(t, a.of(link(fmt.Sprintf("html>x%d>y%d>z%d", i, i, i))), maxArms)
	}
}

func TestModelLearns(t *testing.T) {
	t.Parallel()
	m := newModel([]float32{0}, 0.05, 0.5)
	fs := []feature{{0, 1}, {1, 1}, {2, 1}}
	for range 50 {
		m.learn(fs, 1, 1)
	}
	l, v := m.predict(fs)
	require.Greater(t, sigmoid(l), 0.9)
	require.Less(t, v, 1.05)
	before := l
	m.learn(fs, 0, 0.1)
	l, _ = m.predict(fs)
	require.Less(t, l, before, "a failure counts")
	require.Greater(t, sigmoid(l), 0.85, "but little")
}

// TestTheReasonNamesTheGroup where a document is taken for what its group brought, not
// for what is thought of it.
func TestTheReasonNamesTheGroup(t *testing.T) {
	t.Parallel()
	s := mustNew(t, Gleaner, Options{})
	s.(*gleaner).tune.Floor = -9 // the group outweighs all else
	var all []page.Candidate
	for i := range 3 {
		c := page.Candidate{ID: int64(i + 1), Parent: "http://a.test/", Depth: 1, Document: true,
			Link: page.Link{URL: fmt.Sprintf("http://a.test/papers/%d.pdf", i), Anchor: fmt.Sprintf("Part %d", i), TagPath: "html>body>ul>li>a", Position: i, Source: page.SourceAnchor}}
		s.Enter(&c)
		all = append(all, c)
	}
	_, reason := s.Next(all)
	require.NotContains(t, reason, "its group")
	s.Observe(all[0], Result{Document: true, Accepted: true})
	s.Observe(all[1], Result{Document: true})
	_, reason = s.Next(all[2:])
	require.Contains(t, reason, "since of its group 1 of 2 were accepted")
}
