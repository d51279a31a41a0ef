package fetch

import (
	"context"
	"net/url"
	"time"
)

// CrawlDelay returns the pause between two requests in the robots.txt of a host, or 0. The error
// is an *Error if robots.txt is unavailable.
func (c *Client) CrawlDelay(ctx context.Context, host string, terms Terms) (time.Duration, error) {
	t, err := c.target(&url.URL{Scheme: "http", Host: host, Path: "/"})
	if err != nil {
		return 0, err
	}
	rules, err := robotsReader{c, terms}.rules(ctx, t)
	if err != nil {
		return 0, err
	}
	return rules.CrawlDelay(), nil
}
