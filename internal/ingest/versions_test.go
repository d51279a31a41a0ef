package ingest

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gleaner/internal/devstack/storetest"
	"gleaner/internal/record/store"
)

// TestOlderThanTheRecord: what a crawler got years ago is on record, and takes neither
// the place of what was found there since, nor is it there again where it is gone.
func TestOlderThanTheRecord(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	const url = "http://a.example/1.pdf"
	got := func(date string, i int) map[string]store.ImportRecord {
		t.Helper()
		old := record("resource", url, "application/pdf", "WARC-Date: "+date+"\r\n", s.pdf(i))
		_, by := s.imported(Options{Paths: []string{s.write(date[:4]+".warc.gz", old)}})
		require.True(t, strings.HasPrefix(by[url].Outcome, "saved"))
		return by
	}
	seen := func(sha string) time.Time {
		return storetest.Get[time.Time](t, s.DB.Pool, `SELECT seen_at FROM locations WHERE sha256=$1`, sha)
	}
	newer := got("2024-05-06T07:08:09Z", 1)[url].SHA256
	older := got("2014-05-06T07:08:09Z", 2)[url].SHA256
	require.True(t, s.place(newer).Current, "what was there ten years before takes nobody's place")
	require.False(t, s.place(older).Current)
	got("2012-05-06T07:08:09Z", 1)
	require.Equal(t, 2024, seen(newer).Year(), "when it was seen last")
	future := got("2999-05-06T07:08:09Z", 2)
	require.Equal(t, older, future[url].SHA256)
	require.True(t, s.place(older).Current, "it came back")
	require.LessOrEqual(t, seen(older), time.Now().Add(time.Hour), "nobody has been in the future")

	storetest.Exec(t, s.DB.Pool, `UPDATE locations SET current=false, gone_at=now() + interval '1 hour' WHERE sha256=$1`, older)
	got("2014-05-06T07:08:09Z", 2)
	require.False(t, s.place(older).Current, "it is gone since")
	last := got("2015-05-06T07:08:09Z", 3)[url].SHA256
	require.False(t, s.place(last).Current, "so is what was there before")
	require.Equal(t, 3, storetest.Get[int](t, s.DB.Pool, `SELECT count(*) FROM locations`), "each is there once")
}
