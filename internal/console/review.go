package console

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"gleaner/internal/record/store"
)

// reviewPage lists matches that wait for a person's word, the likeliest first.
type reviewPage struct {
	Venue   string         `json:"venue,omitempty"`
	Settled bool           `json:"settled,omitempty"`
	All     int            `json:"all"` // how many there are
	Reviews []store.Review `json:"reviews"`
	Next    string         `json:"next,omitempty"`
}

func reviews(ctx context.Context, c *Console, a *asked) (any, error) {
	p := reviewPage{Venue: a.get("venue"), Settled: a.get("settled") == "yes"}
	q := store.ReviewQuery{Venue: p.Venue, Settled: p.Settled, Limit: pageSize + 1}
	if after := a.get("after"); after != "" {
		score, of, _ := strings.Cut(after, " ")
		sha, paper, _ := strings.Cut(of, " ")
		n, err := strconv.ParseFloat(score, 32)
		if err != nil {
			return nil, fmt.Errorf("%w: after is what the page before gave as next", errInput)
		}
		q.After = &store.Review{Score: n, Paper: paper, SHA256: sha}
	}
	rows, err := c.App.DB.Reviews(ctx, q)
	if err != nil {
		return nil, err
	}
	p.Reviews, p.Next = more(rows, func(r store.Review) string {
		return fmt.Sprintf("%s %s %s", strconv.FormatFloat(r.Score, 'g', -1, 32), r.SHA256, r.Paper)
	})
	p.All, err = c.App.DB.CountReviews(ctx, q)
	return p, err
}
