package render

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"os/exec"
	"sync"
	"time"

	"github.com/chromedp/cdproto/fetch"

	"gleaner/internal/gleaner"
	"gleaner/internal/guard"
	"gleaner/internal/web/weburl"
)

// Browser renders pages.
type Browser struct {
	path   string
	limits limits
	slots  chan struct{}

	mu    sync.Mutex
	tried error                // result of the last check
	again time.Time            // time of the next check; zero after success
	rests map[string]time.Time // by owner, time before which no page is rendered
}

// Page is a fetched page.
type Page struct {
	URL    string // canonical
	Header http.Header
	Body   []byte
}

// Request is a GET request of a page.
type Request struct {
	URL    string
	Script bool // otherwise data or a frame
}

// Answer is the answer to a request.
type Answer struct {
	Status int
	Header http.Header
	Body   []byte
}

// Get answers a request of a page. An error refuses the request.
type Get func(ctx context.Context, r Request) (*Answer, error)

// Shown is a rendered page.
type Shown struct {
	HTML     []byte          // the page after its scripts ran; nil if not rendered
	Outcome  gleaner.Outcome // why it is incomplete, or ""
	Requests int             // calls of Get
	Refused  int             // requests without an answer
	Took     time.Duration
}

// names are the names of programs that Find looks for.
var names = []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome-headless-shell"}

// ErrNotInstalled reports that there is no Chromium.
var ErrNotInstalled = errors.New("no Chromium is installed")

// Find finds a Chromium.
func Find() (*Browser, error) {
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil {
			slots := make(chan struct{}, maxBrowsers)
			return &Browser{path: path, limits: bounds(), slots: slots, tried: errUntried, rests: map[string]time.Time{}}, nil
		}
	}
	return nil, ErrNotInstalled
}

// Path returns the path of the program.
func (b *Browser) Path() string { return b.path }

// Check returns why pages cannot be rendered here. It renders a test page, and repeats this some
// time after a failure.
func (b *Browser) Check() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.tried != nil && time.Now().After(b.again) {
		b.tried = b.try()
		b.again = time.Now().Add(retrial)
	}
	return b.tried
}

// retrial is the time between a failed check and the next.
const retrial = 10 * time.Minute

func (b *Browser) try() error {
	p := Page{URL: "http://example.org/", Header: http.Header{"Content-Type": {"text/html"}},
		Body: []byte(`<p id="a"></p><script>document.getElementById("a").textContent = 6 * 7</script>`)}
	s, said := b.show(context.Background(), p, nil)
	if !bytes.Contains(s.HTML, []byte(`<p id="a">42</p>`)) {
		return fmt.Errorf("%s cannot be shut in here: %s", b.path, said)
	}
	return nil
}

// Show renders a page. It waits at most wait for a free browser. After a slow page, pages of its
// host's owner wait as long as it took, at most maxRest, so that other owners have a turn.
func (b *Browser) Show(ctx context.Context, p Page, wait time.Duration, get Get) (s Shown) {
	if b.Check() != nil {
		return Shown{Outcome: Shut}
	}
	owner := weburl.Owner(weburl.Host(p.URL))
	waiting, cancel := context.WithTimeout(ctx, wait+time.Millisecond)
	defer cancel()
	if !b.enter(waiting, owner) {
		return Shown{Outcome: Busy}
	}
	defer func() { b.leave(owner, s.Took) }()
	s, _ = b.show(ctx, p, get)
	return s
}

// enter waits for a free browser. It returns false if ctx ended before.
func (b *Browser) enter(ctx context.Context, owner string) bool {
	for {
		select {
		case b.slots <- struct{}{}:
		case <-ctx.Done():
			return false
		}
		b.mu.Lock()
		rest := time.Until(b.rests[owner])
		b.mu.Unlock()
		if rest <= 0 {
			return true
		}
		<-b.slots
		select {
		case <-time.After(rest):
		case <-ctx.Done():
			return false
		}
	}
}

// maxRest is less than the minute for which a crawl waits, so that a page gets an idle browser.
const maxRest = 55 * time.Second

// leave frees the browser after a page that took this time.
func (b *Browser) leave(owner string, took time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	maps.DeleteFunc(b.rests, func(_ string, until time.Time) bool { return time.Now().After(until) })
	if took > b.limits.wall/4 {
		b.rests[owner] = time.Now().Add(min(took, maxRest))
	}
	<-b.slots
}

// show starts a browser for a page and ends it. said is the browser's complaint.
func (b *Browser) show(ctx context.Context, p Page, get Get) (s Shown, said string) {
	began := time.Now()
	ctx, cancel := context.WithTimeoutCause(ctx, b.limits.wall, errLimit)
	defer cancel()
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	proc, err := start(ctx, b.limits, append([]string{b.path}, flags...)...)
	if err != nil {
		return Shown{Outcome: crashed}, err.Error()
	}
	watched := guard.Go(func() { b.watch(ctx, proc, stop) })
	v := &view{
		limits: b.limits, page: p, get: get, stop: stop, deadline: began.Add(b.limits.wall - b.limits.grace),
		asked: make(chan *fetch.EventRequestPaused, 1000), dialogs: make(chan struct{}, 1), had: map[string]*Answer{},
	}
	html, err := v.show(ctx, proc)
	switch cause := context.Cause(ctx); {
	case err == nil && v.cut.Load() && time.Now().After(v.deadline):
		s.Outcome = Limit
	case err == nil && v.cut.Load():
		s.Outcome = Cut
	case err == nil:
	case errors.Is(cause, errLimit):
		s.Outcome = Limit
	default:
		s.Outcome = crashed
	}
	stop(errOver)
	<-watched
	proc.end()
	s.HTML, s.Took = html, time.Since(began)
	s.Requests, s.Refused = int(v.sent.Load()), int(v.refused.Load())
	if err != nil {
		said = err.Error() + ": " + proc.complaint()
	}
	return s, said
}

var (
	errUntried = errors.New("render: not tried yet")
	errLimit   = errors.New("render: a limit was reached")
	errCrashed = errors.New("render: the page crashed")
	errOver    = errors.New("render: the page was read")
)

// watch stops a browser that exceeds its limits.
func (b *Browser) watch(ctx context.Context, p *process, stop context.CancelCauseFunc) {
	for tick := time.Tick(200 * time.Millisecond); ; {
		select {
		case <-ctx.Done():
			return
		case <-tick:
		}
		if cpu, memory := p.used(); cpu > b.limits.cpu || memory > b.limits.memory {
			stop(errLimit)
			return
		}
	}
}
