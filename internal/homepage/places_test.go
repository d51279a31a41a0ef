package homepage

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"gleaner/internal/gleaner/evidence"
	"gleaner/internal/web/page"
)

const (
	doesHome = "http://www.example.edu/~doe/"
	group    = "http://group.example.org/"
)

// groupsList is a group's list of papers.
const groupsList = `<html><head><title>Publications of the Engines Group</title></head><body>
	<p>J. Doe, M. Roe: On the Letters of Analytical Engines <a href="files/p1.pdf">PDF</a></p>
	<p>J. Doe: More Letters <a href="files/p2.pdf">PDF</a></p><p>Jane Doe: Engines <a href="files/p3.pdf">PDF</a></p></body></html>`

// otherPapers are those of a group of which none is wanted.
var otherPapers = strings.ReplaceAll(groupsList, "On the Letters of Analytical Engines", "Letters")

func placesOf(t *testing.T, web pagesAt) []evidence.Place {
	d := decided(t, web, listedAt(doe, doesHome))
	require.Equal(t, doesHome, d.Best())
	return d.Elsewhere()
}

// TestPapersElsewhere: where they lie on the site of a group that the homepage links to,
// that page is a place of its own, of which the group's site is no part.
func TestPapersElsewhere(t *testing.T) {
	t.Parallel()
	way := func(words, to string) string { return doesPageWith(`<a href="` + to + `">` + words + `</a>`) }
	for name, of := range map[string]struct {
		web        pagesAt
		url, scope string
	}{
		"a page":              {pagesAt{doesHome: way("Publications", group+"publications.html"), group + "publications.html": groupsList}, group + "publications.html", "/publications"},
		"in Czech":            {pagesAt{doesHome: way("Seznam publikací", group+"p.html"), group + "p.html": groupsList}, group + "p.html", "/p"},
		"a directory":         {pagesAt{doesHome: way("Papers", group+"engines/pubs/"), group + "engines/pubs/": groupsList}, group + "engines/pubs/", "/engines/pubs/"},
		"a root":              {pagesAt{doesHome: way("Papers", group), group: groupsList}, group, "/index"},
		"none that is wanted": {pagesAt{doesHome: way("Papers", group+"engines/"), group + "engines/": otherPapers}, group + "engines/", "/engines/index"},
		"their own directory": {pagesAt{doesHome: way("Papers", group+"~jdoe/list.html"), group + "~jdoe/list.html": groupsList}, group + "~jdoe/list.html", "/~jdoe/"},
		"somebody's":          {pagesAt{doesHome: way("Papers", group+"~roe/list.html"), group + "~roe/list.html": groupsList}, group + "~roe/list.html", "/~roe/list"},
		"by way of a group": {pagesAt{doesHome: way("Arbeitsgruppe Maschinen", group), group: `<html><body>We build engines. <a href="pubs.php">Publikationen</a></body></html>`,
			group + "pubs.php": groupsList}, group + "pubs.php", "/pubs"},
		"on the same host": {pagesAt{doesHome: way("Research", "/engines/list.html"), "http://www.example.edu/engines/list.html": groupsList}, "http://www.example.edu/engines/list.html", "/engines/list"},
	} {
		got := placesOf(t, of.web)
		if assert.Len(t, got, 1, name) {
			assert.Equal(t, []string{of.url, of.scope, doesHome}, []string{got[0].URL, got[0].Scope, got[0].Of}, name)
		}
	}
}

// TestNoPlace: what is the homepage's own, names nobody, is a portal's or a co-author's.
func TestNoPlace(t *testing.T) {
	t.Parallel()
	for name, to := range map[string]string{
		"its own": doesHome + "pubs.html", "of others": "http://others.example.org/", "a portal": "https://scholar.google.com/citations?user=x", "not there": "http://gone.example.org/",
	} {
		web := pagesAt{doesHome: doesPageWith(`<a href="` + to + `">Publications</a>`), doesHome + "pubs.html": groupsList, "https://scholar.google.com/citations?user=x": groupsList,
			"http://others.example.org/": strings.NewReplacer("Doe", "Poe").Replace(groupsList)}
		assert.Empty(t, placesOf(t, web), name)
	}
	s, web := listedAt(doe, doesHome), pagesAt{doesHome: doesPageWith(`<a href="http://roe.example.org/papers/">Papers</a>`), "http://roe.example.org/papers/": groupsList}
	s.CoAuthorHomepages = []string{"http://roe.example.org/"}
	assert.Empty(t, decided(t, web, s).Elsewhere(), "a co-author's")
	s.CoAuthorHomepages = []string{"http://roe.example.org/roe.html"}
	assert.NotEmpty(t, decided(t, web, s).Elsewhere(), "the root of a host is no co-author's because of a page there")
}

// TestPlacesGoWithTheirHomepage: one that is given to another, or taken back, has none.
func TestPlacesGoWithTheirHomepage(t *testing.T) {
	t.Parallel()
	d := decided(t, pagesAt{doesHome: doesPageWith(`<a href="` + group + `">Publications</a>`), group: groupsList}, listedAt(doe, doesHome))
	require.Len(t, d.Elsewhere(), 1)
	preferOver("Jane Doe 0002", &d, AddressKey(doesHome))
	assert.Empty(t, d.Elsewhere())
}

// counting counts the pages that were asked for.
type counting struct {
	pagesAt
	n *int
}

func (c counting) Get(ctx context.Context, u string) (*page.Page, string, error) {
	*c.n++
	return c.pagesAt.Get(ctx, u)
}

// TestPlacesCostLittle: few pages are asked for, however many links there are, and none
// where none leaves the homepage.
func TestPlacesCostLittle(t *testing.T) {
	t.Parallel()
	cost := func(links string) (n int) {
		_, err := New(Config{Getter: counting{pagesAt{doesHome: strings.ReplaceAll(doesPage, "</body>", links+"</body>")}, &n}}).find(t.Context(), listedAt(doe, doesHome))
		require.NoError(t, err)
		return n
	}
	var many strings.Builder
	for i := range 50 {
		fmt.Fprintf(&many, `<a href="http://g%d.example.org/">Publications</a>`, i)
	}
	least := cost("")
	assert.Equal(t, least+maxPlacePages, cost(many.String()))
	assert.Equal(t, least, cost(`<a href="http://group.example.org/">Our group</a>`), "the documents are there")
}
