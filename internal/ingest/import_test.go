package ingest

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha1"
	"encoding/base32"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/gzip"
	"github.com/stretchr/testify/require"

	"gleaner/internal/devstack/devtest"
	"gleaner/internal/devstack/storetest"
	"gleaner/internal/document"
	"gleaner/internal/document/documenttest"
	"gleaner/internal/ingest/source"
	"gleaner/internal/lab/sampleweb"
	"gleaner/internal/library/collection"
	"gleaner/internal/library/repository"
	"gleaner/internal/record/store"
)

func TestMain(m *testing.M) {
	document.MaybeRunChild()
	os.Exit(devtest.Main(m))
}

// shop is a record and a repository of a test's own.
type shop struct {
	*Importer
	t    testing.TB
	dir  string
	pile *sampleweb.Pile
}

func newShop(t testing.TB) *shop {
	ctx := context.Background()
	db, err := store.Open(ctx, devtest.Postgres(t), 8)
	require.NoError(t, err)
	dir := t.TempDir()
	repo, err := repository.Open(ctx, filepath.Join(dir, "blobs"))
	require.NoError(t, err)
	repo.BelongTo(db)
	t.Cleanup(func() { _ = repo.Close(); db.Close() })
	coll := collection.New(collection.Parts{DB: db, Repo: repo, Reader: documenttest.Shared(), Filter: document.NewFilter(document.Balanced)})
	return &shop{New(Parts{DB: db, Repo: repo, Coll: coll}), t, dir, sampleweb.NewPile(7)}
}

// record is one WARC record, a gzip member of its own.
func record(kind, url, media, more, block string) []byte {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	fmt.Fprintf(z, "WARC/1.1\r\nWARC-Type: %s\r\nWARC-Target-URI: %s\r\nContent-Type: %s\r\n%sWARC-Date: 2026-01-02T03:04:05Z\r\nContent-Length: %d\r\n\r\n%s\r\n\r\n", kind, url, media, more, len(block), block)
	_ = z.Close()
	return b.Bytes()
}

func answer(url, head, body string) []byte {
	return record("response", url, "application/http; msgtype=response", "", "HTTP/1.1 200 OK\r\n"+head+"\r\n"+body)
}

func dns(host string) []byte { return record("response", "dns:"+host, "text/dns", "", "x") }

// revisit is a record that says that the same was there before.
func revisit(url, more string) []byte {
	return record("revisit", url, "application/http; msgtype=response", more, "HTTP/1.1 200 OK\r\n\r\n")
}

// digest is the field of a record that tells the SHA-1 of its payload.
func digest(body string) string {
	sum := sha1.Sum([]byte(body))
	return "WARC-Payload-Digest: sha1:" + base32.StdEncoding.EncodeToString(sum[:]) + "\r\n"
}

// papers is an archive of so many papers.
func (s *shop) papers(n int) (archive []byte) {
	for i := range n {
		archive = append(archive, answer(fmt.Sprintf("http://a.example/%d.pdf", i), "", s.pdf(i))...)
	}
	return archive
}

const listing = `<html><title>Papers</title><ul><li>My paper of 2003 <a href="/papers/1.pdf">A paper, as PDF</a></ul>`

// crawl is an archive with each kind of outcome.
func (s *shop) crawl() []byte {
	file := func(i int, as sampleweb.Form) string { return string(s.pile.File(i, as)) }
	return bytes.Join([][]byte{
		record("warcinfo", "", "application/warc-fields", "", "software: a test\r\n"),
		dns("a.example"),
		answer("http://a.example/", "Content-Type: text/html\r\n", listing),
		answer("http://a.example/papers/1.pdf", "Content-Type: application/pdf\r\n", file(1, sampleweb.AsPDF)),
		answer("http://a.example/papers/2.ps.gz", "Content-Type: application/postscript\r\n", file(2, sampleweb.AsGzip)),
		record("metadata", "http://a.example/papers/2.ps.gz", "application/warc-fields", "", "via: http://a.example/list.html\r\nhopsFromSeed: LL\r\n"),
		answer("http://a.example/hw.pdf", "", file(3, sampleweb.AsSheet)),
		answer("http://a.example/scan.pdf", "", file(3, sampleweb.AsScan)),
		answer("http://a.example/wall.pdf", "", file(3, sampleweb.AsWall)),
		answer("http://a.example/empty.zip", "", "PK\x05\x06"+strings.Repeat("\x00", 18)),
		answer("http://a.example/papers/1.pdf", "", file(4, sampleweb.AsPDF)), // another version
		record("response", "http://a.example/gone.pdf", "application/http; msgtype=response", "", "HTTP/1.1 404 Not Found\r\n\r\n"),
		revisit("http://a.example/copy.pdf", "WARC-Profile: http://netpreserve.org/warc/1.1/revisit/identical-payload-digest\r\n"+
			"WARC-Refers-To-Target-URI: http://a.example/papers/1.pdf\r\n"+digest(s.pdf(1))),
		answer("http://bad.example/5.pdf", "", file(5, sampleweb.AsPDF)),
		record("resource", "http://a.example/6.pdf", "application/pdf", digest(s.pdf(6)), file(6, sampleweb.AsPDF)),
	}, nil)
}

