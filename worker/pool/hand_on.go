package pool

import (
	"context"
	"errors"
	"maps"
	"sync"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflow/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"

	"gleaner/activities"
	"gleaner/internal/crawl"
	"gleaner/internal/fetch"
	"gleaner/internal/guard"
	"gleaner/internal/politeness"
	"gleaner/workflows"
)

// lapsedFor is how long a lease must be expired before it is revoked: after an outage of the
// database or the machine its holder renews it first. Without such an outage lapsedNow suffices.
const (
	lapsedFor = 4 * time.Second
	lapsedNow = time.Second
)

// begunBefore is the least time between the start of a slice and the loss of its lease. A lease
// lasts twice as long; the rest allows for clock differences.
const begunBefore = 3 * time.Second

// slice is the name of the activity activities.Crawl.CrawlSlice.
const slice = "CrawlSlice"

// handOn ends, until ctx ends, slices of workers that no longer renew the leases of their hosts,
// so that other workers continue the crawls.
func (p *pool) handOn(ctx context.Context) {
	h := handing{pool: p, since: map[politeness.Lapsed]time.Time{}, revoked: map[politeness.Lapsed]time.Time{}}
	var warned time.Time
	fetch.Every(ctx, time.Second, func() bool {
		if err := h.look(ctx); err != nil && ctx.Err() == nil && time.Since(warned) >= time.Minute {
			warned = time.Now()
			p.log.Warn("crawls of workers that are gone are not handed on yet", "error", err)
		}
		return true
	})
}

// handing is a worker's state of expired leases.
type handing struct {
	*pool
	since   map[politeness.Lapsed]time.Time // time when each was first seen
	steady                                  // successful queries of the database
	revoked map[politeness.Lapsed]time.Time // leases whose slices must end, and since when
}

// steady is the period in which the database answered a query per second.
type steady struct{ first, last time.Time }

// lapsed records a successful query, and returns how long a lease must be expired.
func (s *steady) lapsed(now time.Time) time.Duration {
	if now.Sub(s.last) > lapsedFor/2 { // this process was suspended, and so may holders be
		s.first = now
	}
	s.last = now
	if now.Sub(s.first) < politeness.LeaseTime+lapsedFor {
		return lapsedFor
	}
	return lapsedNow
}

func (h *handing) look(ctx context.Context) error {
	within, over := context.WithTimeout(ctx, lapsedFor/2)
	defer over()
	lapsed, err := h.app.Keeper.Lapsed(within)
	if err != nil { // the database is unavailable, also for holders
		clear(h.since)
		h.steady = steady{}
		return err
	}
	before, now := h.since, time.Now()
	enough := h.lapsed(now)
	for _, l := range h.app.Keeper.TookOver() { // a waiter for the host took the lease first
		h.revoked[l] = now
	}
	h.since = make(map[politeness.Lapsed]time.Time, len(lapsed))
	var due []politeness.Lapsed
	for _, l := range lapsed {
		first, seen := before[l]
		if !seen {
			first = now
		}
		h.since[l] = first
		if now.Sub(first) >= enough {
			due = append(due, l)
		}
	}
	ours, err := h.app.Keeper.Revoke(within, due)
	for _, l := range ours {
		h.revoked[l] = now
	}
	return errors.Join(err, h.end(ctx))
}

// end ends the slices with revoked leases. While Temporal is unavailable it repeats this, until
// the heartbeat timeout applies.
func (h *handing) end(ctx context.Context) error {
	var mu sync.Mutex
	g, _ := guard.WithContext(ctx)
	g.SetLimit(16)
	for lost, at := range maps.Clone(h.revoked) {
		g.Go(func() error {
			err := endSlice(ctx, h.client, h.cfg.Servers.Namespace, lost, at)
			if err == nil || time.Since(at) > activities.CrawlSilence {
				mu.Lock()
				defer mu.Unlock()
				delete(h.revoked, lost)
			}
			return err
		})
	}
	return g.Wait()
}

// endSlice ends the running slice of a crawl whose worker lost its lease.
func endSlice(ctx context.Context, c client.Client, namespace string, lost politeness.Lapsed, at time.Time) error {
	id := workflows.SiteID(lost.Host)
	d, err := c.DescribeWorkflowExecution(ctx, id, "")
	if err != nil {
		return unlessGone(err) // the holder was not a crawl
	}
	a := gone(d.GetPendingActivities(), lost.Holder, at)
	if a == nil {
		return nil
	}
	var did crawl.Progress
	_ = converter.GetDefaultDataConverter().FromPayloads(a.GetHeartbeatDetails(), &did)
	run := d.GetWorkflowExecutionInfo().GetExecution().GetRunId()
	return unlessGone(c.CompleteActivityByID(ctx, namespace, id, run, a.GetActivityId(), nil, activities.WorkerGone(did)))
}

// gone returns the pending activity of the worker that lost its lease at this time, or nil. A
// slice of another worker, or a later one, is its successor.
func gone(pending []*workflow.PendingActivityInfo, worker string, at time.Time) *workflow.PendingActivityInfo {
	for _, a := range pending {
		if a.GetActivityType().GetName() == slice && a.GetState() != enumspb.PENDING_ACTIVITY_STATE_SCHEDULED &&
			a.GetLastWorkerIdentity() == worker && a.GetLastStartedTime().AsTime().Before(at.Add(-begunBefore)) {
			return a
		}
	}
	return nil
}

// unlessGone returns an error of Temporal, or nil if it reports a closed workflow or activity.
func unlessGone(err error) error {
	if _, ok := errors.AsType[*serviceerror.NotFound](err); ok {
		return nil
	}
	return err
}
