package homepage

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// doesOther is a page of a Doe's that shows none of the wanted titles, but speaks of what
// they are about.
func doesOther(body string) string {
	return `<html><head><title>Jane Doe</title></head><body><h1>Jane Doe</h1><p>I am with the University of Nowhere.</p>` +
		strings.Repeat(`<p>Notes of a seminar <a href="s.pdf">PDF</a></p>`, 10) + body + `</body></html>`
}

// TestThePageAlone: who is called so, has documents and speaks of what the papers are about
// is taken for the author where nobody else is.
func TestThePageAlone(t *testing.T) {
	t.Parallel()
	const about, flowers = "<p>Letters and analytical engines.</p>", "<p>Flowers of the southern valleys.</p>"
	const second = "http://people.example.net/~doe/"
	best := func(web pagesAt) string {
		return decided(t, web, doe, doesHome, second, "http://www.example.edu/~doe/cv.html").Best()
	}
	assert.Equal(t, doesHome, best(pagesAt{doesHome: doesOther(about)}))
	assert.Equal(t, doesHome, best(pagesAt{doesHome: doesOther(about), second: doesOther(flowers)}), "beside one about something else")
	assert.Equal(t, doesHome, best(pagesAt{doesHome: doesOther(about), "http://www.example.edu/~doe/cv.html": doesOther(about)}), "beside a page of its own")
	assert.Empty(t, best(pagesAt{doesHome: doesOther(flowers)}), "about something else")
	assert.Empty(t, best(pagesAt{doesHome: doesOther(about), second: doesOther(about)}), "beside another")
	assert.Empty(t, best(pagesAt{doesHome: strings.ReplaceAll(doesOther(about), "s.pdf", "s.html")}), "without documents")
	assert.Empty(t, best(pagesAt{doesHome: strings.ReplaceAll(doesOther(about), "Jane Doe", "J. Doe")}), "with initials alone")
}

// TestABoundPage: one called by the name that shows a wanted title and documents need not be
// the root of anything, and is taken unless it is of another kind.
func TestABoundPage(t *testing.T) {
	t.Parallel()
	title := "<p>On the Letters of Analytical Engines</p>"
	best := func(at, page string) string { return decided(t, pagesAt{at: page}, doe, at).Best() }
	for at, is := range map[string]bool{
		"http://www.example.edu/person.php?jane-doe": true, "http://www.example.edu/news/jane-doe.html": false, "http://www.example.edu/papers/jane-doe/publications.html": false,
	} {
		assert.Equal(t, map[bool]string{true: at}[is], best(at, doesOther(title)), at)
	}
	const at = "http://www.example.edu/person.php?jane-doe"
	assert.Empty(t, best(at, doesOther("")), "no title")
	assert.Empty(t, best(at, strings.Replace(doesOther(title), "<title>Jane Doe", "<title>Letters of Engines", 1)), "the page of a paper")
	assert.Empty(t, best(at, doesOther(title+"<p>Followers. Log in to claim this profile.</p>")), "a portal's")
}
