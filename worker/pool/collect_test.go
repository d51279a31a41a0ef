package pool_test

import (
	"cmp"
	"encoding/json"
	"net/http"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"

	"gleaner/activities"
	"gleaner/internal/devstack/devtest"
	"gleaner/internal/gleaner"
	"gleaner/internal/lab/topicweb"
	"gleaner/internal/record/collections"
	"gleaner/internal/record/store"
	"gleaner/internal/synthesis"
	"gleaner/internal/topic"
	"gleaner/internal/web/weburl"
	"gleaner/workflows"
)

// topical is a world whose hosts are those of a web of topics.
func topical(t *testing.T, web *topicweb.Web) (*world, *topicweb.Server) {
	server := web.Serve()
	return newWorldBehind(t, nil, func(http.Handler) http.Handler { return server }), server
}

func (w *world) collect(t *testing.T, name string, topics []topic.Topic, change func(*synthesis.Ask)) client.WorkflowRun {
	t.Helper()
	ask, err := synthesis.DefaultAsk()
	require.NoError(t, err)
	change(&ask)
	_, _, err = collections.In(w.db).Ask(t.Context(), name, ask, topics)
	require.NoError(t, err)
	p := workflows.CollectParams{Name: name, Parallel: 3}
	run, err := w.client.SignalWithStartWorkflow(t.Context(), workflows.CollectionsID(name), workflows.SignalAskedAgain, p,
		client.StartWorkflowOptions{TaskQueue: activities.QueueHarvest}, workflows.SynthesizeCollections, p)
	require.NoError(t, err)
	return run
}

// requests waits until a crawl has made so many.
func (w *world) requests(t *testing.T, name string, n int) {
	t.Helper()
	require.Eventually(t, func() bool {
		c, err := collections.In(w.db).Get(t.Context(), name)
		return err == nil && c.Requests >= n
	}, 2*time.Minute, 10*time.Millisecond)
}

// TestCollect makes collections by topic on a generated web, with a worker that is
// stopped in the middle and a pause: they hold what is on topic, over hosts that no
// search named, with papers, each URL is asked for once, and no host impolitely.
func TestCollect(t *testing.T) {
	t.Parallel()
	web := topicweb.New(topicweb.Options{Seed: 5, Hosts: 48, Pages: 6, Topics: 2, Share: 3})
	w, server := topical(t, web)
	stop := w.work(t)
	run := w.collect(t, "two", web.Topics(), func(a *synthesis.Ask) { a.Size, a.Threshold = 1000, 0.5 })
	w.requests(t, "two", 8)
	stop()
	stop = w.work(t)
	defer stop()
	pause, err := w.client.UpdateWorkflow(t.Context(), client.UpdateWorkflowOptions{WorkflowID: run.GetID(), UpdateName: workflows.UpdatePause, WaitForStage: client.WorkflowUpdateStageCompleted})
	require.NoError(t, err)
	require.NoError(t, pause.Get(t.Context(), nil))
	resume, err := w.client.UpdateWorkflow(t.Context(), client.UpdateWorkflowOptions{WorkflowID: run.GetID(), UpdateName: workflows.UpdateResume, WaitForStage: client.WorkflowUpdateStageCompleted})
	require.NoError(t, err)
	require.NoError(t, resume.Get(t.Context(), nil))
	var s workflows.CollectState
	require.NoError(t, run.Get(t.Context(), &s))
	require.Equal(t, synthesis.Exhausted, s.End)
	require.Equal(t, 2, s.Prepared.Centroids)
	require.GreaterOrEqual(t, s.Prepared.Own, topic.EnoughOwn)

	c, err := collections.In(w.db).Get(t.Context(), "two")
	require.NoError(t, err)
	require.Equal(t, collections.Ended, c.State)
	w.checkEntries(t, web, c)
	checkMannersOf(t, server.Log())
}

func (w *world) checkEntries(t *testing.T, web *topicweb.Web, c collections.Collection) {
	t.Helper()
	var model topic.Model
	require.NoError(t, json.Unmarshal(c.Model, &model))
	known := map[string]bool{}
	for _, topic := range web.Topics() {
		for _, u := range web.Search(topic.Query, 7) {
			known[weburl.Host(u)] = true
		}
	}
	others, documents := 0, 0
	for _, topic := range web.Topics() {
		entries, err := collections.In(w.db).Entries(t.Context(), c.ID, topic.ID)
		require.NoError(t, err)
		require.Greater(t, len(entries), 10)
		right := 0
		for _, e := range entries {
			require.GreaterOrEqual(t, e.Correlation, 0.5)
			if about := web.About(e.URL); about == topic.ID {
				right++
			}
			if !known[weburl.Host(e.URL)] {
				others++
			}
			if e.Kind == collections.Document {
				documents++
				d, _, err := w.db.Document(t.Context(), e.SHA256)
				require.NoError(t, err)
				require.NotEqual(t, string(gleaner.DocumentNew), string(d.State), "it is judged")
			}
		}
		t.Logf("%s: %d of %d are about it", topic.ID, right, len(entries))
		require.Greater(t, 10*right, 7*len(entries), "%s: a fifth of the web is on topic", topic.ID)
	}
	require.Positive(t, others, "the crawl came to hosts that the search did not name")
	require.Positive(t, documents)
}

