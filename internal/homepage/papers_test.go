package homepage

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// page is one of Doe's without a paper on it.
func doesPageWith(more string) string {
	return `<html><head><title>Jane Doe</title></head><body><h1>Jane Doe</h1><p>Professor at the University of Nowhere.</p>` + more + `</body></html>`
}

// TestTitlesInABibliography are evidence, of the entries that name the person: it may
// list what everybody reads.
func TestTitlesInABibliography(t *testing.T) {
	t.Parallel()
	const home = "http://www.example.edu/~doe/"
	page := doesPageWith(`<a href="papers/all.bib">BibTeX</a>`)
	by := func(author string) map[string]float64 {
		bib := "@inproceedings{a, author = {Roe, Max}, title = {Another Thing Altogether}}\n@article{b,\n author = {" + author + "},\n title = {On the {L}etters of {A}nalytical {E}ngines},\n}\n"
		d := decided(t, pagesAt{home: page, home + "papers/all.bib": bib}, doe, home)
		require.NotEmpty(t, d.Candidates)
		return d.Candidates[0].Features
	}
	assert.NotZero(t, by("Doe, Jane and Roe, Max")[fTitles])
	assert.Zero(t, by("Roe, Max")[fTitles])
}

// TestAListOfPapersElsewhere is evidence where the page links to it as such, and it names
// the person.
func TestAListOfPapersElsewhere(t *testing.T) {
	t.Parallel()
	const home, list = "http://www.example.edu/~doe/", "http://lab.example.org/pubs.html"
	of := func(words, body string) map[string]float64 {
		d := decided(t, pagesAt{home: doesPageWith(`<a href="` + list + `">` + words + `</a>`), list: "<html><body>" + body + "</body></html>"}, doe, home)
		require.NotEmpty(t, d.Candidates)
		assert.Equal(t, home, d.Candidates[0].URL)
		return d.Candidates[0].Features
	}
	const paper = "<p>J. Doe: On the Letters of Analytical Engines</p>"
	for _, words := range []string{"Publications", "Veröffentlichungen", "Publicaciones", "Články", "Artigos", "Julkaisut", "論文"} {
		assert.NotZero(t, of(words, paper)[fTitles], words)
	}
	assert.Zero(t, of("Publications", "<p>On the Letters of Analytical Engines</p>")[fTitles], "nobody is named")
	assert.Zero(t, of("Flowers", paper)[fTitles])
}
