package ingest

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gleaner/internal/devstack/storetest"
	"gleaner/internal/each"
	"gleaner/internal/fetch"
	"gleaner/internal/guard"
	"gleaner/internal/ingest/source"
	"gleaner/internal/lab/sampleweb"
	"gleaner/internal/library/repository"
	"gleaner/internal/record/store"
)

// deadlyAsker ends whoever asks for a file.
type deadlyAsker struct {
	source.Asker
	name string
}

func (d deadlyAsker) Stream(ctx context.Context, req fetch.StreamRequest, use func(*fetch.Streamed) error) error {
	if strings.HasSuffix(req.URL, d.name) {
		panic("the end")
	}
	return d.Asker.Stream(ctx, req, use)
}

// survived takes up an import until an attempt comes to an end, and gives that and how
// many panicked, whose errors are tried again like any other.
func (s *shop) survived(run Run, most int) (panics int, err error) {
	s.t.Helper()
	for ; ; panics++ {
		_, err = s.Import(context.Background(), run, time.Hour, func(Progress) {})
		require.False(s.t, guard.Panicked(err))
		if err == nil || !strings.HasPrefix(err.Error(), "panic") {
			return panics, err
		}
		require.LessOrEqual(s.t, panics, most)
	}
}

// TestFatalArchive: an archive that ends its worker while it is opened is passed over by
// name, and what is before and behind it is taken.
func TestFatalArchive(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	one := func(i int) string { return string(answer(fmt.Sprintf("http://a.example/%d.pdf", i), "", s.pdf(i))) }
	web := &site{files: map[string]string{"/a.warc.gz": one(1) + one(2), "/bad.warc.gz": one(3), "/c.warc.gz": one(4), "/list.txt": "a.warc.gz\nbad.warc.gz\nc.warc.gz\n"}}
	at := web.serve(t)
	s.Places = source.Places{Asker: deadlyAsker{asker(t, nil), "/bad.warc.gz"}}
	run := s.addImport(Options{Paths: []string{at + "/list.txt"}})
	_, err := s.survived(run, 2*poisonLimit+1)
	require.NoError(t, err)
	c, by := s.finish(run)
	require.Equal(t, 3, c.SavedNew, "%v", by)
	require.Equal(t, map[string]int64{Damaged: 1}, c.Skipped)
	require.Equal(t, at+"/bad.warc.gz", by[""].Source)
	require.Contains(t, by[""].Difference, Fatal)
}

// TestFatalOpening: a log that ends its worker while it is opened ends its import.
func TestFatalOpening(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s.Places = source.Places{Asker: deadlyAsker{asker(t, nil), "/list.txt"}}
	run := s.addImport(Options{Paths: []string{(&site{}).serve(t) + "/list.txt"}})
	_, err := s.survived(run, poisonLimit+1)
	require.ErrorIs(t, err, ErrInput)
	require.ErrorContains(t, err, "3 workers ended")
}

// deadlyLog ends whoever reads one of its resources, unless that is passed over.
type deadlyLog struct {
	Log
	url    string
	always bool // also where it is not looked into
	opened bool // and not before
	why    *string
}

func (d deadlyLog) Pass(file, why string) {
	*d.why = why
	d.Log.Pass(file, why)
}

func (d deadlyLog) Next(ctx context.Context) (*Resource, error) {
	r, err := d.Log.Next(ctx)
	if err == nil && d.opened && r.URL == d.url {
		r.Open = func() (io.ReadCloser, error) { panic("the end") }
		return r, nil
	}
	if err == nil && (r.URL == d.url || strings.Contains(r.Detail, "line 3")) && (*d.why == "" || d.always) {
		panic("the end")
	}
	*d.why = ""
	return r, err
}

// reads takes up an import until an attempt comes to its end, and gives how many were
// killed by a resource while it was read.
func (s *shop) reads(run Run, log deadlyLog) (kills int) {
	s.t.Helper()
	once := func() (killed bool) {
		w, err := s.begin(context.Background(), run)
		require.NoError(s.t, err)
		defer w.close()
		defer func() { killed = recover() != nil }()
		log.Log, log.why = w.log, new(string)
		w.log = log
		require.NoError(s.t, w.through(context.Background(), time.Hour, func(Progress) {}))
		require.True(s.t, w.done.Ended)
		return false
	}
	for ; once(); kills++ {
		require.LessOrEqual(s.t, kills, 2*poisonLimit+1)
	}
	return kills
}

// TestFatalReading: a record that ends its worker before it is taken is passed over by
// itself, and not the one before it; where that does not help, the rest of its archive is.
func TestFatalReading(t *testing.T) {
	t.Parallel()
	for _, always := range []bool{false, true} {
		s := newShop(t)
		paths := []string{s.write("a.warc.gz", s.papers(4)), s.write("b.warc.gz", answer("http://b.example/5.pdf", "", s.pdf(5)))}
		run := s.addImport(Options{Paths: paths})
		const fatal = "http://a.example/2.pdf"
		kills := s.reads(run, deadlyLog{url: fatal, always: always})
		c, by := s.finish(run)
		require.Equal(t, SavedNew, by["http://a.example/1.pdf"].Outcome, "it did nothing")
		require.Equal(t, SavedNew, by["http://b.example/5.pdf"].Outcome)
		if !always {
			require.Equal(t, poisonLimit+1, kills, "one with others in hand, three with it alone")
			require.Equal(t, Fatal, by[fatal].Detail)
			require.Equal(t, SavedNew, by["http://a.example/3.pdf"].Outcome)
			continue
		}
		require.Equal(t, 2*poisonLimit+1, kills)
		require.Equal(t, map[string]int64{Damaged: 1}, c.Skipped)
		require.Equal(t, paths[0], by[""].Source)
		require.Equal(t, 3, c.SavedNew)
	}
}

