package console

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"gleaner/internal/gleaner"
	"gleaner/internal/metadata"
	"gleaner/internal/politeness"
	"gleaner/internal/record/store"
	"gleaner/internal/service/program"
)

// told notes what it is asked to do.
type told struct {
	heard []string
	begun string // a harvest that runs and is not on record
	later func() // what a worker does a while after it is asked
}

func (h *told) note(format string, args ...any) (string, error) {
	h.heard = append(h.heard, fmt.Sprintf(format, args...))
	if h.later != nil {
		time.AfterFunc(100*time.Millisecond, h.later)
	}
	return "did it", nil
}

func (h *told) Troubles(context.Context, string) ([]string, error) {
	return []string{"ListPapers fails " + hostile}, nil
}

func (h *told) Start(_ context.Context, w HarvestRequest) (string, string, error) {
	if w.Goal == "conf/none" {
		return "", "", program.Unknown{Reason: fmt.Errorf("no venue is called conf/none")}
	}
	if w.Goal == "Nobody Atall" {
		return "", "", fmt.Errorf("search: %w",
			metadata.ErrUnavailable{Service: "DBLP", Err: errors.New("set dblp-url"), RetryAfter: time.Hour})
	}
	goal, years, delay := w.Goal, w.Years, w.Delay
	w.Goal, w.Years, w.Delay = "", "", 0
	more := ""
	if w != (HarvestRequest{}) {
		more = fmt.Sprintf(" %+v", w)
	}
	_, err := h.note("start %s %s %s%s", goal, years, delay, more)
	if h.begun = goal; goal == "conf/new" {
		return goal, "started", err
	}
	return sampleHarvest, "started", err
}

func (h *told) Begun(_ context.Context, id string) (bool, error) { return id == h.begun, nil }

func (h *told) Steer(_ context.Context, id, do string) (string, error) {
	return h.note("%s %s", do, id)
}
func (h *told) Retry(_ context.Context, id string, of Failed) (string, error) {
	return h.note("retry %s %s %s", id, of.Site, of.Reason)
}

func (h *told) SteerSite(_ context.Context, host, do, why string) (string, error) {
	return h.note("%s %s %s", do, host, why)
}

func (h *told) SetHomepage(_ context.Context, who gleaner.Author, url, word string) (string, error) {
	return h.note("homepage %s %s %s", who.ID(), url, word)
}

func (h *told) Again(_ context.Context, id string) (string, error) { return h.note("again %s", id) }

func (h *told) Estimate(_ context.Context, w HarvestRequest, _ func(string)) (Estimated, error) {
	if w.Goal == "conf/none" {
		return Estimated{}, program.Unknown{Reason: fmt.Errorf("no venue is called conf/none")}
	}
	if w.Goal == "author:Nobody Atall" {
		return Estimated{}, fmt.Errorf("search: %w", metadata.ErrUnavailable{Service: "DBLP", Err: errors.New("it rests")})
	}
	p := store.HarvestPaper{Title: "Engines of " + hostile, Year: 1999, Authors: []string{"Ada Lovelace"}, State: "wanted"}
	return Estimated{[]string{"about 70 requests for " + w.Goal + w.Years}, []store.HarvestPaper{p}}, nil
}

func (h *told) EnterList(_ context.Context, file, text string, _ bool) (goal, leftOut string, err error) {
	if text == "odd" {
		return "", "", fmt.Errorf("%w: %s: format not known", program.ErrUsage, file)
	}
	_, err = h.note("list %s %d", file, len(text))
	return "papers:own", "1 entry left out:\nentry 2\n", err
}

func (h *told) Collect(_ context.Context, w CollectionRequest) (string, error) {
	return h.note("collect %s %v %v %v", w.Name, w.Topics, w.Venues, w.Settings)
}

func (h *told) SteerCollection(_ context.Context, name, do string) (string, error) {
	return h.note("%s collection %s", do, name)
}

