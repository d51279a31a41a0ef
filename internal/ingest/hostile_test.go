package ingest

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/require"

	"gleaner/internal/devstack/storetest"
	"gleaner/internal/ingest/source"
	"gleaner/internal/lab/growthtest"
	"gleaner/internal/lab/packtest"
	"gleaner/internal/record/store"
)

// bomb is a zstd frame of a few bytes that is a record of many blocks.
func bomb(blocks int) []byte {
	const block = 128 << 10
	frame := []byte{0x28, 0xb5, 0x2f, 0xfd, 0, 7 << 3}
	add := func(kind, size int, data string) {
		frame = append(binary.LittleEndian.AppendUint32(frame, uint32(kind<<1|size<<3))[:len(frame)+3], data...)
	}
	head := fmt.Sprintf("WARC/1.0\r\nWARC-Type: warcinfo\r\nContent-Length: %d\r\n\r\n", blocks*block)
	add(0, len(head), head)
	for range blocks {
		add(1, block, "x")
	}
	frame[len(frame)-4] |= 1 // the last
	return frame
}

// TestWhatUnpacksToTooMuchIsDamaged: the rest of the archive is read.
func TestWhatUnpacksToTooMuchIsDamaged(t *testing.T) {
	t.Parallel()
	z, err := zstd.NewWriter(nil)
	require.NoError(t, err)
	path := written(t, "bomb.warc.zst", z.EncodeAll([]byte(plainRecord("http://a.test/1", "", "1")), bomb(1<<10)))
	got, _ := resources(t, path, Position{}, false)
	require.Equal(t, []string{Damaged, "/1 read"}, got)
}

// TestBombIsLeft: a few bytes, read at once, that unpack to a record of a gigabyte are left
// when the import is to stop.
func TestBombIsLeft(t *testing.T) {
	t.Parallel()
	log := mustOpen(t, Options{Paths: []string{written(t, "bomb.warc.zst", bomb(8<<10))}})
	r, err := log.Next(&growthtest.Ending{Context: t.Context(), Looks: 100})
	require.ErrorIs(t, err, context.Canceled)
	require.Nil(t, r, "and nothing is wrong with the archive")
}

// TestAnArchiveGivesWhatItHolds: a few bytes that unpack to resources without end give no more
// than a crawl's bytes do, and the rest of the file is passed over by name.
func TestAnArchiveGivesWhatItHolds(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	var log bytes.Buffer
	const records = 8 * freeResources
	for i := range records {
		fmt.Fprintf(&log, "WARC/1.0\r\nWARC-Type: resource\r\nWARC-Target-URI: dns:%d\r\nContent-Length: 0\r\n\r\n\r\n\r\n", i)
	}
	z, err := zstd.NewWriter(nil)
	require.NoError(t, err)
	packed := z.EncodeAll(log.Bytes(), nil)
	most := 2*len(packed)/packedResource + packedResource + 4 // its rest and the other file
	require.Less(t, most, records/2)
	c, by := s.imported(Options{Paths: []string{s.write("a.warc.zst", packed), s.write("b.warc.gz", dns("b.example"))}})
	require.LessOrEqual(t, len(by), most)
	require.Equal(t, map[string]int64{"dns": int64(len(by) - 1), Damaged: 1}, c.Skipped)
	require.Contains(t, by, "dns:b.example")
}

// TestAnArchiveUnpacksToWhatItHolds: a few bytes that unpack to documents, and pages
// without end have no more read or stored than a crawl's bytes do; the rest is too large by name.
func TestAnArchiveUnpacksToWhatItHolds(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s.Cores = 1
	const each = 9 << 20
	pdf := "%PDF-1.4\n" + strings.Repeat(" ", each)
	zip := string(packtest.Zip("a.pdf", pdf, "b.pdf", "%PDF-1.5\n"))
	for name, body := range map[string]string{"pdf": pdf, "html": "<html>" + strings.Repeat(" ", each), "zip": zip} {
		var packed bytes.Buffer
		z := brotli.NewWriter(&packed)
		_, _ = z.Write([]byte(body))
		require.NoError(t, z.Close())
		var log []byte
		for i := range 10 {
			url := fmt.Sprintf("http://a.example/%d.%s", i, name)
			log = append(log, answer(url, "Content-Encoding: br\r\n", packed.String())...)
		}
		c, by := s.imported(Options{Paths: []string{s.write(name+".warc.gz", log)}})
		require.Equal(t, 10, c.All)
		left := 0
		for _, r := range by {
			if r.Detail == errTooMuch.Error() {
				left++
				require.Empty(t, r.SHA256)
				require.Equal(t, FailedTextExtract, r.Outcome)
			}
		}
		require.InDelta(t, 10-(freeUnpacked+unpackedRatio*len(log))/each, left, 1, "%s: %v", name, by)
	}
}

