package homepage

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"gleaner/internal/each"
	"gleaner/internal/fetch"
	"gleaner/internal/gleaner/evidence"
	"gleaner/internal/guard"
)

// SearXNG queries a SearXNG instance, whose settings must allow JSON
// (search.formats). It needs no key.
type SearXNG struct{ provider }

// NewSearXNG returns a searcher for the instance at base, such as
// "http://localhost:8888".
func NewSearXNG(base string, s Service) *SearXNG {
	return &SearXNG{newProvider("searxng", base, "", "", s)}
}

// pagesPaid is how many pages of results count as one search of the budget.
const pagesPaid = 3

// pagesOf bounds the pages requested for n results; ten results a page are usual.
func pagesOf(n int) int { return max(pagesPaid, (n+9)/10) }

// forPage returns a context with the bill for a page of results, the first being 0.
func forPage(ctx context.Context, page int) context.Context {
	b, ok := ctx.Value(billKey{}).(*bill)
	if !ok || page == 0 || page%pagesPaid > 0 {
		return ctx
	}
	return context.WithValue(ctx, billKey{}, &bill{pay: b.pay})
}

// pages requests page after page of results, the first being 0, until it has n results or
// the most pages, or there are no more.
func (p provider) pages(
	ctx context.Context, n, most int, ask func(ctx context.Context, page int) (found []evidence.Result, more bool, err error),
) ([]evidence.Result, error) {
	var all []evidence.Result
	for page, more := 0, true; more && page < most && len(all) < n; page++ {
		var found []evidence.Result
		var err error
		ctx = forPage(ctx, page)
		if found, more, err = ask(ctx, page); err != nil {
			return ranked(p.name, all, n), err
		}
		all = append(all, found...)
	}
	return ranked(p.name, all, n), nil
}

// Search requests page after page until it has n results or a page has no new one.
func (s *SearXNG) Search(ctx context.Context, query string, n int) ([]evidence.Result, error) {
	seen := map[string]bool{}
	return s.pages(ctx, n, pagesOf(n), func(ctx context.Context, page int) (fresh []evidence.Result, more bool, err error) {
		var answer struct {
			Results []struct{ URL, Title, Content string } `json:"results"`
			// pairs of engine and reason
			Unresponsive []any `json:"unresponsive_engines"`
		}
		q := url.Values{"q": {query}, "format": {"json"}, "pageno": {strconv.Itoa(page + 1)}}
		if err := s.call(ctx, http.MethodGet, "/search?"+q.Encode(), nil, &answer); err != nil {
			return nil, false, err
		}
		// If all engines of the instance failed, the empty answer is not a result.
		if page == 0 && len(answer.Results) == 0 && len(answer.Unresponsive) > 0 {
			return nil, false, &SearchError{Provider: s.name, Status: http.StatusOK, Err: fmt.Errorf("%w: unresponsive engines %.300s", errBusy, fmt.Sprint(answer.Unresponsive...))}
		}
		for _, r := range answer.Results {
			if !seen[r.URL] {
				seen[r.URL] = true
				fresh = append(fresh, evidence.Result{URL: r.URL, Title: r.Title, Snippet: r.Content})
			}
		}
		return fresh, len(fresh) > 0, nil
	})
}

// Brave queries the Brave Search API (header X-Subscription-Token).
type Brave struct{ provider }

// NewBrave returns a searcher; base "" is Brave's own address.
func NewBrave(base, key string, s Service) *Brave {
	return &Brave{newProvider("brave", cmp.Or(base, "https://api.search.brave.com"), "X-Subscription-Token", key, s)}
}

// bravePages is how many pages of results Brave gives.
const bravePages = 10

// Search requests up to 20 results a page and ten pages, as Brave allows.
func (b *Brave) Search(ctx context.Context, query string, n int) ([]evidence.Result, error) {
	count := min(20, max(1, n))
	return b.pages(ctx, n, bravePages, func(ctx context.Context, page int) ([]evidence.Result, bool, error) {
		var answer struct {
			Web struct {
				Results []struct{ Title, URL, Description string } `json:"results"`
			} `json:"web"`
		}
		q := url.Values{"q": {query}, "count": {strconv.Itoa(count)}, "offset": {strconv.Itoa(page)}}
		err := b.call(ctx, http.MethodGet, "/res/v1/web/search?"+q.Encode(), nil, &answer)
		return each.Of(answer.Web.Results, func(r struct{ Title, URL, Description string }) evidence.Result {
			return evidence.Result{URL: r.URL, Title: r.Title, Snippet: r.Description}
		}), len(answer.Web.Results) >= count, err
	})
}

