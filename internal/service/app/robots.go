package app

import (
	"context"
	"time"

	"gleaner/internal/fetch"
	"gleaner/internal/politeness"
)

// robotsFirst is a gate for outside services that reads a host's robots.txt
// before anything else of it. A service's interface is made for programs, so
// what robots.txt keeps crawlers out of is not asked of it here; but a host
// sees the same manners from everything that Gleaner is, and Crawl-delay holds.
type robotsFirst struct {
	fetch.Gate
	client *fetch.Client
	pages  *politeness.Keeper // grants the turns for robots.txt; nil leaves that to the client
}

func (g robotsFirst) Turn(ctx context.Context, host string, delay time.Duration) (func(fetch.Visit), error) {
	var terms fetch.Terms
	if g.pages != nil {
		terms.Gate = g.pages.Every(delay) // before what follows robots.txt, too
	}
	asked, _ := g.client.CrawlDelay(ctx, host, terms) // without an answer the service's delay holds
	return g.Gate.Turn(ctx, host, max(delay, asked))
}