func (h *told) Progress(context.Context, string) (Progress, error) {
	return Progress{Rate: 1.5, Left: "about 3m left", Failing: []string{"slow.example " + hostile}}, nil
}

func (h *told) Export(_ context.Context, id, format string, years gleaner.Years, files bool) (Export, error) {
	if years.From == 1700 {
		return Export{}, program.Unknown{Reason: fmt.Errorf("nothing was found")}
	}
	return Export{"papers." + format, "text/x-papers", func(w io.Writer) error {
		_, err := fmt.Fprintf(w, "%s %s %t", id, years, files)
		return err
	}}, nil
}

func (h *told) ExportCollection(ctx context.Context, name, format string, files bool) (Export, error) {
	return h.Export(ctx, name, format, gleaner.Years{}, files)
}

// TestHarvestsAreActedOn: what a form or a program asks for is asked of the harvest,
// and what cannot be is said.
func TestHarvestsAreActedOn(t *testing.T) {
	t.Parallel()
	ear := &told{}
	h := &clock{told: ear, all: []Scheduled{{Schedule: sampleHarvest, Next: []time.Time{time.Now()}}}}
	d := sampled(t, func(o *Options) { o.Harvests, o.Schedules = ear, h })
	at := "/harvests/" + url.PathEscape(sampleHarvest)
	page := d.page(at)
	require.Contains(t, page, `value="pause"`)
	require.Contains(t, page, "ListPapers fails &lt;script&gt;")
	for _, form := range []string{"do=pause", "do=resume", "do=cancel", "do=retry&site=www.ada.example&reason=timeout"} {
		landed := d.landed(d.do("POST", at, form))
		require.Contains(t, landed, `role="status">conf/webdb/1998-1999 did it.`)
		require.NotContains(t, d.page(at), `role="status"`, "it is said once")
	}
	res, body := d.do("POST", "/harvests", "goal=conf/webdb&years=1998-1999&delay=5s", "Accept", "application/json")
	require.Equal(t, http.StatusOK, res.StatusCode)
	require.JSONEq(t, `{"name": "conf/webdb/1998-1999", "did": "started"}`, body)
	_, _ = d.do("POST", "/harvests", "kind=site&goal=https://www.example.edu/")
	_, _ = d.do("POST", "/harvests", "goal=conf/y&delay=2d")
	_, _ = d.do("POST", "/harvests", "goal=conf/x&scope=host&strategy=bfs&leads=none&again=due&max-pages=7&budget=2.5&warc=yes")
	require.Equal(t, []string{"pause conf/webdb/1998-1999", "resume conf/webdb/1998-1999", "cancel conf/webdb/1998-1999", "retry conf/webdb/1998-1999 www.ada.example timeout",
		"start conf/webdb 1998-1999 5s", "start site:https://www.example.edu/  0s", "start conf/y  48h0m0s",
		"start conf/x  0s {Goal: Years: Delay:0s Scope:host Strategy:bfs Leads:none Again:due MaxPages:7 Budget:2.5 WARC:true}"}, ear.heard)

	for form, want := range map[string]int{"": 400, "goal=conf/x&delay=soon": 400, "goal=conf/x&kind=odd": 400, "goal=conf/x&scope=planet": 400, "goal=conf/x&max-pages=few": 400, "goal=conf/x&budget=much": 400, "goal=conf/none": 404} {
		d.gives(want, "POST", "/harvests", form)
	}
	body = d.gives(http.StatusBadGateway, "POST", "/harvests", "goal=Nobody+Atall")
	require.Regexp(t, "the catalogue DBLP does not answer, and is not asked again before .*; name a venue by its key, such as conf/webdb", body)
	require.NotContains(t, body, "dblp-url")
	body = d.gives(http.StatusBadGateway, "POST", "/estimates", "kind=author&goal=Nobody+Atall&years=1998")
	require.Contains(t, body, "name a person by DBLP&#39;s id, such as 65/2885")
	require.NotContains(t, body, "its key, such as conf/webdb, or")
	require.Contains(t, body, `value="Nobody Atall"`)
	require.Contains(t, body, `value="author" selected`)
	for _, two := range []string{"goal=conf/webdb conf/vldb", "goal=conf/webdb,+conf/vldb"} {
		body := d.gives(http.StatusBadRequest, "POST", "/harvests", strings.ReplaceAll(two, " ", "%20"))
		require.Contains(t, body, "one venue at a time")
	}
	for _, form := range []string{"goal=site:http://ada:sesame@www.example.edu/", "kind=site&goal=ada:sesame@www.example.edu", "goal=http://ada:sesame@www.example.edu/"} {
		for _, path := range []string{"/harvests", "/estimates"} {
			body := d.gives(http.StatusBadRequest, "POST", path, form)
			require.NotContains(t, body, "sesame")
		}
	}
	for path, form := range map[string]string{at: "do=delete", "/harvests/conf%2Fnone": "do=pause"} {
		res, _ := d.do("POST", path, form)
		require.Contains(t, []int{400, 404}, res.StatusCode, path)
	}
	d.gives(http.StatusForbidden, "POST", at, "do=cancel", "Origin", "https://stranger.example")
	d.gives(http.StatusOK, "GET", at+"?do=cancel", "")
	require.Len(t, ear.heard, 8, "looking changes nothing")

	body = d.gives(http.StatusBadRequest, "POST", at, "do=remove")
	require.Contains(t, body, "cancel it first")
	require.NoError(t, d.SetStage(t.Context(), sampleHarvest, gleaner.StageCancelled, ""))
	require.Contains(t, d.page(at),
		"Its list of 4 papers and its report go. 4 papers are on no other harvest&#39;s list")
	require.Contains(t, d.page(at), "Its schedule starts it again on ")
	h.away = errors.New("Temporal is away")
	d.gives(http.StatusInternalServerError, "POST", at, "do=remove&schedule=yes")
	require.Contains(t, d.page(at), "Its schedule starts it again on ", "neither is removed")
	h.away = program.Unknown{Reason: errors.New("it was removed meanwhile")}
	removed := d.landed(d.do("POST", at, "do=remove&schedule=yes"))
	require.Contains(t, removed, `role="status">conf/webdb/1998-1999 is removed with its schedule.`)
	require.Equal(t, "remove conf/webdb/1998-1999 ", ear.heard[8])
	d.gives(http.StatusNotFound, "GET", at, "")
	require.Contains(t, d.page("/documents/"+sampleSHA), "Analytical Engines", "what was found stays")
}