// TestATurnEndsWithoutResources: an archive of requests alone, or of notes, is left when a turn
// is over, and gone on with there.
func TestATurnEndsWithoutResources(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	var log []byte
	for range 3 {
		log = append(log, record("request", "http://a.example/", "", "", "x")...)
	}
	run := s.addImport(Options{Paths: []string{s.write("a.warc.gz", append(log, dns("a.example")...))}})
	var at []int64
	var c Counters
	for ended := false; !ended; {
		w, err := s.begin(t.Context(), run)
		require.NoError(t, err)
		at, w.turn = append(at, w.from.Offset), 1
		require.NoError(t, w.through(t.Context(), 1, func(Progress) {}))
		w.close()
		c, ended = w.done.Counters, w.done.Ended
		require.Less(t, len(at), 10)
	}
	one := int64(len(log) / 3)
	require.Equal(t, []int64{0, one, 2 * one}, at, "each turn came on by a record")
	require.Equal(t, map[string]int64{"dns": 1}, c.Skipped)
}

// TestWhatIsNoFile: what has no end, or none yet, is not read; links are followed.
func TestWhatIsNoFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	pipe := filepath.Join(dir, "pipe.warc")
	require.NoError(t, syscall.Mkfifo(pipe, 0o600))
	for _, path := range []string{pipe, "/dev/zero", dir} {
		refused(t, source.Places{}, Options{Paths: []string{path}}, ErrInput, "")
	}
	real := filepath.Join(dir, "real")
	require.NoError(t, os.Mkdir(real, 0o700))
	require.NoError(t, os.Symlink(written(t, "kept-elsewhere", dns("a.example")), filepath.Join(real, "a.warc.gz")))
	folder := filepath.Join(dir, "link")
	require.NoError(t, os.Symlink(real, folder))
	require.Equal(t, "dns:a.example", next(t, mustOpen(t, Options{Paths: []string{folder}})).URL)
	require.NoError(t, os.Symlink(filepath.Join(dir, "nowhere"), filepath.Join(real, "b.warc.gz")))
	refused(t, source.Places{}, Options{Paths: []string{folder}}, ErrInput, "") // a link that leads nowhere
}

// TestBecameAPipe: an archive or a list that is another thing by the time it is read is
// not waited for.
func TestBecameAPipe(t *testing.T) {
	t.Parallel()
	for format, name := range map[string]string{Auto: "a.warc", CSV: "list.csv"} {
		path := written(t, name, nil)
		log := mustOpen(t, Options{Paths: []string{path}, Format: format})
		require.NoError(t, os.Remove(path))
		require.NoError(t, syscall.Mkfifo(path, 0o600))
		told := make(chan error, 1)
		go func() {
			r, err := log.Next(t.Context())
			if r != nil { // one archive of many
				err = fmt.Errorf("%w: %s", ErrInput, r.Detail)
			}
			told <- err
		}()
		select {
		case err := <-told:
			require.ErrorIs(t, err, ErrInput)
			require.ErrorContains(t, err, source.ErrNoFile.Error())
		case <-time.After(20 * time.Second):
			t.Errorf("%s: a pipe is waited for", name)
			writer, err := os.OpenFile(path, os.O_RDWR, 0) // so that the other ends
			require.NoError(t, err)
			defer writer.Close()
			<-told
		}
	}
}

// TestDeepFolders: a folder whose paths are longer than the system takes ends the import
// with a reason: nobody will come to its end.
func TestDeepFolders(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	root, err := os.OpenRoot(dir)
	require.NoError(t, err)
	name := strings.Repeat("x", 250)
	for range 20 {
		require.NoError(t, root.Mkdir(name, 0o700))
		below, err := root.OpenRoot(name)
		require.NoError(t, err)
		require.NoError(t, root.Close())
		root = below
	}
	require.NoError(t, root.Close())
	refused(t, source.Places{}, Options{Paths: []string{dir}}, ErrInput, "too long")
}

// TestLogWithoutLines: whoever is told to stop does so within a line of the crawl.log
// beside an archive, however long that is.
func TestLogWithoutLines(t *testing.T) {
	t.Parallel()
	dir := lay(t, t.TempDir(), map[string]string{crawlLog: "", "a.warc.gz": string(dns("a.example"))})
	require.NoError(t, os.Truncate(filepath.Join(dir, crawlLog), 1<<40)) // of which the disk holds nothing
	log := mustOpen(t, Options{Paths: []string{dir}})
	ctx, stop := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer stop()
	_, err := log.Next(ctx)
	require.ErrorIs(t, err, context.DeadlineExceeded)
}

