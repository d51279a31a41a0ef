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

// lapsedFor is for how long a lease must be seen to have run out before it is revoked: after
// an outage of the database, or of the machine, its holder renews it first. Where there was
// neither while the lease ran out, lapsedNow is enough.
const (
	lapsedFor = 4 * time.Second
	lapsedNow = time.Second
)

// begunBefore is at least how long before its lease was lost a slice began: it had the
// lease for as long as one lasts, which is twice that, and clocks differ.
const begunBefore = 3 * time.Second

// slice is the name of the activity activities.Crawl.CrawlSlice.
const slice = "CrawlSlice"

// handOn ends, until ctx ends, the slices of workers that no longer renew the leases of
// their hosts, so that their crawls go on elsewhere.
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

// handing is what a worker knows of leases that ran out.
type handing struct {
	*pool
	since   map[politeness.Lapsed]time.Time // when each was seen first
	steady                                  // the looks at the database
	revoked map[politeness.Lapsed]time.Time // whose slices are to be ended, and since when
}

// steady is when looks were made, one a second, that the database answered.
type steady struct{ first, last time.Time }

// lapsed notes a look that was answered, and returns for how long a lease must be seen to
// have run out.
func (s *steady) lapsed(now time.Time) time.Duration {
	if now.Sub(s.last) > lapsedFor/2 { // who looks was held up, and so may holders be
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
	if err != nil { // the database is away, for the holders, too
		clear(h.since)
		h.steady = steady{}
		return err
	}
	before, now := h.since, time.Now()
	enough := h.lapsed(now)
	for _, l := range h.app.Keeper.TookOver() { // who waited for the host was first
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

// end ends the slices whose leases were revoked. What Temporal cannot be told now is
// tried again until it misses the heartbeats by itself.
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

// endSlice ends the slice that is under way of a crawl whose worker lost its lease.
func endSlice(ctx context.Context, c client.Client, namespace string, lost politeness.Lapsed, at time.Time) error {
	id := workflows.SiteID(lost.Host)
	d, err := c.DescribeWorkflowExecution(ctx, id, "")
	if err != nil {
		return unlessGone(err) // it was no crawl that had the host
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

// gone is the slice among activities that a worker is at and lost the lease of at a time;
// nil where there is none: another worker's, or one that began since, is its successor.
func gone(pending []*workflow.PendingActivityInfo, worker string, at time.Time) *workflow.PendingActivityInfo {
	for _, a := range pending {
		if a.GetActivityType().GetName() == slice && a.GetState() != enumspb.PENDING_ACTIVITY_STATE_SCHEDULED &&
			a.GetLastWorkerIdentity() == worker && a.GetLastStartedTime().AsTime().Before(at.Add(-begunBefore)) {
			return a
		}
	}
	return nil
}

// unlessGone is an error of Temporal's, unless it says that something is over.
func unlessGone(err error) error {
	if _, ok := errors.AsType[*serviceerror.NotFound](err); ok {
		return nil
	}
	return err
}
