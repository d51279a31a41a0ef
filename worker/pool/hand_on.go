package pool

import (
	"context"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"

	"gleaner/activities"
	"gleaner/internal/crawl"
	"gleaner/internal/fetch"
	"gleaner/internal/guard"
	"gleaner/internal/politeness"
	"gleaner/workflows"
)

// looksLapsed is in how many looks, a second apart, a lease must have run out before it is
// revoked: after an outage of the database its holder renews it first.
const looksLapsed = 4

// slice is the name of the activity activities.Crawl.CrawlSlice.
const slice = "CrawlSlice"

// handOn ends, until ctx ends, the slices of workers that no longer renew the leases of
// their hosts, so that their crawls go on elsewhere.
func (p *pool) handOn(ctx context.Context, every time.Duration) {
	looks := map[politeness.Lapsed]int{}
	fetch.Every(ctx, every, func() bool {
		lapsed, err := p.app.Keeper.Lapsed(ctx)
		if err != nil { // the database is away, for the holders, too
			clear(looks)
			return true
		}
		before := looks
		looks = make(map[politeness.Lapsed]int, len(lapsed))
		g, within := guard.WithContext(ctx)
		g.SetLimit(16)
		for _, l := range lapsed {
			if looks[l] = before[l] + 1; looks[l] < looksLapsed {
				continue
			}
			g.Go(func() error { return p.revoke(within, l) })
		}
		if err := g.Wait(); err != nil && ctx.Err() == nil {
			p.log.Warn("a crawl waits until its worker's heartbeats are missed", "error", err)
		}
		return true
	})
}

// revoke takes a host from a holder that no longer renews its lease, and ends the slice
// that it crawled, if it did.
func (p *pool) revoke(ctx context.Context, l politeness.Lapsed) error {
	ours, err := p.app.Keeper.Revoke(ctx, l)
	if err != nil || !ours {
		return err
	}
	return endSlice(ctx, p.client, p.cfg.Servers.Namespace, l.Host)
}

// endSlice ends the slice of a crawl that is under way, as one whose worker is gone.
func endSlice(ctx context.Context, c client.Client, namespace, host string) error {
	id := workflows.SiteID(host)
	d, err := c.DescribeWorkflowExecution(ctx, id, "")
	if err != nil {
		return nil // it was no crawl that had the host
	}
	run := d.GetWorkflowExecutionInfo().GetExecution().GetRunId()
	for _, a := range d.GetPendingActivities() {
		if a.GetState() != enumspb.PENDING_ACTIVITY_STATE_STARTED || a.GetActivityType().GetName() != slice {
			continue
		}
		var did crawl.Progress
		_ = converter.GetDefaultDataConverter().FromPayloads(a.GetHeartbeatDetails(), &did)
		return c.CompleteActivityByID(ctx, namespace, id, run, a.GetActivityId(), nil, activities.WorkerGone(did))
	}
	return nil
}
