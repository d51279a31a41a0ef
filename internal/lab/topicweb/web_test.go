package topicweb_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	. "gleaner/internal/lab/topicweb"
	"gleaner/internal/web/weburl"
)

// TestWideWeb: hosts of the wide shape are of many sizes, pages about a topic are rare and
// lie together, and each address that a page links to is answered.
func TestWideWeb(t *testing.T) {
	t.Parallel()
	o := Options{Seed: 3, Wide: true, Hosts: 120, Topics: 2, Gap: 2, Mixed: 0.07}
	w, again := New(o), New(o)
	require.InDelta(t, 0.08, float64(w.Relevant())/float64(w.Pages()), 0.04)
	departments, photos, deep, on, stay := 0, 0, 0, 0, 0
	for _, topic := range w.Topics() {
		require.Equal(t, w.Search(topic.Query, 100), again.Search(topic.Query, 100))
		for _, h := range w.Sites(topic.ID) {
			if strings.HasPrefix(h, topic.Departments[0]+".") {
				departments++
			}
			todo := []string{"http://" + h + "/"}
			for len(todo) > 0 {
				at := todo[0]
				todo = todo[1:]
				p, ok := w.Page(at)
				require.True(t, ok, at)
				same, _ := again.Page(at)
				require.Equal(t, p, same)
				if strings.Contains(at, "/photos/") {
					photos++
					require.Empty(t, w.About(at))
				}
				if strings.Count(at, "/") > 8 {
					deep++
				}
				for _, l := range p.Links {
					switch weburl.Host(l.URL) {
					case h:
						if l.Anchor == "Home" || l.Anchor == "Next" || weburl.IsDocumentName(l.URL) {
							continue
						}
						todo = append(todo, l.URL)
						if w.About(at) != "" {
							on++
							if w.About(l.URL) != "" {
								stay++
							}
						}
					default:
						_, ok := w.Page(l.URL)
						require.True(t, ok, l.URL)
					}
				}
			}
		}
	}
	require.Positive(t, departments)
	require.Positive(t, photos)
	require.Positive(t, deep)
	require.InDelta(t, 0.97, float64(stay)/float64(on), 0.02)
}
