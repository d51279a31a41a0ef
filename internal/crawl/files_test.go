package crawl

import (
	"net/http"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"gleaner/internal/devstack/storetest"
)

// linked tells which documents the record has for each page of a host, by the
// paths of both.
func (w *world) linked(t *testing.T, host string) map[string][]string {
	t.Helper()
	out := map[string][]string{}
	rows, err := w.db.Pool.Query(t.Context(), `SELECT regexp_replace(u.url, '^http://[^/]*', ''), regexp_replace(l.url, '^http://[^/]*', '') || l.member
		FROM links k JOIN sites s ON s.id=k.site_id JOIN urls u ON u.site_id=k.site_id AND u.hash=k.page
		JOIN locations l ON l.asked=k.target WHERE s.host=$1`, host)
	require.NoError(t, err)
	for rows.Next() {
		var from, to string
		require.NoError(t, rows.Scan(&from, &to))
		out[from] = append(out[from], to)
	}
	require.NoError(t, rows.Err())
	for from := range out {
		slices.Sort(out[from])
	}
	return out
}

// parents tells how many days ago each page on record as one that leads to files was
// crawled first and last.
func (w *world) parents(t *testing.T) map[string]string {
	t.Helper()
	out := map[string]string{}
	rows, err := w.db.Pool.Query(t.Context(), `SELECT regexp_replace(url, '^http://[^/]*', ''), coalesce((current_date-first_crawl) || ' to ' || (current_date-last_crawl), 'never') FROM parents`)
	require.NoError(t, err)
	for rows.Next() {
		var page, days string
		require.NoError(t, rows.Scan(&page, &days))
		out[page] = days
	}
	require.NoError(t, rows.Err())
	return out
}

func (w *world) numbers(t *testing.T, sql string) (n int) {
	t.Helper()
	require.NoError(t, w.db.Pool.QueryRow(t.Context(), sql).Scan(&n))
	return n
}

// TestEveryPageThatLinksToAFileIsOnRecord: not only the one by which it was found;
// and no more than what the pages say when they were read last.
func TestEveryPageThatLinksToAFileIsOnRecord(t *testing.T) {
	t.Parallel()
	pages := map[string]any{
		"/":          links("pubs.html", "project.html", "one.pdf", "one.pdf", "http://other.test/paper.pdf"),
		"/pubs.html": links("one.pdf", "two.pdf", "short.pdf", "photo.png", "/"),
		"/project.html": func(w http.ResponseWriter, _ *http.Request) {
			_, _ = w.Write([]byte(links("one.pdf", "missing.pdf") + `<a rel=nofollow href=two.pdf>x</a>`))
		},
		"/one.pdf": "one", "/two.pdf": "two", "/short.pdf": redirect("/2003/long.pdf"), "/2003/long.pdf": "long",
	}
	w, s := newWorld(t), serve(t, pages)
	w.cfg.Leads = "none"
	w.seed(t, s.host, "/", "/")
	require.Equal(t, Exhausted, w.finish(t, w.crawler(w.client), s.host).Ending)
	want := map[string][]string{"/": {"/one.pdf"}, "/pubs.html": {"/2003/long.pdf", "/one.pdf", "/two.pdf"}, "/project.html": {"/one.pdf"}}
	require.Equal(t, want, w.linked(t, s.host))
	require.Equal(t, 7, w.numbers(t, `SELECT count(*) FROM links`), "with the file that is missing and the one that nobody took")

	require.Equal(t, map[string]string{"/": "0 to 0", "/pubs.html": "0 to 0", "/project.html": "0 to 0"}, w.parents(t))

	// A year later a page has another list, and one is gone.
	storetest.Exec(t, w.db.Pool, `UPDATE links SET first_seen=first_seen-365, last_seen=last_seen-365; UPDATE parents SET first_crawl=first_crawl-365, last_crawl=last_crawl-365`)
	s.pages["/pubs.html"] = links("two.pdf", "three.pdf")
	s.pages["/three.pdf"] = "three"
	s.pages["/project.html"] = nil
	storetest.Exec(t, w.db.Pool, `UPDATE urls SET state=0, etag='', last_modified='' WHERE state IN (1, 2); UPDATE sites SET state='new'`)
	require.Equal(t, Exhausted, w.finish(t, w.crawler(w.client), s.host).Ending)
	require.Equal(t, map[string][]string{"/": {"/one.pdf"}, "/pubs.html": {"/three.pdf", "/two.pdf"}}, w.linked(t, s.host))
	require.Equal(t, map[string]string{"/": "365 to 0", "/pubs.html": "365 to 0", "/project.html": "365 to 365"}, w.parents(t), "one is as it was, one another, one gone")
	require.Equal(t, 3, w.numbers(t, `SELECT count(*) FROM links WHERE last_seen > first_seen`), "two.pdf is linked for a year, and what the page links to that is as it was")
	require.Equal(t, 1, w.numbers(t, `SELECT count(*) FROM links WHERE first_seen = current_date`))
}

// TestFilesOfAPageAreBounded: a page of a hundred thousand names costs no more rows
// than one of a thousand.
func TestFilesOfAPageAreBounded(t *testing.T) {
	t.Parallel()
	var names []string
	for i := range maxFiles + 50 {
		names = append(names, "http://other.test/"+string(rune('a'+i%26))+"/"+string(rune('a'+i/26%26))+"/"+string(rune('a'+i/676))+".pdf")
	}
	w, s := newWorld(t), serve(t, map[string]any{"/": links(names...)})
	w.cfg.Leads = "none"
	w.seed(t, s.host, "/", "/")
	require.Equal(t, Exhausted, w.finish(t, w.crawler(w.client), s.host).Ending)
	require.Equal(t, maxFiles, w.numbers(t, `SELECT count(*) FROM links`))
}
