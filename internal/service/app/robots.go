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
}

// Turn implements fetch.Gate.
func (g robotsFirst) Turn(ctx context.Context, host string, delay time.Duration) (func(fetch.Visit), error) {
	// What follows robots.txt keeps the service's distance from it, too. Without an
	// answer the service's own delay must do.
	asked, _ := g.client.CrawlDelay(politeness.WithDelay(ctx, delay), host)
	return g.Gate.Turn(ctx, host, max(delay, asked))
}
