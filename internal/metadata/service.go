package metadata

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"sync/atomic"
	"time"

	"gleaner/internal/fetch"
	"gleaner/internal/web/weburl"
)

// maxHops bounds redirects of one request.
const maxHops = 4

// service is one outside API: its name, its pace and how often it is asked
// again. It knows nothing of what the answers mean.
type service struct {
	name    string
	delay   atomic.Int64 // nanoseconds; raised when the service asks for it
	retries int
	header  http.Header

	client    *http.Client
	gate      fetch.Gate
	log       *slog.Logger
	userAgent string
	secrets   secrets
	backoff   time.Duration
	maxWait   time.Duration
	timeout   time.Duration

	// slower, where set, reads an answer's headers for a pace that the service
	// asks for at this moment.
	slower func(http.Header) time.Duration
	// problem, where set, turns the body of a refusal into its reason.
	problem func(status int, body []byte) error
}

// newService expects a Config with its defaults filled.
func newService(cfg Config, name string, delay time.Duration) *service {
	client := *cfg.HTTPClient
	// Redirects are followed here, one turn each.
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	agent := cfg.UserAgent
	if cfg.Contact != "" {
		agent += " (mailto:" + cfg.Contact + ")"
	}
	s := &service{
		name: name, retries: max(cfg.Retries, 0), header: http.Header{},
		client: &client, gate: cfg.Gate, log: cfg.Log, userAgent: agent,
		backoff: cfg.Backoff, maxWait: cfg.MaxWait, timeout: cfg.Timeout,
		secrets: newSecrets(cfg.OpenAlexKey, cfg.SemanticScholarKey, cfg.CrossrefKey),
	}
	s.delay.Store(int64(delay))
	return s
}

// answer is one reply read to its end.
type answer struct {
	url    string
	status int
	header http.Header
	body   []byte
}

// get asks for one address and returns its body.
func (s *service) get(ctx context.Context, addr string) ([]byte, error) {
	return s.do(ctx, http.MethodGet, addr, nil)
}

// do asks until there is an answer that asking again would not change. Backoff
// carries no jitter: all workers wait at the same gate anyway, which lets one
// through at a time.
func (s *service) do(ctx context.Context, method, addr string, body []byte) ([]byte, error) {
	answer, err := s.ask(ctx, method, addr, body)
	return answer, s.secrets.hideIn(err)
}

func (s *service) ask(ctx context.Context, method, addr string, body []byte) ([]byte, error) {
	wait := s.backoff
	for attempt := 0; ; attempt++ {
		a, err := s.follow(ctx, method, addr, body)
		if err == nil {
			return s.judge(a)
		}
		var down ErrUnavailable
		if !errors.As(err, &down) || ctx.Err() != nil {
			return nil, err
		}
		pause := max(wait, down.RetryAfter)
		if attempt >= s.retries || down.RetryAfter > s.maxWait || down.Wall || errors.Is(err, errNoTurn) {
			return nil, down
		}
		s.log.WarnContext(ctx, "outside service is asked again", "service", s.name, "url", s.secrets.hide(addr), "try", attempt+1, "in", pause,
			"because", s.secrets.hide(down.Error()))
		if err := fetch.Wait(ctx, pause); err != nil {
			return nil, err
		}
		wait *= 2
	}
}

// follow sends one request and goes after its redirects.
// Of where they lead errors name the host alone: in the rest may stand what the
// service makes of a key.
func (s *service) follow(ctx context.Context, method, asked string, body []byte) (answer, error) {
	addr := asked
	for hop := 0; ; hop++ {
		a, err := s.once(ctx, method, addr, asked, body)
		if err != nil {
			return answer{}, err
		}
		to := a.header.Get("Location")
		if a.status < 300 || a.status > 399 || to == "" {
			return a, nil
		}
		next, err := weburl.Canonical(addr, to)
		if err != nil {
			return answer{}, ErrBadAnswer{s.name, asked, errors.New("redirect to what is no address")}
		}
		// A key must not travel to a host that the operator did not name.
		if weburl.Domain(weburl.Host(next)) != weburl.Domain(weburl.Host(addr)) || strings.HasPrefix(addr, "https:") && !strings.HasPrefix(next, "https:") {
			scheme, _, _ := strings.Cut(next, ":")
			return answer{}, ErrBadAnswer{s.name, asked, fmt.Errorf("redirect to %s://%s", scheme, weburl.Host(next))}
		}
		if hop == maxHops {
			return answer{}, ErrBadAnswer{s.name, asked, fmt.Errorf("more than %d redirects", maxHops)}
		}
		addr = next
	}
}

