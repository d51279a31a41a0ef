package app

import (
	"fmt"
	"os"
	"time"

	"gleaner/internal/fetch"
	"gleaner/internal/harvest"
	"gleaner/internal/politeness"
	"gleaner/internal/service/config"
)

// ownParkFor is for how long at most an instance of SearXNG that keeps failing is
// left alone: it is the operator's own, which he mends, and while it is parked
// nobody is found.
const ownParkFor = time.Minute

// searchGate paces a search engine.
func (a *App) searchGate(of config.Provider) fetch.Gate {
	if of != "searxng" {
		return a.Keeper.Services()
	}
	p := pacing(a.Config)
	p.ParkFor = min(p.ParkFor, ownParkFor)
	return politeness.NewKeeper(a.leases, p, a.holder()).Services()
}

// holder names this process to people who look at leases.
func (a *App) holder() string {
	host, _ := os.Hostname()
	return fmt.Sprintf("%s/%d", host, os.Getpid())
}

// evidenceBytes bounds a page that is fetched as evidence for a homepage: it is
// kept in the database until it was indexed and crawled. What is longer is no
// person's page, and is left to the crawl.
const evidenceBytes = 4 << 20

// evidence is the getter of such pages.
func (a *App) evidence() (*harvest.Getter, error) {
	fc := a.webConfig()
	fc.Limits.DocumentBytes, fc.Limits.PageBytes = min(fc.Limits.DocumentBytes, evidenceBytes), min(fc.Limits.PageBytes, evidenceBytes)
	c, err := fetch.New(fc)
	return &harvest.Getter{DB: a.DB, Fetch: c}, err
}
