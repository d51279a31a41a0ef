package render

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/fetch"
	"github.com/chromedp/cdproto/inspector"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"gleaner/internal/guard"
	"gleaner/internal/web/weburl"
)

// view is one page in its browser.
type view struct {
	limits   limits
	page     Page
	get      Get
	stop     context.CancelCauseFunc
	deadline time.Time // from then on it is read as it is

	asked   chan *fetch.EventRequestPaused
	dialogs chan struct{} // one is open, over which the page waits
	pending atomic.Int64  // requests that are not answered
	last    atomic.Int64  // when one was answered that Get had not had before, in nanoseconds
	sent    atomic.Int64
	refused atomic.Int64
	cut     atomic.Bool

	main  cdp.FrameID        // the page's own frame
	shown bool               // the page itself was given
	bytes int64              // of answers, and perRequest for each request
	had   map[string]*Answer // by URL; nil for one that was refused
}

// Allocate implements chromedp.Allocator over the browser that runs already. What it
// tells is bounded: a page may have it say any number of things of any length.
type allocator struct {
	*process
	said int64
}

func (a allocator) Allocate(ctx context.Context, opts ...chromedp.BrowserOption) (*chromedp.Browser, error) {
	bounded := struct {
		io.Reader
		io.Closer
	}{io.LimitReader(a.out, a.said), a.out}
	return chromedp.NewBrowserTransport(ctx, chromedp.NewPipeConn(bounded, a.in), opts...)
}

func (allocator) Wait() {}

// Attaches implements chromedp.Attacher: the browser is ended by who started it.
func (allocator) Attaches() bool { return true }

// show gives the browser the page, waits until it has come to rest, and reads it.
func (v *view) show(ctx context.Context, p *process) (html []byte, err error) {
	ctx, cancel := chromedp.NewAllocatorContext(ctx, allocator{p, v.limits.said})
	defer cancel()
	quiet := func(string, ...any) {}
	ctx, closed := chromedp.NewContext(ctx, chromedp.WithListener(v.hear),
		chromedp.WithLogf(quiet), chromedp.WithErrorf(quiet), chromedp.WithDebugf(nil))
	defer closed()
	return chromedp.Run(ctx, func(ctx context.Context, t *chromedp.Target) ([]byte, error) {
		deny := browser.SetDownloadBehaviorParams{Behavior: browser.SetDownloadBehaviorBehaviorDeny}
		_, err := cdp.Call(ctx, chromedp.FromContext(ctx).Browser, browser.SetDownloadBehavior, deny)
		if err == nil {
			bypass := network.SetBypassServiceWorkerParams{Bypass: true}
			_, err = cdp.Call(ctx, t, network.SetBypassServiceWorker, bypass)
		}
		if err == nil {
			_, err = cdp.Call(ctx, t, fetch.Enable, fetch.EnableParams{})
		}
		// What a page says on its console, and how it changes, is of no use.
		for _, told := range []string{"Runtime", "Log", "CSS", "DOM"} {
			if err == nil {
				err = t.Call(ctx, told+".disable", cdp.Empty{}, nil)
			}
		}
		if err != nil {
			return nil, err
		}
		v.main = cdp.FrameID(t.TargetID)
		serving, over := context.WithCancel(ctx)
		served := guard.Go(func() { v.serve(serving, t) })
		defer func() { over(); <-served }() // the caller's Get is not asked any more
		guard.Go(func() { v.dismiss(ctx, t) })
		if _, err = cdp.Call(ctx, t, page.Navigate, page.NavigateParams{URL: v.page.URL}); err != nil {
			return nil, err
		}
		return v.read(ctx, t)
	})
}

// hear takes what the browser tells. It must not wait.
func (v *view) hear(event any) {
	switch e := event.(type) {
	case *page.EventJavascriptDialogOpening:
		select {
		case v.dialogs <- struct{}{}:
		default:
		}
	case *fetch.EventRequestPaused:
		v.pending.Add(1)
		select {
		case v.asked <- e:
		default: // it is never answered, and the page is read as it is
			v.pending.Add(-1)
			v.cut.Store(true)
		}
	case *inspector.EventTargetCrashed:
		v.stop(errCrashed)
	}
}

// read waits until a page has come to rest, scrolls where it grows, and takes what it
// shows, without its scripts and what it has for those who run none. It does so in a world
// of its own, where the page has changed nothing.
func (v *view) read(ctx context.Context, t *chromedp.Target) ([]byte, error) {
	world, err := cdp.Call(ctx, t, page.CreateIsolatedWorld, page.CreateIsolatedWorldParams{FrameID: v.main})
	if err != nil {
		return nil, err
	}
	in := world.ExecutionContextID
	const scroll = `(e => e ? (e.scrollTo(0, e.scrollHeight), e.scrollHeight) : 0)(document.scrollingElement)`
	const wide = `(d => { if (!d) return ""
		d.querySelectorAll("noscript, script:not([type*=json])").forEach(e => e.remove())
		return d.outerHTML.slice(0, %d) })(document.documentElement)`
	for height, n := 0, 0; ; n++ {
		before := v.sent.Load()
		if err := v.rest(ctx, t, in); err != nil {
			return nil, err
		}
		is, err := evaluate[int](ctx, t, in, scroll)
		if err != nil {
			return nil, err
		}
		if n > v.limits.scrolls || n > 0 && is <= height && before == v.sent.Load() || time.Now().After(v.deadline) {
			break
		}
		height = is
	}
	html, err := evaluate[string](ctx, t, in, fmt.Sprintf(wide, v.limits.page))
	return []byte("<!DOCTYPE html>\n" + html), err
}

