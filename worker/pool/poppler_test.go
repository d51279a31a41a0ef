package pool_test

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"

	"gleaner/activities"
	"gleaner/internal/devstack/devtest"
	"gleaner/internal/lab/sampleweb"
	"gleaner/internal/library/collection"
	"gleaner/internal/service/app"
	"gleaner/workflows"
)

// TestAWorkerReadsWithoutPoppler: the worker program where no other program is to
// be found starts, says what it lacks, and reads a PDF by its own reader.
func TestAWorkerReadsWithoutPoppler(t *testing.T) {
	devtest.Soak(t, "the worker program is built and run")
	t.Parallel()
	w := newWorldOf(t, sampleweb.Options{Seed: 7, Years: 1, Papers: 6, PagesPerSite: 1}, map[string]string{"log-level": "warn"}, asItIs)
	var file collection.File
	for _, p := range w.web.Truth().Papers {
		for _, url := range p.URLs {
			if strings.HasSuffix(url, ".pdf") {
				file = collection.File{URL: url, Header: http.Header{"Content-Type": {"application/pdf"}}, At: time.Now()}
			}
		}
	}
	answer := httptest.NewRecorder()
	w.web.Handler().ServeHTTP(answer, httptest.NewRequest(http.MethodGet, file.URL, nil))
	require.Equal(t, http.StatusOK, answer.Code, file.URL)
	file.Body = answer.Body.Bytes()
	a, err := app.OpenRecord(t.Context(), w.cfg, app.Options{})
	require.NoError(t, err)
	defer a.Close()
	require.NoError(t, w.db.Pool.QueryRow(t.Context(), `INSERT INTO sites (host) VALUES ('a.test') RETURNING id`).Scan(&file.SiteID))
	kept, err := a.Examiner(t.Context()).Keep(t.Context(), file)
	require.NoError(t, err)
	kept.Release()

	var said bytes.Buffer
	worker := w.startWorkerThatTells(t, &said, buildWorker(t), "PATH="+t.TempDir())
	run, err := w.client.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{ID: workflows.JudgeLeftID, TaskQueue: activities.QueueHarvest}, workflows.JudgeLeft)
	require.NoError(t, err)
	var judged int
	require.NoError(t, run.Get(t.Context(), &judged))
	require.Equal(t, 1, judged)
	d, _, err := w.db.Document(t.Context(), kept.Documents[0].SHA256)
	require.NoError(t, err)
	require.Equal(t, []string{"accepted", "ok", "go"}, []string{string(d.State), d.Outcome, d.Reader}, d.Detail)
	require.NoError(t, worker.Process.Signal(syscall.SIGTERM))
	require.NoError(t, worker.Wait(), said.String())
	require.Contains(t, said.String(), "pdftotext is not installed")
}
