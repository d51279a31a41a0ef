package ingest

import (
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"gleaner/internal/ingest/source"
	"gleaner/internal/lab/sampleweb"
	"gleaner/internal/library/repository"
	"gleaner/internal/record/store"
)

// The files of the logs of TestSwitchesEverywhere: for each switch one of which it
// decides.
const (
	aPaper     = "http://www.a.example/papers/1.pdf"
	aPackedOne = "http://www.a.example/papers/2.ps.gz"
	aSheet     = "http://www.a.example/papers/hw.pdf"
	aHidden    = "http://b.example/3.pdf"
)

// logs lays the same four files down as every kind of log, here and on servers.
func (s *shop) logs() map[string]Options {
	t := s.t.(*testing.T)
	files := map[string]string{aPaper: s.pdf(1), aPackedOne: string(s.pile.File(2, sampleweb.AsGzip)), aSheet: string(s.pile.File(3, sampleweb.AsSheet)), aHidden: s.pdf(4)}
	tree := map[string]string{}
	var warc, arc, crawl, httrack, list strings.Builder
	about := "1 0 test\nURL IP-address Archive-date Content-type Archive-length\n"
	fmt.Fprintf(&arc, "filedesc://x.arc 0.0.0.0 20050630010203 text/plain %d\n%s\n", len(about), about)
	httrack.WriteString("the head\n")
	list.WriteString("url,path\n")
	for url, body := range files {
		path := strings.TrimPrefix(url, "http://")
		tree[path] = body
		warc.Write(answer(url, "", body))
		said := "HTTP/1.1 200 OK\r\n\r\n" + body
		fmt.Fprintf(&arc, "%s 192.0.2.1 20050630010203 application/octet-stream %d\n%s\n", url, len(said), said)
		fmt.Fprintf(&crawl, "2005-06-30T01:02:03.004Z 200 100 %s L http://www.a.example/ unknown #042 20050630010203004+12 - - -\n", url)
		fmt.Fprintf(&httrack, "12:00:00\t100/-1\t------\t200\tadded ('OK')\tunknown\t\t%s\t/home/u/httrack/%s\t(from www.a.example/)\n", url, path)
		fmt.Fprintf(&list, "%s,%s\n", url, path)
	}
	with := func(folder, name, text string) string {
		dir := s.lay(folder, tree)
		if name != "" {
			require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700))
			require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
		}
		return dir
	}
	mirror := with("mirror", "", "")
	s.Places = source.Places{Asker: asker(t, nil)}
	web := &site{files: map[string]string{"/x.warc.gz": warc.String()}}
	bucket := httptest.NewServer(&objects{data: map[string]string{"x.warc.gz": warc.String()}})
	t.Cleanup(bucket.Close)
	of := func(format string, paths ...string) Options { return Options{Format: format, Paths: paths} }
	folder := Options{Format: Folder, Paths: []string{mirror}, URLs: "http://{path}"}
	return map[string]Options{
		"warc": of(WARC, s.write("x.warc.gz", []byte(warc.String()))), "arc": of(ARC, s.write("x.arc", []byte(arc.String()))), "mirror": of(Mirror, mirror), "folder": folder,
		"httrack": of(Mirror, with("httrack", httrackLog, httrack.String())), "heritrix": of(Heritrix, with("heritrix", crawlLog, crawl.String())),
		"csv": of(CSV, filepath.Join(with("csv", "list.csv", list.String()), "list.csv")), "warc of the web": of(Auto, web.serve(t)+"/x.warc.gz"),
		"warc of a bucket": of(Auto, "s3://crawls/x?region=us-east-1&use_path_style=true&endpoint="+bucket.URL),
	}
}

// TestSwitchesEverywhere: each switch of an import does the same whatever is imported,
// and wherever from.
func TestSwitchesEverywhere(t *testing.T) {
	t.Setenv("AWS_ACCESS_KEY_ID", "id")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "secret")
	s := newShop(t)
	logs := s.logs()
	var formats []string
	for kind, o := range logs {
		formats = append(formats, o.Format)
		to := filepath.Join(s.dir, "out of "+kind)
		o.Unrecorded, o.To, o.Types, o.Blacklist = true, to, []string{"pdf"}, []string{"b.example"}
		c, by := s.imported(o)
		require.Equal(t, map[string]int64{Blacklisted: 1}, c.Skipped, kind)
		for url, want := range map[string]string{aPaper: SavedNew, aPackedOne: FilteredMTF, aSheet: FilteredDCF, aHidden: Skipped} {
			require.Equal(t, want, by[url].Outcome, "%s of %s: %+v", url, kind, by[url])
		}
		require.Len(t, by, 4, kind)
		out, err := repository.Open(t.Context(), to)
		require.NoError(t, err)
		for url, there := range map[string]bool{aPaper: true, aSheet: false} {
			_, err = out.Read(t.Context(), by[url].SHA256)
			require.Equal(t, there, err == nil, "%s of %s", url, kind)
		}
		require.NoError(t, out.Close())
	}
	docs, err := s.DB.FindDocuments(t.Context(), store.DocumentQuery{})
	require.NoError(t, err)
	require.Empty(t, docs, "nothing went on record")
	for _, f := range Formats() {
		require.True(t, slices.Contains(formats, f), "%s is tried with every switch", f)
	}
	for kind, o := range logs {
		o.Unfiltered = true
		c, by := s.imported(o)
		require.Equal(t, 4, c.SavedNew+c.SavedDuplicate, "unread and with no other switch everything is kept: %s %v", kind, by)
	}
}

// TestExtent: it is known of how many a resource is one where that can be counted.
func TestExtent(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	dir := s.tree()
	for want, o := range map[Extent]Options{
		{Resources: 5}:            {Format: Folder, URLs: "https://a.example/{path}"},
		{Archives: 2, Archive: 1}: {},
	} {
		o.Paths = []string{dir}
		log := mustOpen(t, o)
		next(t, log)
		require.Equal(t, want, log.Extent())
		c, _ := s.imported(o)
		want.Archive = want.Archives
		require.Equal(t, want, c.Extent)
	}
}

// tree is a folder of archives and files, in folders.
func (s *shop) tree() string {
	return s.lay("served", map[string]string{"2005/a.warc.gz": string(s.crawl()), "b.warc.gz": string(answer("http://b.example/7.pdf", "", s.pdf(7))),
		"www.a.example/index.html": "<html>a page", "www.a.example/papers/1 b.pdf": s.pdf(1), "www.a.example/papers.pdf": s.pdf(2)})
}
