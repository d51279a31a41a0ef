package activities

import (
	"context"
	"time"

	"go.temporal.io/sdk/activity"

	"gleaner/internal/harvest/stats"
	"gleaner/internal/record/store"
	"gleaner/internal/recrawl"
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
	WARC   bool            `json:"warc,omitempty"`   // keep what is exchanged in WARC files
	After  string          `json:"after"`            // the place of the last host of the batch before
	Limit  int             `json:"limit"`
}

// ListDue lists the next due sites.
func (a *Recrawls) ListDue(ctx context.Context, d Due) (Sites, error) {
	beat, _, stop := heartbeats[string](ctx)
	defer stop()
	if d.After == "" { // what is to be avoided may have changed by an import or a review
		if _, err := stats.MeasureStale(beat, a.db, a.stats); err != nil {
			return Sites{}, typed(err)
		}
	}
	hosts, last, err := a.db.DueSites(beat, d.Of, d.All, d.After, d.Limit)
	return Sites{Hosts: hosts, Last: last, More: len(hosts) == d.Limit}, typed(err)
}

// Whitelist says how its pages are given to the frontier.
type Whitelist struct {
	Small int `json:"small,omitempty"` // domains with fewer accepted documents are asked when their own time has come
}

// SeedWhitelist gives the whitelist's pages to the frontier, and says of how many
// hosts. Done twice it comes to the same.
func (a *Recrawls) SeedWhitelist(ctx context.Context, w Whitelist) (int, error) {
	defer alive(ctx)()
	return result(a.db.SeedWhitelist(ctx, w.Small))
}

// PutBack names sites where what is due is to be put back.
type PutBack struct {
	Due   Due      `json:"due"`
	Hosts []string `json:"hosts"`
}

// PutBack puts what is due on each site back among the waiting, and returns the
// hosts where something waits then. Done twice it comes to the same.
func (a *Recrawls) PutBack(ctx context.Context, p PutBack) (waiting []string, err error) {
	beat, set, stop := heartbeats[string](ctx)
	defer stop()
	for _, host := range p.Hosts {
		n, err := a.db.RequeueDue(beat, host, store.PutBack{All: p.Due.All, WARC: p.Due.WARC, Before: p.Due.Before, For: activity.GetInfo(ctx).WorkflowExecution.ID}, a.policy)
		if err != nil {
			return nil, typed(err)
		}
		if n > 0 {
			waiting = append(waiting, host)
		}
		set(host)
	}
	return waiting, nil
}

// Leave takes a recrawl that was cancelled from those who want the hosts crawled.
func (a *Recrawls) Leave(ctx context.Context, hosts []string) error {
	defer alive(ctx)()
	return typed(a.db.LeaveSites(ctx, activity.GetInfo(ctx).WorkflowExecution.ID, hosts))
}
