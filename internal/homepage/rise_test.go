package homepage

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestFromAnInnerPageToTheHomepage: a page of theirs that a search names leads by its own
// link to the homepage where that is called by the name, and nowhere where it is not.
func TestFromAnInnerPageToTheHomepage(t *testing.T) {
	t.Parallel()
	const site, inner = "http://jd.example.org/", "http://jd.example.org/jane-doe-calendar.html"
	page := func(link string) string {
		return doesPage + strings.Repeat(`<p>Jane Doe: Letters, in the journal of a university <a href="p.pdf">PDF</a></p>`, 20) + `<a href="` + link + `</a>`
	}
	home := `<html><head><title>Jane Doe</title></head><body>Welcome to my page. <a href="calendar.html">Calendar</a></body></html>`
	best := func(web pagesAt) string { return decided(t, web, listedAt(doe, inner)).Best() }
	for _, link := range []string{`./">Home`, `index.html">Startseite`, `/">首页`} {
		assert.True(t, sameAddress(site, best(pagesAt{inner: page(link), site: home, site + "index.html": home})), link)
	}
	for name, web := range map[string]pagesAt{
		"a department's": {inner: page(`/">Home`), site: `<html><head><title>Department of Engines</title></head><body><h1>Jane Doe wins an award</h1></body></html>`},
		"says nothing":   {inner: page(`/">Home`), site: `<html><head><title>Jane Doe: error 404</title></head></html>`},
		"not there":      {inner: page(`/">Home`)},
		"called else":    {inner: page(`/">Engines`), site: home},
		"another host":   {inner: page(`http://www.example.org/">Home`), "http://www.example.org/": home},
	} {
		assert.Equal(t, inner, best(web), name)
	}
}
