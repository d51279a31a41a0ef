package rank

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"gleaner/internal/web/page"
)

// TestAPageIsWorthWhatItsDocumentsWere, not what they seemed: a page like one whose
// documents were all rejected is worth less, and one like a page that had an unlikely
// paper is worth more. What was counted survives a restart between two documents.
func TestAPageIsWorthWhatItsDocumentsWere(t *testing.T) {
	t.Parallel()
	for _, v := range []struct {
		anchor   string
		accepted bool
	}{{"Full paper (PDF)", false}, {"Homework 1 slides", true}} {
		s, err := New(Gleaner, Options{})
		require.NoError(t, err)
		at := func(id int64, parent, name string, document bool) page.Candidate {
			c := page.Candidate{ID: id, Parent: parent, Depth: 2, Document: document,
				Link: page.Link{URL: "http://a.test/" + name, Anchor: "Year", TagPath: "html>body>ul>li>a", Source: page.SourceAnchor}}
			if document {
				c.Link.Anchor = v.anchor
			}
			s.Enter(&c)
			return c
		}
		first, second := at(1, "http://a.test/", "years/2001/", false), at(2, "http://a.test/", "years/2002/", false)
		s.Observe(first, Result{Page: &page.Page{URL: first.Link.URL}})
		var documents []page.Candidate
		for i := range 4 {
			documents = append(documents, at(int64(10+i), first.Link.URL, fmt.Sprintf("years/2001/%d.pdf", i), true))
		}
		s.Next(append(documents, second))
		seemed := s.(*gleaner).Expect(&second)
		for _, c := range documents {
			s.Observe(c, Result{Document: true, Accepted: v.accepted})
			raw, err := s.State()
			require.NoError(t, err)
			require.NoError(t, s.Restore(raw))
		}
		if v.accepted {
			require.Greater(t, s.(*gleaner).Expect(&second), seemed+0.01)
		} else {
			require.Less(t, s.(*gleaner).Expect(&second), seemed-0.01)
		}
	}
}