func (s *shop) write(name string, data []byte) string {
	path := filepath.Join(s.dir, name)
	require.NoError(s.t, os.WriteFile(path, data, 0o600))
	return path
}

// imported runs a new import to its end, with its verification.
func (s *shop) imported(o Options) (Counters, map[string]store.ImportRecord) {
	s.t.Helper()
	return s.finish(s.addImport(o))
}

func (s *shop) finish(run Run) (Counters, map[string]store.ImportRecord) {
	s.t.Helper()
	ctx := context.Background()
	p, err := s.Import(ctx, run, time.Hour, func(Progress) {})
	require.NoError(s.t, err)
	require.True(s.t, p.Ended)
	c, err := s.Verify(ctx, run, 0, time.Hour, func(int64) {})
	require.NoError(s.t, err)
	require.NoError(s.t, s.DB.EndJob(ctx, run.Job, run.Run, store.JobEnded, ""))
	all, err := s.DB.ImportRecords(ctx, run.Job, 0, false, 100000)
	require.NoError(s.t, err)
	by := map[string]store.ImportRecord{}
	for i, r := range all {
		require.EqualValues(s.t, i+1, r.N, "each resource is there once")
		key := r.URL
		if _, is := by[key]; is {
			key += " again"
		}
		by[key] = r
	}
	require.EqualValues(s.t, p.Done, len(all))
	return c.Counters, by
}

// TestVerifyMissesResources: a resource that left the record is a difference.
func TestVerifyMissesResources(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	path := s.write("crawl.warc.gz", answer("http://a.example/", "", "<p>a page"))
	run := s.addImport(Options{Paths: []string{path}})
	_, err := s.Import(t.Context(), run, time.Hour, func(Progress) {})
	require.NoError(t, err)
	for want, sql := range []string{`UPDATE import_records SET n=n`, `DELETE FROM import_records`} {
		storetest.Exec(t, s.DB.Pool, sql)
		c, err := s.Verify(t.Context(), run, 0, time.Hour, func(int64) {})
		require.NoError(t, err)
		require.EqualValues(t, want, c.Differences, sql)
	}
}

// TestOutcomes: every resource of an archive comes to a named outcome, the counters
// are CDI's, and documents lie in the record with what the log says of them.
func TestOutcomes(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	require.NoError(t, s.DB.Block(t.Context(), []store.Blocked{{Host: "blocked.example"}}))
	path := s.write("crawl.warc.gz", s.crawl())
	c, by := s.imported(Options{Paths: []string{path}, Blacklist: []string{"bad.example"}})
	for url, want := range map[string]string{
		"dns:a.example": Skipped, "http://a.example/": FilteredMTF, "http://a.example/papers/1.pdf": SavedNew, "http://a.example/papers/2.ps.gz": SavedNew,
		"http://a.example/hw.pdf": FilteredDCF, "http://a.example/scan.pdf": FailedTextExtract, "http://a.example/wall.pdf": FilteredMTF, "http://a.example/empty.zip": FailedPDFNotFound,
		"http://a.example/papers/1.pdf again": SavedDuplicate, "http://a.example/gone.pdf": Skipped, "http://a.example/copy.pdf": SavedNew, "http://bad.example/5.pdf": Skipped,
		"http://a.example/6.pdf": SavedNew,
	} {
		require.Equal(t, want, by[url].Outcome, "%s: %+v", url, by[url])
	}
	require.Equal(t, store.Counters{All: 10, SavedNew: 4, SavedDuplicate: 1, Filtered: 3, FilteredMTF: 2, FilteredDCF: 1, FailedTextExtract: 1, FailedPDFNotFound: 1}, c.Counters)
	require.Equal(t, map[string]int64{"dns": 1, "status 404": 1, Blacklisted: 1}, c.Skipped)
	require.EqualValues(t, 0, c.Differences)
	require.Equal(t, c.Total, c.Read)

	_, places, err := s.DB.Document(t.Context(), by["http://a.example/papers/1.pdf"].SHA256)
	require.NoError(t, err)
	require.Len(t, places, 2, "and the copy of which the archive only says that it was the same")
	for _, l := range places {
		if l.URL == "http://a.example/papers/1.pdf" {
			require.Equal(t, "http://a.example/", l.Parent, "the page in the archive that links to it")
			require.Equal(t, "A paper, as PDF", l.Anchor)
			require.False(t, l.Current, "another version came after it")
			require.Equal(t, 2026, l.Found.Year())
		}
	}
	require.Equal(t, "http://a.example/list.html", s.place(by["http://a.example/papers/2.ps.gz"].SHA256).Parent, "as the crawler's metadata says")

	// Imported again everything is there already.
	c, by = s.imported(Options{Paths: []string{path}, Blacklist: []string{"bad.example"}})
	require.Equal(t, store.Counters{All: 10, SavedDuplicate: 5, Filtered: 3, FilteredMTF: 2, FilteredDCF: 1, FailedTextExtract: 1, FailedPDFNotFound: 1}, c.Counters)
	require.True(t, by["http://a.example/copy.pdf"].Known)
}

