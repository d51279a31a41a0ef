package rank

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"gleaner/internal/devstack/devtest"
	"gleaner/internal/web/page"
)

// script are links and what comes of them: a verdict says how a link is answered, and how
// many of the next links stand on it where it is a page.
type script struct {
	links    []page.Candidate
	verdicts string
}

// maxScript bounds the links of a script, each of which costs a pick among all.
const maxScript = 150

// scriptOf reads a line a link, its fields parted by tabs. What is no text follows from
// the verdicts: the script is of hostile make, but always the same. A tag path is kept as
// JSON, so it is text, as the parser gives it.
func scriptOf(lines, verdicts string) script {
	s := script{verdicts: verdicts}
	sources := []page.Source{page.SourceAnchor, page.SourceFrame, page.SourceRefresh, page.SourceCitation, page.SourceSeed, page.SourceScript, "unheard of"}
	for n, line := range strings.Split(lines, "\n") {
		if n == maxScript {
			break
		}
		f := append(strings.Split(line, "\t"), make([]string, 5)...)
		v := int(s.verdict(n))
		s.links = append(s.links, page.Candidate{Depth: v%5 - 1, OffSite: v%7 == 0, Document: v/6%2 == 1, Wanted: float64(v%11) / 10,
			Link: page.Link{URL: f[0], Anchor: f[1], Context: f[2], Heading: f[3], TagPath: strings.ToValidUTF8(f[4], "?"), Position: n - v, Source: sources[v%len(sources)]}})
	}
	return s
}

func (s script) verdict(n int) byte {
	if s.verdicts == "" {
		return 1
	}
	return s.verdicts[n%len(s.verdicts)]
}

// result is what comes of a link, expected or not: a page, of its address or another's, a
// document, nothing.
func (s script) result(n int, c *page.Candidate) Result {
	v := s.verdict(n)
	switch v % 6 {
	case 0:
		return Result{Failed: true}
	case 1:
		return Result{Page: &page.Page{URL: c.Link.URL}}
	case 2:
		return Result{Page: &page.Page{URL: c.Parent}}
	case 3:
		return Result{}
	}
	return Result{Document: true, Accepted: v%6 == 4}
}

// options are read once: a script makes many strategies.
var options = sync.OnceValues(Options{}.WithDefaults)

func strategy(t testing.TB, name string) Strategy {
	opts := devtest.Must(options())(t)
	s := mustNew(t, name, opts)
	return s
}

// crawl is a strategy on its way through a script.
type crawl struct {
	script
	t        testing.TB
	strategy Strategy
	waiting  []page.Candidate
	entered  int
}

// enter lets the next links in, which stand on a page, or are seeds.
func (c *crawl) enter(n int, parent string) {
	for ; n > 0 && c.entered < len(c.links); n-- {
		l := c.links[c.entered]
		l.Parent = parent
		c.strategy.Enter(&l) // it has no place in the order yet
		c.entered++
		l.ID = int64(c.entered)
		if math.IsNaN(l.Priority) || math.IsInf(l.Priority, 0) || l.Queue < QueueLow || l.Queue > QueueAtOnce || l.Mark < 0 {
			c.t.Fatalf("%s: entered as %+v", c.strategy.Name(), l)
		}
		c.waiting = append(c.waiting, l)
	}
}

// next takes the link that the strategy picks.
func (c *crawl) next(turned bool) page.Candidate {
	seen := slices.Clone(c.waiting)
	if turned {
		slices.Reverse(seen)
	}
	i, why := c.strategy.Next(seen)
	if i < 0 || i >= len(seen) || why == "" || strings.Contains(why, "NaN") || strings.Contains(why, "Inf") {
		c.t.Fatalf("%s: %d of %d: %q", c.strategy.Name(), i, len(seen), why)
	}
	l := seen[i]
	if g, ok := c.strategy.(*gleaner); ok {
		if v := g.Expect(&l); !(v >= 0 && v <= 1) {
			c.t.Fatalf("expects %v of %+v", v, l)
		}
	}
	c.waiting = slices.DeleteFunc(c.waiting, func(w page.Candidate) bool { return w.ID == l.ID })
	return l
}

