package homepage

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"

	"gleaner/internal/fetch"
	"gleaner/internal/gleaner/evidence"
)

// Searcher asks one search engine. Search returns at most n results, best
// first; no result is not an error. With an error come the results that there
// were before it.
type Searcher interface {
	Name() string
	Search(ctx context.Context, query string, n int) ([]evidence.Result, error)
}

// The ways in which a search fails.
var (
	errNoKey     = errors.New("homepage: the search provider needs a key")
	errForbidden = errors.New("homepage: the search provider refuses") // a wrong key, or JSON answers switched off: asking again is of no use
	errBusy      = errors.New("homepage: the search provider asks to wait")
	errBudget    = errors.New("homepage: the search budget is used up")
)

// SearchError is an answer of a search provider that brought no results. It
// unwraps to errForbidden, errBusy or the cause.
type SearchError struct {
	Provider   string
	Status     int           // 0 without an answer
	RetryAfter time.Duration // 0 when not told
	Err        error
}

// Error names the provider, the status and the cause.
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

// Unwrap returns the cause.
func (e *SearchError) Unwrap() error { return e.Err }

// maxAnswer bounds the answer of a search provider, in bytes.
const maxAnswer = 4 << 20

// provider is what the three outside search engines have in common: one paced
// request, one JSON answer.
type provider struct {
	name   string
	client *http.Client
	gate   fetch.Gate // nil: no pacing
}

// call sends req when its host's turn has come and decodes the answer.
func (p provider) call(ctx context.Context, req *http.Request, into any) (err error) {
	visit := fetch.Visit{Failed: true}
	if p.gate != nil {
		done, gateErr := p.gate.Turn(ctx, req.URL.Host, 0)
		if gateErr != nil {
			return p.noTurn(gateErr)
		}
		defer func() { done(visit) }()
	}
	if err := pay(ctx); err != nil {
		visit = fetch.Visit{Void: true}
		return err
	}
	start := time.Now()
	defer func() { visit.Elapsed = time.Since(start) }()
	req.Header.Set("Accept", "application/json")
	resp, err := p.client.Do(req.WithContext(ctx)) // #nosec G704 -- the settings name the search engine
	if err != nil {
		return &SearchError{Provider: p.name, Err: fetch.Unaddressed(err)}
	}
	defer func() { _ = resp.Body.Close() }()
	visit.Status = resp.StatusCode
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	if err != nil {
		return &SearchError{Provider: p.name, Status: resp.StatusCode, Err: err}
	}
	if err := p.refusal(resp); err != nil {
		visit.RetryAfter = err.RetryAfter
		return err
	}
	if len(body) > maxAnswer {
		return &SearchError{Provider: p.name, Status: resp.StatusCode, Err: fmt.Errorf("answer over %d bytes", maxAnswer)}
	}
	if err := json.Unmarshal(body, into); err != nil {
		return &SearchError{Provider: p.name, Status: resp.StatusCode, Err: fmt.Errorf("not the JSON that was expected: %w", err)}
	}
	visit.Failed = false
	return nil
}

// noTurn types the gate's refusal: that the host is parked speaks of the
// provider, anything else of the gate alone.
func (p provider) noTurn(err error) error {
	var parked interface{ RetryIn() time.Duration }
	if errors.As(err, &parked) {
		return &SearchError{Provider: p.name, RetryAfter: parked.RetryIn(), Err: err}
	}
	return fmt.Errorf("%w: %w", ErrRecord, err)
}

// refusal types a status other than 200.
func (p provider) refusal(resp *http.Response) *SearchError {
	e := &SearchError{Provider: p.name, Status: resp.StatusCode}
	if resp.StatusCode >= 300 && resp.StatusCode < 400 {
		e.Err = fmt.Errorf("%w: it redirects to %.200q, which is not followed; set its address to where it is", errForbidden, fetch.RedirectHost(resp))
		return e
	}
	switch resp.StatusCode {
	case http.StatusOK:
		return nil
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusPaymentRequired:
		e.Err = errForbidden
	case http.StatusTooManyRequests, http.StatusServiceUnavailable:
		e.Err, e.RetryAfter = errBusy, fetch.RetryAfter(resp.Header, time.Now())
	default:
		e.Err = errors.New(http.StatusText(resp.StatusCode))
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
