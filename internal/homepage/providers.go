package homepage

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
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
type SearXNG struct {
	provider
	base string
}

// NewSearXNG returns a searcher for the instance at base, such as
// "http://localhost:8888".
func NewSearXNG(base string, s Service) *SearXNG {
	return &SearXNG{provider: newProvider("searxng", s), base: strings.TrimRight(base, "/")}
}

func (s *SearXNG) Name() string { return s.name }

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

// Search requests page after page until it has n results or a page has no new one.
func (s *SearXNG) Search(ctx context.Context, query string, n int) ([]evidence.Result, error) {
	var all []evidence.Result
	seen := map[string]bool{}
	for pageno := 1; pageno <= pagesOf(n) && len(all) < n; pageno++ {
		var answer struct {
			Results []struct{ URL, Title, Content string } `json:"results"`
			// pairs of engine and reason
			Unresponsive []any `json:"unresponsive_engines"`
		}
		q := url.Values{"q": {query}, "format": {"json"}, "pageno": {strconv.Itoa(pageno)}}
		req, err := http.NewRequest(http.MethodGet, s.base+"/search?"+q.Encode(), nil)
		if err != nil {
			return nil, &SearchError{Provider: s.name, Err: err}
		}
		ctx = forPage(ctx, pageno-1)
		if err := s.call(ctx, req, &answer); err != nil {
			return ranked(s.name, all, n), err
		}
		if len(answer.Results) == 0 {
			// If all engines of the instance failed, the empty answer is not a result.
			if pageno == 1 && len(answer.Unresponsive) > 0 {
				return nil, &SearchError{Provider: s.name, Status: http.StatusOK, Err: fmt.Errorf("%w: unresponsive engines %.300s", errBusy, fmt.Sprint(answer.Unresponsive...))}
			}
			break
		}
		fresh := 0
		for _, r := range answer.Results {
			if !seen[r.URL] {
				seen[r.URL] = true
				fresh++
				all = append(all, evidence.Result{URL: r.URL, Title: r.Title, Snippet: r.Content})
			}
		}
		if fresh == 0 {
			break
		}
	}
	return ranked(s.name, all, n), nil
}

// Brave queries the Brave Search API (header X-Subscription-Token).
type Brave struct {
	provider
	base, key string
}

// NewBrave returns a searcher; base "" is Brave's own address.
func NewBrave(base, key string, s Service) *Brave {
	base = cmp.Or(base, "https://api.search.brave.com")
	return &Brave{provider: newProvider("brave", s), base: strings.TrimRight(base, "/"), key: key}
}

func (b *Brave) Name() string { return b.name }

// bravePages is how many pages of results Brave gives.
const bravePages = 10

// Search requests up to 20 results a page and ten pages, as Brave allows.
func (b *Brave) Search(ctx context.Context, query string, n int) ([]evidence.Result, error) {
	if b.key == "" {
		return nil, &SearchError{Provider: b.name, Err: fmt.Errorf("%w: set GLEANER_BRAVE_KEY", errNoKey)}
	}
	var all []evidence.Result
	count := min(20, max(1, n))
	for offset := 0; offset < bravePages && len(all) < n; offset++ {
		var answer struct {
			Web struct {
				Results []struct{ Title, URL, Description string } `json:"results"`
			} `json:"web"`
		}
		q := url.Values{"q": {query}, "count": {strconv.Itoa(count)}, "offset": {strconv.Itoa(offset)}}
		req, err := http.NewRequest(http.MethodGet, b.base+"/res/v1/web/search?"+q.Encode(), nil)
		if err != nil {
			return nil, &SearchError{Provider: b.name, Err: err}
		}
		req.Header.Set("X-Subscription-Token", b.key)
		ctx = forPage(ctx, offset)
		if err := b.call(ctx, req, &answer); err != nil {
			return ranked(b.name, all, n), err
		}
		for _, r := range answer.Web.Results {
			all = append(all, evidence.Result{URL: r.URL, Title: r.Title, Snippet: r.Description})
		}
		if len(answer.Web.Results) < count {
			break
		}
	}
	return ranked(b.name, all, n), nil
}

// Serper queries google.serper.dev (header X-API-KEY).
type Serper struct {
	provider
	base, key string
}

// NewSerper returns a searcher; base "" is Serper's own address.
func NewSerper(base, key string, s Service) *Serper {
	base = cmp.Or(base, "https://google.serper.dev")
	return &Serper{provider: newProvider("serper", s), base: strings.TrimRight(base, "/"), key: key}
}

func (s *Serper) Name() string { return s.name }

// serperPage is how many results Serper gives at once.
const serperPage = 100

// Search requests up to a hundred results a page.
func (s *Serper) Search(ctx context.Context, query string, n int) ([]evidence.Result, error) {
	if s.key == "" {
		return nil, &SearchError{Provider: s.name, Err: fmt.Errorf("%w: set GLEANER_SERPER_KEY", errNoKey)}
	}
	var all []evidence.Result
	num := min(n, serperPage)
	for page := 1; len(all) < n && page <= pagesOf(n); page++ {
		ask := map[string]any{"q": query, "num": num}
		if page > 1 {
			ask["page"] = page
		}
		body, err := json.Marshal(ask)
		if err != nil {
			return nil, err
		}
		req, err := http.NewRequest(http.MethodPost, s.base+"/search", bytes.NewReader(body))
		if err != nil {
			return nil, &SearchError{Provider: s.name, Err: err}
		}
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("X-API-KEY", s.key)
		var answer struct {
			Organic []struct{ Title, Link, Snippet string } `json:"organic"`
		}
		ctx = forPage(ctx, page-1)
		if err := s.call(ctx, req, &answer); err != nil {
			return ranked(s.name, all, n), err
		}
		for _, r := range answer.Organic {
			all = append(all, evidence.Result{URL: r.Link, Title: r.Title, Snippet: r.Snippet})
		}
		if len(answer.Organic) < num || n <= serperPage {
			break
		}
	}
	return ranked(s.name, all, n), nil
}

func newProvider(name string, s Service) provider {
	client := cmp.Or(s.Client, http.DefaultClient)
	// No redirect is followed: key and query are for the host that the operator set.
	api := fetch.NewAPI(client.Transport, s.Gate, s.Memory, cmp.Or(client.Timeout, time.Minute), maxAnswer)
	begin := s.Begin
	if begin == nil {
		begin = func(context.Context, string) (func(), error) { return func() {}, nil }
	}
	return provider{name: name, api: api, delay: s.Delay, begin: begin}
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
