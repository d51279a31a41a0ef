package console

import (
	"context"
	"net/url"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"gleaner/internal/harvest/tables"
	"gleaner/internal/record/store"
)

// hand does jobs on the record as a worker does, once it is let go on.
type hand struct {
	jobTold
	of   *desk
	goOn chan struct{}
}

func (h *hand) StartJob(ctx context.Context, id int64) error {
	j, err := h.of.Job(ctx, id)
	if err == nil && j.State != store.JobNew {
		err = h.of.RenewJob(ctx, id)
		j.Run++
	}
	if err != nil {
		return err
	}
	run := tables.Run{Kind: j.Kind, Job: id, Run: j.Run}
	if err := h.of.BeginJob(ctx, id, run.Run); err != nil {
		return err
	}
	go func() {
		ctx := context.WithoutCancel(ctx)
		<-h.goOn
		_, err := tables.New(tables.Parts{DB: h.of.DB, Repo: h.of.App.Repo}).Do(ctx, run, func(tables.Progress) {})
		assert.NoError(h.of.t, err)
		assert.NoError(h.of.t, h.of.EndJob(ctx, id, run.Run, store.JobEnded, ""))
	}()
	return nil
}

// workplace is a console where everybody logs in, before a browser.
func workplace(t *testing.T) (*window, *hand) {
	h := &hand{jobTold: jobTold{&told{}}, goOn: make(chan struct{})}
	d := open(t, func(o *Options) { o.Harvests, o.Jobs = h, h }, true)
	d.sample()
	h.of = d
	require.NoError(t, AddUser(t.Context(), d.DB, "ada", password, ""))
	w := d.window()
	w.size(1280, "light")
	return w, h
}

// TestWorkInABrowser goes the way of a person: logs in, by a wrong password first, sets
// up a job whose form says something wrong first, has a cleaning list what would go and
// confirms it, watches a harvest go on, and logs out. The browser complains of nothing
// but the two refusals.
func TestWorkInABrowser(t *testing.T) {
	t.Parallel()
	w, h := workplace(t)
	w.open("/jobs")
	require.Equal(t, "/login?next=%2Fjobs", see[string](w, `location.pathname + location.search`))
	w.write("#user", "ada")
	w.write("#password", "not the password"+kb.Enter)
	w.until(`document.querySelector("[role=alert]")?.textContent == "user or password is wrong"`)
	w.write("#user", "ada")
	w.write("#password", password+kb.Enter)
	w.until(`location.pathname == "/jobs"`)
	said := w.complaints()
	require.Len(t, said, 1)
	require.Contains(t, said[0], "401")

	w.wrongThenRight()
	require.Contains(t, strings.Join(w.complaints(), "\n"), "400")
	h.goOn <- struct{}{}
	w.cleaning(h)
	w.progress()
	w.do(chromedp.Click(".user button"))
	w.until(`location.pathname == "/login"`)
	w.open("/jobs")
	require.Equal(t, "/login", see[string](w, `location.pathname`))
	require.Empty(t, w.complaints())
}

// wrongThenRight has a job's form say something wrong: it is shown again with what was
// written, and what is wrong.
func (w *window) wrongThenRight() {
	w.t.Helper()
	w.do(chromedp.Click("#new-retrieve summary"))
	w.write("#retrieve-sample", "20")
	w.write("#retrieve-year", "last year"+kb.Enter)
	w.until(`document.readyState == "complete" && document.querySelector("[role=alert]")?.textContent.includes("year")`)
	require.Equal(w.t, "20 last year true", see[string](w, `[document.querySelector("#retrieve-sample").value, document.querySelector("#retrieve-year").value, document.querySelector("#new-retrieve").open].join(" ")`))
	w.picture("a form that was wrong")
	w.write("#retrieve-year", "1998-2004"+kb.Enter)
	w.until(`location.pathname == "/jobs/3"`)
	require.Contains(w.t, see[string](w, `document.querySelector(".facts").textContent`), "sample=20")
	require.Equal(w.t, "running", see[string](w, `document.querySelector(".state").textContent`))
}

