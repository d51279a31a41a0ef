package activities_test

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-pdf/fpdf"
	"github.com/stretchr/testify/require"

	"gleaner/internal/harvest/stats"
	"gleaner/internal/lab/sampleweb"
	"gleaner/internal/record/store"
)

// changingWeb stands before a web and changes single addresses of it: another
// body, or nothing there. It keeps a log.
type changingWeb struct {
	*sampleweb.Journal
	inner http.Handler

	mu       sync.Mutex
	bodies   map[string][]byte // nil: not there
	kinds    map[string]string
	modified map[string]time.Time
	counted  int // requests until the last reset
}

func newChangingWeb(inner http.Handler) *changingWeb {
	w := &changingWeb{inner: inner, bodies: map[string][]byte{}, kinds: map[string]string{}, modified: map[string]time.Time{}}
	w.Journal = sampleweb.NewJournal(http.HandlerFunc(w.serve))
	return w
}

func (w *changingWeb) serve(rw http.ResponseWriter, r *http.Request) {
	w.mu.Lock()
	body, ok := w.bodies[r.URL.String()]
	kind, at := w.kinds[r.URL.String()], w.modified[r.URL.String()]
	w.mu.Unlock()
	switch {
	case !ok:
		w.inner.ServeHTTP(rw, r)
	case kind == movedKind:
		http.Redirect(rw, r, string(body), http.StatusFound)
	case body == nil:
		http.NotFound(rw, r)
	default:
		rw.Header().Set("Content-Type", kind)
		http.ServeContent(rw, r, "", at, bytes.NewReader(body))
	}
}

// movedKind is the kind of a body that is where the address redirects to.
const movedKind = "moved"

// set puts a body at an address; nil takes away what was there.
func (w *changingWeb) set(url, kind string, body []byte) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.bodies[url], w.kinds[url] = body, kind
	w.modified[url] = time.Now().Add(time.Duration(len(w.bodies))*time.Second - time.Hour)
}

// reset returns the bytes and requests since the last reset.
func (w *changingWeb) reset() (n int64, requests int) {
	log := w.Log()
	for _, q := range log[w.counted:] {
		n += q.Bytes
	}
	requests, w.counted = len(log)-w.counted, len(log)
	return n, requests
}

// get is what the web answers with now, uncounted.
func (w *changingWeb) get(t *testing.T, url string) []byte {
	t.Helper()
	w.mu.Lock()
	body, ok := w.bodies[url]
	w.mu.Unlock()
	if ok {
		return body
	}
	rec := httptest.NewRecorder()
	w.inner.ServeHTTP(rec, httptest.NewRequest(http.MethodGet, url, http.NoBody))
	require.Equal(t, http.StatusOK, rec.Code, url)
	return rec.Body.Bytes()
}

// paperPDF typesets a short paper; two of different salt differ in their bytes
// and their text.
func paperPDF(t *testing.T, title string, authors []string, salt int) []byte {
	t.Helper()
	doc := fpdf.New("P", "mm", "A4", "")
	doc.AddPage()
	write := func(size float64, s string) {
		doc.SetFont("Times", "", size)
		doc.MultiCell(0, size/2, doc.UnicodeTranslatorFromDescriptor("")(s), "", "L", false)
		doc.Ln(2)
	}
	write(16, title)
	for _, a := range authors {
		write(11, a)
	}
	write(12, "Abstract")
	write(10, fmt.Sprintf("In this paper we study the problem of its title and present revision %d of an algorithm. Experiments show that it is correct.", salt))
	for i, section := range []string{"1 Introduction", "2 Related Work", "3 Method", "4 Experiments", "5 Conclusion"} {
		write(12, section)
		for j := range 4 {
			write(10, fmt.Sprintf("We show in step %d.%d of this paper that our approach improves on earlier work [%d]. Figure %d shows the results on a benchmark.", i, j, j+1, j))
		}
	}
	write(12, "References")
	for i := range 8 {
		write(9, fmt.Sprintf("[%d] A. Writer and B. Reader. On the theory of example %d. In Proceedings of the Conference on Examples, pages %d-%d, 1999.", i+1, i, 10*i, 10*i+9))
	}
	var out bytes.Buffer
	require.NoError(t, doc.Output(&out))
	return out.Bytes()
}

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

// redirecting is a paper that is linked by an address that redirects to its
// file, as a content management system does.
type redirecting struct{ link, file, digest string }

// storedPrefix begins the names of such files.
const storedPrefix = "stored-"

