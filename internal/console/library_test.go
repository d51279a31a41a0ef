package console

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gleaner/internal/each"
	"gleaner/internal/record/store"
)

// TestStoredDocumentsAreDownloaded: the answer is the stored file, and no browser
// shows it as a page of the console.
func TestStoredDocumentsAreDownloaded(t *testing.T) {
	t.Parallel()
	d := open(t, nil, false)
	const body = `<script>alert(1)</script>`
	kept, err := d.App.Repo.Put(t.Context(), []byte(body))
	require.NoError(t, err)
	d.sample()
	d.place(kept.SHA256, "html", "http://www.ada.example/page.html")
	res, got := d.do("GET", "/documents/"+kept.SHA256+"/file", "")
	require.Equal(t, http.StatusOK, res.StatusCode, got)
	require.Equal(t, body, got)
	for name, want := range map[string]string{"Content-Type": "application/octet-stream", "X-Content-Type-Options": "nosniff", "Content-Security-Policy": "default-src 'none'; sandbox",
		"Content-Disposition": `attachment; filename=` + kept.SHA256[:12] + ".html"} {
		require.Equal(t, want, res.Header.Get(name), name)
	}
	require.Contains(t, d.page("/documents/"+kept.SHA256), `href="/documents/`+kept.SHA256+`/file"`)
	for _, sha := range []string{sampleSHA, "00", strings.Repeat("0", 64)} { // no file, no name, no document
		d.gives(http.StatusNotFound, "GET", "/documents/"+sha+"/file", "")
	}
}

// place puts a document of the repository on record.
func (d *desk) place(sha, kind, at string) {
	d.t.Helper()
	l := store.Location{Hash: []byte(sha)[:32], SiteID: 1, URL: at, Found: time.Now()}
	require.NoError(d.t, d.SaveFetched(d.t.Context(), store.Document{SHA256: sha, Kind: kind, Bytes: 1}, l, nil))
}

// TestDocumentsHaveTitles that tell them apart: of the paper, of the link, of the first
// lines, and of the metadata where that is a title at all.
func TestDocumentsHaveTitles(t *testing.T) {
	t.Parallel()
	const sha = "0123456789abcdef"
	for _, of := range []struct{ want, paper, anchor, text, meta, url string }{
		{want: "A Paper", paper: "A Paper", anchor: "words of a link"},
		{want: "Engines for everyone", anchor: " Engines for\n everyone ", text: "First lines here"},
		{want: "Engines in the Large Ada L.", anchor: "PDF", text: "\n12\n Engines in the Large\nAda L.\n", meta: "paper.dvi"},
		{want: "Engines of metadata", anchor: "[pdf]", meta: "Engines of metadata"},
		{want: "Document 0123456789ab", anchor: "here", meta: "Microsoft Word - Equivalence_July2003.doc"},
		{want: "icse03.pdf", anchor: "PDF", meta: "my title", url: "http://a.example/~ada/icse03.pdf?download=1"},
		{want: "Document 0123456789ab", meta: "my title", url: "http://a.example/papers/"},
		{want: "Document 0123456789ab", meta: "untitled document"},
		{want: "Document 0123456789ab", meta: "paperPostAcceptedUpdated2"},
		{want: "Document 0123456789ab", meta: "some longer name.tex"},
	} {
		d := store.Document{SHA256: sha, FirstPages: of.text, MetaTitle: of.meta}
		require.Equal(t, of.want, documentTitle(d, of.paper, store.Location{URL: of.url, Anchor: of.anchor}), "%+v", of)
	}
	d := sampled(t, nil)
	d.exec(`UPDATE documents SET meta_title='paper.dvi'`)
	require.Contains(t, d.page("/documents/"+sampleSHA), "<h1>Analytical Engines for Everyone and Their Machines</h1>")
	require.NotContains(t, d.page("/documents"), "paper.dvi")
}

