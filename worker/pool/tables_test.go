package pool_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gleaner/internal/devstack/storetest"
	"gleaner/internal/harvest/tables"
	"gleaner/internal/record/store"
	"gleaner/workflows"
)

// TestTableJob cleans many documents with a worker that is stopped in the middle: the
// next one goes on where it was, and each is noted once.
func TestTableJob(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	const many = 1200
	for _, sql := range []string{
		`INSERT INTO sites (host) VALUES ('bad.example')`,
		`INSERT INTO blacklist (host) VALUES ('bad.example')`,
		fmt.Sprintf(`INSERT INTO documents (sha256, sha1, md5, bytes, kind, state, blob_removed_at) SELECT encode(sha256(n::text::bytea), 'hex'), '', '', 1, 'pdf', 'rejected', now() FROM generate_series(1, %d) n`, many),
		`INSERT INTO locations (hash, sha256, site_id, url) SELECT sha256(sha256::bytea), sha256, (SELECT id FROM sites WHERE host='bad.example'), 'http://bad.example/' || sha256 FROM documents`,
	} {
		storetest.Exec(t, w.db.Pool, sql)
	}
	id, err := w.db.AddJob(ctx, store.JobCleanDocuments, tables.Options{Only: tables.Any, InPlace: true})
	require.NoError(t, err)
	stop := w.work(t)
	name := workflows.JobID(store.JobCleanDocuments, id)
	run := w.run(t, name, workflows.TableJob, tables.Run{Kind: store.JobCleanDocuments, Job: id, Run: 1})
	require.Eventually(t, func() bool {
		job, err := w.db.Job(ctx, id)
		return err == nil && job.Done >= 200
	}, 2*time.Minute, 5*time.Millisecond)
	stop()
	half, err := w.db.Job(ctx, id)
	require.NoError(t, err)
	require.Less(t, half.Done, int64(many), "it was stopped too late to show anything")
	defer w.work(t)()
	var p tables.Progress
	require.NoError(t, run.Get(ctx, &p))
	require.Equal(t, tables.Counters{Looked: many, Documents: many, Bytes: many, Why: map[string]int64{"blacklisted host": many}}, p.Counters)
	var left, noted int
	require.NoError(t, w.db.Pool.QueryRow(ctx, `SELECT (SELECT count(*) FROM documents), (SELECT count(*) FROM import_records WHERE job=$1)`, id).Scan(&left, &noted))
	require.Zero(t, left)
	require.Equal(t, many, noted)
	job, err := w.db.Job(ctx, id)
	require.NoError(t, err)
	require.Equal(t, store.JobEnded, job.State)
}
