package activities

import (
	"context"
	"time"

	"gleaner/internal/recrawl"
	"gleaner/internal/stats"
	"gleaner/internal/store"
)

// Recrawls puts back what is worth asking again.
type Recrawls struct {
	db     *store.DB
	policy recrawl.Policy
	stats  stats.Thresholds
}

// Due asks for the next sites whose rest is over.
type Due struct {
	Of     store.Selection `json:"of"`
	All    bool            `json:"all,omitempty"`    // whether or not their rest is over
	Before time.Time       `json:"before,omitempty"` // URLs asked since are left
	After  string          `json:"after"`            // the last host of the batch before
	Limit  int             `json:"limit"`
}

// DueSites lists the next due sites, puts what is due on each back among the
// waiting, and returns those where something waits then.
func (a *Recrawls) DueSites(ctx context.Context, d Due) (Sites, error) {
	beat, set, stop := heartbeats[string](ctx)
	defer stop()
	if d.After == "" { // what is to be avoided may have changed by an import or a review
		if _, err := stats.MeasureStale(beat, a.db, a.stats); err != nil {
			return Sites{}, typed(err)
		}
	}
	hosts, err := a.db.DueSites(beat, d.Of, d.All, d.After, d.Limit)
	if err != nil {
		return Sites{}, typed(err)
	}
	out := Sites{Last: d.After, More: len(hosts) == d.Limit}
	for _, host := range hosts {
		n, err := a.db.RequeueDue(beat, host, store.PutBack{All: d.All, Before: d.Before}, a.policy)
		if err != nil {
			return Sites{}, typed(err)
		}
		if n > 0 {
			out.Hosts = append(out.Hosts, host)
		}
		out.Last = host
		set(host)
	}
	return out, nil
}