// TestAmbiguousMatchesAreSettled by a click, and the word can be taken back.
func TestAmbiguousMatchesAreSettled(t *testing.T) {
	t.Parallel()
	d := sampled(t, nil)
	form := url.Values{"paper": {"conf/webdb/P2"}, "sha256": {otherSHA}, "word": {"yes"}}
	d.leads("/review?venue=conf%2Fwebdb", "POST", "/review", form.Encode(), "Referer", d.server.URL+"/review?venue=conf%2Fwebdb")
	require.Contains(t, d.page("/review"), "Nothing waits")
	require.Contains(t, d.page("/review?settled=yes&venue=conf/none"), "Nothing was settled")
	require.Contains(t, d.page("/review?settled=yes"), "Take the word back")
	form.Set("word", "undo")
	_, _ = d.do("POST", "/review", form.Encode())
	require.Contains(t, d.page("/review"), "Difference Engines")
	form.Set("paper", "conf/webdb/P9")
	d.gives(http.StatusNotFound, "POST", "/review", form.Encode())

	require.Contains(t, d.page("/papers/conf%2Fwebdb%2FP0"), "The library holds it: it was not looked for.")
	require.Contains(t, d.page("/papers/conf%2Fwebdb%2FP3"), `name="sha256"`)
	at := "/papers/conf%2Fwebdb%2FP3"
	for named, want := range map[string]int{"http://www.ada.example/none.pdf": 404, "ffff00": 404, "ff": 400, "http://www.ada.example/p1.pdf": 303} {
		form = url.Values{"paper": {"conf/webdb/P3"}, "sha256": {named}, "word": {"yes"}}
		body := d.gives(want, "POST", "/review", form.Encode(), "Referer", d.server.URL+at)
		if want != 303 {
			kept := `(?s)<h1>Missing Since.*role="alert">.*name="sha256"[^>]* value="` + named + `"`
			require.Regexp(t, kept, body, "the page stays")
		}
	}
	form = url.Values{"paper": {"conf/none"}, "sha256": {sampleSHA}, "word": {"yes"}}
	_, body := d.do("POST", "/review", form.Encode(), "Referer", d.server.URL+"/documents/"+sampleSHA)
	require.Regexp(t, `(?s)<h1>Analytical.*role="alert">.*name="paper"[^>]* value="conf/none"`, body)
	require.Contains(t, body, "conf/none: no such paper")
	form.Set("paper", "")
	_, body = d.do("POST", "/review", form.Encode())
	require.Contains(t, body, "a field is empty: key of the paper")
	form.Set("paper", "conf/webdb/P2")
	page := d.landed(d.do("POST", "/review", form.Encode(), "Referer", d.server.URL+"/papers/conf%2Fwebdb%2FP2"))
	require.Regexp(t, `role="status">[^<]*It counts as another paper, too: Analytical Engines`, page)
	for _, at := range []string{"/papers/conf%2Fwebdb%2FP2", "/documents/" + sampleSHA} {
		require.Contains(t, d.page(at), "This document counts as another paper, too: ", at)
	}
	d.exec(`UPDATE papers o SET title=p.title, year=p.year FROM papers p
		WHERE p.key='conf/webdb/P1' AND o.key='conf/webdb/P2'`)
	require.NotContains(t, d.page("/documents/"+sampleSHA), "another paper, too", "one of several lists is one")
	require.Regexp(t, `(?s)`+otherSHA[:12]+`</a> <span class="state found">is it.*a person said yes.*named by a person`,
		d.page("/papers/conf%2Fwebdb%2FP3"))
	require.Regexp(t, `href="/papers/conf%2Fwebdb%2FP3">Missing Since`, d.page("/documents/"+otherSHA))
	require.Regexp(t, `it is the paper <a href="/papers/conf%2Fwebdb%2FP3">Missing Since`,
		d.page("/urls?url=http://www.ada.example/p1.pdf"))
}

