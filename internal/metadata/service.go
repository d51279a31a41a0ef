package metadata

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"sync/atomic"
	"time"

	"gleaner/internal/fetch"
	"gleaner/internal/guard"
	"gleaner/internal/web/weburl"
)

// maxHops bounds redirects of one request.
const maxHops = 4

// service is one outside API: its name, its pace and how often it is asked
// again. It knows nothing of what the answers mean.
type service struct {
	name    string
	least   time.Duration // between two requests
	delay   atomic.Int64  // nanoseconds; more than least while the service asks for it
	retries int
	header  http.Header

	api      *fetch.API
	begin    func(ctx context.Context, what string) (end func(), err error)
	log      *slog.Logger
	retrying func(why string)
	secrets  secrets
	backoff  time.Duration

	// slower, where set, reads an answer's headers for a pace that the service
	// asks for at this moment.
	slower func(http.Header) time.Duration
	// problem, where set, turns the body of a refusal into its reason.
	problem func(status int, body []byte) error
}

// newService expects a Config with its defaults filled.
func newService(cfg Config, name string, delay time.Duration) *service {
	s := &service{
		name: name, least: delay, retries: max(cfg.Retries, 0), header: http.Header{},
		api: fetch.NewAPI(cfg.HTTPClient.Transport, cfg.Gate, cfg.Memory, requestTime, maxBody), log: cfg.Log,
		backoff: cfg.Backoff, begin: cfg.Begin, retrying: func(string) {},
		secrets: newSecrets(cfg.OpenAlexKey, cfg.SemanticScholarKey),
	}
	s.delay.Store(int64(delay))
	return s
}

// answer is one reply read to its end.
type answer struct {
	url string
	*fetch.Answer
}

// get asks for one address and gives its body to use.
func (s *service) get(ctx context.Context, addr string, use func(body []byte) error) error {
	return s.do(ctx, http.MethodGet, addr, nil, use)
}

// do asks until there is an answer that asking again would not change, and gives its
// body to use, which must not keep it. Backoff carries no jitter: all workers wait at
// the same gate anyway, which lets one through at a time.
func (s *service) do(ctx context.Context, method, addr string, body []byte, use func(body []byte) error) error {
	a, err := s.ask(ctx, method, addr, body)
	if err == nil {
		defer a.Release()
		err = s.judge(a)
	}
	if err != nil {
		return s.secrets.hideIn(err)
	}
	end, err := s.begin(ctx, s.subject(addr, body))
	if errors.Is(err, ErrSetAside) {
		return ErrBadAnswer{s.name, s.secrets.hide(addr), err}
	}
	if err != nil {
		return err // the record was away, or ctx has ended
	}
	defer end()
	err = guard.Logged(ctx, s.log, s.secrets.hide(addr), func() error { return use(a.Body) })
	if guard.Panicked(err) {
		err = ErrBadAnswer{s.name, s.secrets.hide(addr), errors.New(err.Error())}
	}
	return err
}

// subject names what is asked for: the address without a key, and without what is another
// each time that a list is asked for, and a sum of what was posted.
func (s *service) subject(addr string, body []byte) string {
	if u, err := url.Parse(addr); err == nil {
		q := u.Query()
		q.Del("cursor")
		q.Del("resumptionToken")
		u.RawQuery = q.Encode()
		addr = u.String()
	}
	return fmt.Sprintf("%s %x", s.secrets.hide(addr), sha256.Sum256(body))
}

