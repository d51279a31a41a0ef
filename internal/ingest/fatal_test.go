package ingest

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gleaner/internal/lab/packtest"
)

// TestFatalResource: a resource that ends its worker is passed over by name once it has
// ended three, and those beside it are taken.
func TestFatalResource(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	run := s.addImport(Options{Paths: []string{s.write("crawl.warc.gz", s.papers(6))}})
	const fatal = "http://a.example/3.pdf"
	kills := s.reads(run, deadlyLog{url: fatal, opened: true})
	require.LessOrEqual(t, kills, poisonLimit+1, "one with others in hand, three with it alone")
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
	run := s.addImport(Options{Paths: []string{s.write("crawl.warc.gz", answer("http://a.example/1.pdf", "", s.pdf(1)))}})
	for range 6 {
		w, err := s.begin(t.Context(), run)
		require.NoError(t, err)
		stopped, stop := context.WithCancel(t.Context())
		stop()
		require.Error(t, w.through(stopped, time.Hour, func(Progress) {}))
		w.leave(stopped, nil)
		w.close()
	}
	c, by := s.finish(run)
	require.Equal(t, 1, c.SavedNew, "%v", by)
}

// TestComesOnTowardsItsPlace: whoever has to unpack what is before the place where it goes
// on tells that it comes on, and is not taken for one that stands still.
func TestComesOnTowardsItsPlace(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	head := "WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: dns:a.example\r\nContent-Length: 8000000\r\n\r\n" + noise(8_000_000) + "\r\n\r\n"
	run := s.addImport(Options{Paths: []string{s.write("one.warc.gz", packtest.Gzip(head+head))}})
	w, err := s.begin(t.Context(), run)
	require.NoError(t, err)
	defer w.close()
	first, err := w.read(t.Context())
	require.NoError(t, err)
	require.NoError(t, w.take(t.Context(), first))
	second, err := w.read(t.Context())
	require.NoError(t, err)
	require.NoError(t, w.step(t.Context(), place{Position: second.At}))
	came := 0
	p, err := s.Import(t.Context(), run, 0, func(p Progress) {
		if p.Done == 1 {
			came++
		}
	})
	require.NoError(t, err)
	require.True(t, p.Ended)
	require.Greater(t, came, 50, "before the resource where it goes on")
}

// TestTurn: whoever takes long to come to where it goes on stays longer, so that a log
// that has to be read from its beginning each time is not read a hundred times.
func TestTurn(t *testing.T) {
	t.Parallel()
	for opening, want := range map[time.Duration]time.Duration{time.Second: 10 * time.Minute, time.Minute: 10 * time.Minute, 10 * time.Minute: 100 * time.Minute, time.Hour: 5 * time.Hour} {
		require.Equal(t, want, turnOf(10*time.Minute, opening))
	}
}
