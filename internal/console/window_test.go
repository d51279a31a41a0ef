package console

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"

	"gleaner/internal/devstack/devtest"
)

// window is Chromium before a console, as a person has it: with the console's own
// headers, and what it complains of noted.
type window struct {
	*desk
	ctx context.Context

	mu    sync.Mutex
	wrong []string // what the browser complained of
}

// window opens a browser that knows nothing yet.
func (d *desk) window() *window {
	d.t.Helper()
	path, flags := devtest.Chromium(d.t)
	options := []chromedp.ExecAllocatorOption{chromedp.ExecPath(path)}
	for _, f := range flags {
		name, value, has := strings.Cut(strings.TrimPrefix(f, "--"), "=")
		if !has {
			options = append(options, chromedp.Flag(name, true))
			continue
		}
		options = append(options, chromedp.Flag(name, value))
	}
	ctx, end := context.WithTimeout(context.WithoutCancel(d.t.Context()), 2*time.Minute)
	ctx, gone := chromedp.NewExecAllocator(ctx, options...)
	ctx, closed := chromedp.NewContext(ctx)
	d.t.Cleanup(func() { _ = chromedp.Cancel(ctx); closed(); gone(); end() })
	w := &window{desk: d, ctx: ctx}
	w.open("/?" + keyParameter + "=" + d.key)
	require.NoError(d.t, chromedp.Listen(ctx, w.hear))
	return w
}

// hear notes what the browser complains of: refused by the rules of content, thrown,
// logged as an error, or not loaded.
func (w *window) hear(event any) {
	said := ""
	switch e := event.(type) {
	case *log.EventEntryAdded:
		if e.Entry.Level == log.EntryLevelError || e.Entry.Level == log.EntryLevelWarning {
			said = fmt.Sprintf("%s %s", e.Entry.Text, e.Entry.URL)
		}
	case *runtime.EventExceptionThrown:
		said = e.ExceptionDetails.Text
	case *runtime.EventConsoleAPICalled:
		said = fmt.Sprintf("console.%s", e.Type)
	}
	if said != "" {
		w.mu.Lock()
		w.wrong = append(w.wrong, said)
		w.mu.Unlock()
	}
}

// complaints are what the browser complained of since it was asked last.
func (w *window) complaints() (all []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	all, w.wrong = w.wrong, nil
	return all
}

func (w *window) do(steps ...chromedp.Action[chromedp.Void]) {
	w.t.Helper()
	require.NoError(w.t, chromedp.Do(w.ctx, steps...))
}

// open goes to a page.
func (w *window) open(path string) {
	w.t.Helper()
	require.NoError(w.t, chromedp.Do(w.ctx, chromedp.Navigate(w.server.URL+path)), path)
}

// see returns what a script says of the page.
func see[T any](w *window, script string) T {
	w.t.Helper()
	v, err := chromedp.Run(w.ctx, chromedp.Evaluate[T](script))
	require.NoError(w.t, err, script)
	return v
}

// until waits until a script says so of a page that has come whole: its address is
// known before its body is.
func (w *window) until(script string) {
	w.t.Helper()
	script = `document.readyState == "complete" && !!(` + script + `)`
	for end := time.Now().Add(time.Minute); ; { // not with Eventually, which runs what may still be running when it gives up
		if v, err := chromedp.Run(w.ctx, chromedp.Evaluate[bool](script)); v && err == nil {
			return
		}
		if time.Now().After(end) {
			require.FailNow(w.t, "the page never says so", "%s: %s", script, see[string](w, `location + "\n" + document.body.innerText`))
		}
		require.NoError(w.t, chromedp.Do(w.ctx, chromedp.Sleep(20*time.Millisecond)))
	}
}

// press presses a key.
func (w *window) press(keys string) {
	w.t.Helper()
	w.do(chromedp.KeyEvent(keys))
}

// write puts the cursor in a field, and writes there over what it says.
func (w *window) write(field, words string) {
	w.t.Helper()
	w.do(chromedp.Focus(field), chromedp.Evaluate[chromedp.Void](fmt.Sprintf("document.querySelector(%q).select()", field)), chromedp.KeyEvent(words))
}

// size makes the window as wide as a phone, or a desk, in a scheme of colours.
func (w *window) size(width int64, scheme string) {
	w.t.Helper()
	_, err := chromedp.Run(w.ctx, func(ctx context.Context, t *chromedp.Target) (cdp.Empty, error) {
		return cdp.Call(ctx, t, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}})
	})
	require.NoError(w.t, err)
	w.do(chromedp.EmulateViewport(width, 900))
}

// picture keeps one of the whole page, where somebody wants to look at it.
func (w *window) picture(name string) {
	w.t.Helper()
	folder := os.Getenv("GLEANER_SCREENSHOTS")
	if folder == "" {
		return
	}
	png, err := chromedp.Run(w.ctx, chromedp.FullScreenshot(100))
	require.NoError(w.t, err)
	require.NoError(w.t, os.WriteFile(filepath.Join(folder, name+".png"), png, 0o600))
}

// named says which element of a page one is.
const named = `(e => e.tagName + " " + (e.id || e.name || e.textContent.trim()) + (e == document.activeElement && getComputedStyle(e).outlineStyle == "none" ? ", unmarked" : ""))`

// tabbed is where the keyboard leads from a page's beginning, element by element.
func (w *window) tabbed(most int) (all []string) {
	w.t.Helper()
	for range most {
		w.press(kb.Tab)
		at := see[string](w, `document.activeElement == document.body ? "" : `+named+`(document.activeElement)`)
		if at == "" || len(all) > 1 && at == all[0] {
			return all
		}
		if len(all) > 0 && all[len(all)-1] == at { // a day has three parts
			continue
		}
		all = append(all, at)
	}
	require.FailNow(w.t, "the keyboard goes round", "%v", all)
	return nil
}
