package evaluate

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"gleaner/internal/each"
	"gleaner/internal/lab/sampleweb"
	"gleaner/internal/rank"
)

// record is a WARC response record.
func record(url, answer string) string {
	return fmt.Sprintf("WARC/1.1\r\nWARC-Type: response\r\nWARC-Target-URI: %s\r\nContent-Type: application/http\r\nContent-Length: %d\r\n\r\n%s\r\n\r\n", url, len(answer), answer)
}

func htmlAnswer(body string) string {
	return fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
}

var recorded = "WARC/1.1\r\nWARC-Type: warcinfo\r\nContent-Length: 3\r\n\r\nabc\r\n\r\n" +
	record("http://a.test/", htmlAnswer(`<a href="/pubs">Publications</a> <a href="/x.html">Other</a>`)) +
	record("http://a.test/pubs", "HTTP/1.1 301 Moved\r\nLocation: /pubs/\r\nContent-Length: 0\r\n\r\n") +
	record("http://a.test/pubs/", htmlAnswer(`<li>A paper, 2003 <a href="1.pdf">pdf</a><li><a href="gone.pdf">pdf</a>`)) +
	record("http://a.test/x.html", htmlAnswer("nothing")) +
	record("http://a.test/pubs/1.pdf", "HTTP/1.1 200 OK\r\nContent-Type: application/pdf\r\nContent-Length: 8\r\n\r\n%PDF-1.4") +
	record("http://a.test/pubs/gone.pdf", "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n")

func TestCrawlOfAnArchive(t *testing.T) {
	t.Parallel()
	var packed bytes.Buffer
	for _, part := range strings.SplitAfter(recorded, "\r\n\r\nWARC/")[:1] { // one member, then the rest as another
		gz := gzip.NewWriter(&packed)
		_, _ = gz.Write([]byte(strings.TrimSuffix(part, "WARC/")))
		require.NoError(t, gz.Close())
		gz = gzip.NewWriter(&packed)
		_, _ = gz.Write([]byte(recorded[len(part)-len("WARC/"):]))
		require.NoError(t, gz.Close())
	}
	for name, data := range map[string][]byte{"plain": []byte(recorded), "gzip": packed.Bytes()} {
		a := NewArchive()
		require.NoError(t, a.ReadWARC(bytes.NewReader(data)), name)
		require.Equal(t, 6, a.Len(), name)
		setup := Setup{Site: NewSnapshot(a.First(), a.Ask), Judge: func(string) Kind { return Paper }}
		c, runs, err := Compare(name, setup, []string{rank.Gleaner}, rank.Options{})
		require.NoError(t, err)
		require.Equal(t, 1, c.Papers, name)
		require.Len(t, runs[0].Steps, 5, "%s: the missing document is asked for too", name)
		require.Equal(t, 3, c.Results[1].Reach[0].Requests, "%s: home page, publications, paper", name)
	}
	a := NewArchive()
	require.ErrorIs(t, a.ReadWARC(strings.NewReader(recorded[:len(recorded)-30])), ErrTruncated)
	require.Equal(t, 5, a.Len())
	require.Error(t, a.ReadWARC(strings.NewReader("ARC/1.0 and so on\n")))
}

// TestLargeConference: on the generated web's large site, 5,000 pages with papers at
// every depth, 85 % of them are there after a quarter of the pages (Zhuang et al.,
// JCDL 2005, Figure 12: 33 %, breadth-first 50 %), and the tail is never behind
// breadth-first.
func TestLargeConference(t *testing.T) {
	t.Parallel()
	const host = sampleweb.ConferenceHost
	web := sampleweb.New(sampleweb.Options{Seed: 1, ConferencePages: 5000})
	setup := Setup{Site: NewSnapshot("http://"+host+"/", fromHandler(web)), Judge: func(string) Kind { return Paper }}
	c, runs, err := Compare(host, setup, []string{rank.Zhuang, rank.Gleaner}, rank.Options{})
	require.NoError(t, err)
	pages := each.Count(runs[0].Answered(), func(s Step) bool { return !s.Document })
	for _, r := range runs {
		t.Logf("%-8s pages to 50 %%: %d, to 85 %%: %d, to 95 %%: %d, to 100 %%: %d, of %d pages and %d documents", r.Strategy, pagesTo(r, c.Papers, .5),
			pagesTo(r, c.Papers, .85), pagesTo(r, c.Papers, .95), pagesTo(r, c.Papers, 1), pages, c.Papers)
	}
	bfs, gleaner := runs[0], runs[2]
	require.LessOrEqual(t, pagesTo(gleaner, c.Papers, .85), pages/4)
	for _, share := range Shares {
		require.LessOrEqual(t, pagesTo(gleaner, c.Papers, share), pagesTo(bfs, c.Papers, share), "to %.0f %%", 100*share)
	}
}

func TestFolder(t *testing.T) {
	t.Parallel()
	files := fstest.MapFS{
		"index.html":     {Data: []byte(`<a href="/sub">S</a> <a href="a.pdf?x=1">P</a>`)},
		"sub/index.htm":  {Data: []byte(`<a href="../a.pdf">P</a>`)},
		"a.pdf":          {Data: []byte("%PDF-1.4")},
		"notes/data.csv": {Data: []byte("1,2")},
	}
	f := NewFolder(files, "a.test")
	a, err := f.Get("http://a.test/sub")
	require.NoError(t, err)
	require.Equal(t, "http://a.test/sub/", a.URL)
	require.NotNil(t, a.Page)
	a, err = f.Get("http://a.test/a.pdf?x=1")
	require.NoError(t, err)
	require.True(t, a.Document)
	for _, missing := range []string{"http://a.test/none", "http://b.test/", "http://a.test/notes/", "http://a.test/../../etc/passwd"} {
		_, err = f.Get(missing)
		require.ErrorIs(t, err, ErrMissing, missing)
	}
}
