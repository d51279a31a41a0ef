package workflows

import (
	"fmt"
	"time"

	"go.temporal.io/sdk/workflow"

	"gleaner/activities"
	"gleaner/internal/harvest"
)

// HomepagesParams starts or continues the search for authors' homepages.
type HomepagesParams struct {
	Harvest activities.Harvest `json:"harvest"`
	Pass    int                `json:"pass"`             // 1 or 2
	After   string             `json:"after"`            // the last author of the batches before
	Settled time.Time          `json:"settled,omitzero"` // when the first pass was settled
	Total   activities.Authors `json:"total"`
}

const (
	authorsPerBatch = 48
	batchesPerRun   = 100
	lastPass        = 2
)

// FindHomepages looks for every author in batches, by what is known of each
// alone; leaves each page to one author; looks in a second pass for those not
// found, by what was found for their co-authors; and settles again. The order
// matters: a pass that read what it writes would find what its timing decides.
func FindHomepages(ctx workflow.Context, p HomepagesParams) (activities.Authors, error) {
	p.Pass = max(p.Pass, 1)
	for n := 0; p.Pass <= lastPass; n++ {
		if n == batchesPerRun {
			return p.Total, workflow.NewContinueAsNewError(ctx, FindHomepages, p)
		}
		summary := fmt.Sprintf("authors after %q, pass %d", p.After, p.Pass)
		var b activities.Authors
		err := workflow.ExecuteActivity(on(ctx, activities.QueueMetadata, summary, time.Hour), stages.FindHomepages,
			activities.Batch{Harvest: p.Harvest, After: p.After, Limit: authorsPerBatch, Pass: p.Pass, Settled: p.Settled}).Get(ctx, &b)
		if err != nil {
			return p.Total, err
		}
		if !b.More {
			var s harvest.Settled
			summary := fmt.Sprintf("pages given to several authors, pass %d", p.Pass)
			if err := workflow.ExecuteActivity(on(ctx, activities.QueueMetadata, summary, time.Hour), stages.SettleHomepages, p.Harvest).Get(ctx, &s); err != nil {
				return p.Total, err
			}
			p.Settled = s.At
		}
		p = p.after(b)
		workflow.SetCurrentDetails(ctx, fmt.Sprintf("pass %d: %d authors looked for, %d homepages found (%d searches, %d pages fetched)",
			min(p.Pass, lastPass), p.Total.Looked, p.Total.Found, p.Total.Searches, p.Total.Fetches))
	}
	return p.Total, nil
}

// after is where to go on after a batch: the next batch, or the next pass.
func (p HomepagesParams) after(b activities.Authors) HomepagesParams {
	p.Total.Looked += b.Looked
	p.Total.Found += b.Found
	p.Total.Searches += b.Searches
	p.Total.Fetches += b.Fetches
	p.After = b.Last
	if !b.More {
		p.Pass, p.After = p.Pass+1, ""
	}
	return p
}