// TestSwitches: filter, record, types and folder do what they say.
func TestSwitches(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	ctx := t.Context()
	path := s.write("crawl.warc.gz", bytes.Join([][]byte{
		revisit("http://a.example/8.pdf", digest(s.pdf(8))),
		s.crawl(),
		answer("http://a.example/copies/8.pdf", "", s.pdf(8)),
		answer("http://a.example/7.html", "Content-Type: text/html\r\n", string(s.pile.File(7, sampleweb.AsHTML))),
	}, nil))
	to := filepath.Join(s.dir, "out")
	trial, by := s.imported(Options{Paths: []string{path}, Unrecorded: true, To: to})
	docs, err := s.DB.FindDocuments(ctx, store.DocumentQuery{})
	require.NoError(t, err)
	require.Empty(t, docs, "nothing is on record")
	out, err := repository.Open(ctx, to)
	require.NoError(t, err)
	_, err = out.Read(ctx, by["http://a.example/6.pdf"].SHA256)
	require.NoError(t, err)
	require.NoError(t, out.Close())

	c, _ := s.imported(Options{Paths: []string{path}})
	require.Equal(t, c, trial, "a trial counts what the import does")
	require.Equal(t, SavedNew, by["http://a.example/7.html"].Outcome)
	require.Equal(t, 2, c.SavedDuplicate, "%v", by)

	c, by = s.imported(Options{Paths: []string{path}, Unfiltered: true, Types: []string{"pdf"}})
	require.Equal(t, SavedNew, by["http://a.example/hw.pdf"].Outcome, "kept unread")
	require.Equal(t, FilteredMTF, by["http://a.example/papers/2.ps.gz"].Outcome, "no PDF")
	require.Equal(t, 4, c.FilteredMTF-1, "the pages, the PostScript, the archive and the wall: %+v", c)

	_, err = s.Import(ctx, Run{99, 1}, time.Hour, func(Progress) {})
	require.ErrorIs(t, err, store.ErrJobOver)
	for _, o := range []Options{{}, {Paths: []string{path}, Format: "tar"}, {Paths: []string{path}, Types: []string{"exe"}}, {Paths: []string{filepath.Join(s.dir, "none")}}, {Paths: []string{t.TempDir()}}} {
		refused(t, source.Places{}, o, ErrInput, "")
	}
}

// TestATrialReadsItsRecordsUntilItHasEnough, which each of its slices does anew.
func TestATrialReadsItsRecordsUntilItHasEnough(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	storetest.Exec(t, s.DB.Pool, `INSERT INTO import_records (job, n, url, kind, outcome)
		SELECT 1, n, 'http://a.example/' || n, 'pdf', 'saved-new' FROM generate_series(1, 3500) n`)
	for enough, want := range map[int]int{1: 1000, 1500: 2000, mostVerdicts: 3500} {
		got, err := newTrial(t.Context(), s.DB.JobRecords, 1, enough)
		require.NoError(t, err)
		require.Equal(t, want, len(got), "not shown whole")
	}
}

// TestDamaged: a file that is cut off, one that is none, and a whole one: each has
// its outcome, and the import goes on. Where no file is an archive it fails.
func TestDamaged(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	whole := s.crawl()
	dir := s.lay("warcs", map[string]string{"1.warc.gz": string(whole[:len(whole)-3000]), "2.warc.gz": "<html>no archive",
		"3.warc.gz": string(answer("http://c.example/7.pdf", "", s.pdf(7))), "notes.txt": "not looked at"})
	c, by := s.imported(Options{Paths: []string{dir}})
	require.Equal(t, SavedNew, by["http://c.example/7.pdf"].Outcome)
	require.Equal(t, map[string]int64{"dns": 1, "status 404": 1, Damaged: 1, NoArchive: 1}, c.Skipped)
	require.Equal(t, 1, c.FailedFileNotFound, "the last document is cut off")
	require.EqualValues(t, 3, c.Differences)

	_, err := s.Import(t.Context(), s.addImport(Options{Paths: []string{s.write("list.csv", []byte("path,url\n"))}}), time.Hour, func(Progress) {})
	require.ErrorIs(t, err, ErrInput, "nothing that it names is an archive")
	require.ErrorContains(t, err, "list.csv: neither a WARC nor an ARC file; if it is something else, --format names it: heritrix, mirror, folder, csv; a document alone")
	alone := []string{s.write("alone.pdf", s.pile.File(8, sampleweb.AsPDF))}
	_, by = s.imported(Options{Paths: alone, Format: Folder, URLs: "http://d.example/{path}"})
	require.Equal(t, SavedNew, by["http://d.example/alone.pdf"].Outcome)
}

