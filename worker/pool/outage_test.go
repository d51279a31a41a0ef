package pool_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	failurepb "go.temporal.io/api/failure/v1"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"
	"google.golang.org/protobuf/types/known/timestamppb"

	"gleaner/activities"
	"gleaner/internal/crawl"
	"gleaner/internal/devstack/devtest"
	"gleaner/internal/devstack/line"
	"gleaner/internal/each"
	"gleaner/internal/gleaner"
	"gleaner/internal/lab/sampleweb"
	"gleaner/internal/record/frontier"
	"gleaner/internal/record/store"
	"gleaner/internal/web/page"
	"gleaner/worker/pool"
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
	w.update(t, workflows.HarvestID(h.ID), workflows.UpdateRetryWhat, activities.Retry{})
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
	w.run(t, workflows.HarvestID(h.ID), workflows.HarvestVenue,
		workflows.HarvestParams{Harvest: h, Stage: gleaner.StageCrawl, Retry: &activities.Retry{Harvest: h.ID}})
}

func (w *world) requireAllFound(t *testing.T, h activities.Harvest) {
	t.Helper()
	found, err := w.db.Export(t.Context(), h.Venue, h.Years)
	require.NoError(t, err)
	have := each.Set(found, func(f store.Exported) string { return f.Paper })
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

// pages is a site of so many pages, each of which leads to the next; meanwhile is
// told of each request before it is answered.
type pages struct {
	n         int
	meanwhile func(path string)

	mu    sync.Mutex
	asked map[string]int
}

func (p *pages) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var i int
	if _, err := fmt.Sscanf(r.URL.Path, "/%d.html", &i); err != nil {
		http.NotFound(w, r)
		return
	}
	p.mu.Lock()
	p.asked[r.URL.Path]++
	p.mu.Unlock()
	p.meanwhile(r.URL.Path)
	w.Header().Set("Content-Type", "text/html")
	fmt.Fprintf(w, `<title>Page %d</title><p>Number %d of %d.`, i, i, p.n)
	if i < p.n {
		fmt.Fprintf(w, `<a href="/%d.html">the next one</a>`, i+1)
	}
}

// seed has a site crawled from its first page on.
func (w *world) seed(t *testing.T, host string) {
	t.Helper()
	require.NoError(t, w.db.Tx(t.Context(), func(tx pgx.Tx) error {
		id, err := store.HoldSite(t.Context(), tx, host)
		if err != nil {
			return err
		}
		_, err = frontier.Add(t.Context(), tx, id, []frontier.Entry{{Candidate: page.Candidate{Link: page.Link{URL: "http://" + host + "/1.html", Source: page.SourceSeed}}}})
		return errors.Join(err, store.AddScope(t.Context(), tx, id, "/", "a test"))
	}))
}

// TestAStallOfTemporalRepeatsNothing: while a page is under way the Temporal server
// says nothing, for so long that it takes the worker for dead and hands its work out
// again. Nothing is asked for twice.
func TestAStallOfTemporalRepeatsNothing(t *testing.T) {
	t.Parallel()
	var temporal *line.Line
	var once sync.Once
	web := &pages{n: 8, asked: map[string]int{}, meanwhile: func(path string) {
		if path == "/4.html" {
			once.Do(func() {
				temporal.Hush()
				time.AfterFunc(9*time.Second, temporal.Mend)
				time.Sleep(4 * time.Second)
			})
		}
	}}
	w := newWorldOf(t, sampleweb.Options{Authors: 1, Papers: 1}, nil, func(http.Handler) http.Handler { return web })
	var address string
	address, temporal = devtest.Lay(t, "tcp://"+w.cfg.Servers.Temporal)
	w.cfg.Servers.Temporal = strings.TrimPrefix(address, "tcp://")
	w.seed(t, "ada.example")
	defer w.work(t)()
	run := w.run(t, workflows.SiteID("ada.example"), workflows.CrawlSite, workflows.SiteParams{Host: "ada.example"})
	var end activities.SiteEnd
	require.NoError(t, run.Get(t.Context(), &end))
	require.Equal(t, gleaner.SiteDone, end.State)
	web.mu.Lock()
	defer web.mu.Unlock()
	require.Len(t, web.asked, web.n)
	for path, n := range web.asked {
		require.Equal(t, 1, n, path)
	}
}

