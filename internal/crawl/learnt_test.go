package crawl

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gleaner/internal/devstack/storetest"
	"gleaner/internal/rank"
)

// TestWhatWasLearntIsWrittenOnceAMinute, and when the slice ends, not with each
// page: it may be a quarter of a megabyte.
func TestWhatWasLearntIsWrittenOnceAMinute(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.cfg.Strategy = rank.Gleaner
	s := serve(t, small())
	w.seed(t, s.host, "/", "/")
	_, err := w.db.Pool.Exec(t.Context(), `CREATE TABLE writes (at timestamptz DEFAULT now());
		CREATE FUNCTION written() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN INSERT INTO writes DEFAULT VALUES; RETURN NEW; END';
		CREATE TRIGGER written AFTER UPDATE OF learnt ON sites FOR EACH ROW WHEN (NEW.learnt IS DISTINCT FROM OLD.learnt) EXECUTE FUNCTION written()`)
	require.NoError(t, err)
	writes := func() int {
		return storetest.Get[int](t, w.db.Pool, `SELECT count(*) FROM writes`)
	}
	var before []int // each request was answered
	clock := time.Now()
	w.cfg.Now = func() time.Time { return clock }
	c := w.crawler(&fetcher{Client: w.client, after: func(n int) {
		before = append(before, writes())
		if n == 4 {
			clock = clock.Add(learntEvery)
		}
	}})
	require.Equal(t, Exhausted, w.finish(t, c, s.host).Ending)
	require.Greater(t, len(before), 6)
	for i, n := range before {
		want := 0
		if i >= 4 {
			want = 1
		}
		require.Equal(t, want, n, "%v", before)
	}
	require.Equal(t, 2, writes(), "when the slice ends")
}
