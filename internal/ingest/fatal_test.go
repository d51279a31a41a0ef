package ingest

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gleaner/internal/record/store"
)

// fatalLog ends whoever reads one of its resources.
type fatalLog struct {
	Log
	url string
}

func (f fatalLog) Next(ctx context.Context) (*Resource, error) {
	r, err := f.Log.Next(ctx)
	if err == nil && r.URL == f.url {
		r.Open = func() (io.ReadCloser, error) { panic("the end") }
	}
	return r, err
}

// attempt takes up an import, and ends as a killed worker does where the log says so.
func (s *shop) attempt(run Run, url string) (p Progress, killed bool) {
	s.t.Helper()
	w, err := s.begin(context.Background(), run)
	require.NoError(s.t, err)
	defer w.close()
	defer func() { killed = recover() != nil }()
	w.log = fatalLog{w.log, url}
	p, err = w.through(context.Background(), time.Hour, func(Progress) {})
	require.NoError(s.t, err)
	return p, false
}

// TestFatalResource: a resource that ends its worker is passed over by name once it has
// ended three, and those beside it are taken.
func TestFatalResource(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	var all [][]byte
	for i := range 6 {
		all = append(all, answer(fmt.Sprintf("http://a.example/%d.pdf", i), "", s.pdf(i)))
	}
	id, err := s.DB.AddJob(t.Context(), store.JobImport, Options{Paths: []string{s.write("crawl.warc.gz", bytes.Join(all, nil))}})
	require.NoError(t, err)
	run, kills := Run{id, 1}, 0
	const fatal = "http://a.example/3.pdf"
	for {
		p, killed := s.attempt(run, fatal)
		if !killed {
			require.True(t, p.Ended)
			break
		}
		kills++
		require.LessOrEqual(t, kills, 4, "one with others in hand, three with it alone")
	}
	c, by := s.finish(run)
	require.Equal(t, 5, c.SavedNew, "%v", by)
	require.Equal(t, 1, c.FailedTextExtract)
	require.Equal(t, Fatal, by[fatal].Detail)
	require.Contains(t, by[fatal].Difference, "3 workers")
}

// TestStoppedIsNotFatal: workers that are told to stop again and again, and say so, are
// held against no resource.
func TestStoppedIsNotFatal(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	id, err := s.DB.AddJob(t.Context(), store.JobImport, Options{Paths: []string{s.write("crawl.warc.gz", answer("http://a.example/1.pdf", "", s.pdf(1)))}})
	require.NoError(t, err)
	run := Run{id, 1}
	for range 6 {
		w, err := s.begin(t.Context(), run)
		require.NoError(t, err)
		stopped, stop := context.WithCancel(t.Context())
		stop()
		_, err = w.through(stopped, time.Hour, func(Progress) {})
		require.Error(t, err)
		w.leave(stopped)
		w.close()
	}
	c, by := s.finish(run)
	require.Equal(t, 1, c.SavedNew, "%v", by)
}

// TestTurn: whoever takes long to come to where it goes on stays longer, so that a log
// that has to be read from its beginning each time is not read a hundred times.
func TestTurn(t *testing.T) {
	t.Parallel()
	for opening, want := range map[time.Duration]time.Duration{time.Second: 10 * time.Minute, time.Minute: 10 * time.Minute, 10 * time.Minute: 100 * time.Minute, time.Hour: 5 * time.Hour} {
		require.Equal(t, want, turnOf(10*time.Minute, opening))
	}
}
