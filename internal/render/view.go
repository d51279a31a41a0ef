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
	deadline time.Time // after it the page is read as it is

	asked   chan *fetch.EventRequestPaused
	dialogs chan struct{} // an open dialog, which blocks the page
	pending atomic.Int64  // unanswered requests
	last    atomic.Int64  // time of the last answer to a new request, in nanoseconds
	sent    atomic.Int64
	refused atomic.Int64
	cut     atomic.Bool

	main  cdp.FrameID        // the page's own frame
	shown bool               // the page itself was served
	bytes int64              // of answers, plus perRequest for each request
	had   map[string]*Answer // by URL; nil for a refused one
}

// allocator implements chromedp.Allocator over the running browser. The messages from it are
// limited, since a page may cause any number.
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

// Attaches implements chromedp.Attacher: whoever started the browser ends it.
func (allocator) Attaches() bool { return true }

// show loads the page, waits until it is complete, and reads it.
func (v *view) show(ctx context.Context, p *process) (html []byte, err error) {
	ctx, cancel := chromedp.NewAllocatorContext(ctx, allocator{p, v.limits.messages})
	defer cancel()
	quiet := func(string, ...any) {}
	ctx, closed := chromedp.NewContext(ctx, chromedp.WithListener(v.handle),
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
		// Events of the console and the DOM are not used.
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
		defer func() { over(); <-served }() // no further calls of Get
		guard.Go(func() { v.dismiss(ctx, t) })
		if _, err = cdp.Call(ctx, t, page.Navigate, page.NavigateParams{URL: v.page.URL}); err != nil {
			return nil, err
		}
		return v.read(ctx, t)
	})
}

// handle receives an event of the browser. It must not block.
func (v *view) handle(event any) {
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
		default: // never answered; the page is read as it is
			v.pending.Add(-1)
			v.cut.Store(true)
		}
	case *inspector.EventTargetCrashed:
		v.stop(errCrashed)
	}
}

// read waits until a page is complete, scrolls if it grows, and returns it without scripts and
// noscript elements. It runs in an isolated world, which the page cannot change.
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

// rest waits until there were no requests for a while and the page's scripts are idle.
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

// serve answers the page's requests, one at a time.
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
					RequestID: e.RequestID, ErrorReason: network.ErrorReasonAborted}) // which does not change the page
			} else {
				_, _ = cdp.Call(ctx, t, fetch.FulfillRequest, fetch.FulfillRequestParams{RequestID: e.RequestID,
					ResponseCode: int64(a.Status), ResponseHeaders: headers(a.Header), Body: a.Body})
			}
			v.pending.Add(-1)
		}
	}
}

// answer returns the answer to a request, or nil to refuse it. It never requests the page again,
// nor any URL twice.
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

// perRequest is added to the bytes of answers for each request, which has a cost for the server
// too.
const perRequest = 8 << 10

// wanted reports whether a request may contribute to the page: a script, data or a frame. It
// returns the address in the crawl's form.
func (v *view) wanted(e *fetch.EventRequestPaused) (address string, ok bool) {
	switch e.ResourceType {
	case network.ResourceTypeScript, network.ResourceTypeXHR, network.ResourceTypeFetch:
	case network.ResourceTypeDocument:
		if e.FrameID == v.main { // the page would navigate away
			return "", false
		}
	default:
		return "", false
	}
	if e.Request == nil || e.Request.Method != http.MethodGet || v.get == nil {
		return "", false
	}
	if accept, _ := e.Request.Headers["Accept"].(string); strings.Contains(accept, "text/event-stream") { // endless
		return "", false
	}
	address, err := weburl.Canonical("", e.Request.URL)
	if err != nil {
		return "", false
	}
	host := weburl.Host(address)
	for _, no := range blockedHosts {
		if host == no || strings.HasSuffix(host, "."+no) {
			return "", false
		}
	}
	return address, true
}

// headers returns the headers of an answer that scripts may use, without cookies.
func headers(h http.Header) (all []*fetch.HeaderEntry) {
	for _, name := range []string{"Content-Type", "Access-Control-Allow-Origin", "Link"} {
		for _, value := range h.Values(name) {
			all = append(all, &fetch.HeaderEntry{Name: name, Value: value})
		}
	}
	return all
}
