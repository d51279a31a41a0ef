package fetch

import (
	"fmt"
	"net/http"
)

// robotsCheck is the part of the chain that rejects requests forbidden by robots.txt.
type robotsCheck struct {
	next http.RoundTripper
	c    *Client
}

func (o *robotsCheck) RoundTrip(r *http.Request) (*http.Response, error) {
	x := exchangeOf(r)
	rules, rule, err := robotsReader{o.c, x.Terms}.allowed(r.Context(), x.target)
	if err != nil {
		return nil, err
	}
	if rule != "" {
		return nil, &Error{Outcome: RobotsDenied, URL: x.raw, Err: fmt.Errorf("robots.txt: %s", rule)}
	}
	x.crawlDelay = rules.CrawlDelay()
	return o.next.RoundTrip(r)
}
