package pool_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"

	"gleaner/activities"
	"gleaner/internal/devstack/devtest"
	"gleaner/internal/ingest"
	"gleaner/internal/record/store"
	"gleaner/workflows"
)

// TestImportOutlivesAKill: a worker program is killed outright where it has kept the
// files of a step and written nothing of it down. Another goes on: the counters are
// those of an undisturbed import, and nothing is there twice.
func TestImportOutlivesAKill(t *testing.T) {
	devtest.Soak(t, "TestManyWorkersAreOneVisitor kills a worker")
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	file, papers, pages := crawled(t)
	id, err := w.db.AddJob(ctx, store.JobImport, ingest.Options{Paths: []string{file}})
	require.NoError(t, err)

	// Who writes down the step that passes the tenth resource waits for a lock of this test's.
	_, err = w.db.Pool.Exec(ctx, `CREATE FUNCTION wait() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_advisory_xact_lock(77); RETURN NEW; END $$;
		CREATE TRIGGER wait BEFORE UPDATE ON jobs FOR EACH ROW WHEN (NEW.done >= 10 AND OLD.done < 10) EXECUTE FUNCTION wait()`)
	require.NoError(t, err)
	held, err := w.db.Pool.Acquire(ctx)
	require.NoError(t, err)
	_, err = held.Exec(ctx, `SELECT pg_advisory_lock(77)`)
	require.NoError(t, err)

	program := buildWorker(t)
	first := w.startWorker(t, program)
	run, err := w.client.ExecuteWorkflow(ctx, client.StartWorkflowOptions{ID: workflows.ImportID(id), TaskQueue: activities.QueueHarvest}, workflows.ImportCrawl, ingest.Run{Job: id, Run: 1})
	require.NoError(t, err)
	require.Eventually(t, func() bool {
		var waits bool
		err := w.db.Pool.QueryRow(ctx, `SELECT EXISTS (SELECT 1 FROM pg_locks WHERE locktype='advisory' AND NOT granted AND database=(SELECT oid FROM pg_database WHERE datname=current_database()))`).Scan(&waits)
		return err == nil && waits
	}, 5*time.Minute, 20*time.Millisecond)
	require.NoError(t, first.Process.Kill())
	_ = first.Wait()
	_, err = held.Exec(ctx, `SELECT pg_advisory_unlock(77)`)
	require.NoError(t, err)
	held.Release()
	half, err := w.db.Job(ctx, id)
	require.NoError(t, err)
	require.Less(t, half.Done, int64(10), "what was not written down is not there")
	require.Positive(t, half.Done)

	w.startWorker(t, program)
	var c ingest.Counters
	require.NoError(t, run.Get(ctx, &c))
	require.Equal(t, store.Counters{All: 2*papers + pages, SavedNew: papers, SavedDuplicate: papers, Filtered: pages, FilteredMTF: pages}, c.Counters)
	require.Zero(t, c.Differences)
	all, err := w.db.ImportRecords(ctx, id, 0, false, 1000)
	require.NoError(t, err)
	require.Len(t, all, 2*papers+pages)
	var documents, places int
	require.NoError(t, w.db.Pool.QueryRow(ctx, `SELECT (SELECT count(*) FROM documents), (SELECT count(*) FROM locations)`).Scan(&documents, &places))
	require.Equal(t, 2*papers, documents)
	require.Equal(t, 2*papers, places, "each version is at its URL once")
}
