package store_test

import (
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"gleaner/internal/devstack/storetest"
)

// TestCountsOfURLs: whatever is done to URLs, by several at once and to several
// sites in one statement, what is counted of them is what a count would give.
func TestCountsOfURLs(t *testing.T) {
	t.Parallel()
	db := storetest.Open(t, 4)
	const sites = 3
	statements := []string{
		`INSERT INTO urls (site_id, hash, url, state, was) SELECT n % 3 + 1, sha256((random()::text || n)::bytea), 'u', n % 7, n % 3 FROM generate_series(1, 20) n`,
		`UPDATE urls SET state = (state + 1) % 7 WHERE hash IN (SELECT hash FROM urls WHERE site_id = 1 ORDER BY hash FOR UPDATE SKIP LOCKED)`,
		`UPDATE urls SET anchor = 'no other state' WHERE hash IN (SELECT hash FROM urls ORDER BY hash LIMIT 9 FOR UPDATE SKIP LOCKED)`,
		`DELETE FROM urls WHERE hash IN (SELECT hash FROM urls ORDER BY hash LIMIT 5 FOR UPDATE SKIP LOCKED)`,
		`UPDATE urls SET state = 0 WHERE hash IN (SELECT hash FROM urls WHERE state IN (3, 4) ORDER BY hash FOR UPDATE SKIP LOCKED)`,
	}
	var all sync.WaitGroup
	for worker := range 4 {
		all.Go(func() {
			for i := range 60 {
				_, err := db.Pool.Exec(t.Context(), statements[(i+worker)%len(statements)])
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	sums := func(sql string) (out []string) {
		rows, err := db.Pool.Query(t.Context(), sql)
		require.NoError(t, err)
		for rows.Next() {
			v, err := rows.Values()
			require.NoError(t, err)
			out = append(out, fmt.Sprintln(v...))
		}
		require.NoError(t, rows.Err())
		return out
	}
	counted := sums(`SELECT site_id, state, was, sum(n)::int FROM url_counts GROUP BY 1, 2, 3 HAVING sum(n) <> 0 ORDER BY 1, 2, 3`)
	require.Greater(t, len(counted), sites)
	require.Equal(t, sums(`SELECT site_id, state, was, count(*)::int FROM urls GROUP BY 1, 2, 3 ORDER BY 1, 2, 3`), counted)
}
