package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"gleaner/activities"
	"gleaner/internal/devstack/devtest"
	"gleaner/internal/document"
	"gleaner/internal/gleaner"
	"gleaner/internal/harvest/report"
	"gleaner/internal/lab/sampleweb"
	"gleaner/internal/record/store"
	"gleaner/internal/service/program"
	"gleaner/workflows"
)

// onWeb lets the console ask a sample web, and nothing else.
func (c *testConsole) onWeb() *sampleweb.Web {
	c.t.Helper()
	return c.onWebOf(sampleweb.Options{Seed: 7, Years: 2, Papers: 12, Authors: 12, PagesPerSite: 2, NoCrawlDelay: true})
}

// onWebOf is onWeb with another web.
func (c *testConsole) onWebOf(o sampleweb.Options) *sampleweb.Web {
	c.t.Helper()
	web := sampleweb.New(o)
	server := httptest.NewServer(web)
	c.t.Cleanup(server.Close)
	c.args = append(c.args, "--proxy-file", secretFile(c.t, server.URL), "--contact", "test@example.org", "--delay", "20ms", "--min-delay", "20ms", "--dblp-url", sampleweb.DBLPURL, "--dblp-delay", "1ms",
		"--search", "searxng", "--searxng-url", sampleweb.SearchURL, "--policy", c.policy("crawl: {retry-base: 100ms}"))
	return web
}

// policy is a policy file.
func (c *testConsole) policy(body string) string { return c.file("policy.yaml", body) }

// said collects what a command prints, and tells when something was said.
type said struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (s *said) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(p)
}

func (s *said) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

func (s *said) until(t *testing.T, words string) {
	require.Eventually(t, func() bool { return strings.Contains(s.String(), words) }, time.Minute, 10*time.Millisecond, "never said %q", words)
}

// harvestThatWaits is a harvest in the record and in Temporal that ends when it is
// signalled.
func (c *testConsole) harvestThatWaits(t client.Client, first ...func() error) (id string) {
	c.t.Helper()
	h := store.Harvest{ID: "conf/x/2001", Venue: "conf/x", Years: gleaner.Years{From: 2001, To: 2001}, Options: []byte("{}"), Stage: "crawl"}
	require.NoError(c.t, c.SaveHarvest(c.t.Context(), h))
	w := worker.New(t, activities.QueueHarvest, worker.Options{})
	w.RegisterWorkflowWithOptions(func(ctx workflow.Context) (workflows.HarvestResult, error) {
		ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{StartToCloseTimeout: time.Minute})
		wait := func(ctx workflow.Context, _ activities.Retry) error { return workflow.Sleep(ctx, time.Minute) }
		if err := workflow.SetUpdateHandler(ctx, workflows.UpdateRetryWhat, wait); err != nil {
			return workflows.HarvestResult{}, err
		}
		for range first {
			if err := workflow.ExecuteActivity(ctx, "ListPapers").Get(ctx, nil); err != nil {
				return workflows.HarvestResult{}, err
			}
		}
		workflow.GetSignalChannel(ctx, "end").Receive(ctx, nil) // also when it is cancelled
		return workflows.HarvestResult{Summary: report.Summary{Found: 7}}, nil
	}, workflow.RegisterOptions{Name: "HarvestVenue"})
	for _, do := range first {
		w.RegisterActivityWithOptions(func(context.Context) error { return do() }, activity.RegisterOptions{Name: "ListPapers"})
	}
	require.NoError(c.t, w.Start())
	c.t.Cleanup(w.Stop)
	_, err := t.ExecuteWorkflow(c.t.Context(), client.StartWorkflowOptions{ID: workflows.HarvestID(h.ID), TaskQueue: activities.QueueHarvest}, "HarvestVenue")
	require.NoError(c.t, err)
	return h.ID
}

// background runs a command until its result is taken.
func (c *testConsole) background(ctx context.Context, args ...string) (out, errs *said, result func() int) {
	out, errs = &said{}, &said{}
	done := make(chan int, 1)
	cli := newRootCommand(out, errs, document.Child{})
	cli.Root.SetArgs(append(slices.Clone(c.args), args...)) // the last flag wins
	go func() { done <- cli.Run(ctx, exitCode) }()
	return out, errs, func() int { return <-done }
}

