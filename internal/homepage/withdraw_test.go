package homepage

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"gleaner/internal/gleaner"
	"gleaner/internal/gleaner/evidence"
	"gleaner/internal/web/page"
)

// poesPages shows a page of Poe's at every address; some redirect.
type poesPages map[string]string

func (g poesPages) Get(_ context.Context, u string) (*page.Page, string, error) {
	if to := g[u]; to != "" {
		u = to
	}
	return &page.Page{URL: u, Title: "Adalbert Poe's home page", Headings: []string{"Adalbert Poe"}, Text: "Adalbert Poe, Department of Computer Science. " + strings.Repeat("Research on engines. ", 40) + "Publications: On the Letters of Engines."}, u, nil
}

// taken is a page that was withdrawn.
func taken(url string) []evidence.Candidate {
	return []evidence.Candidate{{URL: url, Source: evidence.SourceVenue, Rule: evidence.Withdrawn + ": 9 pages"}}
}

// lookForPoe looks for Poe in a search that brings some pages.
func lookForPoe(t *testing.T, withdrawn []evidence.Candidate, listed, moved string, results ...string) (best string, still []string) {
	t.Helper()
	e := listing{"a", results, nil}
	sub := Subject{Author: gleaner.Author{PID: "1", Name: "Adalbert Poe"}, Venue: []string{"X"}, Papers: []gleaner.Paper{{Title: "On the Letters of Engines"}}, Withdrawn: withdrawn}
	if listed != "" {
		sub.Listed = []Listed{{URL: listed, Source: "dblp"}}
	}
	redirects := poesPages{}
	if moved != "" {
		redirects[results[0]] = moved
	}
	d, err := New(Config{Searcher: e, Getter: redirects}).find(t.Context(), sub)
	require.NoError(t, err)
	for _, c := range WithdrawnFrom(d) {
		still = append(still, c.URL)
	}
	return d.Best(), still
}

// TestWhatWasWithdrawnStaysSo, whatever a later search brings: else the one after it
// would give the page again, and its site be crawled for nothing.
func TestWhatWasWithdrawnStaysSo(t *testing.T) {
	t.Parallel()
	const page, other = "http://people.example.org/~apoe/", "http://www.example.edu/~poe/"
	for name, results := range map[string][]string{"not met": nil, "met": {page}, "met below": {page + "cv.html"}, "another": {other}} {
		best, still := lookForPoe(t, taken(page), "", "", results...)
		assert.Equal(t, []string{page}, still, name)
		assert.NotEqual(t, page, best, name)
	}
	best, still := lookForPoe(t, taken(page), "", page, "http://old.example.org/~poe/")
	assert.Empty(t, best)
	assert.Equal(t, []string{page}, still, "where another address leads to it")

	best, still = lookForPoe(t, taken(page), page, "")
	assert.Equal(t, page, best, "a directory has come to list it")
	assert.Empty(t, still)
}

// TestWithdrawnIsWhatWasCrawled: the scope of the page, not its neighbours.
func TestWithdrawnIsWhatWasCrawled(t *testing.T) {
	t.Parallel()
	best, _ := lookForPoe(t, taken("http://www.example.org/people/apoe.html"), "", "", "http://www.example.org/people/poe.html")
	assert.Equal(t, "http://www.example.org/people/poe.html", best, "another page of the directory")
	best, _ = lookForPoe(t, taken("http://www.example.net/"), "", "", "http://www.example.net/people/poe/")
	assert.Empty(t, best, "the whole host was crawled")
}
