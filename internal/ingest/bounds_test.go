package ingest

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gleaner/internal/ingest/source"
	"gleaner/internal/lab/sampleweb"
)

// TestOutOfRange: a date or a depth that the record cannot hold is none, and neither stops the
// import nor keeps its lines from being shown. Bad lines without end do not fill the record.
func TestOutOfRange(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	rows := "url,path,depth,date\n" + strings.Repeat("bad\n", 2*freeResources)
	for i, more := range []string{"99999999999,", "2,9999-12-31T23:59:59-12:00", "2,0000-01-01T00:00:00+14:00", "2,2005-06-30"} {
		rows += fmt.Sprintf("http://a.example/%d.pdf,%d.pdf,%s\n", i, i, more)
	}
	root := s.lay("list", map[string]string{"list.csv": rows, "0.pdf": s.pdf(0), "1.pdf": s.pdf(1), "2.pdf": s.pdf(2), "3.pdf": s.pdf(3)})
	c, by := s.imported(Options{Paths: []string{filepath.Join(root, "list.csv")}, Format: CSV})
	require.Equal(t, 3, c.SavedNew, "%v", by)
	require.Equal(t, map[string]int64{BadLine: freeResources}, c.Skipped)
	require.Nil(t, by["http://a.example/1.pdf"].Crawled)
	require.Nil(t, by["http://a.example/2.pdf"].Crawled)
	require.NotNil(t, by["http://a.example/3.pdf"].Crawled)
	_, err := json.Marshal(by)
	require.NoError(t, err)
}

// TestAListGivesWay behind lines that say nothing, and is gone on with there.
func TestAListGivesWay(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	head := "url,path\n" + strings.Repeat("bad\n", freeResources+1)
	root := s.lay("list", map[string]string{"list.csv": head + "bad\nhttp://a.example/0.pdf,0.pdf\n", "0.pdf": s.pdf(0)})
	o := Options{Paths: []string{filepath.Join(root, "list.csv")}, Format: CSV}
	log := mustOpen(t, o)
	log.Watch(func(context.Context, string) error { return nil }, func() bool { return true })
	for range freeResources {
		require.Equal(t, BadLine, next(t, log).Skip)
	}
	r := next(t, log)
	require.EqualValues(t, nothingYet, r.Skip)
	require.EqualValues(t, len(head), r.At.Offset)
	r = next(t, openAt(t, source.Places{}, o, r.At))
	require.Equal(t, fmt.Sprintf("line %d: ", freeResources+3), r.Detail[:len("line 1003: ")])
}

// TestAFileIsReadOnce, however many lines of a list name it.
func TestAFileIsReadOnce(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	html := string(s.pile.File(7, sampleweb.AsHTML))
	files := map[string]string{"1.pdf": s.pdf(1), "7.html": html, "0.html": listing, "0.gif": "GIF89a"}
	rows := "url,path\n"
	for name := range files {
		rows += fmt.Sprintf("http://a.example/%s,%s\nhttp://b.example/%s,%s\n", name, name, name, name)
	}
	files["list.csv"] = rows
	o := Options{Paths: []string{filepath.Join(s.lay("list", files), "list.csv")}, Format: CSV}
	for range 2 {
		w, err := s.begin(t.Context(), s.addImport(o))
		require.NoError(t, err)
		for i := range 2 * (len(files) - 1) {
			r, err := w.read(t.Context())
			require.NoError(t, err)
			require.NoError(t, w.take(t.Context(), r))
			require.Equal(t, i%2 == 1, r.Again, r.URL)
		}
		w.close()
		c, by := s.imported(o)
		require.Equal(t, 4, c.SavedNew+c.SavedDuplicate, "%v", by)
		require.Equal(t, 4, c.FilteredMTF, "%v", by)
	}
}

// TestLongLines: what is held of a list is bounded by what its lines hold, and not by
// what is understood of them; nor does what is noted of a line repeat all of it.
func TestLongLines(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	long := strings.Repeat("\x01", maxLine-1000)
	rows := "url,path,date,notes\n" + "http://a.example/a.pdf,a.pdf," + long + ",\n" + "http://a.example/b.pdf," + long + ",,\n"
	for i := range 100 {
		rows += fmt.Sprintf("http://a.example/%d.pdf,%d.pdf,,%s\n", i, i, long)
	}
	root := s.lay("list", map[string]string{"list.csv": rows})
	run := s.addImport(Options{Paths: []string{filepath.Join(root, "list.csv")}, Format: CSV})
	steps := 0
	p, err := s.Import(t.Context(), run, time.Hour, func(Progress) { steps++ })
	require.NoError(t, err)
	require.EqualValues(t, 102, p.Done)
	require.GreaterOrEqual(t, steps, 102*maxLine/stepBytes-1, "each step holds a few lines")
	all, err := s.DB.ImportRecords(t.Context(), run.Job, 0, false, 1000)
	require.NoError(t, err)
	for _, r := range all {
		require.Less(t, len(r.Detail)+len(r.Difference), 4000, r.URL)
	}
}

// TestArchiveOfAnyName: an import goes on in an archive whose name is no UTF-8.
func TestArchiveOfAnyName(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	twice := append(answer("http://a.example/1.pdf", "", s.pdf(1)), answer("http://a.example/1.pdf", "", s.pdf(2))...)
	root := s.lay("crawl", map[string]string{"a\xff.warc": string(twice), "a\xfe.warc": string(twice)})
	run := s.addImport(Options{Paths: []string{root}})
	for i := 0; ; i++ {
		p, err := s.Import(t.Context(), run, 0, func(Progress) {})
		require.NoError(t, err)
		require.Less(t, i, 10)
		if p.Ended {
			require.EqualValues(t, 4, p.Done)
			return
		}
	}
}

// TestLineWithoutEnd: whoever is told to stop does so within a line, however long it is.
func TestLineWithoutEnd(t *testing.T) {
	t.Parallel()
	path := written(t, crawlLog, nil)
	require.NoError(t, os.Truncate(path, 1<<40)) // of which the disk holds nothing
	for _, format := range []string{Heritrix, CSV} {
		log := mustOpen(t, Options{Paths: []string{path}, Format: format})
		ctx, stop := context.WithTimeout(t.Context(), 200*time.Millisecond)
		_, err := log.Next(ctx)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		stop()
	}
}
