package topicweb_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	. "gleaner/internal/lab/topicweb"
	"gleaner/internal/web/weburl"
)

// TestWeb: the same options give the same web; every link leads to a page or a paper;
// what the search engine gives is about the topic, and is a part of its sites.
func TestWeb(t *testing.T) {
	t.Parallel()
	o := Options{Seed: 3, Hosts: 60, Pages: 20, Topics: 3}
	w, again := New(o), New(o)
	require.Equal(t, w.Topics(), again.Topics())
	require.Equal(t, 1200, w.Pages())
	relevant, off := 0, 0
	for _, topic := range w.Topics() {
		found := w.Search(topic.Query, 7)
		require.Len(t, found, 7)
		sites := map[string]bool{}
		for _, u := range found {
			require.Equal(t, topic.ID, w.About(u))
			require.Contains(t, w.Sites(topic.ID), weburl.Host(u))
			sites[weburl.Host(u)] = true
			p, ok := w.Page(u)
			require.True(t, ok)
			same, _ := again.Page(u)
			require.Equal(t, p, same)
			for _, l := range p.Links {
				if _, ok := w.Page(l.URL); !ok {
					require.True(t, weburl.IsDocumentName(l.URL), l.URL)
				}
				if w.About(l.URL) != "" {
					relevant++
				} else {
					off++
				}
			}
		}
		require.Less(t, len(sites), len(w.Sites(topic.ID)))
	}
	require.Positive(t, relevant)
	require.Positive(t, off)
	_, ok := w.Page("http://w9999.example/")
	require.False(t, ok)
}
