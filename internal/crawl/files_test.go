package crawl

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"gleaner/internal/devstack/storetest"
	"gleaner/internal/document"
	"gleaner/internal/each"
	"gleaner/internal/fetch"
	"gleaner/internal/gleaner"
	"gleaner/internal/lab/growthtest"
	"gleaner/internal/lab/sampleweb"
	"gleaner/internal/library/collection"
	"gleaner/internal/rank"
	"gleaner/internal/record/frontier"
	"gleaner/internal/record/store"
	"gleaner/internal/web/page"
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
	return storetest.Map[string, string](t, w.db.Pool,
		`SELECT regexp_replace(url, '^http://[^/]*', ''), coalesce((current_date-first_crawl) || ' to ' || (current_date-last_crawl), 'never') FROM parents`)
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
	w.exhaust(t, s.host, "/")
	want := map[string][]string{"/": {"/one.pdf"}, "/pubs.html": {"/2003/long.pdf", "/one.pdf", "/two.pdf"}, "/project.html": {"/one.pdf"}}
	require.Equal(t, want, w.linked(t, s.host))
	require.Equal(t, 7, storetest.Get[int](t, w.db.Pool, `SELECT count(*) FROM links`),
		"with the file that is missing and the one that nobody took")

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
	require.Equal(t, 3, storetest.Get[int](t, w.db.Pool, `SELECT count(*) FROM links WHERE last_seen > first_seen`),
		"two.pdf is linked for a year, and what the page links to that is as it was")
	require.Equal(t, 1, storetest.Get[int](t, w.db.Pool, `SELECT count(*) FROM links WHERE first_seen = current_date`))
}

// TestFilesOfAPageAreBounded: a page of a hundred thousand names costs no more rows
// than one of a thousand, and a site of any number of pages no more than its own, which stay.
func TestFilesOfAPageAreBounded(t *testing.T) {
	t.Parallel()
	var names []string
	for i := range maxFiles + 50 {
		names = append(names, "http://other.test/"+string(rune('a'+i%26))+"/"+string(rune('a'+i/26%26))+"/"+string(rune('a'+i/676))+".pdf")
	}
	w, s := newWorld(t), serve(t, map[string]any{"/": links(append(names, "/more.html")...), "/more.html": links(names[50:]...)})
	w.cfg.Leads = "none"
	w.seed(t, s.host, "/", "/")
	storetest.Exec(t, w.db.Pool, `INSERT INTO links SELECT id, '', sha256(n::text::bytea), current_date, current_date
		FROM sites, generate_series(1, $1::int) n`, maxSiteFiles-maxFiles-100)
	for range 2 {
		r := w.finish(t, w.crawler(w.client), s.host)
		require.Equal(t, Exhausted, r.Ending)
		require.Contains(t, r.Reason, "links to files beyond 250000 are not recorded")
		require.Equal(t, maxSiteFiles, storetest.Get[int](t, w.db.Pool, `SELECT count(*) FROM links`))
		require.Equal(t, maxFiles, storetest.Get[int](t, w.db.Pool,
			`SELECT max(n) FROM (SELECT count(*) n FROM links WHERE page<>'' GROUP BY page) p`))
		s.pages["/"] = links(append(names[1:], "/more.html")...)
		storetest.Exec(t, w.db.Pool, `UPDATE urls SET state=0, etag='', last_modified='' WHERE state=1; UPDATE sites SET state='new'`)
	}
}

// TestPapersThatAScriptShows crawls homepages of which a script makes the list of papers.
func TestPapersThatAScriptShows(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.cfg.Strategy, w.cfg.Leads = rank.Gleaner, "wanted"
	w.filters(document.NewFilter(document.Balanced))
	web := sampleweb.NewScripted(1)
	proxy := httptest.NewServer(web)
	t.Cleanup(proxy.Close)
	wanted := []gleaner.Paper{sampleweb.NewPile(1).Paper(0)} // what hostile sites say they have
	for _, site := range web.Sites {
		wanted = append(wanted, site.Papers...)
	}
	w.want(t, "h", "{}", wanted)
	c := w.crawler(w.connect(t, fetch.Config{Proxy: proxy.URL}))
	for _, site := range web.Sites {
		w.seed(t, site.Host, "/", "/")
		r := w.finish(t, c, site.Host)
		require.Equal(t, Exhausted, r.Ending, "%s: %s", site.Host, r.Reason)
		require.LessOrEqual(t, r.Requests, 8, site.Host)
	}
	w.finish(t, c, sampleweb.ScriptedFiles)
	missing, err := w.db.Missing(t.Context(), "h")
	require.NoError(t, err)
	titles := each.Of(missing, func(p gleaner.Paper) string { return p.Title })
	require.Equal(t, []string{wanted[0].Title}, titles)

	// Addresses inside are leads as any other, and nobody asks them.
	for _, host := range []string{"10.0.0.1", "169.254.169.254"} {
		w.finish(t, c, host)
		got := w.record(t, host)
		require.Len(t, got, 1, host)
		for path, is := range got {
			require.Equal(t, "gone address-denied", is, path)
		}
	}
}