// TestOneFormat: an archive of another format than the one that was named is not read,
// and said.
func TestOneFormat(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	logs := s.logs()
	paths := append(logs["warc"].Paths, logs["arc"].Paths...)
	s.write("empty.arc.gz", nil)
	for format, other := range map[string]string{WARC: "an archive of another format: ARC, and --format is warc", ARC: "an archive of another format: WARC, and --format is arc"} {
		all, _ := read(t, Options{Format: format, Paths: append(paths, filepath.Join(s.dir, "empty.arc.gz"))}, Position{})
		var said []string
		for _, r := range all {
			if r.Skip != "" {
				said = append(said, r.Skip+": "+r.Detail)
			}
		}
		require.Len(t, all, 6)
		require.Equal(t, []string{NoArchive + ": " + other, NoResource + ": "}, said)
	}
	for want, o := range map[string]Options{"needs --urls": {Format: Folder, Paths: []string{s.dir}}, "a web server lists no files": {Format: Folder, Paths: []string{"https://a.example/x"}, URLs: "http://{path}"},
		"rclone": {Paths: []string{"ftp://ftp.example.edu/pub/x.warc.gz"}}} {
		err := o.Check()
		require.ErrorIs(t, err, ErrInput)
		require.ErrorContains(t, err, want)
	}
}

// errStop ends an import in the middle.
var errStop = errors.New("stopped")

// TestGoesOn stops an import before each of its resources, and after each thing that
// a step does: what it comes to is what an undisturbed one does.
func TestGoesOn(t *testing.T) {
	t.Parallel()
	want := newShop(t)
	data := want.crawl()
	o := Options{Paths: []string{want.write("crawl.warc.gz", data), want.write("cut.warc.gz", data[:len(data)-3000])}}
	wantC, wantBy := want.imported(o)
	s := newShop(t)
	run := s.addImport(o)
	for stops := 1; ; stops++ {
		w, err := s.begin(t.Context(), run)
		require.NoError(t, err)
		if w.done.Ended {
			break
		}
		err = w.disturbed(t.Context(), stops)
		w.close()
		if !errors.Is(err, errStop) {
			require.NoError(t, err)
		}
	}
	c, by := s.finish(run)
	require.Equal(t, wantC, c)
	require.Equal(t, wantBy, by)
}

// disturbed takes a few resources, keeps them and judges them, writes down the first
// ones alone, and stops.
func (w *work) disturbed(ctx context.Context, n int) error {
	for i := 0; ; i++ {
		r, err := w.log.Next(ctx)
		if err != nil {
			return w.step(ctx, place{End: true})
		}
		if i == n%4+1 || w.full(r) {
			err := errors.Join(w.beginDocuments(ctx, w.items), w.settle(ctx, w.items, &store.ImportStep{}))
			if err != nil || n%3 == 0 {
				return cmp.Or(err, errStop) // everything is stored, and nothing written down
			}
			if err := w.step(ctx, place{Position: r.At}); err != nil {
				return err
			}
			return errStop
		}
		if err := w.take(ctx, r); err != nil {
			return err
		}
	}
}

// TestTwoAttempts: of two attempts at once, as when one was only thought dead, one
// goes on, and nothing counts twice.
func TestTwoAttempts(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	ctx := t.Context()
	run := s.addImport(Options{Paths: []string{s.write("crawl.warc.gz", s.crawl())}})
	late, err := s.begin(ctx, run)
	require.NoError(t, err)
	defer late.close()
	r := next(t, late.log)
	require.NoError(t, late.take(ctx, r))
	p, err := s.Import(ctx, run, time.Hour, func(Progress) {})
	require.NoError(t, err)
	require.ErrorIs(t, late.step(ctx, place{Position: r.At}), store.ErrJobMoved)
	again, err := s.Import(ctx, run, time.Hour, func(Progress) {})
	require.NoError(t, err)
	require.Equal(t, p, again)
}

// addImport puts an import on record and returns its job.
func (s *shop) addImport(o Options) Run {
	s.t.Helper()
	id, err := s.DB.AddJob(s.t.Context(), store.JobImport, o)
	require.NoError(s.t, err)
	return Run{id, 1}
}