// TestASiteIsPausedAndResumed from its page, which says that it is.
func TestASiteIsPausedAndResumed(t *testing.T) {
	t.Parallel()
	d := sampled(t, nil)
	at := "/sites/www.ada.example"
	require.Contains(t, d.page(at), `value="pause"`)
	d.leads(at, "POST", at, "do=pause&reason=asked+by+mail")
	require.NoError(t, politeness.Pause(t.Context(), d.Pool, "www.ada.example", hostile))
	page := d.page(at)
	for _, want := range []string{
		`value="resume"`, "paused by a person: &lt;script&gt;", "never while it is paused", "Nobody asks it since",
	} {
		require.Contains(t, page, want)
	}
	require.NotContains(t, page, `value="pause"`)
	require.Contains(t, d.page("/sites"), "paused by a person")
	of := "?harvest=" + url.QueryEscape(sampleHarvest)
	named := `href="/sites\?harvest=conf%2[Ff]webdb%2[Ff]1998-1999&amp;barred=yes">`
	id := url.PathEscape(sampleHarvest)
	require.Regexp(t, named+`1 site</a>: <a href="/sites/www.ada.example">`, d.page("/harvests/"+id))
	d.report(sampleHarvest, `1 site is not asked: www.ada.example \(paused.*`+named)
	require.Contains(t, d.page("/sites"+of+"&barred=yes"), "www.ada.example</a>")
	_, body := d.do("POST", at, "do=resume", "Accept", "application/json")
	d.exec(`UPDATE sites SET paused='', paused_at=NULL`)
	require.Contains(t, d.page("/sites"+of+"&barred=yes"), "No such site")
	require.Contains(t, d.page("/sites?barred=yes"), "bad.example</a>")
	require.JSONEq(t, `{"name": "www.ada.example", "did": "did it"}`, body)
	_, body = d.do("POST", at, "do=slow&delay=+30s", "Accept", "application/json")
	require.JSONEq(t, `{"name": "www.ada.example", "did": "did it"}`, body)
	require.NoError(t, politeness.Slow(t.Context(), d.Pool, "ada.example", 30*time.Second))
	for _, shown := range []string{at, "/urls?url=http://www.ada.example/p1.pdf"} {
		require.Contains(t, d.page(shown), "every 30s (set by hand)")
	}
	long := "do=pause&reason=" + strings.Repeat("a", 501)
	for path, form := range map[string]string{
		at: "do=stop", "/sites/none.example": "do=pause", at + "?": "", at + "?a": long, "/sites/a.example": "do=resume",
	} {
		res, body := d.do("POST", path, form)
		require.Contains(t, []int{400, 404}, res.StatusCode, "%s %.60s: %s", path, form, body)
	}
	require.Equal(t, []string{"pause www.ada.example asked by mail", "resume www.ada.example ", "slow www.ada.example 30s"}, d.ear.heard)
}

