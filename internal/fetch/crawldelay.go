package fetch

import (
	"context"
	"net/url"
	"time"
)

// CrawlDelay is what the robots.txt of a host asks between two requests, 0 if
// nothing. The error is an *Error: without robots.txt nothing is known.
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