// redirects makes n papers redirecting ones.
func (l *library) redirects(t *testing.T, n int) (out []redirecting) {
	t.Helper()
	for _, p := range l.sample.Truth().Papers {
		if len(out) == n {
			break
		}
		if len(p.URLs) != 1 || path.Ext(p.URLs[0]) != ".pdf" {
			continue
		}
		u, err := url.Parse(p.URLs[0])
		require.NoError(t, err)
		body := l.web.get(t, p.URLs[0])
		r := redirecting{link: p.URLs[0], file: u.ResolveReference(&url.URL{Path: storedPrefix + path.Base(u.Path)}).String(), digest: sha(body)}
		l.web.set(r.file, "application/pdf", body)
		l.web.set(r.link, movedKind, []byte(r.file))
		out = append(out, r)
	}
	require.Len(t, out, n)
	return out
}

// vanish changes where four papers are that were found by links which redirect. check
// asserts what a harvest after that finds.
func (l *library) vanish(t *testing.T) (check func()) {
	t.Helper()
	var known []redirecting
	for _, r := range l.moved {
		if (l.at(t, r.file, r.digest) == place{known: true, current: true}) {
			known = append(known, r)
		}
	}
	require.GreaterOrEqual(t, len(known), 4, "too few were found")
	vanished, unlinked, replaced, same := known[0], known[1], known[2], known[3]
	l.web.set(vanished.link, "", nil)
	l.web.set(vanished.file, "", nil)
	l.web.set(unlinked.link, "", nil)
	second := replaced.file + "-2.pdf"
	revised := paperPDF(t, "On something else entirely", []string{"Nobody"}, 3)
	l.web.set(second, "application/pdf", revised)
	l.web.set(replaced.link, movedKind, []byte(second))
	l.web.set(replaced.file, "", nil)
	return func() {
		require.Equal(t, place{known: true, gone: true}, l.at(t, vanished.file, vanished.digest),
			"link and file are gone")
		require.Equal(t, place{known: true, current: true}, l.at(t, unlinked.file, unlinked.digest),
			"the file is still there")
		require.Equal(t, place{known: true, gone: true}, l.at(t, replaced.file, replaced.digest),
			"the link leads to another file")
		require.Equal(t, place{known: true, current: true}, l.at(t, second, sha(revised)))
		require.Equal(t, place{known: true, current: true}, l.at(t, same.file, same.digest))
	}
}

func (l *library) yield(t *testing.T) store.Yield {
	t.Helper()
	ys, err := l.DB.PolicyYields(t.Context(), time.Now().Add(-24*time.Hour), time.Now().Add(time.Hour))
	require.NoError(t, err)
	require.Len(t, ys, 1)
	return ys[0]
}

// Table 2 of Wu et al. (WebSci 2012): a crawl of the whitelist that another
// crawl's history gave asks less for each accepted document.
func TestWhitelistCrawlAsksLessForAPaper(t *testing.T) {
	t.Parallel()
	broad := newHarvested(t)
	g, err := stats.Generate(t.Context(), broad.DB, nil, stats.Lists{Domains: 8000}, nil)
	require.NoError(t, err)
	require.Positive(t, g.URLs)
	urls, err := broad.DB.Whitelist(t.Context(), -1, "", 0)
	require.NoError(t, err)
	black := broad.yield(t)
	require.Equal(t, "blacklist", black.Policy)

	narrow := newLibrary(t, 40, map[string]string{"crawl-policy": "whitelist"})
	require.NoError(t, narrow.DB.ImportWhitelist(t.Context(), urls))
	_, err = narrow.DB.SeedWhitelist(t.Context(), 0)
	require.NoError(t, err)
	_, crawled := narrow.recrawl(t, store.Selection{}, false)
	require.NotEmpty(t, crawled)
	white := narrow.yield(t)
	require.Equal(t, "whitelist", white.Policy)
	t.Logf("blacklist %+v", black)
	t.Logf("whitelist %+v", white)
	require.Greater(t, float64(white.Good)/float64(white.Requests), 1.2*float64(black.Good)/float64(black.Requests))
	require.GreaterOrEqual(t, float64(white.Fetched)/float64(white.Requests), float64(black.Fetched)/float64(black.Requests))

	// Two steps from a listed page at most, and nothing but listed domains.
	var deep, strange int
	require.NoError(t, narrow.DB.Pool.QueryRow(t.Context(),
		`SELECT count(*) FILTER (WHERE u.depth > 2 AND u.role=0 AND u.state=1),
		count(*) FILTER (WHERE u.state=1 AND NOT EXISTS (SELECT 1 FROM whitelist w WHERE s.host = w.domain OR s.host LIKE '%.' || w.domain))
		FROM urls u JOIN sites s ON s.id=u.site_id`).Scan(&deep, &strange))
	require.Zero(t, deep)
	require.Zero(t, strange)
}