// TestCollectOutlivesAKill: one of two worker programs is killed outright while it asks
// hosts. The other goes on: nothing is lost, all that was asked for is on record, and
// nothing but what was in flight is asked for again. A host on the blacklist is not asked.
func TestCollectOutlivesAKill(t *testing.T) {
	devtest.Soak(t, "the worker program is built and run")
	t.Parallel()
	web := topicweb.New(topicweb.Options{Seed: 5, Hosts: 48, Pages: 6, Topics: 2, Share: 3})
	w, server := topical(t, web)
	const black = "w0009.example"
	require.NotEmpty(t, web.About("http://"+black+"/"), "else nobody would ask it")
	require.NoError(t, w.db.Block(t.Context(), []store.Blocked{{Host: black, Reason: "test"}}))
	program, workers := buildWorker(t), map[string]*exec.Cmd{}
	for range 2 {
		c := w.startWorker(t, program)
		workers[strconv.Itoa(c.Process.Pid)] = c
	}
	run := w.collect(t, "two", web.Topics(), func(a *synthesis.Ask) { a.Size, a.Threshold = 1000, 0.5 })
	w.requests(t, "two", 8)
	var busy string
	require.Eventually(t, func() bool {
		return w.db.Pool.QueryRow(t.Context(), `SELECT split_part(holder, '/', 2) FROM sites WHERE holder <> '' AND expires_at > now() LIMIT 1`).Scan(&busy) == nil
	}, time.Minute, time.Millisecond)
	require.Contains(t, workers, busy)
	require.NoError(t, workers[busy].Process.Kill())
	var s workflows.CollectState
	require.NoError(t, run.Get(t.Context(), &s))
	require.Equal(t, synthesis.Exhausted, s.End)

	c, err := collections.In(w.db).Get(t.Context(), "two")
	require.NoError(t, err)
	w.checkEntries(t, web, c)
	counts, err := collections.In(w.db).Counts(t.Context(), c.ID)
	require.NoError(t, err)
	require.Zero(t, counts.Waiting)
	asked, err := collections.In(w.db).Requests(t.Context(), c.ID, 0, 10_000)
	require.NoError(t, err)
	known := map[string]bool{}
	for _, a := range asked {
		known[a.URL] = true
	}
	for url := range checkPaceOf(t, server.Log()) {
		require.NotEqual(t, black, weburl.Host(url))
		require.True(t, known[url] || strings.HasSuffix(url, "/robots.txt"), "%s was asked for and is not on record", url)
	}
	again := 0
	for _, n := range checkPaceOf(t, server.Log()) {
		again += n - 1
	}
	require.LessOrEqual(t, again, 2*3, "what three slices had in flight, each with its robots.txt")
}

// checkMannersOf: each URL asked for once, no host twice at a time or before its delay
// is over, what robots.txt forbids not at all.
func checkMannersOf(t *testing.T, log []topicweb.Request) {
	t.Helper()
	for url, n := range checkPaceOf(t, log) {
		require.Equal(t, 1, n, url)
	}
}

// checkPaceOf is checkMannersOf without the first, and how often each URL was asked for.
func checkPaceOf(t *testing.T, log []topicweb.Request) map[string]int {
	t.Helper()
	slices.SortFunc(log, func(a, b topicweb.Request) int {
		return cmp.Or(cmp.Compare(weburl.Host(a.URL), weburl.Host(b.URL)), a.Begin.Compare(b.Begin))
	})
	times := map[string]int{}
	for i, q := range log {
		if strings.HasPrefix(q.URL, topicweb.SearchURL) {
			continue
		}
		times[q.URL]++
		require.NotContains(t, q.URL, "/p/5.html")
		if i > 0 && weburl.Host(log[i-1].URL) == weburl.Host(q.URL) {
			require.GreaterOrEqual(t, q.Begin.Sub(log[i-1].End), delay-time.Millisecond, "%s after %s", q.URL, log[i-1].URL)
		}
	}
	return times
}

// TestCollectWhatIsNotFound ends as failed, and says why.
func TestCollectWhatIsNotFound(t *testing.T) {
	t.Parallel()
	web := topicweb.New(topicweb.Options{Seed: 5, Hosts: 8, Pages: 4, Topics: 1, Share: 4})
	w, _ := topical(t, web)
	defer w.work(t)()
	run := w.collect(t, "none", []topic.Topic{{ID: "none", Query: "nothing like it"}}, func(*synthesis.Ask) {})
	require.ErrorContains(t, run.Get(t.Context(), nil), "no topic has the 4 pages")
	c, err := collections.In(w.db).Get(t.Context(), "none")
	require.NoError(t, err)
	require.Equal(t, store.JobFailed, c.State)
	require.Contains(t, c.Note, "no topic")
}
