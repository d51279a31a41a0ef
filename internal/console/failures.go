package console

import (
	"context"

	"gleaner/internal/each"
	"gleaner/internal/record/store"
)

// failuresPage lists the URLs of a harvest that failed, by host.
type failuresPage struct {
	Harvest string            `json:"harvest"`
	Reason  string            `json:"reason,omitempty"`
	Reasons []store.Failure   `json:"reasons"`
	URLs    []store.FailedURL `json:"urls"`
	Next    string            `json:"next,omitempty"`

	ofHarvest
}

func failureParams() []param {
	return []param{
		{name: "harvest", what: "id of a harvest", required: true},
		{name: "reason", what: "only those that failed for this reason"},
	}
}

func failed(ctx context.Context, c *Console, a *asked) (any, error) {
	after, err := placeAfter(a)
	if err != nil {
		return nil, err
	}
	h, of, err := harvestAsked(ctx, c, a)
	if err != nil {
		return nil, err
	}
	p := failuresPage{Harvest: h.ID, Reason: a.get("reason"), ofHarvest: of}
	all, err := failuresOf(ctx, c, h.ID)
	if err != nil {
		return nil, err
	}
	p.Reasons = each.List(each.Where(all, func(f store.Failure) bool { return f.URLs > 0 }))
	rows, err := c.App.DB.FailedList(ctx, store.RetryFilter{Harvest: h.ID, Reason: p.Reason}, after, pageSize+1)
	p.URLs, p.Next = more(rows, func(u store.FailedURL) string { return u.Place().String() })
	return p, err
}

// failuresOf counts what failed of a harvest, by reason.
func failuresOf(ctx context.Context, c *Console, harvest string) ([]store.Failure, error) {
	return c.failures.get(harvest, func() ([]store.Failure, error) {
		return c.App.DB.Failures(ctx, store.RetryFilter{Harvest: harvest})
	})
}
