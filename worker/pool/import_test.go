package pool_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"

	"gleaner/activities"
	"gleaner/internal/ingest"
	"gleaner/internal/lab/sampleweb"
	"gleaner/internal/record/store"
	"gleaner/workflows"
)

// crawled is an archive of papers, each followed by a later version at its URL, and
// of pages. It returns how many papers and pages there are.
func crawled(t *testing.T) (file string, papers, pages int) {
	t.Helper()
	pile := sampleweb.NewPile(7)
	var b bytes.Buffer
	add := func(url string, body []byte) {
		head := "HTTP/1.1 200 OK\r\n\r\n"
		fmt.Fprintf(&b, "WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: %s\r\nWARC-Date: 2026-01-02T03:04:05Z\r\nContent-Type: application/http; msgtype=response\r\nContent-Length: %d\r\n\r\n%s%s\r\n\r\n",
			url, len(head)+len(body), head, body)
	}
	for i := range 15 {
		add(fmt.Sprintf("http://www.example.org/%d.html", i), fmt.Appendf(nil, "<html><title>Page %d</title>nothing", i))
		add(fmt.Sprintf("http://www.example.org/%d.pdf", i), pile.File(i, sampleweb.AsPDF))
		add(fmt.Sprintf("http://www.example.org/%d.pdf", i), pile.File(i, sampleweb.AsRevisedPDF))
	}
	file = filepath.Join(t.TempDir(), "crawl.warc")
	require.NoError(t, os.WriteFile(file, b.Bytes(), 0o600))
	return file, 15, 15
}

// TestImport imports an archive with a worker that is stopped in the middle: the
// next one goes on where it was, and nothing is lost or counted twice.
func TestImport(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	file, papers, pages := crawled(t)
	id, err := w.db.AddJob(ctx, store.JobImport, ingest.Options{Paths: []string{file}})
	require.NoError(t, err)
	stop := w.work(t)
	run, err := w.client.ExecuteWorkflow(ctx, client.StartWorkflowOptions{ID: workflows.ImportID(id), TaskQueue: activities.QueueHarvest}, workflows.ImportCrawl, ingest.Run{Job: id, Run: 1})
	require.NoError(t, err)
	require.Eventually(t, func() bool {
		job, err := w.db.Job(ctx, id)
		return err == nil && job.Done >= 4
	}, 2*time.Minute, 10*time.Millisecond)
	stop()
	half, err := w.db.Job(ctx, id)
	require.NoError(t, err)
	require.Less(t, half.Done, int64(2*papers+pages), "it was stopped too late to show anything")
	stop = w.work(t)
	defer stop()
	var c ingest.Counters
	require.NoError(t, run.Get(ctx, &c))
	require.Equal(t, store.Counters{All: 2*papers + pages, SavedNew: papers, SavedDuplicate: papers, Filtered: pages, FilteredMTF: pages}, c.Counters)
	require.Zero(t, c.Differences)
	all, err := w.db.ImportRecords(ctx, id, 0, false, 1000)
	require.NoError(t, err)
	require.Len(t, all, 2*papers+pages)
	job, err := w.db.Job(ctx, id)
	require.NoError(t, err)
	require.Equal(t, store.JobEnded, job.State)
	docs, err := w.db.FindDocuments(ctx, store.DocumentQuery{States: []string{"accepted"}})
	require.NoError(t, err)
	require.Len(t, docs, 2*papers)

	d, err := w.client.DescribeWorkflowExecution(ctx, workflows.ImportID(id), "")
	require.NoError(t, err)
	require.Equal(t, enumspb.WORKFLOW_EXECUTION_STATUS_COMPLETED, d.WorkflowExecutionInfo.Status)
	require.Contains(t, d.WorkflowExecutionInfo.SearchAttributes.GetIndexedFields(), "GleanerStage")
}

// TestImportOfNothing ends as failed, with the reason, where its file is not there.
func TestImportOfNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	id, err := w.db.AddJob(ctx, store.JobImport, ingest.Options{Paths: []string{filepath.Join(t.TempDir(), "none.warc")}})
	require.NoError(t, err)
	defer w.work(t)()
	run, err := w.client.ExecuteWorkflow(ctx, client.StartWorkflowOptions{ID: workflows.ImportID(id), TaskQueue: activities.QueueHarvest}, workflows.ImportCrawl, ingest.Run{Job: id, Run: 1})
	require.NoError(t, err)
	require.ErrorContains(t, run.Get(ctx, nil), "no such file")
	job, err := w.db.Job(ctx, id)
	require.NoError(t, err)
	require.Equal(t, store.JobFailed, job.State)
	require.Contains(t, job.Note, "no such file")
}