func (s *service) ask(ctx context.Context, method, addr string, body []byte) (answer, error) {
	wait := s.backoff
	for attempt := 0; ; attempt++ {
		a, err := s.follow(ctx, method, addr, body)
		if err == nil {
			return a, nil
		}
		var down ErrUnavailable
		if !errors.As(err, &down) || ctx.Err() != nil {
			return answer{}, err
		}
		pause := max(wait, down.RetryAfter)
		if attempt >= s.retries || down.RetryAfter > longestWait || down.Wall || errors.Is(err, errNoTurn) {
			return answer{}, down
		}
		s.log.WarnContext(ctx, "outside service is asked again", "service", s.name, "url", s.secrets.hide(addr), "try", attempt+1, "in", pause,
			"because", s.secrets.hide(down.Error()))
		down.RetryAfter, down.Err = 0, nil // it may name servers
		s.retrying(down.Error() + ", and is asked again")
		if err := fetch.Wait(ctx, pause); err != nil {
			return answer{}, err
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
		to := a.Header.Get("Location")
		if a.Status < 300 || a.Status > 399 || to == "" {
			return a, nil
		}
		a.Release()
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

// once sends one request. Errors name what was asked for before any redirect.
func (s *service) once(ctx context.Context, method, addr, asked string, body []byte) (answer, error) {
	req, err := http.NewRequestWithContext(ctx, method, addr, bytes.NewReader(body))
	if err != nil {
		return answer{}, ErrRefused{Service: s.name, URL: asked, Reason: fetch.Unaddressed(err).Error()}
	}
	maps.Copy(req.Header, s.header)
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	a, err := s.api.Do(fetch.Call{Request: req, Delay: time.Duration(s.delay.Load()), Use: s.heed})
	if err != nil {
		return answer{}, s.unanswered(ctx, asked, err)
	}
	out := answer{url: asked, Answer: a}
	if err := s.inOrder(out); err != nil {
		a.Release()
		return answer{}, err
	}
	return out, nil
}

// heed takes up the pace that an answer asks for.
func (s *service) heed(a *fetch.Answer) error {
	if s.slower != nil {
		if pace := s.slower(a.Header); pace > 0 {
			s.delay.Store(int64(max(pace, s.least)))
		}
	}
	return nil
}

// unanswered types the error of a request that brought no answer. A host that is
// parked is as good as down; any other failure of the gate is its own, such as its
// database being away: no service is to be blamed, or left alone, for that.
func (s *service) unanswered(ctx context.Context, asked string, err error) error {
	var e *fetch.Error
	if ctx.Err() != nil || !errors.As(err, &e) {
		return cmp.Or(ctx.Err(), err)
	}
	switch e.Outcome {
	case fetch.Parked:
		return ErrUnavailable{Service: s.name, URL: asked, Err: fmt.Errorf("%w at its host: %w", errNoTurn, e.Err), RetryAfter: e.RetryAfter}
	case fetch.Canceled:
		return ErrGate{Service: s.name, Err: e.Err}
	case fetch.TooLarge, fetch.Inflated:
		return ErrBadAnswer{s.name, asked, ErrTooMuch{"bytes in an answer", maxBody}}
	}
	return ErrUnavailable{Service: s.name, URL: asked, Err: e.Err}
}

// inOrder tells an answer that counts from one of a service in trouble. Those
// put a maintenance page or a check for browsers before themselves, often under
// status 200; where data is asked for, a page is never the answer.
func (s *service) inOrder(a answer) error {
	down := ErrUnavailable{Service: s.name, URL: a.url, Status: a.Status, RetryAfter: a.RetryAfter}
	isPage := looksHTML(a.Body)
	if down.Wall = isPage && wallRE.Match(a.Body[:min(len(a.Body), 16<<10)]); down.Wall {
		down.RetryAfter = max(down.RetryAfter, restAtWall)
	}
	switch {
	case down.Wall && a.Status != http.StatusNotFound:
		return down
	case a.Status == http.StatusOK && isPage:
		down.Err = errors.New("a page was sent instead of data: " + excerpt(a.Body))
		return down
	case a.Failed():
		return down
	}
	return nil
}

// errNoTurn says that the gate would not let a request through, so that there is
// no use in coming back to it soon.
var errNoTurn = errors.New("no turn")

// judge turns a final status that brings no data into a typed error.
func (s *service) judge(a answer) error {
	if a.Status >= 400 && s.problem != nil {
		if err := s.problem(a.Status, a.Body); err != nil {
			return err
		}
	}
	switch {
	case a.Status == http.StatusOK:
		return nil
	case a.Status == http.StatusNotFound || a.Status == http.StatusGone:
		return ErrNotFound{s.name, a.url}
	case a.Status == http.StatusUnauthorized || a.Status == http.StatusForbidden:
		return ErrRefused{s.name, a.url, a.Status, "it wants a key, or blocks this address: " + excerpt(a.Body)}
	case a.Status >= 400:
		return ErrRefused{s.name, a.url, a.Status, excerpt(a.Body)}
	default:
		return ErrBadAnswer{s.name, a.url, fmt.Errorf("status %d", a.Status)}
	}
}

// looksHTML tells a page from data.
func looksHTML(body []byte) bool {
	head := bytes.ToLower(bytes.TrimLeft(body[:min(len(body), 512)], "\ufeff \t\r\n"))
	return bytes.HasPrefix(head, []byte("<!doctype html")) || bytes.HasPrefix(head, []byte("<html"))
}

// wallRE are the words of the usual checks for browsers.
var wallRE = regexp.MustCompile(`(?i)not a (?:ro)?bot|anubis|/\.within\.website/|cf-chl|cf_chl|captcha|checking your browser|just a moment\.\.\.|ddos-guard|enable javascript and cookies`)

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
