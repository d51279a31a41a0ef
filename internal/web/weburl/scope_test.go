package weburl_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"gleaner/internal/web/weburl"
)

// TestPagePrefix: a page's own scope holds what goes on with its name, and no neighbour.
func TestPagePrefix(t *testing.T) {
	t.Parallel()
	for url, want := range map[string]string{
		"http://a.org/pubs.html": "/pubs", "http://a.org/g/list.php?by=year": "/g/list.php?by=year", "http://a.org/": "/index", "http://a.org/g/": "/g/index",
		"http://a.org/g/index.html": "/g/index", "http://a.org/g/publications": "/g/publications", "http://a.org/?p=pubs": "/?p=pubs",
	} {
		got := weburl.PagePrefix(url)
		assert.Equal(t, want, got, url)
		assert.False(t, weburl.InScope("http://a.org/g/people.html", []string{got}), url)
	}
	assert.True(t, weburl.InScope("http://a.org/pubs/2003.html", []string{weburl.PagePrefix("http://a.org/pubs.html")}))
}
