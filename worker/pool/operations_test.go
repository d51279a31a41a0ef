package pool_test

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"

	"gleaner/activities"
	"gleaner/internal/devstack/devtest"
	"gleaner/internal/devstack/storetest"
	"gleaner/internal/gleaner"
	"gleaner/internal/ingest"
	"gleaner/internal/lab/sampleweb"
	"gleaner/internal/library/collection"
	"gleaner/internal/record/store"
	"gleaner/internal/service/app"
	"gleaner/internal/service/notify/notifytest"
	"gleaner/workflows"
)

// metrics has the world's worker serve its metrics; get reads one of its pages.
func (w *world) metrics(t *testing.T) (get func(path string) (int, string)) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	address := l.Addr().String()
	require.NoError(t, l.Close())
	w.cfg.Process.Metrics = address
	return func(path string) (int, string) {
		resp, err := http.Get("http://" + address + path)
		require.NoError(t, err)
		defer resp.Body.Close()
		body, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		return resp.StatusCode, string(body)
	}
}

// checkMetrics looks, after a harvest, for every metric that the dashboard and the alerts
// name among those that the worker serves.
func (w *world) checkMetrics(t *testing.T, h activities.Harvest, get func(path string) (int, string)) {
	t.Helper()
	w.checkUnknownVenue(t) // the counter of failures is there once an activity failed
	status, body := get("/readyz")
	require.Equal(t, http.StatusOK, status, body)
	status, body = get("/metrics")
	require.Equal(t, http.StatusOK, status)
	exported := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?m)^(\w+)(?:\{.*\})? \S+$`).FindAllStringSubmatch(body, -1) {
		exported[m[1]] = true
	}
	for _, file := range []string{"grafana/gleaner.json", "prometheus/alerts.yml"} {
		raw, err := os.ReadFile(filepath.Join("..", "..", "deploy", file))
		require.NoError(t, err)
		names := regexp.MustCompile(`\b(?:gleaner|temporal|go|process)_\w+`).FindAllString(string(raw), -1)
		require.Greater(t, len(names), 5, file)
		for _, name := range names {
			require.True(t, exported[name], "%s names %s, which no worker exports; there are %v", file, name, slices.Sorted(maps.Keys(exported)))
		}
	}
	counts, err := w.db.HarvestCounts(t.Context(), h.ID)
	require.NoError(t, err)
	require.Contains(t, body, fmt.Sprintf("gleaner_papers_found %d\n", counts.Found))
}

// checkUnknownVenue harvests a venue that no source knows: the harvest fails and its row
// names the venue.
func (w *world) checkUnknownVenue(t *testing.T) {
	t.Helper()
	h := activities.Harvest{ID: "conf/nix/2001", Venue: "conf/nix", Years: gleaner.Years{From: 2001, To: 2001}}
	require.Error(t, w.start(t, h).Get(t.Context(), nil))
	row, err := w.db.FindHarvest(t.Context(), h.ID)
	require.NoError(t, err)
	require.Equal(t, gleaner.StageFailed, row.Stage)
	require.Contains(t, row.Note, "conf/nix")
}

func (w *world) start(t *testing.T, h activities.Harvest) client.WorkflowRun {
	return w.run(t, workflows.HarvestID(h.ID), workflows.HarvestVenue, workflows.HarvestParams{Harvest: h})
}

// run begins a workflow.
func (w *world) run(t *testing.T, id string, workflow any, args ...any) client.WorkflowRun {
	t.Helper()
	run, err := w.client.ExecuteWorkflow(t.Context(),
		client.StartWorkflowOptions{ID: id, TaskQueue: activities.QueueHarvest}, workflow, args...)
	require.NoError(t, err)
	return run
}

// TestVersionedWorkers gives a worker a Build ID: it works once its release is
// made the current one, on all queues.
func TestVersionedWorkers(t *testing.T) {
	devtest.Soak(t, "harvests a web")
	t.Parallel()
	w := newWorld(t)
	w.cfg.Process.BuildID = "2026.1"
	stop := w.work(t)
	defer stop()
	release := w.client.WorkerDeploymentClient().GetHandle("gleaner")
	require.Eventually(t, func() bool {
		_, err := release.SetCurrentVersion(t.Context(), client.WorkerDeploymentSetCurrentVersionOptions{BuildID: "2026.1"})
		return err == nil
	}, time.Minute, 200*time.Millisecond)
	require.Positive(t, w.wait(t, w.harvest(t)).Summary.Found)
}

// TestOperatorIsToldWhatHappened: a worker tells by webhook and mail that a harvest
// ended, that a site refused and that matches wait for review; a webhook that fails is
// asked again, and nobody is told anything twice.
func TestOperatorIsToldWhatHappened(t *testing.T) {
	t.Parallel()
	box := notifytest.New(t)
	var mu sync.Mutex
	var posted []string
	hook := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		mu.Lock()
		defer mu.Unlock()
		if posted = append(posted, string(body)); len(posted) == 1 {
			w.WriteHeader(http.StatusBadGateway)
		}
	}))
	t.Cleanup(hook.Close)
	w := newWorldBehind(t, map[string]string{"notify-webhook": hook.URL, "notify-smtp": "smtp://" + box.Address, "notify-mail-from": "gleaner@library.example",
		"notify-mail-to": "ada@library.example", "notify-review": "1"}, asItIs)
	for _, channel := range []string{"webhook", "mail"} {
		n, err := w.db.News(t.Context(), channel, 1)
		require.NoError(t, err)
		require.True(t, n.Empty(), "a new channel is told nothing of old")
	}
	require.NoError(t, w.db.SaveHarvest(t.Context(), store.Harvest{ID: "conf/x/2001", Venue: "conf/x", Options: []byte("{}"), Stage: "papers"}))
	require.NoError(t, w.db.SetStage(t.Context(), "conf/x/2001", gleaner.StageFailed, "its venue is unknown"))
	_, err := store.EnsureSite(t.Context(), w.db.Pool, "shy.example")
	require.NoError(t, err)
	storetest.Exec(t, w.db.Pool,
		`UPDATE sites SET state='refused', reason='403', crawl_finished=now() - interval '5 minutes'`)
	require.NoError(t, w.db.SavePapers(t.Context(), []gleaner.Paper{{Key: "conf/x/A", Venue: "conf/x", Year: 2001, Title: "A"}}, nil))
	storetest.Exec(t, w.db.Pool,
		`INSERT INTO documents (sha256, sha1, md5, bytes, kind, state) VALUES ('a', 'a', 'a', 1, 'pdf', 'accepted')`)
	storetest.Exec(t, w.db.Pool,
		`INSERT INTO matches (paper_key, sha256, verdict, score) VALUES ('conf/x/A', 'a', 'ambiguous', .5)`)
	storetest.Exec(t, w.db.Pool,
		`UPDATE harvests SET started_at=started_at - interval '10 minutes', completed_at=completed_at - interval '5 minutes'`)
	storetest.Exec(t, w.db.Pool, `UPDATE chores SET last=last - interval '10 minutes' WHERE name LIKE 'notice %'`)
	stop := w.work(t)
	t.Cleanup(stop)
	told := func() []string {
		mu.Lock()
		defer mu.Unlock()
		return append(box.Mails(), posted...)
	}
	require.Eventually(t, func() bool { return len(told()) >= 3 }, 2*time.Minute, 100*time.Millisecond)
	require.Eventually(t, func() bool {
		n, err := w.db.News(t.Context(), "webhook", 1)
		return err == nil && n.Empty() && n.Review == 1
	}, time.Minute, 100*time.Millisecond, "it would be told again")
	require.Len(t, box.Mails(), 1, "what the webhook failed at was told by mail twice")
	require.Len(t, told(), 3)
	for _, said := range told() {
		for _, want := range []string{"conf/x/2001 failed", "its venue is unknown", "shy.example", "1 match to review"} {
			require.Contains(t, said, want)
		}
	}
}

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
	run := w.run(t, workflows.ImportID(id), workflows.ImportCrawl, ingest.Run{Job: id, Run: 1})
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
	run := w.run(t, workflows.ImportID(id), workflows.ImportCrawl, ingest.Run{Job: id, Run: 1})
	require.ErrorContains(t, run.Get(ctx, nil), "no such file")
	job, err := w.db.Job(ctx, id)
	require.NoError(t, err)
	require.Equal(t, store.JobFailed, job.State)
	require.Contains(t, job.Note, "no such file")
}

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
	w.web.ServeHTTP(answer, httptest.NewRequest(http.MethodGet, file.URL, nil))
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
	run := w.run(t, workflows.JudgeLeftID, workflows.JudgeLeft)
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
