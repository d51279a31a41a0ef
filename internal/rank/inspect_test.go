package rank

import (
	"testing"

	"github.com/stretchr/testify/require"

	"gleaner/internal/devstack/devtest"
	"gleaner/internal/web/page"
)

// CINDI's look at a page and at the words of its links.
func TestInspection(t *testing.T) {
	t.Parallel()
	l := devtest.Must(DefaultLists())(t)
	for want, pages := range map[bool][]*page.Page{
		true:  {{Title: "Publications of Ada"}, {Title: "Ada", Meta: map[string]string{"keywords": "engines, Computer Science"}}},
		false: {{Title: "Ada"}, {Title: "Holidays", Meta: map[string]string{"keywords": "sun; sea", "description": "no research"}}},
	} {
		for _, p := range pages {
			require.Equal(t, want, l.About(p), p.Title)
		}
	}
	for _, c := range []struct {
		about       bool
		url, anchor string
		pruned      bool
	}{
		{true, "http://a.test/x", "Back to top", true},
		{true, "http://a.test/x", "Sign in", true},
		{true, "http://a.test/x", "Queries over views", false},
		{true, "http://a.test/x", "Topology", false},
		{true, "http://a.test/x", "", false},
		{false, "http://a.test/x", "Queries over views", true},
		{false, "http://a.test/x", "All my publications", false},
		{false, "http://a.test/papers.html", "", false},
		{false, "http://a.test/hobbies.html", "", true},
		{false, "http://cs.a.test/x", "Welcome", false},
		{false, "http://a.test/dept/eecs/x", "Welcome", false},
	} {
		_, pruned := l.Pruned(c.about, page.Link{URL: c.url, Anchor: c.anchor})
		require.Equal(t, c.pruned, pruned, "%v %s %q", c.about, c.url, c.anchor)
	}
}
