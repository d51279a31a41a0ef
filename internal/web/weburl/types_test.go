package weburl_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"gleaner/internal/web/weburl"
)

var now = time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)

func TestPathPrefixAndScope(t *testing.T) {
	t.Parallel()
	tests := []struct {
		page, want string
		in, out    []string
	}{
		{"/~ada/index.html", "/~ada/", []string{"/~ada", "/~ada/x/y.pdf", "//~ada/x"}, []string{"/~adam/", "/"}},
		{"/~ada", "/~ada/", []string{"/~ada/"}, []string{"/~ada2"}},
		{"/~ada/pubs/2003.html", "/~ada/", nil, nil},
		{"/dept/~ada/x/", "/dept/~ada/", nil, []string{"/dept/"}},
		{"/people/faculty/ada/cv.html", "/people/faculty/ada/", nil, []string{"/people/faculty/"}},
		{"/people/ada.html", "/people/ada", []string{"/people/ada.html", "/people/ada/x", "/people/ada-pubs.html"}, []string{"/people/adam.html"}},
		{"/people/ada", "/people/ada", []string{"/people/ada", "/people/ada?x=1"}, nil},
		{"/people/", "/people/", nil, nil},
		{"/", "/", []string{"/anything"}, nil},
		{"/index.html", "/", nil, nil},
		{"/about.html", "/", nil, nil},
		{"/publications/", "/", nil, nil},
		{"/ada/publications.html", "/ada/", nil, []string{"/bob/"}},
		{"/research/papers/", "/", nil, nil},
		{"/group/ada.html", "/group/ada", nil, nil},
		{"/person.php?id=12", "/person.php?id=12", []string{"/person.php?id=12&tab=pubs"}, []string{"/person.php?id=123", "/person.php"}},
	}
	for _, tt := range tests {
		got := weburl.PathPrefix("http://a.org" + tt.page)
		assert.Equal(t, tt.want, got, "PathPrefix %v", tt.page)
		for _, u := range append(tt.in, tt.page) {
			assert.True(t, weburl.InScope("http://a.org"+u, []string{"/nowhere/", got}))
		}
		for _, u := range tt.out {
			assert.False(t, weburl.InScope("http://a.org"+u, []string{got}))
		}
	}
	assert.False(t, weburl.InScope("http://a.org/", nil), "no prefixes, but in scope")
}

// TestDirectoryPrefix: a site that a person names is the directory of its URL, and
// never a whole host that they did not mean.
func TestDirectoryPrefix(t *testing.T) {
	t.Parallel()
	for page, want := range map[string]string{
		"/": "/", "/index.html": "/", "/workshop/2003/": "/workshop/2003/", "/workshop/2003/program.html": "/workshop/2003/",
		"/workshop/2003/index.html": "/workshop/2003/", "/~ada": "/~ada/", "/~ada/pubs/": "/~ada/pubs/", "/papers/": "/papers/",
		"/ada.html": "/ada", "/about.html": "/about", "/people/show.php?id=12": "/people/show.php?id=12", "/show.php?id=12": "/show.php?id=12",
	} {
		got := weburl.DirectoryPrefix("http://a.org" + page)
		assert.Equal(t, want, got, "DirectoryPrefix %v", page)
		assert.True(t, weburl.InScope("http://a.org"+page, []string{got}))
	}
}

func TestTypes(t *testing.T) {
	t.Parallel()
	const document, ignored, neither = "document", "ignored", "neither"
	tests := []struct{ path, ext, kind string }{
		{"/a/b.pdf", "pdf", document},
		{"/a/b.PDF", "pdf", document},
		{"/a/b.ps.gz", "ps.gz", document},
		{"/a/b.ps.Z", "ps.z", document},
		{"/a/b.pdf.zip", "pdf.zip", document},
		{"/a/b.pdf%20", "pdf", document},
		{"/a/b.djvu", "djvu", document},
		{"/a/b.dvi?x=1", "dvi", document},
		{"/a/b.doc", "doc", document},
		{"/download.php?file=x.pdf", "pdf", document},
		{"/download?file=papers/x.ps.gz&v=1", "ps.gz", document},
		{"/view.html?next=x.pdf", "html", neither},
		{"/show.php?id=3", "php", neither},
		{"/pdf/1203.1234", "", neither},
		{"/", "", neither},
		{"/a.b/c", "", neither},
		{"/notes.txt", "txt", neither},
		{"/a.eps.gz", "eps.gz", ignored},
		{"/tool-1.2.tar.gz", "tar.gz", ignored},
		{"/tool.zip", "zip", ignored},
		{"/data.gz", "gz", ignored},
		{"/me.JPG", "jpg", ignored},
		{"/style.css?v=2", "css", ignored},
		{"/talk.pptx", "pptx", ignored},
		{"/feed.xml", "xml", ignored},
		{"/ada.bib", "bib", ignored},
	}
	for _, tt := range tests {
		u := "http://a.org" + tt.path
		assert.Equal(t, tt.ext, weburl.Extension(u), "Extension %v", tt.path)
		assert.Equal(t, (tt.kind == document), weburl.IsDocumentName(u), "IsDocumentName %v", tt.path)
		assert.Equal(t, (tt.kind == ignored), weburl.IsIgnoredType(u), "IsIgnoredType %v", tt.path)
	}
}

func TestCheckShape(t *testing.T) {
	t.Parallel()
	tests := []struct {
		path string
		want error
	}{
		{"/~ada/papers/2003/webdb/a.pdf", nil},
		{"/" + strings.Repeat("x", 2000), weburl.URLTooLong},
		{strings.Repeat("/d", 10) + "/" + strings.Repeat("e/", 12), weburl.PathTooDeep},
		{"/a/b/c/d/e/f/g/h/i/j/k/l/m/n/o/p/q/r/s/t", nil},
		{"/a/b/c/d/e/f/g/h/i/j/k/l/m/n/o/p/q/r/s/t/u", weburl.PathTooDeep},
		{"/img/pubs/img/pubs/img", weburl.RepeatedSegments},
		{"/x/y/x/y", nil},
		{"/2001/01/01/01", nil},
		{"/10/101/1011/10113/101134/1011345/10113456", weburl.CalendarTrap},
		{"/calendar/2150/01/", weburl.CalendarTrap},
		{"/calendar?year=1890&month=3", weburl.CalendarTrap},
		{"/events?date=2031-05-01", weburl.CalendarTrap},
		{"/calendar/2026/12/", nil},
		{"/archive/2099/01/01/", weburl.CalendarTrap},
		{"/papers/1905/einstein.pdf", nil},
		{"/~ada/paper.php?id=3021", nil},
	}
	limits := weburl.DefaultLimits(now)
	for _, tt := range tests {
		err := limits.CheckShape("http://a.org" + tt.path)
		require.ErrorIs(t, err, tt.want, "CheckShape %v", tt.path)
		require.NoError(t, (weburl.Limits{}).CheckShape("http://a.org"+tt.path), "no limits, but")
	}
}