// TestFatalLine: so it is with the lines of lists and the files of folders.
func TestFatalLine(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	files := map[string]string{"list.csv": "url,path\nhttp://a.example/0.pdf,0.pdf\nhttp://a.example/1.pdf,1.pdf\nhttp://a.example/2.pdf,2.pdf\n"}
	for i := range 3 {
		files[fmt.Sprintf("%d.pdf", i)] = s.pdf(i)
	}
	root := s.lay("files", files)
	for _, o := range []Options{{Paths: []string{root + "/list.csv"}, Format: CSV}, {Paths: []string{root}, Format: Folder, URLs: "http://a.example/{path}"}} {
		for _, always := range []bool{false, true} {
			run := s.addImport(o)
			s.reads(run, deadlyLog{url: "http://a.example/1.pdf", always: always})
			c, by := s.finish(run)
			require.EqualValues(t, 1, c.Differences)
			require.Contains(t, by["http://a.example/0.pdf"].Outcome, "saved", "%v", by)
			if always {
				require.Equal(t, Damaged+": "+Fatal+": 6 workers ended", by[""].Detail)
				require.NotContains(t, by, "http://a.example/2.pdf")
			} else {
				require.Contains(t, by["http://a.example/2.pdf"].Outcome, "saved", "%v", by)
			}
		}
	}
}

// TestWhatWasExaminedLaterIsSaid: what an import left to be examined, as a document over which
// a process died, is told apart once it is judged, in its record and in the import's counters,
// and lies where the import's documents are wanted.
func TestWhatWasExaminedLaterIsSaid(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	ctx := t.Context()
	path := s.write("a.warc.gz", slices.Concat(answer("http://a.example/1.pdf", "", s.pdf(1)), answer("http://a.example/2.pdf", "", s.pdf(2)),
		answer("http://a.example/hw.pdf", "", string(s.pile.File(3, sampleweb.AsSheet))),
		answer("http://a.example/two.zip", "", archived("a.pdf", s.pdf(4), "b.pdf", s.pdf(5)))))
	_, _ = s.imported(Options{Paths: []string{path}})
	storetest.Exec(t, s.DB.Pool, `UPDATE documents SET state='new', deaths=1 WHERE sha256 NOT IN (
		SELECT sha256 FROM import_records WHERE url LIKE '%2.pdf')`)
	to := filepath.Join(t.TempDir(), "to")
	run := s.addImport(Options{Paths: []string{path}, To: to})
	before, by := s.finish(run)
	require.EqualValues(t, 3, before.Unexamined)
	require.Equal(t, Unexamined, by["http://a.example/1.pdf"].Outcome)
	_, _, err := s.Coll.JudgeWaiting(ctx, store.Unexamined{}, func(int) {})
	require.NoError(t, err)
	storetest.Exec(t, s.DB.Pool, `UPDATE documents SET state='rejected', class='other' WHERE sha256=$1`, by["http://a.example/two.zip"].SHA256)
	left, err := s.DB.LeftDocuments(ctx, time.Now().Add(time.Hour))
	require.NoError(t, err)
	require.Equal(t, 1, left, "who looks after what waits has it settled")
	listed, err := s.DB.ExaminedLater(ctx, 0, 0, 10)
	require.NoError(t, err)
	const aim = `UPDATE jobs SET options=jsonb_set(options, '{to}', to_jsonb($2::text)) WHERE id=$1`
	storetest.Exec(t, s.DB.Pool, aim, run.Job, "/dev/null/no")
	s.Settle(ctx) // what it saved cannot be copied where it is wanted: that is done later
	storetest.Exec(t, s.DB.Pool, aim, run.Job, to)
	records, err := s.DB.ImportRecords(ctx, run.Job, 0, false, 10)
	require.NoError(t, err)
	require.Equal(t, Unexamined, records[0].Outcome)
	s.Settle(ctx)
	for _, w := range listed { // another listed them, too
		require.NoError(t, s.settleLate(ctx, w))
	}
	records, err = s.DB.ImportRecords(ctx, run.Job, 0, false, 10)
	require.NoError(t, err)
	said := each.Of(records, func(r store.ImportRecord) string { return r.Outcome + r.Difference })
	require.Equal(t, []string{SavedNew, SavedDuplicate, FilteredDCF, SavedNew}, said)
	job, err := s.DB.Job(ctx, run.Job)
	require.NoError(t, err)
	var after Counters
	require.NoError(t, json.Unmarshal(job.Counters, &after))
	require.Equal(t, before.All, after.All)
	require.Equal(t, []int64{0, 2, 1, 1, 0}, []int64{int64(after.Unexamined), int64(after.SavedNew), int64(after.SavedDuplicate), int64(after.FilteredDCF), after.Differences})
	there, err := repository.Open(ctx, to)
	require.NoError(t, err)
	defer there.Close()
	_, err = there.Read(ctx, records[0].SHA256)
	require.NoError(t, err)
}