// rest waits until no request was made for a while and the page's scripts let others run.
func (v *view) rest(ctx context.Context, t *chromedp.Target, in runtime.ExecutionContextID) error {
	since := time.Now()
	for tick := time.Tick(v.limits.quiet / 10); ; {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-tick:
		}
		if v.cut.Load() || time.Now().After(v.deadline) {
			v.cut.Store(true)
			return nil
		}
		last := time.Unix(0, v.last.Load())
		if last.After(since) {
			since = last
		}
		if v.pending.Load() > 0 || time.Since(since) < v.limits.quiet {
			continue
		}
		if _, err := evaluate[int](ctx, t, in, "0"); err != nil {
			return err
		}
		if v.pending.Load() == 0 && v.last.Load() == last.UnixNano() {
			return nil
		}
	}
}

func evaluate[T any](
	ctx context.Context, t *chromedp.Target, in runtime.ExecutionContextID, script string,
) (out T, err error) {
	r, err := cdp.Call(ctx, t, runtime.Evaluate, runtime.EvaluateParams{Expression: script, ContextID: in})
	if err != nil {
		return out, err
	}
	if r.Result == nil || r.ExceptionDetails != nil {
		return out, errors.New("render: the page cannot be read")
	}
	return out, json.Unmarshal(r.Result.Value, &out)
}

// dismiss closes dialogs.
func (v *view) dismiss(ctx context.Context, t *chromedp.Target) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-v.dialogs:
			_, _ = cdp.Call(ctx, t, page.HandleJavaScriptDialog, page.HandleJavaScriptDialogParams{})
		}
	}
}

// serve answers the page's requests, one after the other.
func (v *view) serve(ctx context.Context, t *chromedp.Target) {
	for {
		select {
		case <-ctx.Done():
			return
		case e := <-v.asked:
			a := v.answer(ctx, e)
			if a == nil {
				v.refused.Add(1)
				_, _ = cdp.Call(ctx, t, fetch.FailRequest, fetch.FailRequestParams{
					RequestID: e.RequestID, ErrorReason: network.ErrorReasonAborted}) // which leaves a page as it is
			} else {
				_, _ = cdp.Call(ctx, t, fetch.FulfillRequest, fetch.FulfillRequestParams{RequestID: e.RequestID,
					ResponseCode: int64(a.Status), ResponseHeaders: headers(a.Header), Body: a.Body})
			}
			v.pending.Add(-1)
		}
	}
}

// answer is what a request gets; nil refuses it. The page itself is not asked for again,
// nor is anything else.
func (v *view) answer(ctx context.Context, e *fetch.EventRequestPaused) *Answer {
	if e.ResourceType == network.ResourceTypeDocument && !v.shown {
		v.shown = true
		v.last.Store(time.Now().UnixNano())
		return &Answer{Status: http.StatusOK, Header: v.page.Header, Body: v.page.Body}
	}
	address, ok := v.wanted(e)
	a, had := v.had[address]
	if v.bytes += perRequest; had && a != nil {
		v.bytes += int64(len(a.Body))
	}
	switch {
	case v.bytes >= v.limits.bytes:
		v.cut.Store(true)
		return nil
	case !ok || had:
		return a
	case v.sent.Load() >= int64(v.limits.requests) || time.Now().After(v.deadline):
		v.cut.Store(true)
		return nil
	}
	v.sent.Add(1)
	a, err := v.get(ctx, Request{URL: address, Script: e.ResourceType == network.ResourceTypeScript})
	if err != nil {
		a = nil
	} else if v.bytes += int64(len(a.Body)); v.bytes > v.limits.bytes {
		v.cut.Store(true)
		a = nil
	}
	v.had[address] = a
	v.last.Store(time.Now().UnixNano())
	return a
}

// perRequest is what a request counts beside its answer, in bytes of answers: it costs whoever
// answers it, too.
const perRequest = 8 << 10

// wanted reports whether a request may be for what makes the page: a script, data or a
// frame. It gives the address as the crawl knows it.
func (v *view) wanted(e *fetch.EventRequestPaused) (address string, ok bool) {
	switch e.ResourceType {
	case network.ResourceTypeScript, network.ResourceTypeXHR, network.ResourceTypeFetch:
	case network.ResourceTypeDocument:
		if e.FrameID == v.main { // the page would go elsewhere
			return "", false
		}
	default:
		return "", false
	}
	if e.Request == nil || e.Request.Method != http.MethodGet || v.get == nil {
		return "", false
	}
	if accept, _ := e.Request.Headers["Accept"].(string); strings.Contains(accept, "text/event-stream") { // has no end
		return "", false
	}
	address, err := weburl.Canonical("", e.Request.URL)
	if err != nil {
		return "", false
	}
	host := weburl.Host(address)
	for _, no := range unasked {
		if host == no || strings.HasSuffix(host, "."+no) {
			return "", false
		}
	}
	return address, true
}

// headers are those of an answer that a page's scripts may go by. None sets a cookie.
func headers(h http.Header) (all []*fetch.HeaderEntry) {
	for _, name := range []string{"Content-Type", "Access-Control-Allow-Origin", "Link"} {
		for _, value := range h.Values(name) {
			all = append(all, &fetch.HeaderEntry{Name: name, Value: value})
		}
	}
	return all
}
