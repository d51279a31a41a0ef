package main

import (
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"

	"gleaner/activities"
	"gleaner/internal/fetch"
	"gleaner/internal/gleaner"
	"gleaner/internal/gleaner/evidence"
	"gleaner/internal/record/frontier"
	"gleaner/internal/record/store"
	"gleaner/internal/service/program"
	"gleaner/internal/text"
	"gleaner/workflows"
)

// leavesOpen lets something of every sort fail for a harvest: a URL, a document
// over which a reader stalled, two authors, a listing and a search for copies.
func (c *testConsole) leavesOpen(h activities.Harvest) {
	c.t.Helper()
	ctx := c.t.Context()
	ada, bob := gleaner.Author{PID: "1/1", Name: "Ada Lovelace"}, gleaner.Author{PID: "1/2", Name: "Bob Bell"}
	paper := gleaner.Paper{Key: "conf/x/LovelaceB01", Venue: h.Venue, Year: 2001, Title: "Analytical Engines for Everyone", Authors: []gleaner.Author{ada, bob}}
	require.NoError(c.t, c.SavePapers(ctx, []gleaner.Paper{paper}, nil))
	require.NoError(c.t, c.SetHarvestPapers(ctx, h.ID, []gleaner.Paper{paper}, nil))
	open := map[gleaner.Author]evidence.Unanswered{
		ada: {What: "http://www.ada.example/", Kind: evidence.KindPage, Reason: "timeout"},
		bob: {What: `"Bob Bell"`, Kind: evidence.KindSearch, Reason: "search by searxng (status 503)"},
	}
	for a, u := range open {
		d := evidence.Decision{Author: a, NotFound: "did not answer", Unanswered: []evidence.Unanswered{u}, NextTry: time.Now().Add(time.Hour)}
		require.NoError(c.t, c.SaveDecision(ctx, d, nil))
	}
	require.NoError(c.t, c.SetUnanswered(ctx, h.ID, store.UnansweredPapers, "crossref", nil, []store.Unanswered{{Subject: "2001", Reason: "status 503"}}))
	require.NoError(c.t, c.SetUnanswered(ctx, h.ID, store.UnansweredCopies, "unpaywall", nil, []store.Unanswered{{Subject: paper.Key, Reason: "status 503"}}))
	c.visited("cyd.example", "/slow.html", "", frontier.Failed, fetch.Timeout)
	c.accepted("cyd.example", "big.pdf")
	_, err := c.Pool.Exec(ctx, `UPDATE documents SET state='failed', outcome='stalled', tries=5`)
	require.NoError(c.t, err)
	_, err = c.Pool.Exec(ctx, `INSERT INTO harvest_sites (harvest_id, site_id, origin) SELECT $1, id, 'homepage' FROM sites WHERE host='cyd.example'`, h.ID)
	require.NoError(c.t, err)
}

var retried = activities.Harvest{ID: "conf/x/2001", Venue: "conf/x", Years: gleaner.Years{From: 2001, To: 2001}}

// TestRetrySaysWhatItTakesUp of a harvest that is complete and goes on, by all that
// failed, by a site, and by a reason.
func TestRetrySaysWhatItTakesUp(t *testing.T) {
	t.Parallel()
	for args, n := range map[string][4]float64{"--failed": {1, 1, 2, 2}, "--site cyd.example": {1, 1, 0, 0},
		"--reason unanswered-copies": {0, 0, 0, 1}, "--reason stalled": {0, 1, 0, 0}} {
		t.Run(args, func(t *testing.T) {
			t.Parallel()
			c := newConsole(t)
			server := c.onTemporal()
			require.NoError(t, c.SaveHarvest(t.Context(), store.Harvest{ID: retried.ID, Venue: retried.Venue, Years: retried.Years, Options: []byte(`{"again": "all"}`), Stage: "papers"}))
			require.NoError(t, c.SetStage(t.Context(), retried.ID, "complete", ""))
			c.leavesOpen(retried)
			args := append([]string{"retry", retried.ID}, strings.Fields(args)...)
			require.Equal(t, fmt.Sprintf("conf/x/2001 goes on: %s that failed, %s that stalled, 0 sites that refused or stopped, %s and %s to catalogues without an answer\n",
				text.Count(int(n[0]), "URL"), text.Count(int(n[1]), "document"), text.Count(int(n[2]), "author"), text.Count(int(n[3]), "question")), c.ok(args...))
			var did map[string]any
			c.read(&did, args...) // no worker has begun yet
			delete(did, "waiting")
			require.Equal(t, map[string]any{"harvest": retried.ID, "urls": n[0], "documents": n[1], "authors": n[2], "sources": n[3], "sites": 0.}, did)
			began, err := server.GetWorkflowHistory(t.Context(), workflows.HarvestID(retried.ID), "", false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT).Next()
			require.NoError(t, err)
			var p workflows.HarvestParams
			require.NoError(t, converter.GetDefaultDataConverter().FromPayloads(began.GetWorkflowExecutionStartedEventAttributes().GetInput(), &p))
			require.Equal(t, activities.AgainNone, p.Harvest.Options.Again, "what did not fail is not asked again")
		})
	}
}