// TestTroubleWithoutATime: the server knows no time of an attempt that was not begun.
func TestTroubleWithoutATime(t *testing.T) {
	t.Parallel()
	a := &workflowpb.PendingActivityInfo{ActivityType: &commonpb.ActivityType{Name: "ListPapers"}, Attempt: 2, LastFailure: &failurepb.Failure{Message: "DBLP is out"}}
	require.Equal(t, "harvest/x ListPapers fails and is tried again (attempt 2): DBLP is out", pool.Pending("harvest/x", a).String())
	a.State, a.LastStartedTime = enumspb.PENDING_ACTIVITY_STATE_STARTED, timestamppb.Now()
	require.Regexp(t, `ListPapers failed, and runs again since \d{4}-.* \(attempt 2\): DBLP is out`, pool.Pending("harvest/x", a).String())
}

// TestTroubleIsSeen: what fails and is tried again can be seen from outside, a
// harvest's own work and the crawls that it waits for; a pause is no trouble, and neither is a worker that stops.
func TestTroubleIsSeen(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var failed atomic.Bool
	run := func(queue string) worker.Worker {
		k := worker.New(w.client, queue, worker.Options{})
		k.RegisterActivityWithOptions(func(ctx context.Context, host string) (activities.Slice, error) {
			for host == "well.example" && failed.Swap(true) && ctx.Err() == nil { // it goes on after a failure
				activity.RecordHeartbeat(ctx, crawl.Progress{Requests: 1})
				time.Sleep(10 * time.Millisecond)
			}
			return activities.Slice{}, errors.New("the page kills its reader")
		}, activity.RegisterOptions{Name: "CrawlSlice"})
		for name, err := range map[string]error{"ListPapers": temporal.NewApplicationError("DBLP is out", activities.ErrTypeUnavailable),
			"LocateCopies": temporal.NewApplicationError("the harvest is paused", activities.ErrTypePaused), "FindLinks": temporal.NewApplicationError("its worker was told to stop", activities.ErrTypeHandedOver)} {
			k.RegisterActivityWithOptions(func(context.Context) error { return err }, activity.RegisterOptions{Name: name})
		}
		k.RegisterWorkflow(workflows.CrawlSite)
		k.RegisterWorkflowWithOptions(func(ctx workflow.Context) error {
			err := workflow.SetQueryHandler(ctx, workflows.QueryStatus, func() (workflows.HarvestState, error) {
				return workflows.HarvestState{Pending: []string{"ada.example", "well.example"}}, nil
			})
			ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{StartToCloseTimeout: time.Minute})
			workflow.ExecuteActivity(ctx, "LocateCopies")
			workflow.ExecuteActivity(ctx, "FindLinks")
			return errors.Join(err, workflow.ExecuteActivity(ctx, "ListPapers").Get(ctx, nil))
		}, workflow.RegisterOptions{Name: "HarvestVenue"})
		require.NoError(t, k.Start())
		t.Cleanup(k.Stop)
		return k
	}
	run(activities.QueueHarvest)
	run(activities.QueueCrawl)
	w.run(t, workflows.HarvestID("conf/x/2001"), "HarvestVenue")
	for _, host := range []string{"ada.example", "well.example"} {
		w.run(t, workflows.SiteID(host), workflows.CrawlSite, workflows.SiteParams{Host: host})
	}
	require.Eventually(t, failed.Load, time.Minute, 10*time.Millisecond)
	var seen []pool.Trouble
	require.Eventually(t, func() bool {
		var err error
		seen, err = pool.Troubles(t.Context(), w.client, "conf/x/2001")
		return err == nil && len(seen) == 2 && seen[0].Attempt > 1 && seen[1].Attempt > 1
	}, time.Minute, 100*time.Millisecond)
	require.Equal(t, "harvest/conf/x/2001 ListPapers", seen[0].What)
	require.Equal(t, "DBLP is out", seen[0].Error)
	require.False(t, seen[0].Last.IsZero())
	require.Equal(t, "site/ada.example", seen[1].What)
	require.False(t, seen[1].Since.IsZero())
	require.True(t, strings.HasSuffix(seen[1].String(), ": the page kills its reader"), seen[1].String())
	_, err := pool.Troubles(t.Context(), w.client, "conf/never/2001")
	require.NoError(t, err)
	require.NoError(t, w.client.TerminateWorkflow(t.Context(), workflows.SiteID("ada.example"), "", ""))
	seen, err = pool.Troubles(t.Context(), w.client, "conf/x/2001")
	require.NoError(t, err)
	require.Len(t, seen, 1, "a crawl that has ended fails no more")
	require.NoError(t, w.client.TerminateWorkflow(t.Context(), workflows.HarvestID("conf/x/2001"), "", ""))
	seen, err = pool.Troubles(t.Context(), w.client, "conf/x/2001")
	require.NoError(t, err)
	require.Len(t, seen, 1)
	require.Contains(t, seen[0].String(), "harvest/conf/x/2001 does not run: its workflow was terminated; `starter harvest conf/x ")
}
