package pool_test

import (
	"encoding/json"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"

	"gleaner/activities"
	"gleaner/internal/crawl/synthesis"
	"gleaner/internal/gleaner"
	"gleaner/internal/lab/sampleweb"
	"gleaner/internal/lab/topicweb"
	"gleaner/internal/record/collections"
	"gleaner/internal/record/store"
	"gleaner/internal/topic"
	"gleaner/internal/web/weburl"
	"gleaner/workflows"
)

// topical is a world whose hosts are those of a web of topics.
func topical(t *testing.T, web *topicweb.Web) (*world, *sampleweb.Journal) {
	server := web.Serve()
	return newWorldBehind(t, nil, func(http.Handler) http.Handler { return server }), server
}

func (w *world) collect(t *testing.T, name string, topics []topic.Topic, change func(*synthesis.Request)) client.WorkflowRun {
	t.Helper()
	ask, err := synthesis.DefaultRequest()
	require.NoError(t, err)
	change(&ask)
	_, _, err = collections.In(w.db).Submit(t.Context(), name, ask, topics)
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
	run := w.collect(t, "two", web.Topics(), func(a *synthesis.Request) { a.Size, a.Threshold = 1000, 0.5 })
	w.requests(t, "two", 8)
	stop()
	stop = w.work(t)
	defer stop()
	w.update(t, run.GetID(), workflows.UpdatePause)
	w.update(t, run.GetID(), workflows.UpdateResume)
	var s workflows.CollectState
	require.NoError(t, run.Get(t.Context(), &s))
	require.Equal(t, synthesis.Exhausted, s.End)
	require.Equal(t, 2, s.Prepared.Centroids)
	require.GreaterOrEqual(t, s.Prepared.Own, topic.EnoughOwn)

	c, err := collections.In(w.db).Get(t.Context(), "two")
	require.NoError(t, err)
	require.Equal(t, collections.Ended, c.State)
	w.checkEntries(t, web, c)
	checkManners(t, server.Log())
	for _, q := range server.Log() {
		require.NotEqual(t, "/p/5.html", q.Path, "robots.txt forbids it")
	}
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

// TestCollectWhatIsNotFound ends as failed, and says why.
func TestCollectWhatIsNotFound(t *testing.T) {
	t.Parallel()
	web := topicweb.New(topicweb.Options{Seed: 5, Hosts: 8, Pages: 4, Topics: 1, Share: 4})
	w, _ := topical(t, web)
	defer w.work(t)()
	run := w.collect(t, "none", []topic.Topic{{ID: "none", Query: "nothing like it"}}, func(*synthesis.Request) {})
	require.ErrorContains(t, run.Get(t.Context(), nil), "no topic has the 4 pages")
	c, err := collections.In(w.db).Get(t.Context(), "none")
	require.NoError(t, err)
	require.Equal(t, store.JobFailed, c.State)
	require.Contains(t, c.Note, "no topic")
}
