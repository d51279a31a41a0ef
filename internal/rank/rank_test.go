package rank

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"gleaner/internal/devstack/devtest"
	"gleaner/internal/web/page"
)

func TestNewKnowsItsNames(t *testing.T) {
	t.Parallel()
	for _, name := range append(Names(), "") {
		s := mustNew(t, name, Options{})
		if name != "" {
			require.Equal(t, name, s.Name())
		}
	}
	_, err := New("depth-first", Options{})
	require.True(t, errors.Is(err, ErrUnknownStrategy))
}

// TestZhuangGetPriority walks through the rule of the paper: the weight where
// there is one, else one below the parent.
func TestZhuangGetPriority(t *testing.T) {
	t.Parallel()
	s := mustNew(t, Zhuang, Options{})
	enter := func(id int64, parent, url, anchor string) page.Candidate {
		c := page.Candidate{ID: id, Parent: parent, Link: page.Link{URL: url, Anchor: anchor}}
		s.Enter(&c)
		return c
	}
	seed := enter(1, "", "http://a.test/", "Publications")
	require.Equal(t, QueueLow, seed.Queue, "seeds enter at low priority")
	s.Next([]page.Candidate{seed})
	pubs := enter(2, seed.Link.URL, "http://a.test/p", "Publications")
	people := enter(3, seed.Link.URL, "http://a.test/g", "Our group")
	misc := enter(4, seed.Link.URL, "http://a.test/x", "Contact")
	require.Equal(t, []int{QueueHigh, QueueMedium, QueueLow}, []int{pubs.Queue, people.Queue, misc.Queue})

	i, _ := s.Next([]page.Candidate{misc, people, pubs})
	require.Equal(t, 2, i)
	require.Equal(t, QueueMedium, enter(5, pubs.Link.URL, "http://a.test/1", "2003").Queue, "one below its parent")
	moved := enter(6, "http://a.test/p/moved", "http://a.test/2", "2004")
	require.Equal(t, QueueMedium, moved.Queue, "after a redirect the parent is the latest pick")

	paper := page.Candidate{ID: 8, Parent: misc.Link.URL, Document: true, Link: page.Link{URL: "http://a.test/cv.pdf", Anchor: "Vita"}}
	s.Enter(&paper)
	i, why := s.Next([]page.Candidate{misc, pubs, paper})
	require.Equal(t, 2, i, "a document that is met is taken at once")
	require.Contains(t, why, "at once")

	raw := devtest.Must(s.State())(t)
	again, _ := New(Zhuang, Options{})
	require.NoError(t, again.Restore(raw))
	c := page.Candidate{ID: 7, Parent: pubs.Link.URL, Link: page.Link{URL: "http://a.test/3", Anchor: "2005"}}
	again.Enter(&c)
	require.Equal(t, QueueMedium, c.Queue)
}

func TestListsOverride(t *testing.T) {
	t.Parallel()
	l := devtest.Must(DefaultLists())(t)
	_, err := ParseLists([]byte("hihg: [a]"))
	require.Error(t, err, "a misspelt list must not pass")
	own := devtest.Must(ParseLists([]byte(`{"high": ["Theses"], "concepts": {"cv": ["=bio"]}}`)))(t)
	m := l.Override(own)
	require.Equal(t, []string{"theses"}, m.High)
	require.Equal(t, l.Medium, m.Medium)
	require.Equal(t, []string{"=bio"}, m.Concepts["cv"])
	require.NotEqual(t, l.Concepts["cv"], m.Concepts["cv"])
	require.Len(t, m.Concepts, len(l.Concepts), "the others stay")
}

func mustNew(t testing.TB, name string, opts Options) Strategy {
	return devtest.Must(New(name, opts))(t)
}
