package console

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestCollectionsAreListed: of the collection of a topic each entry is on one page, the
// most similar first, and those of the others are counted.
func TestCollectionsAreListed(t *testing.T) {
	t.Parallel()
	d := open(t, nil, false)
	d.sample()
	var all collectionsPage
	d.read(&all, "/collections")
	require.Len(t, all.Collections, 1)
	require.Equal(t, "ended", all.Collections[0].State)
	const path = "/collections/conf%2Fmaths"
	seen, last := map[string]bool{}, 2.0
	for next := path; next != ""; {
		var p collectionPage
		d.read(&p, next)
		require.Equal(t, []topicRow{{"graphs", 120, 0.4}, {"knots", 10, 0.35}}, p.Topics)
		require.Equal(t, "graphs", p.Topic)
		for _, e := range p.Entries {
			require.False(t, seen[e.URL], "%s is there twice", e.URL)
			require.LessOrEqual(t, e.Correlation, last)
			seen[e.URL], last = true, e.Correlation
		}
		next = follow(path, p.Next)
	}
	require.Len(t, seen, 120)
	body := d.page(path)
	require.Contains(t, body, `<a href="/documents/`+sampleSHA)
	require.Contains(t, body, "1.000")
	for path, code := range map[string]int{"/collections/none": http.StatusNotFound, path + "?after=x": http.StatusBadRequest} {
		res, _ := d.do("GET", path, "")
		require.Equal(t, code, res.StatusCode, path)
	}
}

// TestParentsAreListed: each page that leads to documents is on one page of the list, with
// the days of its crawls.
func TestParentsAreListed(t *testing.T) {
	t.Parallel()
	d := open(t, nil, false)
	d.sample()
	seen := map[string]bool{}
	for next := "/parents"; next != ""; {
		var p parentsPage
		d.read(&p, next)
		for _, r := range p.Parents {
			require.False(t, seen[r.URL], "%s is there twice", r.URL)
			seen[r.URL] = true
		}
		next = follow("/parents", p.Next)
	}
	require.Len(t, seen, 121)
	var one parentsPage
	d.read(&one, "/parents?site=www.ada.example")
	require.Len(t, one.Parents, 1)
	require.Equal(t, 2, one.Parents[0].Documents)
	require.False(t, one.Parents[0].Read)
	body := d.page("/parents?site=p7.example")
	require.Contains(t, body, "2005-06-30")
	require.Contains(t, body, "no document")
	res, _ := d.do("GET", "/parents?after=x", "")
	require.Equal(t, http.StatusBadRequest, res.StatusCode)
}