// TestWhoWaitsOutlivesTemporal: a harvest goes on after Temporal was away, and so
// does who waits for it.
func TestWhoWaitsOutlivesTemporal(t *testing.T) {
	t.Parallel()
	c := newConsole(t)
	server := c.onTemporal()
	id := c.harvestThatWaits(server)
	_, way := devtest.Lay(t, "tcp://"+c.temporalAddress)
	out, errs, result := c.background(t.Context(), "watch", id, "--temporal-address", way.Address())
	errs.until(t, "[crawl]")
	way.Cut()
	errs.until(t, "Temporal does not answer")
	way.Mend()
	errs.until(t, "Temporal answers again")
	require.NoError(t, server.SignalWorkflow(t.Context(), workflows.HarvestID(id), "", "end", nil))
	require.Equal(t, program.ExitOK, result(), errs)
	require.Contains(t, out.String(), "7 found")
}

// TestWhoWaitsIsToldThatDevEnded: nobody but a person brings that back, so there is
// nothing to wait for.
func TestWhoWaitsIsToldThatDevEnded(t *testing.T) {
	t.Parallel()
	c := newConsole(t)
	id := c.harvestThatWaits(c.onTemporal())
	_, way := devtest.Lay(t, "tcp://"+c.temporalAddress)
	dir := t.TempDir()
	info := fmt.Sprintf(`{"pid": 1, "temporal_address": %q}`, way.Address())
	require.NoError(t, os.WriteFile(filepath.Join(dir, "dev.json"), []byte(info), 0o600))
	lock, err := os.Create(filepath.Join(dir, "dev.lock"))
	require.NoError(t, err)
	require.NoError(t, syscall.Flock(int(lock.Fd()), syscall.LOCK_EX))
	at := slices.Index(c.args, "--temporal-address")
	c.args = slices.Delete(c.args, at, at+2)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	_, errs, result := c.background(ctx, "watch", id, "--data-dir", dir)
	errs.until(t, "[crawl]")
	require.NoError(t, lock.Close())
	way.Cut()
	require.Equal(t, program.ExitUnavailable, result(), errs)
	require.Contains(t, errs.String(), "`starter dev` has ended; start it again, and "+id+" goes on by itself")
}

// TestWatchSaysWhatFails: what fails and is tried again, and when that is over.
func TestWatchSaysWhatFails(t *testing.T) {
	t.Parallel()
	c := newConsole(t)
	server := c.onTemporal()
	var well atomic.Bool
	id := c.harvestThatWaits(server, func() error {
		if well.Load() {
			return nil
		}
		return errors.New("DBLP is out")
	})
	_, errs, result := c.background(t.Context(), "watch", id)
	errs.until(t, "ListPapers fails and is tried again (attempt ")
	require.Regexp(t, `harvest/conf/x/2001 ListPapers fails and is tried again \(attempt \d+, (since|last tried) \d{4}-.*\): DBLP is out`, errs.String())
	well.Store(true)
	errs.until(t, "harvest/conf/x/2001 ListPapers fails no more")
	require.NoError(t, server.SignalWorkflow(t.Context(), workflows.HarvestID(id), "", "end", nil))
	require.Equal(t, program.ExitOK, result(), errs)
}

func TestWhoStopsWatchingIsToldThatItGoesOn(t *testing.T) {
	t.Parallel()
	c := newConsole(t)
	id := c.harvestThatWaits(c.onTemporal())
	for paused, says := range map[bool]string{false: "continues in the background", true: "is paused\nlet it go on:  starter resume " + id} {
		require.NoError(t, c.SetPaused(t.Context(), id, paused))
		ctx, interrupt := context.WithCancel(t.Context())
		_, errs, result := c.background(ctx, "watch", id)
		errs.until(t, "[crawl")
		interrupt()
		require.Equal(t, program.ExitInterrupted, result())
		require.Contains(t, errs.String(), says)
		require.Contains(t, errs.String(), "starter cancel "+id)
	}
}

// TestAHarvestWithoutAWorker is said to wait for one, and can be cancelled.
func TestAHarvestWithoutAWorker(t *testing.T) {
	t.Parallel()
	c := newConsole(t)
	d := &desk{t: c.onTemporal()}
	require.Equal(t, "[]\n", c.ok("status", "--json"))
	_, errs, result := c.background(t.Context(), "harvest", "--site", "http://a.example/")
	require.Equal(t, program.ExitOK, result(), errs)
	require.Contains(t, errs.String(), "no worker asks for work")
	for id, want := range map[string]bool{"site:http://a.example/": true, "site:http://b.example/": false} {
		is, err := d.Begun(t.Context(), id)
		require.NoError(t, err)
		require.Equal(t, want, is, id)
	}
	require.Contains(t, c.ok("status", "site:http://a.example/"), "site:http://a.example/ waits for a worker")
	require.Eventually(t, func() bool { return strings.HasPrefix(c.ok("status"), "site:http://a.example/ waits for a worker") }, time.Minute, 10*time.Millisecond)
	for _, use := range []string{"watch", "pause"} {
		require.Contains(t, c.wrong(program.ExitUnknown, use, "site:http://a.example/"), "site:http://a.example/ waits for a worker")
	}
	require.Contains(t, c.ok("cancel", "site:http://a.example/"), "is being cancelled")
	require.Contains(t, c.wrong(program.ExitFailed, "harvest", "--site", "http://a.example/"),
		"harvest/site:http://a.example/ is being cancelled; do it again in a moment")
	c.ok("blacklist", "add", "b.example", "--reason", "asked us to")
	require.Contains(t, c.wrong(program.ExitUsage, "harvest", "--site", "http://b.example/"), "b.example: the host is on the blacklist: asked us to")
}