// order lets a strategy take the links of a script and says in which order. every,
// where not 0, puts it down and takes it up again after so many picks; turned shows it
// what waits the other way round.
func (s script) order(t testing.TB, name string, every int, turned bool) (out []int64) {
	c := crawl{script: s, t: t, strategy: strategy(t, name)}
	c.enter(1, "")
	for len(c.waiting) > 0 {
		l := c.next(turned)
		out = append(out, l.ID)
		r := s.result(len(out)-1, &l)
		if r.Page != nil {
			c.enter(int(s.verdict(len(out)-1))/6+1, l.Link.URL)
		}
		c.strategy.Observe(l, r)
		if len(c.waiting) == 0 {
			c.enter(12, "")
		}
		if every > 0 && len(out)%every == 0 {
			raw, err := c.strategy.State()
			require.NoError(t, err, "what is no number is no JSON")
			require.Less(t, len(raw), 256<<10)
			c.strategy = strategy(t, name)
			require.NoError(t, c.strategy.Restore(raw))
		}
	}
	return out
}

// check lets each strategy take a script's links: each once, in an order that follows
// from the script alone.
func (s script) check(t testing.TB) {
	for _, name := range Names() {
		once := s.order(t, name, 0, false)
		all := slices.Clone(once)
		slices.Sort(all)
		for i, id := range all {
			require.Equal(t, int64(i+1), id, "%v %v", name, once)
			require.Len(t, all, len(s.links), "%v %v", name, once)
		}
		require.Equal(t, once, s.order(t, name, 0, true), "%s: what waits was shown the other way round", name)
		require.Equal(t, once, s.order(t, name, 7, false), "%s: put down and taken up again", name)
	}
}

// hostile are links as no page should have them, a line each.
var hostile = []string{
	"http://a.test/papers/1.pdf\tA paper\tAda King. A paper. Proc. 1999\tPapers\thtml>body>ul>li>a",
	"http://a.test/papers/1.ps.gz\t",
	"://\t\x00\xff\xfe",
	"http://[::1",
	"http://%zz/%\tproject",
	"http://a.test/" + strings.Repeat("a/", 400) + "\t" + strings.Repeat("../", 400),
	"http://a.test/?" + strings.Repeat("q=%00&", 200) + "\t\t" + strings.Repeat("論文", 100),
	"\t" + strings.Repeat(">", 300) + "\t\t\t" + strings.Repeat("a>", 200),
	"http://a.test/é\u0301\u202e.PDF.Z\tpapers papers papers papers papers papers papers\t" + strings.Repeat(`"`, 500),
	strings.Repeat("http://", 30) + "\t=\t=\t=\t=",
	".pdf\t.\t.\t.\t.",
}

// FuzzRank: no link and no verdict brings a strategy down, none is taken twice or never,
// nothing becomes what is no number, and the order follows from what it was told.
func FuzzRank(f *testing.F) {
	for _, l := range hostile {
		f.Add(strings.Repeat(l+"\n", 12), "\x04\x01")
	}
	f.Add(strings.Join(hostile, "\n"), "")
	f.Add(strings.Repeat(strings.Join(hostile, "\n")+"\n", 8), "\x25\x01\x02\x03\x04\x05\x06\xff\xfe\x00")
	var dull strings.Builder // so that others have their turn
	for i := range maxScript {
		fmt.Fprintf(&dull, "http://a.test/%s/%d.html\tPrivacy\tImprint\tContact\thtml>footer>%s>a\n", []string{"terms", "blog", "login"}[i%3], i, []string{"a", "b"}[i%2])
	}
	f.Add(dull.String(), "\x79")
	f.Fuzz(func(t *testing.T, links, verdicts string) { scriptOf(links, verdicts).check(t) })
}