// Serper queries google.serper.dev (header X-API-KEY).
type Serper struct{ provider }

// NewSerper returns a searcher; base "" is Serper's own address.
func NewSerper(base, key string, s Service) *Serper {
	return &Serper{newProvider("serper", cmp.Or(base, "https://google.serper.dev"), "X-API-KEY", key, s)}
}

// serperPage is how many results Serper gives at once.
const serperPage = 100

// Search requests up to a hundred results a page.
func (s *Serper) Search(ctx context.Context, query string, n int) ([]evidence.Result, error) {
	num := min(n, serperPage)
	return s.pages(ctx, n, pagesOf(n), func(ctx context.Context, page int) ([]evidence.Result, bool, error) {
		ask := map[string]any{"q": query, "num": num}
		if page > 0 {
			ask["page"] = page + 1
		}
		var answer struct {
			Organic []struct{ Title, Link, Snippet string } `json:"organic"`
		}
		err := s.call(ctx, http.MethodPost, "/search", ask, &answer)
		return each.Of(answer.Organic, func(r struct{ Title, Link, Snippet string }) evidence.Result {
			return evidence.Result{URL: r.Link, Title: r.Title, Snippet: r.Snippet}
		}), len(answer.Organic) >= num && n > serperPage, err
	})
}

// newProvider returns the engine at base, which takes a key in a header; "" for none.
func newProvider(name, base, header, key string, s Service) provider {
	client := cmp.Or(s.Client, http.DefaultClient)
	// No redirect is followed: key and query are for the host that the operator set.
	api := fetch.NewAPI(client.Transport, s.Gate, s.Memory, cmp.Or(client.Timeout, time.Minute), maxAnswer)
	begin := s.Begin
	if begin == nil {
		begin = func(context.Context, string) (func(), error) { return func() {}, nil }
	}
	return provider{name: name, base: strings.TrimRight(base, "/"), header: header, key: key, api: api, delay: s.Delay, begin: begin}
}

// Merged queries all given searchers and takes the first result of each, then the second
// of each, and so on, each address once. It returns the errors of searchers beside the
// results of the others. If there are results, it omits permanent refusals (Refused).
func Merged(searchers ...Searcher) Searcher {
	if len(searchers) == 1 {
		return searchers[0]
	}
	return merged(searchers)
}

type merged []Searcher

func (m merged) Name() string { return firstAnswer(m).Name() }

func (m merged) Search(ctx context.Context, query string, n int) ([]evidence.Result, error) {
	answers, errs := make([][]evidence.Result, len(m)), make([]error, len(m))
	g, _ := guard.WithContext(ctx)
	for i, s := range m {
		g.Go(func() error {
			errs[i] = guard.Run(func() (err error) { answers[i], err = s.Search(ctx, query, n); return err })
			return nil
		})
	}
	_ = g.Wait()
	var all []evidence.Result
	met := map[string]bool{}
	for rank := range n {
		for _, rs := range answers {
			if rank >= len(rs) || len(all) == n {
				continue
			}
			if key := AddressKey(rs[rank].URL); !met[key] {
				met[key] = true
				all = append(all, rs[rank])
			}
		}
	}
	answered := slices.Contains(errs, nil) && len(all) > 0
	errs = slices.DeleteFunc(errs, func(err error) bool { return err == nil || answered && refused(err) })
	if len(errs) == 0 {
		return all, nil
	}
	return all, failures(errs)
}

// failures are the errors of several engines, each of which could have answered.
type failures []error

func (f failures) Error() string { return errors.Join(f...).Error() }

func (f failures) Unwrap() []error { return f }

// Refused reports whether all of them are permanent refusals.
func (f failures) Refused() bool {
	return !slices.ContainsFunc(f, func(err error) bool { return !refused(err) })
}

func refused(err error) bool {
	var of *SearchError
	return errors.As(err, &of) && of.Refused()
}

// FirstAnswer queries the given searchers in order and returns the first answer with a
// result, beside the errors of the searchers before it. An empty answer of one does not
// replace the answer of another that failed.
func FirstAnswer(searchers ...Searcher) Searcher { return firstAnswer(searchers) }

type firstAnswer []Searcher

func (f firstAnswer) Name() string {
	names := each.Of(f, Searcher.Name)
	return strings.Join(names, ",")
}

func (f firstAnswer) Search(ctx context.Context, query string, n int) ([]evidence.Result, error) {
	var errs []error
	for _, s := range f {
		rs, err := s.Search(ctx, query, n)
		if err != nil {
			errs = append(errs, err)
		}
		if len(rs) > 0 {
			return rs, errors.Join(errs...)
		}
	}
	return nil, errors.Join(errs...)
}
