package homepage

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"gleaner/internal/fetch"
	"gleaner/internal/gleaner/evidence"
)

// Searcher queries one search engine. Search returns at most n results, best
// first; no result is not an error. With an error it returns the results received
// before the error.
type Searcher interface {
	Name() string
	Search(ctx context.Context, query string, n int) ([]evidence.Result, error)
}

// The ways in which a search fails.
var (
	errNoKey = errors.New("homepage: the search provider needs a key")
	// a wrong key, or JSON answers are disabled: a retry is of no use
	errForbidden = errors.New("homepage: the search provider refuses")
	errBusy      = errors.New("homepage: the search provider asks to wait")
	errBudget    = errors.New("homepage: the search budget is used up")
)

// SearchError is the failure of a request to a search provider. It unwraps to
// errForbidden, errBusy or the cause.
type SearchError struct {
	Provider   string
	Status     int           // 0 without an answer
	RetryAfter time.Duration // 0 if unknown
	Err        error
}

func (e *SearchError) Error() string {
	s := "search by " + e.Provider
	if e.Status != 0 {
		s += " (status " + strconv.Itoa(e.Status) + ")"
	}
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	return s
}

func (e *SearchError) Unwrap() error { return e.Err }

// Refused reports whether the request fails until somebody changes a setting, the
// budget or the query.
func (e *SearchError) Refused() bool {
	if errors.Is(e.Err, errNoKey) || errors.Is(e.Err, errForbidden) || errors.Is(e.Err, errBudget) {
		return true
	}
	return e.Status >= 400 && e.Status < 500 && e.Status != http.StatusRequestTimeout && e.Status != http.StatusTooManyRequests
}

// maxAnswer bounds the answer of a search provider, in bytes.
const maxAnswer = 4 << 20

// provider is the common part of the three external search engines: one paced
// request, one JSON answer.
type provider struct {
	name, base  string
	header, key string // the key goes into the header, where there is one
	api         *fetch.API
	delay       time.Duration
	begin       func(ctx context.Context, what string) (end func(), err error)
}

// Name is the provider's name in settings and results.
func (p provider) Name() string { return p.name }

// Service holds the options of requests to a search provider.
type Service struct {
	Client *http.Client  // nil is http.DefaultClient
	Gate   fetch.Gate    // nil: no request waits
	Memory *fetch.Memory // bounds answers; nil does not
	Delay  time.Duration // the least pause between two requests

	// Begin is called before an answer is read, with the name of the request, and
	// end after. An error refuses the answer [nil].
	Begin func(ctx context.Context, what string) (end func(), err error)
}

// call requests a path below base in a turn of its host, with what in JSON unless it is nil,
// and decodes the answer. The name of the request is its address, which holds no key, and the
// SHA-256 of its body.
func (p provider) call(ctx context.Context, method, path string, what, into any) error {
	if p.header != "" && p.key == "" {
		return &SearchError{Provider: p.name, Err: fmt.Errorf("%w: set GLEANER_%s_KEY", errNoKey, strings.ToUpper(p.name))}
	}
	var body []byte
	if what != nil {
		var err error
		if body, err = json.Marshal(what); err != nil {
			return err
		}
	}
	req, err := http.NewRequestWithContext(ctx, method, p.base+path, bytes.NewReader(body))
	if err != nil {
		return &SearchError{Provider: p.name, Err: err}
	}
	req.Header.Set("Accept", "application/json")
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if p.key != "" {
		req.Header.Set(p.header, p.key)
	}
	asked := fmt.Sprintf("%s %x", req.URL, sha256.Sum256(body))
	a, err := p.api.Do(fetch.Call{Request: req, Delay: p.delay, Ready: func() error { return pay(ctx) }, Use: func(a *fetch.Answer) error {
		if err := p.refusal(req, a); err != nil {
			return err
		}
		end, err := p.begin(ctx, asked)
		if err != nil {
			return &SearchError{Provider: p.name, Status: a.Status, Err: err}
		}
		defer end()
		if err := json.Unmarshal(a.Body, into); err != nil {
			return &SearchError{Provider: p.name, Status: a.Status, Err: fmt.Errorf("not the JSON that was expected: %w", err)}
		}
		return nil
	}})
	a.Release()
	var e *fetch.Error
	switch {
	case !errors.As(err, &e):
		return err // of Ready or Use, if any
	case e.Outcome == fetch.Parked:
		return &SearchError{Provider: p.name, RetryAfter: e.RetryAfter, Err: e.Err}
	case e.Outcome == fetch.Canceled && ctx.Err() == nil: // the gate was canceled, not the search
		return fmt.Errorf("%w: %w", ErrRecord, e.Err)
	}
	return &SearchError{Provider: p.name, Status: e.Status, Err: e.Err}
}

// refusal returns the typed error of a status other than 200.
func (p provider) refusal(req *http.Request, a *fetch.Answer) error {
	e := &SearchError{Provider: p.name, Status: a.Status}
	if a.Status >= 300 && a.Status < 400 {
		e.Err = fmt.Errorf("%w: it redirects to %.200q, which is not followed; set its address to where it is", errForbidden, fetch.RedirectHost(&http.Response{Header: a.Header, Request: req}))
		return e
	}
	switch a.Status {
	case http.StatusOK:
		return nil
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusPaymentRequired:
		e.Err = errForbidden
	case http.StatusTooManyRequests, http.StatusServiceUnavailable:
		e.Err, e.RetryAfter = errBusy, a.RetryAfter
	default:
		e.Err = errors.New(http.StatusText(a.Status))
	}
	return e
}

// ranked numbers results from 1, at most n of them, each address once.
func ranked(name string, in []evidence.Result, n int) []evidence.Result {
	out := make([]evidence.Result, 0, min(n, len(in)))
	seen := map[string]bool{}
	for _, r := range in {
		if r.URL == "" || seen[r.URL] || len(out) == n {
			continue
		}
		seen[r.URL] = true
		r.Title, r.Snippet = plain(r.Title), plain(r.Snippet)
		r.Provider, r.Rank = name, len(out)+1
		out = append(out, r)
	}
	return out
}
