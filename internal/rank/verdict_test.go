package rank

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"gleaner/internal/devstack/devtest"
	"gleaner/internal/web/page"
)

// aYear are a page of documents under an anchor, told to a new ranking, and a page like it
// that waits.
func aYear(t *testing.T, anchor string) (s *gleaner, documents []page.Candidate, like page.Candidate) {
	made := mustNew(t, Gleaner, Options{})
	at := func(id int64, parent, name string, document bool) page.Candidate {
		c := page.Candidate{ID: id, Parent: parent, Depth: 2, Document: document,
			Link: page.Link{URL: "http://a.test/" + name, Anchor: "Year", TagPath: "html>body>ul>li>a", Source: page.SourceAnchor}}
		if document {
			c.Link.Anchor = anchor
		}
		made.Enter(&c)
		return c
	}
	first, like := at(1, "http://a.test/", "years/2001/", false), at(2, "http://a.test/", "years/2002/", false)
	made.Observe(first, Result{Page: &page.Page{URL: first.Link.URL}})
	for i := range 4 {
		documents = append(documents, at(int64(10+i), first.Link.URL, fmt.Sprintf("years/2001/%d.pdf", i), true))
	}
	made.Next(append(slices.Clone(documents), like))
	return made.(*gleaner), documents, like
}

// judge tells what a document was, and restarts.
func judge(t *testing.T, s *gleaner, c page.Candidate, accepted bool) {
	s.Observe(c, Result{Document: true, Accepted: accepted})
	raw := devtest.Must(s.State())(t)
	require.NoError(t, s.Restore(raw))
}

// TestAPageIsWorthWhatItsDocumentsWere, not what they seemed: a page like one whose
// documents were all rejected is worth less, and one like a page that had an unlikely
// paper is worth more. What was counted survives a restart between two documents.
func TestAPageIsWorthWhatItsDocumentsWere(t *testing.T) {
	t.Parallel()
	for _, v := range []struct {
		anchor   string
		accepted bool
	}{{"Full paper (PDF)", false}, {"Homework 1 slides", true}} {
		s, documents, like := aYear(t, v.anchor)
		seemed := s.Expect(&like)
		for _, c := range documents {
			judge(t, s, c, v.accepted)
		}
		if v.accepted {
			require.Greater(t, s.Expect(&like), seemed+0.01)
		} else {
			require.Less(t, s.Expect(&like), seemed-0.01)
		}
	}
}

// TestOneEarlyPaperIsNoPromiseForEver: what the first document of a page made it worth is
// taken back when the others are none; not where a page below it is what it is
// worth.
func TestOneEarlyPaperIsNoPromiseForEver(t *testing.T) {
	t.Parallel()
	for _, credited := range []bool{false, true} {
		s, documents, _ := aYear(t, "Homework 1 slides")
		judge(t, s, documents[0], true)
		if credited {
			s.credit(hashOf(documents[0].Parent), 3)
		}
		promised := s.path.find(hashOf(documents[0].Parent)).worth
		for _, c := range documents[1:] {
			judge(t, s, c, false)
		}
		if worth := s.path.find(hashOf(documents[0].Parent)).worth; credited {
			require.Equal(t, promised, worth)
		} else {
			require.Less(t, worth, promised)
		}
	}
}