// cleaning lists what would go of a host that was put on the blacklist, which the page
// of the job shows by itself as soon as it is known, and confirms it.
func (w *window) cleaning(h *hand) {
	w.t.Helper()
	w.exec(`DELETE FROM matches`) // what was compared with a paper is kept, and what was ingested
	w.exec(`UPDATE documents SET ingestion='failed'`)
	require.NoError(w.t, w.Block(w.t.Context(), []store.Blocked{{Host: "www.ada.example", Reason: "asked us"}}))
	w.open("/jobs")
	w.do(chromedp.Click("#new-clean-documents summary"), chromedp.Click("#new-clean-documents button"))
	w.until(`location.pathname == "/jobs/4" && document.readyState == "complete"`)
	require.Equal(w.t, "Cancel this job …", see[string](w, `document.querySelector("#acts").innerText.trim()`))
	see[chromedp.Void](w, `window.mark = "the page is still the same"`)
	h.goOn <- struct{}{}
	w.until(`document.querySelector("button.danger")?.textContent == "Remove what is listed (2)" && !!window.mark`)
	require.Equal(w.t, 2, see[int](w, `document.querySelectorAll("#lines tbody tr").length`))
	w.do(chromedp.Click(".ask summary"))
	require.Contains(w.t, see[string](w, `document.querySelector(".ask").innerText`), "lost for good")
	j, err := w.Job(w.t.Context(), 4)
	require.NoError(w.t, err)
	require.JSONEq(w.t, `{}`, string(j.Options), "nobody has said yes")
	go func() { h.goOn <- struct{}{} }()
	w.do(chromedp.Click("button.danger"))
	w.until(`document.querySelector(".facts")?.textContent.includes("in place")`)
	w.until(`document.querySelector(".state")?.textContent == "ended"`)
	var left int
	require.NoError(w.t, w.Pool.QueryRow(w.t.Context(), `SELECT count(*) FROM documents`).Scan(&left))
	require.Zero(w.t, left)
}

// progress watches a harvest: its numbers renew themselves, and what is being written
// meanwhile stays.
func (w *window) progress() {
	w.t.Helper()
	w.open("/harvests/" + url.PathEscape(sampleHarvest))
	w.until(`document.querySelector(".numbers").textContent.includes("0 found")`)
	w.write("#site", "www.ada")
	see[chromedp.Void](w, `window.mark = "the page is still the same"`)
	w.exec(`UPDATE harvest_papers SET held=true WHERE paper_key='conf/webdb/P1'`)
	w.exec(`UPDATE harvests SET updated_at=now()`)
	w.until(`document.querySelector(".numbers").textContent.includes("2 held") && !!window.mark`)
	require.Equal(w.t, "www.ada", see[string](w, `document.querySelector("#site").value`))
	w.exec(`UPDATE harvests SET completed_at=now(), stage='complete', updated_at=now()`)
	w.until(`!document.querySelector("button[value=pause]") && !!window.mark`)
}

// TestTheKeyboardReachesEverything in the order in which it is shown, with what has the
// keyboard marked, and past what all pages begin with.
func TestTheKeyboardReachesEverything(t *testing.T) {
	t.Parallel()
	d, _ := jobDesk(t)
	w := d.window()
	w.size(1280, "light")
	for _, path := range []string{"/", "/jobs", "/papers?harvest=" + url.QueryEscape(sampleHarvest), "/blacklist"} {
		w.open(path)
		w.press(kb.Tab)
		require.Equal(t, "skip 16", see[string](w, `document.activeElement.className + " " + document.activeElement.getBoundingClientRect().left`))
		w.press(kb.Enter)
		w.press(kb.Tab)
		require.True(t, see[bool](w, `document.querySelector("main").contains(document.activeElement)`), path)
		w.open(path)
		shown := see[[]string](w, `[...document.querySelectorAll("a, button, input:not([type=hidden]), select, summary, textarea, .wide")].filter(e => e.checkVisibility()).map(`+named+`)`)
		require.Equal(t, shown, w.tabbed(len(shown)*3+5), path)
		require.Empty(t, w.complaints())
	}
}