// TestAPaperIsSettledWhereItIsRead: the page of a paper asks of each document that may
// be it, and shows the paper again after the answer.
func TestAPaperIsSettledWhereItIsRead(t *testing.T) {
	t.Parallel()
	d := sampled(t, nil)
	d.explained(sampleHarvest)
	at := "/papers/" + url.PathEscape("conf/webdb/P2")
	require.Contains(t, d.page("/papers?harvest="+url.QueryEscape(sampleHarvest)+"&reason=ambiguous"), `<a href="/papers/conf%2Fwebdb%2FP2#documents">Is it one of these?</a>`)
	require.Contains(t, d.page(at), `value="yes"`)
	form := url.Values{"paper": {"conf/webdb/P2"}, "sha256": {otherSHA}, "word": {"yes"}}
	d.leads(at, "POST", "/review", form.Encode(), "Referer", d.server.URL+at)
	require.NotContains(t, d.page(at), "Yes, it is")
	for _, at := range []string{at, "/documents/" + otherSHA} {
		require.Contains(t, d.page(at), `value="undo"`, at)
	}
	d.explained(sampleHarvest)
	form.Set("word", "undo")
	_, _ = d.do("POST", "/review", form.Encode())
	missing := "/papers?state=missing&harvest=" + url.QueryEscape(sampleHarvest)
	require.Regexp(t, `(?s)<div id="papers" data-live>.*>Difference Engines.*>being worked out<`, d.page(missing))
	d.reports.work.Wait()
	require.Contains(t, d.page(missing), "Is it one of these?", "at once")
	require.Contains(t, d.page("/documents/"+otherSHA), "Yes, it is")
	d.exec(`UPDATE missing_papers SET reason='found but rejected', evidence='["http://www.ada.example/p1.pdf: linked with the title, and not taken for it: accepted as paper"]' WHERE paper_key='conf/webdb/P3'`)
	require.Regexp(t, `(?s)missing: found but rejected.*accepted as paper.*value="`+otherSHA+`">\s*<button name="word" value="yes"`, d.page("/papers/conf%2Fwebdb%2FP3"))
	d.landed(d.post("/review", url.Values{"paper": {"conf/webdb/P3"}, "sha256": {otherSHA}, "word": {"no"}}))
	require.Contains(t, d.page("/papers/conf%2Fwebdb%2FP3"), "a person said no")
}

// TestWhatFailedIsChosen: the form that tries again offers what failed, and none is
// shown where nothing failed.
func TestWhatFailedIsChosen(t *testing.T) {
	t.Parallel()
	d := sampled(t, nil)
	at := "/harvests/" + url.PathEscape(sampleHarvest)
	page := d.page(at)
	require.Contains(t, page, `<optgroup label="Ask for URLs and read documents again">`+
		`<option value="timeout">timeout (1 URL)</option></optgroup></select>`)
	require.Contains(t, page, `<option>www.ada.example</option>`)
	d.exec(`INSERT INTO unanswered (harvest_id, stage, source, subject, reason, next_try)
		VALUES ($1, 'papers', 'dblp', 'v1', 'status 503', now())`, sampleHarvest)
	require.Contains(t, d.page(at), `<optgroup label="Look for authors and ask catalogues again">`+
		`<option value="unanswered-papers">unanswered-papers (1 catalogue question)</option>`)
	d.exec(`DELETE FROM unanswered`)
	d.exec(`DELETE FROM urls WHERE outcome='timeout'`)
	require.NotContains(t, d.page(at), `value="retry"`)
}

// TestSitesAreFoundByName: by how the host begins, with and without www.
func TestSitesAreFoundByName(t *testing.T) {
	t.Parallel()
	d := sampled(t, nil)
	for name, want := range map[string][]string{"www.a": {"www.ada.example"}, "ada": {"www.ada.example"}, "BAD": {"bad.example"}, "x": {}, "a%": {}} {
		got := answer[sitesPage](d, "/sites?name="+url.QueryEscape(name))
		hosts := each.Of(got.Sites, func(s store.SiteRow) string { return s.Host })
		require.Equal(t, want, hosts, name)
	}
	require.Contains(t, d.page("/documents"), `<option value="thesis">thesis</option>`)
	d.gives(http.StatusBadRequest, "GET", "/documents?class=papre", "")
}

