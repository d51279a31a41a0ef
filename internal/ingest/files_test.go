package ingest

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gleaner/internal/ingest/source"
	"gleaner/internal/lab/sampleweb"
	"gleaner/internal/record/store"
)

// lay writes files below a folder of the test's.
func (s *shop) lay(folder string, files map[string]string) string {
	return lay(s.t, filepath.Join(s.dir, folder), files)
}

// lay writes files below a folder.
func lay(t testing.TB, root string, files map[string]string) string {
	t.Helper()
	for name, data := range files {
		path := filepath.Join(root, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		require.NoError(t, os.WriteFile(path, []byte(data), 0o600))
	}
	return root
}

// written is a file of this content in a folder of its own.
func written(t testing.TB, name string, data []byte) string {
	t.Helper()
	return filepath.Join(lay(t, t.TempDir(), map[string]string{name: string(data)}), name)
}

func (s *shop) pdf(i int) string { return string(s.pile.File(i, sampleweb.AsPDF)) }

// read gives all resources of a log, each with its payload.
func read(t *testing.T, o Options, at Position) (all []*Resource, bodies map[string]string) {
	return from(t, source.Places{}, o, at)
}

// from gives all resources of a log that may be elsewhere, each with its payload.
func from(t *testing.T, places source.Places, o Options, at Position) (all []*Resource, bodies map[string]string) {
	log := openAt(t, places, o, at)
	defer log.Close()
	bodies = map[string]string{}
	for r := range rest(t, log) {
		all = append(all, r)
		if r.Open == nil {
			continue
		}
		if body, err := r.Open(); err == nil {
			data, err := io.ReadAll(body)
			require.NoError(t, err)
			require.NoError(t, body.Close())
			bodies[r.URL] += string(data)
		} else {
			bodies[r.URL] = "error: " + err.Error()
		}
	}
	if done, total := log.Read(); total > 0 {
		require.Equal(t, total, done)
	}
	return all, bodies
}

// rest gives what is left of a log, up to its end.
func rest(t *testing.T, log Log) iter.Seq[*Resource] {
	return func(yield func(*Resource) bool) {
		for {
			r, err := log.Next(t.Context())
			if err == io.EOF {
				return
			}
			require.NoError(t, err)
			if !yield(r) {
				return
			}
		}
	}
}

// next is the next resource of a log.
func next(t *testing.T, log Log) *Resource {
	t.Helper()
	r, err := log.Next(t.Context())
	require.NoError(t, err)
	return r
}

// refused opens what is no log, which is said.
func refused(t *testing.T, places source.Places, o Options, is error, says string) {
	t.Helper()
	log, err := Open(t.Context(), places, o, Position{})
	require.Nil(t, log)
	require.ErrorIs(t, err, is, "%+v", o)
	require.ErrorContains(t, err, says)
}

// place is the first place of a document.
func (s *shop) place(sha string) store.Location {
	s.t.Helper()
	_, places, err := s.DB.Document(context.Background(), sha)
	require.NoError(s.t, err)
	return places[0]
}

// TestNamedTwice: a folder or a list that is named twice is read once: whoever went on in
// the second would go on in the first, for ever.
func TestNamedTwice(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	root := s.lay("twice", map[string]string{"1.pdf": s.pdf(1), "list.csv": "url,path\nhttp://a.example/1.pdf,1.pdf\n"})
	for _, o := range []Options{{Paths: []string{root, root}, Format: Folder, URLs: "http://a.example/{path}"}, {Paths: []string{root + "/list.csv", root + "/list.csv"}, Format: CSV}} {
		once := o
		once.Paths = o.Paths[:1]
		require.Equal(t, urlsOf(everywhere(t, once)), urlsOf(everywhere(t, o)))
	}
}

// everywhere reads a log again from each of its resources: what is left is the same.
func everywhere(t *testing.T, o Options) []*Resource {
	all, _ := read(t, o, Position{})
	for i, r := range all {
		rest, _ := read(t, o, r.At)
		require.Len(t, rest, len(all)-i, "from %+v", r.At)
		for k := range rest {
			require.Equal(t, all[i+k].At, rest[k].At)
			require.Equal(t, all[i+k].URL, rest[k].URL)
		}
	}
	return all
}

// TestFolder: the URL of a file is made of its path, whatever bytes that has, and what
// is no file of the folder has an outcome of its own.
func TestFolder(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	dir := s.lay("in", map[string]string{"2003/a b.pdf": s.pdf(1), "2003/page.html": "<html>nothing", "2003.pdf": s.pdf(2), "bad\xff%.pdf": s.pdf(3), "z?x=1.pdf": s.pdf(4),
		"old.warc": "WARC/1.0\r\nWARC-Type: resource\r\n\r\n" + s.pdf(1), "old.warc.gz": string(answer("http://a.example/1.pdf", "", s.pdf(1)))})
	secret := s.write("secret.pdf", []byte(s.pdf(5)))
	require.NoError(t, os.Symlink(secret, filepath.Join(dir, "out.pdf")))
	require.NoError(t, os.Symlink("2003.pdf", filepath.Join(dir, "same.pdf")))
	require.NoError(t, os.Symlink("nowhere", filepath.Join(dir, "lost.pdf")))
	require.NoError(t, os.Symlink(".", filepath.Join(dir, "loop")))
	require.NoError(t, syscall.Mkfifo(filepath.Join(dir, "pipe.pdf"), 0o600))
	o := Options{Paths: []string{dir}, Format: Folder, URLs: "http://a.example/tr/{path}", Parent: "http://a.example/tr/{dir}/", Date: "2005-06-30"}
	everywhere(t, o)
	c, by := s.imported(o)
	for url, want := range map[string]string{
		"http://a.example/tr/2003/a%20b.pdf": SavedNew, "http://a.example/tr/2003.pdf": SavedNew, "http://a.example/tr/bad%FF%25.pdf": SavedNew, "http://a.example/tr/z%3Fx=1.pdf": SavedNew,
		"http://a.example/tr/same.pdf": SavedNew, "http://a.example/tr/2003/page.html": FilteredMTF, "http://a.example/tr/lost.pdf": FailedFileNotFound,
		"http://a.example/tr/out.pdf": Skipped, "http://a.example/tr/pipe.pdf": Skipped, "http://a.example/tr/loop": Skipped, "http://a.example/tr/old.warc": Skipped, "http://a.example/tr/old.warc.gz": Skipped,
	} {
		require.Equal(t, want, by[url].Outcome, "%s: %+v", url, by[url])
	}
	require.Equal(t, map[string]int64{Outside: 1, NoFile: 2, NestedArchive: 2}, c.Skipped)
	require.Equal(t, store.Counters{All: 7, SavedNew: 5, Filtered: 1, FilteredMTF: 1, FailedFileNotFound: 1}, c.Counters)
	require.EqualValues(t, 1, c.Differences)
	o.Paths, o.URLs = []string{filepath.Join(dir, "2003.pdf")}, "http://b.example/{path}"
	_, one := s.imported(o)
	require.Equal(t, SavedNew, one["http://b.example/2003.pdf"].Outcome, "a file alone")
	require.Equal(t, o.Paths[0], one["http://b.example/2003.pdf"].Source)
	place := s.place(by["http://a.example/tr/2003/a%20b.pdf"].SHA256)
	require.Equal(t, "http://a.example/tr/2003/", place.Parent)
	require.Equal(t, "2005-06-30", place.Found.UTC().Format(time.DateOnly))
}

// TestMirror: a path of a mirror is the URL that it was got from.
func TestMirror(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	dir := s.lay("mirror", map[string]string{
		"www.a.example/index.html": listing, "www.a.example/papers/1.pdf": s.pdf(1), "www.a.example/get.php?id=2&v=a%2Fb": s.pdf(2), "b.example:8080/~ada/x y.pdf": s.pdf(3),
		"https/c.example/4.pdf": s.pdf(4), "www.a.example/index.html?C=N;O=D": "<html>sorted", "index.html": "HTTrack's own", "hts-log.txt": "a log",
	})
	o := Options{Paths: []string{dir}, Format: Mirror}
	all := everywhere(t, o)
	require.ElementsMatch(t, []string{"http://www.a.example/", "http://www.a.example/papers/1.pdf", "http://www.a.example/get.php?id=2&v=a%2Fb", "http://b.example:8080/~ada/x%20y.pdf",
		"https://c.example/4.pdf", "http://www.a.example/?C=N%3BO=D", "index.html", "hts-log.txt"}, urlsOf(all))
	c, by := s.imported(o)
	require.Equal(t, store.Counters{All: 6, SavedNew: 4, Filtered: 2, FilteredMTF: 2}, c.Counters)
	require.Equal(t, map[string]int64{NoWeb: 2}, c.Skipped)
	parent := s.place(by["http://www.a.example/papers/1.pdf"].SHA256).Parent
	require.Equal(t, "http://www.a.example/", parent, "the page of the mirror that links to it")
}

// TestHTTrack: where HTTrack's log is there, it says what a mirror's files are.
func TestHTTrack(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	rows := []string{
		"date\tsize'/'remotesize\tflags(request:Update,Range state:File response:Modified,Chunked,gZipped)\tstatuscode\tstatus ('servermsg')\tMIME\tEtag|Date\tURL\tlocalfile\t(from URL)",
		"12:00:00\t100/-1\t---M--\t200\tadded ('OK')\ttext/html\t\thttp://www.a.example/\t/home/u/site/www.a.example/index.html\t(from primary/primary)",
		"12:00:01\t200/200\t------\t200\tadded ('OK')\tapplication/pdf\t\twww.a.example/papers/get.php?id=1\t/home/u/site/www.a.example/papers/get4a2b.pdf\t(from www.a.example/)",
		"12:00:02\t0/-1\t------\t404\terror ('Not%20Found')\ttext/html\t\thttp://www.a.example/gone.pdf\t\t(from www.a.example/)",
		"12:00:03\t200/200\t------\t200\tadded ('OK')\tapplication/pdf\t\thttp://www.a.example/evil.pdf\t../../secret.pdf\t(from www.a.example/)",
		"not a line of it",
	}
	dir := s.lay("site", map[string]string{"hts-cache/new.txt": strings.Join(rows, "\n") + "\n", "www.a.example/index.html": listing, "www.a.example/papers/get4a2b.pdf": s.pdf(1), "www.a.example/extra.pdf": s.pdf(2)})
	s.write("secret.pdf", []byte(s.pdf(5)))
	o := Options{Paths: []string{dir}, Format: Mirror}
	everywhere(t, o)
	c, by := s.imported(o)
	require.Equal(t, SavedNew, by["http://www.a.example/papers/get.php?id=1"].Outcome)
	require.Equal(t, store.Counters{All: 2, SavedNew: 1, Filtered: 1, FilteredMTF: 1}, c.Counters)
	require.Equal(t, map[string]int64{"status 404": 1, Outside: 1, BadLine: 1}, c.Skipped)
	require.Equal(t, "http://www.a.example/", s.place(by["http://www.a.example/papers/get.php?id=1"].SHA256).Parent)
}

// TestManifest: each line of a CSV manifest comes to an outcome, what is wrong with
// one is said with its number, and the lines behind it are read.
func TestManifest(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	dir := s.lay("in", map[string]string{"files/1.pdf": s.pdf(1), "files/2.pdf": s.pdf(2), "files/2b.pdf": s.pdf(3)})
	secret := s.write("secret.pdf", []byte(s.pdf(5)))
	rows := "\ufeffURL,Parent URL,is_seed,depth,Crawled At,MIME type,path,remark\r\n" +
		"http://a.example/1.pdf,http://a.example/,false,2,2004-05-06T07:08:09Z,application/pdf,files/1.pdf,\"one, and\r\nmore\"\r\n" +
		"\r\n" +
		"http://a.example/2.pdf,,yes,0,2004-05-06,,files/2.pdf,\n" +
		"http://a.example/2.pdf,,,,2005-05-06,,files/2b.pdf,again\n" +
		"http://a.example/none.pdf,,,,,,files/none.pdf,\n" +
		"http://a.example/out.pdf,,,,,,../secret.pdf,\n" +
		"http://a.example/out2.pdf,,,,,," + secret + ",\n" +
		"http://a.example/few.pdf,x\n" +
		"http://a.example/deep.pdf,,,deep,,,files/1.pdf,\n" +
		"http://a.example/huge.pdf,,,,,,files/1.pdf," + strings.Repeat("x", maxLine) + "\n" +
		"http://a.example/when.pdf,,,,yesterday,,files/1.pdf,\n" +
		"no address,,,,,,files/1.pdf,\n" +
		"http://a.example/bad\xff.pdf,,,,,,files/1\xff.pdf,\n" +
		"http://a.example/open.pdf,,,,,,files/1.pdf,\"never closed\n" +
		"http://a.example/last.pdf,,,,,,files/1.pdf,\n"
	require.NoError(t, os.WriteFile(filepath.Join(dir, "list.csv"), []byte(rows), 0o600))
	o := Options{Paths: []string{filepath.Join(dir, "list.csv")}, Format: CSV}
	all := everywhere(t, o)
	require.Equal(t, 2, all[0].Depth)
	require.True(t, all[1].Seed)
	var details []string
	for _, r := range all {
		if r.Skip == BadLine {
			details = append(details, r.Detail)
		}
	}
	require.Equal(t, []string{"line 10: 2 fields, and the first line has 8", `line 11: depth: "deep" is no number`, fmt.Sprintf("line 12: more than %d bytes or %d lines", maxLine, maxLines),
		`line 13: crawled at: "yesterday" is no time such as 2006-01-02T15:04:05Z`, `line 16: extraneous or missing " in quoted-field`}, details)
	c, by := s.imported(o)
	require.Equal(t, store.Counters{All: 6, SavedNew: 3, SavedDuplicate: 1, FailedFileNotFound: 2}, c.Counters)
	require.Equal(t, map[string]int64{Outside: 2, BadLine: 5, NoWeb: 1}, c.Skipped)
	require.Equal(t, SavedDuplicate, by["http://a.example/2.pdf again"].Outcome)
	require.Equal(t, SavedNew, by["http://a.example/last.pdf"].Outcome, "what comes behind a quote that is never closed")
	require.Equal(t, "line 7: file does not exist", by["http://a.example/none.pdf"].Detail)
	place := s.place(by["http://a.example/1.pdf"].SHA256)
	require.Equal(t, "http://a.example/", place.Parent)
	require.Equal(t, 2004, place.Found.Year())

	for head, want := range map[string]string{"address,path": "line 1: no column is named url", "url,url,path": "line 1: two columns are the url", "": "line 1: "} {
		path := s.write("bad.csv", []byte(head+"\n"))
		_, err := mustOpen(t, Options{Paths: []string{path}, Format: CSV}).Next(t.Context())
		require.ErrorIs(t, err, ErrInput)
		require.ErrorContains(t, err, want)
	}
}

// TestHeritrix: a crawl.log says of each file of a mirror how it was found.
func TestHeritrix(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	line := func(status, url, path, via, media, digest string) string {
		return fmt.Sprintf("2005-06-30T01:02:03.004Z %5s %10d %s %s %s %s #042 20050630010203004+12 %s - -\n", status, 100, url, path, via, media, digest)
	}
	log := line("1", "dns:a.example", "P", "http://a.example/", "text/dns", "-") +
		line("200", "http://a.example/", "-", "-", "text/html", "-") +
		line("200", "http://a.example/robots.txt", "P", "http://a.example/", "text/plain", "-") +
		line("302", "http://a.example/moved", "L", "http://a.example/", "unknown", "-") +
		line("-5003", "http://a.example/late.pdf", "L", "http://a.example/", "unknown", "-") +
		line("200", "http://a.example/get.cgi?id=1", "LRLEX", "http://a.example/list.html", "application/pdf", "sha1:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA") +
		line("200", "http://a.example/2.pdf", "L", "http://a.example/", "application/pdf", "-") +
		line("200", "http://a.example/lost.pdf", "L", "http://a.example/", "application/pdf", "-") +
		"half a line\n"
	dir := s.lay("job", map[string]string{"logs/crawl.log": log, "mirror/a.example/index.html": "<html>nothing", "mirror/a.example/robots.txt": "User-agent: *\nDisallow: /private\n",
		"mirror/a.example/get?id=1.cgi": s.pdf(1), "mirror/a.example/2.pdf": s.pdf(2)})
	o := Options{Paths: []string{dir}, Format: Heritrix}
	all := everywhere(t, o)
	require.True(t, all[1].Seed)
	require.Equal(t, 0, all[1].Depth)
	require.Equal(t, 2, all[5].Depth, "of LRLEX two are links")
	require.Equal(t, 2005, all[5].Crawled.Year())
	c, by := s.imported(o)
	require.Equal(t, store.Counters{All: 5, SavedNew: 2, Filtered: 2, FilteredMTF: 2, FailedFileNotFound: 1}, c.Counters)
	require.Equal(t, map[string]int64{"dns": 1, "status 302": 1, "not fetched": 1, BadLine: 1}, c.Skipped)
	require.EqualValues(t, 2, c.Differences, "one is lost, and one not what the log promises")
	got := by["http://a.example/get.cgi?id=1"]
	require.Equal(t, "its SHA-1 is not what the log promises", got.Difference)
	require.Equal(t, "http://a.example/list.html", s.place(got.SHA256).Parent)
}

// TestMirrorOfALog: a job's mirror lies beside its folder logs; nothing above a folder
// that was named is read.
func TestMirrorOfALog(t *testing.T) {
	t.Parallel()
	root := lay(t, t.TempDir(), map[string]string{"mirror/x": "", "job/mirror/x": "", "job/logs/crawl.log": "", "alone/crawl.log": "", "logs/crawl.log": ""})
	for path, want := range map[string]string{"job": "job/mirror", "job/logs/crawl.log": "job/mirror", "alone": "alone", "alone/crawl.log": "alone", "logs": "logs"} {
		info, err := os.Stat(filepath.Join(root, path))
		require.NoError(t, err)
		lists, err := disk{}.heritrixList(filepath.Join(root, path), info)
		require.NoError(t, err)
		require.Equal(t, filepath.Join(root, want), lists[0].folder, path)
	}
}

// TestLogBesideArchives: a crawl.log beside archives says how their resources were
// found; what an archive says itself counts more.
func TestLogBesideArchives(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	line := func(at, url, path, via string) string {
		return fmt.Sprintf("%sZ 200 100 %s %s %s text/html #042 - - - -\n", at, url, path, via)
	}
	log := line("2026-01-02T03:04:06", "http://a.example/2.pdf", "LL", "http://a.example/wrong.html") + "half a line\n" + line("2026-01-02T03:04:05", "http://a.example/1.pdf", "LEL", "http://a.example/list.html") +
		line("2026-01-02T03:04:07", "http://a.example/", "-", "-") + line("2026-01-02T04:04:07", "http://a.example/far.pdf", "L", "http://a.example/")
	two := []byte{}
	for _, url := range []string{"http://a.example/", "http://a.example/1.pdf", "http://a.example/none.pdf", "http://a.example/far.pdf", "http://a.example/2.pdf"} {
		two = append(two, answer(url, "", "x")...)
	}
	two = append(two, record("metadata", "http://a.example/2.pdf", "application/warc-fields", "", "via: http://a.example/right.html\r\n")...)
	dir := s.lay("job", map[string]string{"logs/crawl.log": log, "warcs/a.warc.gz": string(two), "warcs/b.warc.gz": string(two)})
	for _, r := range everywhere(t, Options{Paths: []string{filepath.Join(dir, "warcs")}}) {
		got := fmt.Sprint(r.Parent, " ", r.Depth, " ", r.Seed)
		require.Equal(t, map[string]string{"http://a.example/": " 0 true", "http://a.example/1.pdf": "http://a.example/list.html 2 false", "http://a.example/none.pdf": " -1 false",
			"http://a.example/far.pdf": "http://a.example/ 1 false", "http://a.example/2.pdf": "http://a.example/right.html 2 false"}[r.URL], got, r.URL)
	}
}

// TestParents: which pages of a log lead to a document is on record, whichever came
// first, from the first day on which the link was seen to the last; and what the log
// says of a resource's depth, seed and parent.
func TestParents(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	const pdf = "http://a.example/papers/1.pdf"
	page := func(url string) []byte { return answer(url, "Content-Type: text/html\r\n", listing) }
	data := [][]byte{answer(pdf, "", s.pdf(1)), record("metadata", pdf, "application/warc-fields", "", "via: http://b.example/via.html\r\nhopsFromSeed: LL\r\n"),
		page("http://a.example/"), record("metadata", "http://a.example/", "application/warc-fields", "", "hopsFromSeed: \r\n"), page("http://a.example/again.html"),
		answer("http://a.example/not.html", "Content-Type: text/html\r\n", `<html><meta name=robots content=nofollow><a href="/papers/1.pdf">x</a>`)}
	path := s.write("a.warc.gz", bytes.Join(data, nil))
	s.imported(Options{Paths: []string{path}, Unrecorded: true})
	hash := hashOf(pdf)
	links, err := s.DB.BackLinks(t.Context(), hash[:], 100)
	require.NoError(t, err)
	require.Empty(t, links, "nothing was to be put on record")
	_, by := s.imported(Options{Paths: []string{path}})
	require.Equal(t, "http://b.example/via.html", by[pdf].Parent)
	require.Equal(t, 2, *by[pdf].Depth)
	require.True(t, by["http://a.example/"].Seed)
	require.Equal(t, 2026, by["http://a.example/"].Crawled.Year())
	days := func() map[string]string {
		links, err := s.DB.BackLinks(t.Context(), hash[:], 100)
		require.NoError(t, err)
		got := map[string]string{}
		for _, l := range links {
			got[l.URL] = l.First.Format(time.DateOnly) + " " + l.Last.Format(time.DateOnly)
		}
		return got
	}
	const then = "2026-01-02 2026-01-02"
	require.Equal(t, map[string]string{"http://a.example/": then, "http://a.example/again.html": then, "http://b.example/via.html": then}, days())
	n, err := s.DB.NumRefBy(t.Context(), by[pdf].SHA256)
	require.NoError(t, err)
	require.Equal(t, 3, n)

	// An older copy of one page makes its link older, and takes nothing away.
	mirror := s.lay("mirror", map[string]string{"a.example/index.html": listing})
	s.imported(Options{Paths: []string{mirror}, Format: Mirror, Date: "2005-06-30"})
	require.Equal(t, map[string]string{"http://a.example/": "2005-06-30 2026-01-02", "http://a.example/again.html": then, "http://b.example/via.html": then}, days())
	all, err := s.DB.Parents(t.Context(), "", store.ParentAt{}, 100)
	require.NoError(t, err)
	table := map[string]string{}
	for _, p := range all {
		table[p.URL] = fmt.Sprint(p.First.Format(time.DateOnly), " ", p.Last.Format(time.DateOnly), " ", p.Read, " ", p.Documents)
	}
	require.Equal(t, map[string]string{"http://a.example/": "2005-06-30 2026-01-02 true 1", "http://a.example/again.html": then + " true 1", "http://b.example/via.html": then + " false 1"}, table)
	_, documents, err := s.DB.Parent(t.Context(), "http://b.example/via.html", store.ParentDocument{}, 10)
	require.NoError(t, err)
	require.Equal(t, []store.ParentDocument{{URL: pdf, SHA256: by[pdf].SHA256, State: "accepted", Class: documents[0].Class}}, documents)
	_, err = s.DB.Prune(t.Context(), store.Retention{}, s.Repo, store.PruneOptions{})
	require.NoError(t, err)
	require.Len(t, days(), 3, "pages that no crawl went to are no pages that are gone")
}

// TestWordsOfFiles: what options say of files is held to sense.
func TestWordsOfFiles(t *testing.T) {
	t.Parallel()
	dir := lay(t, t.TempDir(), map[string]string{"file": "", "a.warc.gz": string(record("warcinfo", "", "", "", ""))})
	for want, o := range map[string]Options{
		"needs --urls":               {Format: Folder},
		"one address of all files":   {Format: Folder, URLs: "http://a.example/"},
		"none of {path}":             {Format: Folder, URLs: "http://a.example/{file}"},
		"no web address":             {Format: Folder, URLs: "{path}"},
		"--date is a day":            {Format: Mirror, Date: "June"},
		"are for --format folder":    {URLs: "http://a.example/{path}"},
		"is no folder":               {Format: Mirror, Paths: []string{dir + "/file"}},
		"name the manifest in it":    {Format: CSV},
		"holds no crawl.log":         {Format: Heritrix},
		"one of auto, warc, arc, he": {Format: "tar"},
		"is an archive or packed":    {Format: Heritrix, Paths: []string{dir + "/a.warc.gz"}},
	} {
		if o.Paths == nil {
			o.Paths = []string{dir}
		}
		refused(t, source.Places{}, o, ErrInput, want)
	}
}

// mustOpen opens a log of this machine at its beginning.
func mustOpen(t *testing.T, o Options) Log { return openAt(t, source.Places{}, o, Position{}) }

// openAt is a log that is open for as long as its test runs.
func openAt(t *testing.T, places source.Places, o Options, at Position) Log {
	t.Helper()
	log, err := Open(t.Context(), places, o, at)
	require.NoError(t, err)
	t.Cleanup(func() { _ = log.Close() })
	return log
}
