package workflows

import (
	"fmt"
	"time"

	"go.temporal.io/sdk/workflow"

	"gleaner/activities"
)

// HomepagesParams starts or continues the search for authors' homepages.
type HomepagesParams struct {
	Harvest activities.Harvest `json:"harvest"`
	Pass    int                `json:"pass"`  // 1 or 2
	After   string             `json:"after"` // the last author of the batches before
	Total   activities.Authors `json:"total"`
}

const (
	authorsPerBatch = 48
	batchesPerRun   = 100
)

// FindHomepages looks for every author in batches, and in a second pass again
// for those not found, by what was found for their co-authors.
func FindHomepages(ctx workflow.Context, p HomepagesParams) (activities.Authors, error) {
	p.Pass = max(p.Pass, 1)
	for n := 0; p.Pass <= 2; n++ {
		if n == batchesPerRun {
			return p.Total, workflow.NewContinueAsNewError(ctx, FindHomepages, p)
		}
		summary := fmt.Sprintf("authors after %q, pass %d", p.After, p.Pass)
		var b activities.Authors
		err := workflow.ExecuteActivity(on(ctx, activities.QueueMetadata, summary, time.Hour), stages.FindHomepages,
			activities.Batch{Harvest: p.Harvest, After: p.After, Limit: authorsPerBatch, Pass: p.Pass}).Get(ctx, &b)
		if err != nil {
			return p.Total, err
		}
		p = p.after(b)
		workflow.SetCurrentDetails(ctx, fmt.Sprintf("%d authors looked for, %d homepages found (%d searches, %d pages fetched)",
			p.Total.Looked, p.Total.Found, p.Total.Searches, p.Total.Fetches))
	}
	var settled int
	err := workflow.ExecuteActivity(quick(ctx, "pages given to several authors"), stages.SettleHomepages, p.Harvest).Get(ctx, &settled)
	return p.Total, err
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