// TestBecameShorter: an archive that is shorter than where its import was is damaged,
// and not at its end.
func TestBecameShorter(t *testing.T) {
	t.Parallel()
	path := written(t, "a.warc.gz", bytes.Repeat(dns("a.example"), 2))
	o := Options{Paths: []string{path}}
	all, _ := read(t, o, Position{})
	require.NoError(t, os.WriteFile(path, dns("a.example"), 0o600))
	all, _ = read(t, o, all[1].At)
	require.Len(t, all, 1)
	require.Equal(t, Damaged, all[0].Skip)
}

// TestHostileHeads: addresses of a megabyte, headers of nothing but names and statuses
// that nobody knows fill neither memory nor the counters.
func TestHostileHeads(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	var log []byte
	const each = 50
	var names strings.Builder
	for i := range 20_000 {
		fmt.Fprintf(&names, "%x:\r\n", i)
	}
	for i := range each {
		log = append(log, record("response", fmt.Sprintf("http://a.example/%d%s", i, strings.Repeat("x", 900<<10)), "text/html", "", "x")...)
		log = append(log, answer(fmt.Sprintf("http://a.example/%d", i), names.String(), "nothing")...)
		log = append(log, record("response", fmt.Sprintf("http://b.example/%d", i), "application/http", "", fmt.Sprintf("HTTP/1.1 %d OK\r\n\r\n", 1000+i))...)
	}
	path := s.write("hostile.warc.gz", log)
	run := s.addImport(Options{Paths: []string{path}})
	steps := map[int64]bool{}
	p, err := s.Import(t.Context(), run, time.Hour, func(p Progress) { steps[p.Done] = true })
	require.NoError(t, err)
	require.GreaterOrEqual(t, len(steps), 3, "the first, and of 150 MB, at most 32 MiB at a time")
	require.Equal(t, map[string]int64{NoWeb: each, NoAnswer: each}, p.Counters.Skipped)
	require.Equal(t, each, p.Counters.All)
	all, err := s.DB.ImportRecords(t.Context(), run.Job, 0, false, 1)
	require.NoError(t, err)
	require.Len(t, all[0].URL, maxURL)
}

// TestManyLinks: of pages that hold nothing but links, of which each takes a hundred times
// as much as its bytes, no more is held than a few at a time, and put on record than a crawl's bytes have.
func TestManyLinks(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	const pages = 12
	var log []byte
	for i := range pages {
		var body strings.Builder
		for k := range maxFiles + 500 {
			fmt.Fprintf(&body, "<a href=%d.pdf>", k)
		}
		log = append(log, answer(fmt.Sprintf("http://a.example/%d/", i), "Content-Type: text/html\r\n", "<html>"+body.String())...)
	}
	run := s.addImport(Options{Paths: []string{s.write("links.warc.gz", log)}})
	w, err := s.begin(t.Context(), run)
	require.NoError(t, err)
	defer w.close()
	for range pages {
		r, err := w.read(t.Context())
		require.NoError(t, err)
		require.NoError(t, w.take(t.Context(), r))
	}
	require.NoError(t, w.readPages(t.Context(), w.items))
	for _, it := range w.items {
		require.Empty(t, it.page.Links)
	}
	require.Len(t, w.items[0].files, maxFiles)
	require.NoError(t, w.step(t.Context(), place{End: true}))
	links := storetest.Get[int](t, s.DB.Pool, `SELECT count(*) FROM links`)
	require.InDelta(t, freeResources+len(log)/packedResource, links, 1)
	require.Less(t, links, pages*maxFiles/2)
}

// TestPanicOverOne: what makes a reader panic has an outcome, and the import goes on.
func TestPanicOverOne(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	ctx := t.Context()
	path := s.write("a.warc.gz", append(answer("http://a.example/1.pdf", "", s.pdf(1)), answer("http://a.example/2.pdf", "", s.pdf(2))...))
	run := s.addImport(Options{Paths: []string{path}})
	w, err := s.begin(ctx, run)
	require.NoError(t, err)
	defer w.close()
	for range 2 {
		require.NoError(t, w.take(ctx, next(t, w.log)))
	}
	require.NoError(t, w.each(ctx, w.items, func(_ context.Context, it *item) error {
		if it.N == 1 {
			panic("what nobody thought of")
		}
		return nil
	}))
	require.NoError(t, w.step(ctx, place{End: true}))
	c, by := s.finish(run)
	require.Equal(t, store.Counters{All: 2, SavedNew: 1, FailedTextExtract: 1}, c.Counters)
	require.Equal(t, "panic: what nobody thought of", by["http://a.example/1.pdf"].Difference)
}
