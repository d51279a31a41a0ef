package ingest

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gleaner/internal/devstack/storetest"
	"gleaner/internal/lab/sampleweb"
	"gleaner/internal/record/store"
)

// TestOlderThanTheRecord: what a crawler got years ago is on record, and takes neither
// the place of what was found there since, nor is it there again where it is gone.
func TestOlderThanTheRecord(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	ctx := t.Context()
	const url = "http://a.example/1.pdf"
	version := func(i int) string { return string(s.pile.File(i, sampleweb.AsPDF)) }
	got := func(date string, i int) map[string]store.ImportRecord {
		t.Helper()
		old := record("resource", url, "application/pdf", "WARC-Date: "+date+"\r\n", version(i))
		_, by := s.imported(Options{Paths: []string{s.write(date[:4]+".warc.gz", old)}})
		require.True(t, strings.HasPrefix(by[url].Outcome, "saved"))
		return by
	}
	place := func(sha string) store.Location {
		t.Helper()
		_, places, err := s.DB.Document(ctx, sha)
		require.NoError(t, err)
		require.Len(t, places, 1)
		return places[0]
	}
	seen := func(sha string) time.Time {
		t.Helper()
		return storetest.Get[time.Time](t, s.DB.Pool, `SELECT seen_at FROM locations WHERE sha256=$1`, sha)
	}
	newer := got("2024-05-06T07:08:09Z", 1)[url].SHA256
	older := got("2014-05-06T07:08:09Z", 2)[url].SHA256
	require.True(t, place(newer).Current, "what was there ten years before takes nobody's place")
	require.False(t, place(older).Current)
	got("2012-05-06T07:08:09Z", 1)
	require.Equal(t, 2024, seen(newer).Year(), "when it was seen last")
	future := got("2999-05-06T07:08:09Z", 2)
	require.Equal(t, older, future[url].SHA256)
	require.True(t, place(older).Current, "it came back")
	require.LessOrEqual(t, seen(older), time.Now().Add(time.Hour), "nobody has been in the future")

	_, err := s.DB.Pool.Exec(ctx, `UPDATE locations SET current=false, gone_at=now() + interval '1 hour' WHERE sha256=$1`, older)
	require.NoError(t, err)
	got("2014-05-06T07:08:09Z", 2)
	require.False(t, place(older).Current, "it is gone since")
	last := got("2015-05-06T07:08:09Z", 3)[url].SHA256
	require.False(t, place(last).Current, "so is what was there before")
}