// TestDataFilesGrowWithTheirLength: no file of data costs more than its length, and a long
// one is cut.
func TestDataFilesGrowWithTheirLength(t *testing.T) {
	parse := func(name string, body []byte) *page.Page {
		a := &Answer{Response: &fetch.Response{URL: "http://www.example.org/" + name, Body: body}}
		p, outcome, why := a.Parse(t.Context())
		require.Empty(t, outcome, why)
		return p
	}
	for name, part := range map[string]string{
		"entries": "@misc{k, title={A title}, pdf={a.pdf}}\n",
		"files":   "@misc{k, title={A}, file={" + strings.Repeat(":a.pdf;", 99) + "}}\n",
		"people":  "@misc{k, title={A}, url={u}, author={" + strings.Repeat("B, A and ", 99) + "C}}\n",
		"names":   "@", "braces": "@misc{k, title={{",
		"letters of Latin-1": "@misc{k, title={\xe4}, url={/\xe4}}\n",
	} {
		t.Run(name, func(t *testing.T) {
			growthtest.Linear(t, 8<<10, func(n int) []byte {
				return []byte(strings.Repeat(part, max(1, n/len(part))))
			}, func(b []byte) { parse("a.bib", b) })
		})
	}
	require.Contains(t, parse("a.json", make([]byte, maxDataBody+1)).Truncated, page.CutBody)
	p := parse("a.bib", []byte(`@misc{k, title={On \"Uber}, file={:b.pdf:PDF}, eprint={2001.00001},
		year=2003, author={Ada B}}`))
	require.Len(t, p.Links, 2)
	require.Equal(t, "http://www.example.org/b.pdf", p.Links[0].URL)
	require.Equal(t, "On Über. Ada B. 2003", p.Links[0].Context)
	require.Equal(t, "https://arxiv.org/abs/2001.00001", p.Links[1].URL)
}

// TestEntriesAreReadWhateverTheirName: servers send BibTeX by the name of a page, and as one.
func TestEntriesAreReadWhateverTheirName(t *testing.T) {
	t.Parallel()
	a := &Answer{Response: &fetch.Response{URL: "http://www.example.org/fast20.bib.html",
		Header: http.Header{"Content-Type": {"text/html; charset=utf-8"}}, Body: []byte("@inproceedings{k, title={A}, url={/a.pdf}, year={2020}}\n")}}
	require.Equal(t, collection.ContentPage, a.What())
	p, outcome, why := a.Parse(t.Context())
	require.Empty(t, outcome, why)
	require.Len(t, p.Links, 1)
	require.Equal(t, "http://www.example.org/a.pdf", p.Links[0].URL)

	a.Body = []byte("Warning: connect()\n<a href=/b.pdf>B</a> <pre>\n@article{k, title={A}, url={/a.pdf}, year={2020}}\n</pre>")
	p, outcome, why = a.Parse(t.Context())
	require.Empty(t, outcome, why)
	require.Equal(t, "http://www.example.org/b.pdf", p.Links[0].URL, "a page with an entry in it")
}

// Of landing pages with a list above them only those are asked for whose papers
// the list does not bring; of what it lists only what is wanted.
func TestListingSparesLandingPages(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.cfg.Strategy, w.cfg.Leads = rank.Gleaner, "wanted"
	w.filters(document.NewFilter(document.Balanced))
	pile := sampleweb.NewPile(1)
	pages, list := map[string]any{}, "<h1>Volume 1</h1>"
	for i := range 7 {
		p := pile.Paper(i)
		pages[fmt.Sprintf("/v1/%d.html", i)] = fmt.Sprintf(`<h1>%s</h1><a href="%d.pdf">PDF</a>`, p.Title, i)
		pages[fmt.Sprintf("/v1/%d.pdf", i)] = typed("application/pdf", string(pile.File(i, sampleweb.AsPDF)))
		if i != 5 { // the list lacks one
			list += fmt.Sprintf(`<div><p>%s</p><p>[<a href="%d.html">abs</a>] [<a href="%d.pdf">PDF</a>]</p></div>`, p.Title, i, i)
		}
	}
	pages["/v1/"] = list
	s := serve(t, pages)

	var wanted []gleaner.Paper
	entries := []frontier.Entry{{Role: frontier.Landing, Candidate: page.Candidate{Link: page.Link{URL: "http://" + s.host + "/v1/", Source: page.SourceListing}, Queue: 3, Priority: 2}}}
	for i := range 6 { // and the seventh paper is not wanted
		wanted = append(wanted, pile.Paper(i))
		entries = append(entries, frontier.Entry{Role: frontier.Landing, Candidate: page.Candidate{Queue: 3, Priority: 1, Wanted: 1,
			Link: page.Link{URL: fmt.Sprintf("http://%s/v1/%d.html", s.host, i), Anchor: pile.Paper(i).Title, Source: page.SourceSeed}}})
	}
	ctx := t.Context()
	w.want(t, "h", "{}", wanted)
	require.NoError(t, pgx.BeginFunc(ctx, w.db.Pool, func(tx pgx.Tx) error {
		id, err := store.EnsureSite(ctx, tx, s.host)
		if err != nil {
			return err
		}
		_, err = frontier.Add(ctx, tx, id, entries)
		return err
	}))

	r := w.finish(t, w.crawler(w.client), s.host)
	require.Equal(t, Exhausted, r.Ending, r.Reason)
	want := map[string]string{"/v1/": "page success", "/v1/5.html": "page success"}
	for i := range 6 {
		want[fmt.Sprintf("/v1/%d.pdf", i)] = "document success"
		if i != 5 {
			want[fmt.Sprintf("/v1/%d.html", i)] = "skipped paper-found"
		}
	}
	require.Equal(t, want, w.record(t, s.host))
	missing, err := w.db.Missing(ctx, "h")
	require.NoError(t, err)
	require.Empty(t, missing)
}