// TestAStartedHarvestIsShownAtOnce: its page says that it starts until it is on record.
func TestAStartedHarvestIsShownAtOnce(t *testing.T) {
	t.Parallel()
	d := sampled(t, nil)
	d.gives(http.StatusNotFound, "GET", "/harvests/conf%2Fnew", "")
	for path, form := range map[string]string{"/harvests/" + url.PathEscape(sampleHarvest): "do=again", "/harvests": "goal=conf/webdb"} {
		d.ear.later = nil
		require.NoError(t, d.SetStage(t.Context(), sampleHarvest, gleaner.StageComplete, ""))
		d.ear.later = func() { _ = d.SetStage(context.WithoutCancel(t.Context()), sampleHarvest, gleaner.StageCrawl, "") }
		require.Contains(t, d.landed(d.do("POST", path, form)), "crawl</span>", path)
	}
	d.ear.later = nil
	w := d.window()
	w.open("/")
	w.write("#goal", "conf/new")
	w.do(chromedp.Click(`button[formaction="/harvests"]`))
	w.until(`document.querySelector("main").innerText.includes("conf/new is starting")`)
	require.NoError(t, d.SaveHarvest(t.Context(), store.Harvest{ID: "conf/new", Venue: "conf/new", Options: []byte("{}"), Stage: gleaner.StagePapers}))
	w.until(`document.querySelector("#progress")?.innerText.includes("papers")`)
	d.exec(`DELETE FROM harvests WHERE id='conf/new'`)
	d.ear.begun = ""
	d.gives(http.StatusNotFound, "GET", "/harvests/conf%2Fnew", "")
}

// TestAPageIsRenewedAfterWhatWasDone: a harvest that had ended and is run again shows that a
// while later.
func TestAPageIsRenewedAfterWhatWasDone(t *testing.T) {
	t.Parallel()
	d := sampled(t, nil)
	require.NoError(t, d.SetStage(t.Context(), sampleHarvest, gleaner.StageComplete, ""))
	at := "/harvests/" + url.PathEscape(sampleHarvest)
	require.NotContains(t, d.page(at), "live.js")
	w := d.window()
	w.open(at)
	w.do(chromedp.Click(`button[value=retry]`))
	w.until(`document.querySelector("[role=status]") != null`)
	w.until(`performance.getEntriesByType("resource").some(e => e.initiatorType == "fetch")`) // which finds it ended
	require.NoError(t, d.SetStage(t.Context(), sampleHarvest, gleaner.StageCrawl, ""))
	w.until(`document.querySelector("#progress").innerText.startsWith("crawl")`)
	w.until(`document.querySelector("button[value=pause]") != null`)
}
