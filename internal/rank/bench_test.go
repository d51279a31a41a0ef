package rank

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

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

// BenchmarkEnter is the cost of one link that enters.
func BenchmarkEnter(b *testing.B) {
	for _, name := range Names() {
		b.Run(name, func(b *testing.B) {
			s, err := New(name, Options{})
			require.NoError(b, err)
			cs := make([]page.Candidate, 400)
			for i := range cs {
				cs[i] = like(i)
				cs[i].ID = 0 // as when a link enters
			}
			b.ReportAllocs()
			b.ResetTimer()
			for i := range b.N {
				s.Enter(&cs[i%len(cs)])
			}
		})
	}
}

// BenchmarkPick is the cost of one pick from a full window and of learning from
// its result.
func BenchmarkPick(b *testing.B) {
	for _, name := range Names() {
		b.Run(name, func(b *testing.B) {
			s, err := New(name, Options{})
			require.NoError(b, err)
			cs := make([]page.Candidate, 500)
			for i := range cs {
				cs[i] = like(i)
				s.Enter(&cs[i])
			}
			b.ReportAllocs()
			b.ResetTimer()
			for n := range b.N {
				i, _ := s.Next(cs)
				s.Observe(cs[i], Result{Document: cs[i].Document, Accepted: n%2 == 0, Failed: !cs[i].Document})
			}
		})
	}
}
