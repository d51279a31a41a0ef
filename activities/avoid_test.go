package activities_test

import (
	"fmt"
	"net/url"
	"path"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"gleaner/internal/record/store"
)

// course puts a course of n pages beside a page, links it there, and returns the
// address of its directory.
func (l *library) course(t *testing.T, beside string, n int) string {
	t.Helper()
	at, err := url.Parse(beside)
	require.NoError(t, err)
	dir := at.ResolveReference(&url.URL{Path: "lessons/"})
	var list strings.Builder
	for i := range n {
		page := dir.ResolveReference(&url.URL{Path: fmt.Sprintf("lesson%d.html", i)})
		l.web.set(page.String(), "text/html", fmt.Appendf(nil, "<html><title>Lesson %d</title><body><h1>Lesson %d</h1><p>Exercise %d is about lists of length %d.</p></body></html>", i, i, i*7, i*i))
		fmt.Fprintf(&list, `<li><a href="lessons/lesson%d.html">lesson %d</a>`, i, i)
	}
	l.edit(t, beside, "</body>", "<ul>"+list.String()+"</ul></body>")
	return dir.String()
}

// recrawlSite asks what is due of one host.
func (l *library) recrawlSite(t *testing.T, host string) {
	t.Helper()
	due, crawled := l.recrawl(t, store.Selection{Host: host}, false)
	require.Equal(t, []string{host}, due)
	require.Equal(t, []string{host}, crawled)
}

// A directory that was not worth it becomes so: a recrawl once in a while finds
// out, and from then on all do. Years pass between the recrawls.
func TestAvoidedDirectoryHeals(t *testing.T) {
	t.Parallel()
	l := newLibrary(t, 12, nil)
	papers := l.sample.Truth().Papers
	var beside string
	for _, p := range papers {
		if len(p.URLs) == 1 && strings.HasSuffix(path.Dir(p.URLs[0]), "/papers") {
			beside = strings.TrimSuffix(path.Dir(p.URLs[0]), "papers")
			if strings.Contains(beside, "/~") {
				break
			}
		}
	}
	require.NotEmpty(t, beside)
	beside = strings.Replace(beside, ":/", "://", 1)
	dir := l.course(t, beside, 15)
	l.collect(t, "")
	at, err := url.Parse(dir)
	require.NoError(t, err)
	avoided := func() bool {
		dirs, err := l.DB.DirectoryRatesList(t.Context(), at.Host, true)
		require.NoError(t, err)
		for _, d := range dirs {
			if d.Path == at.Path {
				return true
			}
		}
		return false
	}
	require.True(t, avoided(), "%s", dir)

	missing, err := l.DB.Missing(t.Context(), l.harvest.ID)
	require.NoError(t, err)
	p := missing[0]
	body := paperPDF(t, p.Title, names(p.Authors), 1)
	l.web.set(dir+"late.pdf", "application/pdf", body)
	l.edit(t, dir+"lesson3.html", "</body>", `<p><a href="late.pdf">`+p.Title+`</a></p></body>`)
	found := 0
	for n := 1; n <= 2*l.Recrawl.Revisit && found == 0; n++ {
		l.later(t, "800 days")
		l.recrawlSite(t, at.Host)
		if l.at(t, dir+"late.pdf", sha(body)).current {
			found = n
		}
	}
	require.Equal(t, l.Recrawl.Revisit, found, "the recrawl at which it was found")
	require.False(t, avoided(), "it gave a paper now")
}