// once takes a turn of the host and sends one request. Errors name what was asked
// for before any redirect.
func (s *service) once(ctx context.Context, method, addr, asked string, body []byte) (answer, error) {
	req, err := http.NewRequestWithContext(ctx, method, addr, bytes.NewReader(body))
	if err != nil {
		return answer{}, ErrRefused{Service: s.name, URL: asked, Reason: fetch.Unaddressed(err).Error()}
	}
	for k, v := range s.header {
		req.Header[k] = v
	}
	req.Header.Set("User-Agent", s.userAgent)
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	done, err := s.gate.Turn(ctx, weburl.Host(addr), time.Duration(s.delay.Load()))
	if err != nil {
		return answer{}, s.noTurn(ctx, asked, err)
	}
	begin := time.Now()
	a, err := s.send(req)
	a.url = asked
	visit := fetch.Visit{Status: a.status, Elapsed: time.Since(begin), Failed: err != nil}
	if err != nil {
		var long ErrTooMuch
		visit.Failed = !errors.As(err, &long)
		done(visit)
		switch {
		case ctx.Err() != nil:
			return answer{}, ctx.Err()
		case !visit.Failed:
			return answer{}, ErrBadAnswer{s.name, asked, err}
		}
		return answer{}, ErrUnavailable{Service: s.name, URL: asked, Err: err}
	}
	visit.RetryAfter = fetch.RetryAfter(a.header, time.Now())
	visit.Failed = a.status == http.StatusTooManyRequests || a.status >= 500
	if s.slower != nil {
		s.delay.Store(max(s.delay.Load(), int64(s.slower(a.header))))
	}
	done(visit)
	return a, s.inOrder(asked, a, visit)
}

// inOrder tells an answer that counts from one of a service in trouble. Those
// put a maintenance page or a check for browsers before themselves, often under
// status 200; where data is asked for, a page is never the answer.
func (s *service) inOrder(addr string, a answer, v fetch.Visit) error {
	down := ErrUnavailable{Service: s.name, URL: addr, Status: a.status, RetryAfter: v.RetryAfter}
	isPage := looksHTML(a.body)
	if down.Wall = isPage && looksWall(a.body); down.Wall {
		down.RetryAfter = max(down.RetryAfter, restAtWall)
	}
	switch {
	case down.Wall && a.status != http.StatusNotFound:
		return down
	case a.status == http.StatusOK && isPage:
		down.Err = errors.New("a page was sent instead of data: " + excerpt(a.body))
		return down
	case v.Failed:
		return down
	}
	return nil
}

// errNoTurn says that the gate would not let a request through, so that there is
// no use in coming back to it soon.
var errNoTurn = errors.New("no turn")

// noTurn types the gate's refusal: a host that is parked is as good as down. Any
// other failure is the gate's own, such as its database being away: no service is
// to be blamed, or left alone, for that.
func (s *service) noTurn(ctx context.Context, addr string, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	var parked interface{ RetryIn() time.Duration }
	if !errors.As(err, &parked) {
		return ErrGate{Service: s.name, Err: err}
	}
	return ErrUnavailable{Service: s.name, URL: addr, Err: fmt.Errorf("%w at its host: %w", errNoTurn, err), RetryAfter: parked.RetryIn()}
}

func (s *service) send(req *http.Request) (answer, error) {
	ctx, cancel := context.WithTimeout(req.Context(), s.timeout)
	defer cancel()
	resp, err := s.client.Do(req.WithContext(ctx))
	if err != nil {
		return answer{}, fetch.Unaddressed(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxBody+1))
	a := answer{status: resp.StatusCode, header: resp.Header, body: body}
	if err != nil {
		return a, err
	}
	if len(body) > maxBody {
		return a, ErrTooMuch{"bytes in an answer", maxBody}
	}
	return a, nil
}

// judge turns a final status into a body or a typed error.
func (s *service) judge(a answer) ([]byte, error) {
	if a.status >= 400 && s.problem != nil {
		if err := s.problem(a.status, a.body); err != nil {
			return nil, err
		}
	}
	switch {
	case a.status == http.StatusOK:
		return a.body, nil
	case a.status == http.StatusNotFound || a.status == http.StatusGone:
		return nil, ErrNotFound{s.name, a.url}
	case a.status == http.StatusUnauthorized || a.status == http.StatusForbidden:
		return nil, ErrRefused{s.name, a.url, a.status, "it wants a key, or blocks this address: " + excerpt(a.body)}
	case a.status >= 400:
		return nil, ErrRefused{s.name, a.url, a.status, excerpt(a.body)}
	default:
		return nil, ErrBadAnswer{s.name, a.url, fmt.Errorf("status %d", a.status)}
	}
}

// looksHTML tells a page from data.
func looksHTML(body []byte) bool {
	head := bytes.ToLower(bytes.TrimLeft(body[:min(len(body), 512)], "\ufeff \t\r\n"))
	return bytes.HasPrefix(head, []byte("<!doctype html")) || bytes.HasPrefix(head, []byte("<html"))
}

// wallRE are the words of the usual checks for browsers.
var wallRE = regexp.MustCompile(`(?i)not a (?:ro)?bot|anubis|/\.within\.website/|cf-chl|cf_chl|captcha|checking your browser|just a moment\.\.\.|ddos-guard|enable javascript and cookies`)

func looksWall(page []byte) bool { return wallRE.Match(page[:min(len(page), 16<<10)]) }

// excerpt is the begin of a body, for messages.
func excerpt(body []byte) string {
	s := strings.Join(strings.Fields(string(body[:min(len(body), 300)])), " ")
	if len(body) > 300 {
		s += " …"
	}
	return strings.ToValidUTF8(s, "")
}

// query joins a base address, a path and parameters.
func query(base, path string, params url.Values) string {
	addr := strings.TrimSuffix(base, "/") + path
	if len(params) > 0 {
		addr += "?" + params.Encode()
	}
	return addr
}