// TestRetryOfAHarvestThatRunsSaysWhatItTookUp: its workflow does it at once.
func TestRetryOfAHarvestThatRunsSaysWhatItTookUp(t *testing.T) {
	t.Parallel()
	c := newConsole(t)
	server := c.onTemporal()
	c.work([]string{activities.QueueHarvest}, io.Discard) // nobody lists papers: the harvest waits
	_, err := server.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{ID: workflows.HarvestID(retried.ID), TaskQueue: activities.QueueHarvest},
		workflows.HarvestVenue, workflows.HarvestParams{Harvest: retried})
	require.NoError(t, err)
	require.Eventually(t, func() bool {
		h, err := c.FindHarvest(t.Context(), retried.ID)
		return err == nil && h.Stage == gleaner.StagePapers
	}, time.Minute, 20*time.Millisecond)
	c.leavesOpen(retried)
	var failures []store.Failure
	c.read(&failures, "stats", "failures", retried.ID)
	require.Len(t, failures, 5, "%+v", failures)
	cyd := gleaner.Author{PID: "1/3", Name: "Cyd Cole"} // of whom nobody wants a paper
	require.NoError(t, c.SavePapers(t.Context(), []gleaner.Paper{
		{Key: "conf/x/Cole01", Venue: "conf/x", Year: 2001, Title: "Tides", Authors: []gleaner.Author{cyd}}}, nil))
	require.NoError(t, c.SaveDecision(t.Context(), evidence.Decision{
		Author:     cyd,
		NotFound:   "did not answer",
		NextTry:    time.Now().Add(time.Hour),
		Unanswered: []evidence.Unanswered{{What: "http://cyd.example/", Kind: evidence.KindPage, Reason: "timeout"}},
	}, nil))
	for of, says := range map[string]string{
		"stats failures":        "2 authors in all",
		"stats failures conf/x": "2 authors in all",
		"report conf/x":         "2 to be looked for again",
	} {
		require.Contains(t, c.ok(strings.Fields(of)...), says, of)
	}
	require.Equal(t, "conf/x/2001 asks again for 1 URL that failed, 1 document that stalled, 0 sites that refused or stopped, 2 authors and 2 questions to catalogues without an answer\n",
		c.ok("retry", retried.ID, "--failed"))
	var due, waiting int
	require.NoError(t, c.Pool.QueryRow(t.Context(), `SELECT (SELECT count(*) FROM homepage_decisions WHERE next_try <= now()) + (SELECT count(*) FROM unanswered WHERE next_try <= now()),
		(SELECT count(*) FROM urls WHERE state=0) + (SELECT count(*) FROM documents WHERE state='new' AND tries=0)`).Scan(&due, &waiting))
	require.Equal(t, []int{4, 2}, []int{due, waiting})
	require.Contains(t, c.ok("retry", retried.ID, "--failed"), "0 URLs that failed, 1 document that stalled", "the document still waits for a worker that reads")
	c.ok("holdings", "import", c.file("held.csv", "title,year,authors\nAnalytical Engines for Everyone,2001,Ada Lovelace; Bob Bell\n"))
	c.ok("retry", retried.ID, "--failed")
	counts, err := c.HarvestCounts(t.Context(), retried.ID)
	require.NoError(t, err)
	require.Equal(t, []int{1, 0}, []int{counts.Held, counts.Wanted}, "what the library holds by now is wanted no more")
	c.ok("pause", "cyd.example")
	require.Contains(t, c.ok("resume", "cyd.example"), "it is asked for conf/x/2001")
}

// TestARetryOfNothingNamesReasons: what failed for good is tried again only where its reason
// is named, or where its site may be asked again.
func TestARetryOfNothingNamesReasons(t *testing.T) {
	t.Parallel()
	c := newConsole(t)
	h := store.Harvest{ID: retried.ID, Venue: retried.Venue, Years: retried.Years, Options: []byte("{}"), Stage: "crawl"}
	require.NoError(t, c.SaveHarvest(t.Context(), h))
	c.visited("cyd.example", "/gone.html", "", frontier.Failed, "not-found")
	c.exec(`INSERT INTO harvest_sites (harvest_id, site_id, origin) SELECT $1, id, 'homepage' FROM sites`, h.ID)
	c.exec(`UPDATE sites SET state='done'`)
	try := func(reason string) error {
		_, err := somethingLeft(t.Context(), c.DB, h, activities.Retry{Reason: reason})
		return err
	}
	require.NoError(t, try(""), "what waits of one that was cancelled")
	h.Stage = gleaner.StageComplete
	require.ErrorContains(t, try(""), "nothing would be tried again, as this is only where it is named as the reason: not-found (1)")
	require.NoError(t, try("not-found"))
	c.exec(`UPDATE sites SET state='refused'`)
	would, err := somethingLeft(t.Context(), c.DB, h, activities.Retry{})
	require.NoError(t, err)
	require.Contains(t, retryWords(would, false), "goes on: 0 URLs that failed, 0 documents that stalled, 1 site that refused or stopped")
	c.exec(`UPDATE sites SET state='done'`)
	c.exec(`UPDATE urls SET state=1, outcome='ok'`)
	c.onTemporal()
	require.NoError(t, c.SetStage(t.Context(), h.ID, "complete", ""))
	require.Contains(t, c.wrong(program.ExitUnknown, "retry", h.ID, "--failed"), "nothing of conf/x/2001 failed that could be tried again")
}
