package pool_test

import (
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"

	"gleaner/activities"
	"gleaner/internal/devstack/devtest"
	"gleaner/internal/gleaner"
	"gleaner/internal/lab/sampleweb"
	"gleaner/workflows"
)

// arxivHost answers as arXiv does that has no preprint of these papers.
const arxivHost = "arxiv.example"

const noPreprints = `<feed xmlns="http://www.w3.org/2005/Atom"><totalResults xmlns="http://a9.com/-/spec/opensearch/1.1/">0</totalResults></feed>`

// outage stands before a web. Hosts that are out answer 503, or break every other
// connection off, until it is over.
type outage struct {
	web http.Handler
	out func(host, path string) bool

	mu       sync.Mutex
	ended    bool
	refused  int
	answered map[string]int // requests by host, when it was over
}

func (o *outage) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	host := r.Host
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	if n := o.refuse(host, r.URL.Path); n%2 == 1 {
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	} else if n > 0 {
		if conn, _, err := w.(http.Hijacker).Hijack(); err == nil {
			_ = conn.Close()
		}
		return
	}
	if host == arxivHost {
		_, _ = io.WriteString(w, noPreprints)
		return
	}
	o.web.ServeHTTP(w, r)
}

// refuse says the how manieth request is refused; 0 is answered.
func (o *outage) refuse(host, path string) int {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.ended || !o.out(host, path) {
		if o.ended {
			o.answered[host]++
		}
		return 0
	}
	o.refused++
	return o.refused
}

func (o *outage) end() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.ended = true
}

// parts of the web that can be out.
var parts = map[string]func(host, path string) bool{
	"search engine":  func(host, _ string) bool { return host == sampleweb.SearchHost },
	"list of papers": func(host, path string) bool { return host == sampleweb.DBLPHost && !strings.HasPrefix(path, "/pid/") },
	"copies":         func(host, _ string) bool { return host == arxivHost },
}

func service(host string) bool {
	return host == sampleweb.SearchHost || host == sampleweb.DBLPHost || host == arxivHost
}

// behind is a world with parts of it out.
func behind(t *testing.T, names ...string) (*world, *outage) {
	t.Helper()
	o := &outage{answered: map[string]int{}, out: func(host, path string) bool {
		for _, n := range names {
			if parts[n](host, path) {
				return true
			}
		}
		return false
	}}
	// What keeps failing is left alone for a second instead of an hour.
	w := newWorldBehind(t, map[string]string{"copies": "links,arxiv"},
		func(web http.Handler) http.Handler { o.web = web; return o })
	w.cfg.Policy.Services.ArXiv = "http://" + arxivHost
	w.cfg.Policy.Pace.ParkAfter, w.cfg.Policy.Pace.ParkFor = 2, time.Second
	return w, o
}

// Where the outage lasts longer than the harvest, the update or the new run that
// `starter retry` asks for finds all, and the record says meanwhile what did not
// answer.
func TestARetryAfterAnOutage(t *testing.T) {
	t.Parallel()
	w, o := behind(t, "search engine", "copies")
	defer w.work(t)()
	h := w.harvest(t)
	before := w.wait(t, h)
	q, err := w.db.StillOpen(t.Context(), h.ID)
	require.NoError(t, err)
	require.Positive(t, q.Authors)
	require.NotNil(t, q.Next)
	require.Positive(t, q.Copies)

	o.end()
	w.retry(t, h)
	after := w.wait(t, h)
	require.Greater(t, after.Summary.Found, before.Summary.Found, "the outage cost nothing")
	w.requireAllFound(t, h)
	w.requireNothingOpen(t, h)
	require.Positive(t, o.answered[arxivHost], "it is asked again")
}

// A harvest that waits for a catalogue does not wait on when a person says that
// it is back, however long it would have.
func TestARetryEndsAHarvestsWait(t *testing.T) {
	devtest.Soak(t, "harvests a web")
	t.Parallel()
	w, o := behind(t, "list of papers")
	w.cfg.Policy.Pace.ParkFor = 5 * time.Hour
	defer w.work(t)()
	h := w.harvest(t)
	require.Eventually(t, func() bool { return w.waits(t, h) }, 2*time.Minute, 20*time.Millisecond)
	o.end()
	handle, err := w.client.UpdateWorkflow(t.Context(), client.UpdateWorkflowOptions{WorkflowID: workflows.HarvestID(h.ID), UpdateName: workflows.UpdateRetryWhat,
		Args: []any{activities.Retry{}}, WaitForStage: client.WorkflowUpdateStageCompleted})
	require.NoError(t, err)
	var did activities.Requeued
	require.NoError(t, handle.Get(t.Context(), &did))
	w.wait(t, h)
	w.requireAllFound(t, h)
}

// waits reports whether what the harvest does is to be tried again in an hour or
// later.
func (w *world) waits(t *testing.T, h activities.Harvest) bool {
	t.Helper()
	d, err := w.client.DescribeWorkflowExecution(t.Context(), workflows.HarvestID(h.ID), "")
	require.NoError(t, err)
	for _, a := range d.GetPendingActivities() {
		if a.GetState() == enumspb.PENDING_ACTIVITY_STATE_SCHEDULED && a.GetAttempt() > 1 && a.GetNextAttemptScheduleTime() != nil &&
			a.GetNextAttemptScheduleTime().AsTime().Sub(a.GetLastAttemptCompleteTime().AsTime()) > time.Hour {
			return true
		}
	}
	return false
}

// retry begins a harvest that has ended anew, as `starter retry --failed` does.
func (w *world) retry(t *testing.T, h activities.Harvest) {
	t.Helper()
	_, err := w.client.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{ID: workflows.HarvestID(h.ID), TaskQueue: activities.QueueHarvest},
		workflows.HarvestVenue, workflows.HarvestParams{Harvest: h, Stage: gleaner.StageCrawl, Retry: &activities.Retry{Harvest: h.ID}})
	require.NoError(t, err)
}

func (w *world) requireAllFound(t *testing.T, h activities.Harvest) {
	t.Helper()
	found, err := w.db.Export(t.Context(), h.Venue, h.Years)
	require.NoError(t, err)
	have := map[string]bool{}
	for _, f := range found {
		have[f.Paper] = true
	}
	for _, p := range w.web.Truth().Papers {
		require.Equal(t, p.Missing == "", have[p.Key], "%s %v %s", p.Key, p.URLs, p.Missing)
	}
}

func (w *world) requireNothingOpen(t *testing.T, h activities.Harvest) {
	t.Helper()
	q, err := w.db.StillOpen(t.Context(), h.ID)
	require.NoError(t, err)
	require.Zero(t, q.Papers+q.Copies+q.Authors, "%+v", q)
}
