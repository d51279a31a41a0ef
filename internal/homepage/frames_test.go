package homepage

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"gleaner/internal/gleaner"
	"gleaner/internal/gleaner/evidence"
	"gleaner/internal/web/page"
)

// pagesAt are pages by address, in HTML; what ends in .bib is a file of BibTeX.
type pagesAt map[string]string

func (g pagesAt) Get(_ context.Context, u string) (*page.Page, string, error) {
	body, ok := g[u]
	if !ok {
		return nil, u, errors.New("not found")
	}
	header := http.Header{"Content-Type": {"text/html; charset=utf-8"}}
	if strings.HasSuffix(u, ".bib") {
		header.Set("Content-Type", "application/x-bibtex")
	}
	p, err := page.Parse(u, header, []byte(body))
	return p, u, err
}

// doe wrote one paper alone.
var doe = Subject{Author: gleaner.Author{PID: "d", Name: "Jane Doe"}, Venue: []string{"X"},
	Papers: []gleaner.Paper{{Title: "On the Letters of Analytical Engines", Authors: []gleaner.Author{{PID: "d", Name: "Jane Doe"}}}}}

// listedAt is a subject of whom a directory lists a page.
func listedAt(s Subject, url string) Subject {
	s.Listed = []Listed{{URL: url, Source: "dblp"}}
	return s
}

func decided(t *testing.T, web pagesAt, s Subject, results ...string) evidence.Decision {
	c := Config{Getter: web}
	if len(results) > 0 {
		c.Searcher = listing{"a", results, nil}
	}
	d, err := New(c).find(t.Context(), s)
	require.NoError(t, err)
	return d
}

const doesPage = `<html><head><title>Jane Doe</title></head><body><h1>Jane Doe</h1>
	<p>Professor at the University of Nowhere. My research is in computer science; I teach algorithms.</p>
	<ul><li>On the Letters of Analytical Engines. <a href="p1.pdf">PDF</a></li></ul></body></html>`

// TestAHomepageOfFrames is read through: what it shows is what it is.
func TestAHomepageOfFrames(t *testing.T) {
	t.Parallel()
	const home = "http://doe.example.org/"
	frameset := `<html><head><title>Welcome</title></head><frameset cols="20%,80%"><frame src="menu.html"><frame src="main.html"></frameset></html>`
	menu := `<html><body><a href="vita.html">Vita</a></body></html>`
	for name, web := range map[string]pagesAt{
		"a frameset": {home: frameset, home + "menu.html": menu, home + "main.html": doesPage},
		"an iframe":  {home: `<html><body><iframe src="main.html"></iframe></body></html>`, home + "main.html": doesPage},
		"a door":     {home: `<html><head><title>doe.example.org</title></head><body><a href="en/"><img alt="Enter"></a></body></html>`, home + "en/": doesPage},
	} {
		d := decided(t, web, listedAt(doe, home))
		require.Len(t, d.Homepages, 1, name)
		assert.Equal(t, home, d.Homepages[0].URL, name)
		assert.NotZero(t, d.Homepages[0].Features[fTitles], name)
		assert.NotZero(t, d.Homepages[0].Features[fDocuments], name)
	}
	elsewhere := pagesAt{home: `<html><frameset><frame src="http://www.example.edu/~doe/"></frameset></html>`, "http://www.example.edu/~doe/": doesPage}
	assert.Equal(t, "http://www.example.edu/~doe/", decided(t, elsewhere, listedAt(doe, home)).Best(), "a frame round a page on another host is where that lives")
}

// TestAPageIsNotReadThrough where it has text of its own, or a choice of links.
func TestAPageIsNotReadThrough(t *testing.T) {
	t.Parallel()
	const home = "http://www.example.org/"
	for name, root := range map[string]string{
		"a portal's":     `<html><body><p>` + strings.Repeat("Everything about gardens and flowers. ", 20) + `</p><iframe src="main.html"></iframe></body></html>`,
		"a neighbour's":  `<html><body><a href="http://www.example.net/main.html">Doe</a></body></html>`,
		"a list of many": `<html><body><a href="main.html">Doe</a> <a href="roe.html">Roe</a></body></html>`,
	} {
		d := decided(t, pagesAt{home: root, home + "main.html": doesPage, home + "roe.html": root}, listedAt(doe, home))
		assert.NotEqual(t, home, d.Best(), name)
	}
}
