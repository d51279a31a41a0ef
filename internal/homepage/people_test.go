package homepage

import (
	"context"
	"maps"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"gleaner/internal/fetch"
	"gleaner/internal/gleaner/evidence"
	"gleaner/internal/web/page"
)

// people is a group's list of its people.
const people = `<html><head><title>People</title></head><body><ul><li><a href="http://www.example.edu/~doe/">Jane Doe</a><li><a href="roe.html">Max Roe</a></ul></body></html>`

// TestOnTheListOfAGroup: an author is found on the list of people of the group of a
// co-author, or of the page that has the papers, be it linked from there or by way of the
// group's page.
func TestOnTheListOfAGroup(t *testing.T) {
	t.Parallel()
	const roe = "http://roe.example.net/"
	home := map[string]string{"http://www.example.edu/~doe/": doesPage}
	with := func(more ...string) pagesAt {
		web := pagesAt{}
		maps.Copy(web, home)
		for i := 0; i < len(more); i += 2 {
			web[more[i]] = "<html><body>" + more[i+1] + "</body></html>"
		}
		return web
	}
	found := func(web pagesAt, results ...string) evidence.Decision {
		s := doe
		if len(results) == 0 {
			s.CoAuthorHomepages = []string{roe}
		}
		return decided(t, web, s, results...)
	}
	for name, web := range map[string]pagesAt{
		"linked":          with(roe, `Max Roe. <a href="http://group.example.org/people/">People</a>`, group+"people/", people),
		"in German":       with(roe, `Max Roe. <a href="http://group.example.org/leute.html">Mitarbeiter/innen</a>`, group+"leute.html", people),
		"by way of it":    with(roe, `Max Roe. <a href="http://group.example.org/">Our research group</a>`, group, `We build. <a href="team">Équipe</a>`, group+"team", people),
		"after a barrier": with(roe, `Max Roe. <a href="http://group.example.org/old">Members</a> <a href="http://group.example.org/people/">Team</a>`, group+"people/", people),
	} {
		d := found(web)
		require.Equal(t, "http://www.example.edu/~doe/", d.Best(), name)
		assert.Equal(t, evidence.SourcePeople, d.Homepages[0].Source, name)
	}
	assert.Equal(t, "http://www.example.edu/~doe/", found(with(group+"papers.html", `The papers of the Engines Group: On the Letters of Analytical Engines. <a href="people/">People</a>`, group+"people/", people),
		group+"papers.html").Best(), "of the page that has the papers")
	news := `<h1>Jane Doe wins an award</h1><p>Jane Doe of our group won it for On the Letters of Analytical Engines.</p>` + strings.Repeat("<p>The conference was a success.</p>", 20) + `<a href="people/">People</a>`
	assert.Equal(t, "http://www.example.edu/~doe/", found(with(group+"news/jane-doe.html", news, group+"news/people/", people), group+"news/jane-doe.html").Best(), "of news of a paper")
	assert.Empty(t, found(with(group+"news.html", `Letters. <a href="people/">People</a>`, group+"people/", people), group+"news.html").Best(), "of a page that has none of them")

	many := strings.Repeat(`<a href="http://group.example.org/x%/">People</a>`, 20)
	for i := range 20 {
		many = strings.Replace(many, "%", string(rune('a'+i)), 1)
	}
	assert.LessOrEqual(t, found(with(roe, many)).Fetches, 1+maxListings)

	busy := doe
	busy.CoAuthorHomepages = []string{roe}
	d, err := New(Config{Searcher: noPages{}, Getter: busyAt{with(roe, `Max Roe. <a href="`+group+`">Our group</a>`), group}}).find(t.Context(), busy)
	require.NoError(t, err)
	assert.Equal(t, evidence.NoCandidates, d.NotFound, "nobody says that it is theirs")
	assert.Equal(t, group, d.Unanswered[0].What, "they may be on it, when it answers")
}

// busyAt is a web of which one page is busy.
type busyAt struct {
	pagesAt
	page string
}

func (g busyAt) Get(ctx context.Context, u string) (*page.Page, string, error) {
	if u == g.page {
		return nil, u, &fetch.Error{Outcome: fetch.Busy, Status: 503}
	}
	return g.pagesAt.Get(ctx, u)
}
