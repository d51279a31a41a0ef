package crawl

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gleaner/internal/document"
	"gleaner/internal/fetch"
	"gleaner/internal/gleaner"
	"gleaner/internal/lab/growthtest"
	"gleaner/internal/lab/sampleweb"
	"gleaner/internal/library/collection"
	"gleaner/internal/politeness"
	"gleaner/internal/rank"
	"gleaner/internal/record/store"
	"gleaner/internal/web/page"
)

// TestPapersThatAScriptShows crawls homepages of which a script makes the list of papers.
func TestPapersThatAScriptShows(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.cfg.Strategy, w.cfg.Leads = rank.Gleaner, "wanted"
	w.filters(document.NewFilter(document.Balanced))
	web := sampleweb.NewScripted(1)
	proxy := httptest.NewServer(web)
	t.Cleanup(proxy.Close)
	pacing := fetch.Pacing{Unpaced: true, BackoffBase: time.Millisecond, BackoffMax: time.Millisecond}
	client, err := fetch.New(fetch.Config{Proxy: proxy.URL, Gate: w.keeper, Robots: politeness.NewRobots(w.db.Pool),
		Pacing: pacing, Contact: "test@example.org"})
	require.NoError(t, err)
	t.Cleanup(client.Close)

	ctx := t.Context()
	wanted := []gleaner.Paper{sampleweb.NewPile(1).Paper(0)} // what hostile sites say they have
	for _, site := range web.Sites {
		wanted = append(wanted, site.Papers...)
	}
	require.NoError(t, w.db.SavePapers(ctx, wanted, map[string]string{"source": "test"}))
	require.NoError(t, w.db.SaveHarvest(ctx, store.Harvest{
		ID: "h", Venue: "conf/pile", Options: []byte("{}"), Stage: "papers"}))
	require.NoError(t, w.db.SetHarvestPapers(ctx, "h", wanted, nil))
	c := w.crawler(client)
	for _, site := range web.Sites {
		w.seed(t, site.Host, "/", "/")
		r := w.finish(t, c, site.Host)
		require.Equal(t, Exhausted, r.Ending, "%s: %s", site.Host, r.Reason)
		require.LessOrEqual(t, r.Requests, 8, site.Host)
	}
	w.finish(t, c, sampleweb.ScriptedFiles)
	missing, err := w.db.Missing(ctx, "h")
	require.NoError(t, err)
	var titles []string
	for _, p := range missing {
		titles = append(titles, p.Key+" "+p.Title)
	}
	require.Equal(t, []string{wanted[0].Key + " " + wanted[0].Title}, titles, strings.Join(titles, "\n"))

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
	require.Equal(t, collection.APage, a.What())
	p, outcome, why := a.Parse(t.Context())
	require.Empty(t, outcome, why)
	require.Len(t, p.Links, 1)
	require.Equal(t, "http://www.example.org/a.pdf", p.Links[0].URL)

	a.Body = []byte("Warning: connect()\n<a href=/b.pdf>B</a> <pre>\n@article{k, title={A}, url={/a.pdf}, year={2020}}\n</pre>")
	p, outcome, why = a.Parse(t.Context())
	require.Empty(t, outcome, why)
	require.Equal(t, "http://www.example.org/b.pdf", p.Links[0].URL, "a page with an entry in it")
}
