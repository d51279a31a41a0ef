package fetch

import (
	"context"
	"net/http"
	"sync"

	"github.com/gocolly/colly/v2"
)

// engine sends one request and fills in its exchange.
type engine interface {
	do(ctx context.Context, x *exchange) error
}

type exchangeKey struct{}

// collyEngine lets colly build and send requests. Everything in which colly
// does as it thinks best is either off or finds nothing to do: it follows no
// redirect, keeps no cookies, remembers no URL, asks for no robots.txt, and the
// answer that it is given (transport.go) has neither a body to cut at 10 MiB nor
// headers by which to inflate or re-encode one.
type collyEngine struct {
	// collectors are clones, since the context of a request is a field of its
	// collector.
	collectors sync.Pool
	transport  http.RoundTripper
}

func newCollyEngine(rt http.RoundTripper) *collyEngine {
	// Init rather than NewCollector: that one reads COLLY_* variables.
	base := &colly.Collector{}
	base.Init()
	base.AllowURLRevisit = true
	base.ParseHTTPErrorResponse = true
	base.MaxBodySize = 0
	base.SetClient(&http.Client{
		Transport:     rt,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	})
	return &collyEngine{transport: rt, collectors: sync.Pool{New: func() any { return base.Clone() }}}
}

func (e *collyEngine) do(ctx context.Context, x *exchange) error {
	c := e.collectors.Get().(*colly.Collector)
	defer e.collectors.Put(c)
	c.Context = context.WithValue(ctx, exchangeKey{}, x)
	defer func() { c.Context = context.Background() }()
	// The path is the transport's: colly would only parse and rewrite it, which
	// took a tenth of a fetch.
	return c.Request(http.MethodGet, x.url.Scheme+"://"+x.url.Host+"/", nil, nil, x.header)
}
