package harvest_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"gleaner/internal/devstack/storetest"
	"gleaner/internal/harvest/report"
)

// TestAReportTalliesWhileCrawlsGoOn: a paper that is found while the report is made is
// either missing in its numbers and its lists, or in neither.
func TestAReportTalliesWhileCrawlsGoOn(t *testing.T) {
	t.Parallel()
	a := circle().open(t, "", nil)
	id := listed(t, a)
	ctx := t.Context()
	tx, err := a.DB.Pool.Begin(ctx)
	require.NoError(t, err)
	defer func() { _ = tx.Rollback(context.WithoutCancel(ctx)) }()
	_, err = tx.Exec(ctx, `LOCK TABLE url_counts`)
	require.NoError(t, err)
	made := make(chan *report.Report, 1)
	go func() {
		r, err := report.Build(ctx, a.DB, id)
		assert.NoError(t, err)
		made <- r
	}()
	storetest.AwaitLock(t, a.DB.Pool)
	_, err = tx.Exec(ctx, `WITH d AS (INSERT INTO documents (sha256, sha1, md5, bytes, kind, state) VALUES ('s', '', '', 1, 'pdf', 'accepted') RETURNING sha256),
		l AS (INSERT INTO locations (hash, sha256, site_id, url) VALUES ('h', 's', 1, 'http://a.example/p.pdf'))
		INSERT INTO matches (paper_key, sha256, verdict, score) SELECT 'conf/exa/RoeP03', 's', 'exact', 1 FROM d`)
	require.NoError(t, err)
	require.NoError(t, tx.Commit(ctx))
	r := <-made
	require.Len(t, r.Missing, r.Summary.Missing)
	require.Len(t, r.Found, r.Summary.Found)
	require.Equal(t, r.Summary.Missing, r.Years[0].Missing)
	require.Equal(t, 3, r.Summary.Wanted)
}
