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

// TestWhatOthersLinkToByNameIsKept: a homepage is withdrawn where nothing but its own name
// speaks for it, and kept where any other sign does.
func TestWhatOthersLinkToByNameIsKept(t *testing.T) {
	t.Parallel()
	const url = "http://people.example.org/~apoe/"
	withdrawn := func(f map[string]float64) bool {
		d := evidence.Decision{Homepages: []evidence.Candidate{{URL: url, Source: evidence.SourceVenue, Kept: true, Features: f}}}
		_, is := Withdraw(d, url, "9 pages")
		return is
	}
	require.True(t, withdrawn(map[string]float64{fIdentity: 1}))
	for _, sign := range []string{fListed, fLinked, fTitles, fCoAuthors, fProjectSite} {
		require.False(t, withdrawn(map[string]float64{fIdentity: 1, sign: 1}), sign)
	}
	named := evidence.Candidate{URL: url, Kept: true, Features: map[string]float64{fIdentity: 1}}
	d := evidence.Decision{Homepages: []evidence.Candidate{named}}
	d, is := Confirm(d, url, 2)
	require.True(t, is)
	_, is = Withdraw(d, url, "9 pages")
	require.False(t, is, "its crawl confirmed it")
}

// TestTheSurnameAloneIsNobody: a page that shows no more of the name than the surname is
// not taken, whatever papers it lists.
func TestTheSurnameAloneIsNobody(t *testing.T) {
	t.Parallel()
	for identity, kept := range map[float64]bool{0.4: false, 0.6: true} {
		all := &candidates{model: defaultModel()}
		s := &site{c: evidence.Candidate{Fetched: true, Score: 1, Features: map[string]float64{fIdentity: identity, fTitles: 1, fListed: 1}}, visited: true}
		all.rule(s)
		require.Equal(t, kept, s.c.Priority != "", s.c.Rule)
	}
}

// TestANamesakeIsLowered: of two pages of one name, the one without papers is worth less
// where the other lists a paper of the person than where it does not.
func TestANamesakeIsLowered(t *testing.T) {
	t.Parallel()
	const mine, namesake = "http://cs.example.org/~doe/", "http://www.example.edu/~jdoe/"
	score := func(paper string) float64 {
		d := decided(t, pagesAt{mine: strings.ReplaceAll(doesPage, "On the Letters of Analytical Engines", paper),
			namesake: `<html><head><title>Jane Doe</title></head><body><h1>Jane Doe</h1><p>Lecturer at a university. My research is in computer science.</p></body></html>`}, doe, mine, namesake)
		for _, c := range d.Candidates {
			if c.URL == namesake {
				return c.Score
			}
		}
		t.Fatal("the namesake is no candidate")
		return 0
	}
	require.Less(t, score("On the Letters of Analytical Engines"), score("Flowers of the Southern Valleys"))
}