// TestWhatWasFoundIsExported: the console hands on what commands write, as a file to
// be saved, to readers, too.
func TestWhatWasFoundIsExported(t *testing.T) {
	t.Parallel()
	d := sampled(t, nil)
	at := "/exports/" + url.PathEscape(sampleHarvest)
	res, body := d.do("GET", at+"?format=ris&year=1999&files=yes", "")
	require.Equal(t, http.StatusOK, res.StatusCode, body)
	require.Equal(t, sampleHarvest+" 1999 true", body)
	require.Equal(t, "attachment; filename=papers.ris", res.Header.Get("Content-Disposition"))
	require.Equal(t, fileRules, res.Header.Get("Content-Security-Policy"))
	for path, want := range map[string]int{at: 400, at + "?format=doc": 400, at + "?format=csv&year=x": 400, at + "?format=csv&year=1700": 404, at + "?format=csv&year=1998-1999": 200, "/exports/conf%2Fnone?format=csv": 404} {
		res, body = d.do("GET", path, "")
		require.Equal(t, want, res.StatusCode, "%s: %s", path, body)
		require.Equal(t, want != 200, res.Header.Get("Content-Disposition") == "", path)
	}
	_, body = d.do("GET", at+"?format=csv&year=x", "")
	require.Regexp(t, `(?s)role="alert">.*action="`+at+`"`, body, "the form is shown again")
	shown := d.page("/harvests/" + url.PathEscape(sampleHarvest))
	require.Regexp(t, `(?s)action="`+at+`".*CSL-JSON[^<]*without documents`, shown)
}

// TestAHarvestIsEstimatedBeforeItStarts: the form says how much it would be, and starts
// that very harvest from there.
func TestAHarvestIsEstimatedBeforeItStarts(t *testing.T) {
	t.Parallel()
	d := sampled(t, nil)
	body := d.gives(http.StatusOK, "POST", "/estimates", "goal=conf/x&years=1999")
	require.Contains(t, body, "about 70 requests for conf/x1999")
	require.Regexp(t, `(?s)<td>Engines of &lt;script.*wanted.*Ada Lovelace`, body,
		"a preview shows what papers they are")
	require.Contains(t, body, `name="goal" value="conf/x"`)
	require.Contains(t, body, `id="goal" name="goal" list="lists" required value="conf/x"`, "it can be changed")
	require.Contains(t, body, `name="years" value="1999"`)
	body = d.gives(http.StatusNotFound, "POST", "/estimates", "goal=conf/none")
	require.Contains(t, body, `value="conf/none"`, "the form is shown again")
	require.Empty(t, d.ear.heard, "nothing is started")
}

// TestAHarvestSaysHowFastItGoes while it runs, and can be run again when it has ended.
func TestAHarvestSaysHowFastItGoes(t *testing.T) {
	t.Parallel()
	d := sampled(t, nil)
	at := "/harvests/" + url.PathEscape(sampleHarvest)
	page := d.page(at)
	require.Contains(t, page, "1.5 answers a second, about 3m left")
	require.Contains(t, page, "slow.example &lt;script&gt;")
	require.NotContains(t, page, `value="again"`)
	d.exec(`UPDATE harvests SET completed_at=now(), stage='complete'`)
	page = d.page(at)
	require.NotContains(t, page, "answers a second")
	require.Contains(t, page, `value="again"`)
	require.Contains(t, d.landed(d.post(at, url.Values{"do": {"again"}})), "did it")
	require.Equal(t, []string{"again " + sampleHarvest}, d.ear.heard)
}

// TestWordsForPeople: a time that has passed is no next try, and counters have labels.
func TestWordsForPeople(t *testing.T) {
	t.Parallel()
	now := time.Now()
	words := func(at *time.Time) string { return store.Failure{Next: at}.NextWords(TimeForm) }
	past, soon := now.Add(-time.Hour), now.Add(time.Hour)
	require.Equal(t,
		[]string{"not by itself", "due since " + when(past), when(soon), "never, unless a retry names the reason"},
		[]string{words(nil), words(&past), words(&soon), store.Failure{ForGood: true}.NextWords(TimeForm)})
	pace := store.Pace{Seconds: 1, By: "default", Rest: "Retry-After", Until: &soon}
	require.Equal(t, "every 1s (default), not before "+when(soon)+" (Retry-After)", pace.Words(TimeForm))
	for _, name := range []string{"saved_New", "saved_Duplicate", "filtered_MTF", "filtered_DCF", "failed_TextExtract", "failed_FileNotFound", "failed_PDFFilenotFound"} {
		require.NotContains(t, countedRow{Name: name}.Label(), "_", name)
	}
	require.Equal(t, "skipped", countedRow{Name: "skipped"}.Label())
}
