package fetch

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"strings"

	"github.com/gocolly/colly/v2"
)

// collector is colly on the chain. It sends the request, follows the redirects that the chain
// allows, each through the whole chain, rejects answers by header if they are too large or
// unwanted, and reads the body. Features of colly itself are off: cookies, visited URLs,
// robots.txt and cutting of bodies. Decoding and re-encoding find nothing to do.
type collector struct {
	*colly.Collector
	x    *exchange
	body []byte
}

// newCollectors returns a function that makes collectors on a chain. They are clones, each for
// one fetch at a time, since a collector holds the context of its request.
func newCollectors(chain http.RoundTripper) func() any {
	// Not NewCollector, which reads COLLY_* variables.
	base := &colly.Collector{}
	base.Init()
	base.AllowURLRevisit = true
	base.ParseHTTPErrorResponse = true
	base.MaxBodySize = 0
	base.SetClient(&http.Client{Transport: chain})
	base.SetRedirectHandler(followed)
	return func() any {
		c := &collector{Collector: base.Clone()}
		c.OnResponseHeaders(func(r *colly.Response) {
			if c.x.refused != nil {
				r.Request.Abort()
			}
		})
		c.OnResponse(func(r *colly.Response) { c.body = r.Body })
		return c
	}
}

// get requests the exchange's URL and returns the body of the last answer.
func (c *Client) get(ctx context.Context, x *exchange) ([]byte, error) {
	col := c.collectors.Get().(*collector)
	defer c.collectors.Put(col)
	col.Context, col.x, col.body = ctx, x, nil
	defer func() { col.Context, col.x, col.body = context.Background(), nil, nil }()
	err := col.Request(http.MethodGet, x.URL, nil, nil, x.header)
	if errors.Is(err, colly.ErrAbortedAfterHeaders) {
		return nil, x.refused
	}
	return col.body, err
}

// untouched keeps colly from re-encoding a body whose Content-Type has a charset. The caller of
// Fetch gets the original header.
type untouched struct{ next http.RoundTripper }

func (u *untouched) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := u.next.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	if typ := resp.Header.Get("Content-Type"); strings.Contains(strings.ToLower(typ), "charset") {
		resp.Header = maps.Clone(resp.Header)
		typ, _, _ = strings.Cut(mediaType(typ), "charset")
		resp.Header.Set("Content-Type", typ)
	}
	resp.Uncompressed = true // colly would inflate .xml.gz
	return resp, nil
}
