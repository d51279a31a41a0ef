package evaluate

import (
	"fmt"
	"hash/fnv"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"gleaner/internal/rank"
	"gleaner/internal/web/page"
)

// TestShapes sets the strategies beside breadth-first on generated sites of many
// shapes, most of which no word gives away and some of which are named to deceive.
// Hardly any site may be behind breadth-first. The constants follow real sites: these
// are told apart by nothing but what is learnt on them.
func TestShapes(t *testing.T) {
	t.Parallel()
	var all []Comparison
	for _, shape := range slices.Sorted(maps.Keys(shapes)) {
		var one []Comparison
		for seed := range 12 {
			site := newShape(shape, seed)
			c, _, err := Compare(fmt.Sprint(shape, " ", seed), Setup{Site: site, Judge: site.Judge}, []string{rank.Zhuang, rank.Gleaner}, rank.Options{})
			require.NoError(t, err)
			one = append(one, c)
		}
		t.Logf("%-10s %+v", shape, Medians(one)[2])
		all = append(all, one...)
	}
	zhuang, gleaner := Medians(all)[1], Medians(all)[2]
	t.Logf("%+v\n%+v", zhuang, gleaner)
	for i := 1; i <= 2; i++ { // to 85 and 95 %
		require.Greater(t, gleaner.Worst[i], -0.4)
		require.LessOrEqual(t, gleaner.Behind[i], gleaner.Sites/11)
		require.Greater(t, gleaner.Median[i], 0.5)
	}
}

// chance is a number in [0,1) that a seed and a word always give.
func chance(seed int, word string) float64 {
	h := fnv.New64a()
	fmt.Fprintf(h, "%d %s", seed, word)
	x := h.Sum64()
	x = (x ^ x>>33) * 0xff51afd7ed558ccd
	x ^= x >> 33
	return float64(x>>11) / (1 << 53)
}

// shaper makes small sites of one shape; what is left open by the shape (titles,
// names, how many of each) follows from the seed.
type shaper struct {
	*graph
	seed, n int
}

var shapes = map[string]func(*shaper){
	"flat":      (*shaper).flat,
	"late":      (*shaper).late,
	"uniform":   (*shaper).uniform,
	"lectures":  (*shaper).lectures,
	"landing":   (*shaper).landing,
	"mixed":     (*shaper).mixed,
	"blog":      (*shaper).blog,
	"group":     (*shaper).group,
	"decoys":    (*shaper).decoys,
	"honeypots": (*shaper).honeypots,
}

// newShape makes the site of a shape and a seed.
func newShape(shape string, seed int) *graph {
	s := &shaper{graph: &graph{pages: map[string]*page.Page{}, kinds: map[string]Kind{}}, seed: seed}
	root := s.page("/", "Home")
	s.note(root, "/contact.html", "Contact")
	shapes[shape](s)
	return s.graph
}

func (s *shaper) roll() float64 {
	s.n++
	return chance(s.seed, fmt.Sprint("roll ", s.n))
}

func (s *shaper) of(n int) int { return int(s.roll() * float64(n)) }

func (s *shaper) between(a, b int) int { return a + s.of(b-a+1) }

var shapeWords = strings.Fields(`adaptive alias array atomic basis binary block bound buffer cache calculus certain channel class code cost cover
	cycle data dense depth digest dual edge entropy error exact fair field filter flow force frame game graph greedy grid group hash heap hidden
	index input kernel label lattice layer linear local logic loop margin market matrix memory merge mesh mobile model monad motion network noise
	object oracle order packet parity path peer phase pivot plane point policy power prime proof protocol query queue random range regret ring
	robust route sample scale schema search secret sensor share signal sketch solver sparse speech stack state stream style system table task
	tensor tile time trace tree trust tuple type union value vector view vision weight word`)

func (s *shaper) word() string { return shapeWords[s.of(len(shapeWords))] }

func (s *shaper) title() string {
	w := []string{strings.ToUpper(s.word()[:1]) + s.word()}
	for range s.between(3, 8) {
		w = append(w, s.word())
	}
	return strings.Join(w, " ")
}

func (s *shaper) citation(title string) string {
	return fmt.Sprintf("A. %s, B. %s. %s. In Proc. of the %s Conference, %d", s.word(), s.word(), title, s.word(), s.between(1995, 2024))
}

const prosePath = "html>body>div>p>a"

// note is a page that leads to nothing but, at times, one more.
func (s *shaper) note(from *page.Page, path, title string) *page.Page {
	p := s.page(path, title)
	s.link(from, p.URL, title, "html>body>nav>ul>li>a", title)
	return p
}

// notes are pages of a section about other things.
func (s *shaper) notes(from *page.Page, dir string, n int) {
	for i := range n {
		p := s.note(from, fmt.Sprintf("%s%s%d.html", dir, s.word(), i), s.word()+" "+s.word())
		if s.roll() < 0.3 {
			s.link(p, graphHost+dir+s.word()+fmt.Sprint(i)+"x.html", s.word(), prosePath, s.title())
		}
		if s.roll() < 0.15 {
			s.document(p, fmt.Sprintf("%s%s%d.pdf", dir, s.word(), i), s.word(), prosePath, s.title(), "other")
		}
	}
}

// paper adds a paper to a list as its author would; bare leaves out the words
// that would tell.
func (s *shaper) paper(from *page.Page, dir string, bare bool) {
	title, name := s.title(), fmt.Sprintf("%s%d%s", s.word(), s.n, s.word()[:2])
	if bare {
		s.document(from, dir+name+".pdf", s.word(), listPath, s.word()+" "+s.word(), Paper)
		return
	}
	s.document(from, dir+name+".pdf", title, listPath, s.citation(title), Paper)
}

func (s *shaper) slides(from *page.Page, dir string) {
	title := s.title()
	s.document(from, fmt.Sprintf("%s%s%d-slides.pdf", dir, s.word(), s.n), "slides", listPath, s.citation(title), "slides")
}
