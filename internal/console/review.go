package console

import (
	"context"

	"gleaner/internal/record/store"
)

// reviewPage lists matches that wait for a person's word, the likeliest first.
type reviewPage struct {
	Venue   string         `json:"venue,omitempty"`
	Settled bool           `json:"settled,omitempty"`
	All     int            `json:"all"` // how many there are
	Reviews []store.Review `json:"reviews"`
}

// Title implements titled.
func (p reviewPage) Title() string { return "Review" }

func reviews(ctx context.Context, c *Console, a *asked) (titled, error) {
	p := reviewPage{Venue: a.get("venue"), Settled: a.get("settled") == "yes"}
	all, err := c.App.DB.Reviews(ctx, p.Venue, p.Settled)
	p.All, p.Reviews = len(all), listed(all[:min(len(all), pageSize)])
	return p, err
}