func TestCancelTwice(t *testing.T) {
	t.Parallel()
	c := newConsole(t)
	server := c.onTemporal()
	require.NoError(t, c.SaveHarvest(t.Context(), store.Harvest{ID: "conf/x/2002", Venue: "conf/x", Years: gleaner.Years{From: 2002, To: 2002}, Options: []byte("{}")}))
	id := c.harvestThatWaits(server)
	require.Equal(t, id+" is being cancelled\n", c.ok("cancel", id))
	require.Contains(t, c.wrong(program.ExitFailed, "retry", id, "--failed"),
		"harvest/"+id+" is being cancelled; do it again in a moment")
	said := c.ok("cancel", "conf/x")
	require.Contains(t, said, "is being cancelled already")
	require.Contains(t, said, "This is "+id+", the latest harvest of conf/x. Others: conf/x/2002\n")
	require.NoError(t, server.SignalWorkflow(t.Context(), workflows.HarvestID(id), "", "end", nil))
	require.NoError(t, server.GetWorkflow(t.Context(), workflows.HarvestID(id), "").Get(t.Context(), nil))
	require.Contains(t, c.wrong(program.ExitUnknown, "cancel", id), "does not run (it is crawl)")
}

// TestWrongOptionsEndAtOnce: nothing is asked of any server before.
func TestWrongOptionsEndAtOnce(t *testing.T) {
	t.Parallel()
	for _, wrong := range [][]string{{"--strategy", "dfs"}, {"--leads", "some"}, {"--scope", "planet"}, {"--again", "maybe"}, {"--delay", "-1s"}, {"--delay", "50"},
		{"--max-pages", "-1"}, {"--sites", "-1"}, {"--budget", "-1"}} {
		root := newRoot(io.Discard, io.Discard)
		root.SetArgs(append([]string{"harvest", "conf/x", "--years", "2001", "--data-dir", t.TempDir()}, wrong...))
		err := root.ExecuteContext(t.Context())
		require.Equal(t, program.ExitUsage, exitCode(err), "%v: %v", wrong, err)
		require.ErrorContains(t, err, wrong[0])
	}
}

func TestReconcileSaysWhatItLeaves(t *testing.T) {
	t.Parallel()
	c := newConsole(t)
	c.onTemporal()
	require.Contains(t, c.ok("reconcile"), "nothing to mend (what began or changed in the last 2m0s is left alone)")
	require.NoError(t, c.SaveHarvest(t.Context(), store.Harvest{ID: "conf/x/2001", Venue: "conf/x", Years: gleaner.Years{From: 2001, To: 2001}, Options: []byte("{}"), Stage: "crawl"}))
	require.Contains(t, c.ok("reconcile", "--restart", "--dry-run"), "would be harvest-started  conf/x/2001", "who asks for a restart need not wait for two minutes")
	blobs := filepath.Join(t.TempDir(), "blobs")
	require.NoError(t, os.Mkdir(blobs, 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(blobs, "record"), []byte("another\n"), 0o600))
	require.Contains(t, c.wrong(program.ExitFailed, "reconcile", "--restart", "--repository-url", "file://"+blobs), "another record's")
}

// TestABusyServerIsAskedAgain where it did not answer in time, and only then.
func TestABusyServerIsAskedAgain(t *testing.T) {
	t.Parallel()
	refused := errors.New("refused")
	for _, late := range []error{context.DeadlineExceeded, serviceerror.NewDeadlineExceeded("late")} {
		answers := []error{late, late, refused}
		require.ErrorIs(t, insist(t.Context(), func() error {
			err := answers[0]
			answers = answers[1:]
			return err
		}), refused)
		require.Empty(t, answers)
	}
}
