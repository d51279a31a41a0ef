package console

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gleaner/internal/harvest/tables"
	"gleaner/internal/ingest"
	"gleaner/internal/record/store"
	"gleaner/internal/service/jobfile"
)

// sampleJobs sets up a dry run that ended with something to remove, and an import that
// is under way.
func (d *desk) sampleJobs() {
	ctx := d.t.Context()
	clean, err := d.AddJob(ctx, store.JobCleanDocuments, tables.Options{})
	require.NoError(d.t, err)
	load, err := d.AddJob(ctx, store.JobImport, ingest.Options{Paths: []string{"/archives/" + hostile}})
	require.NoError(d.t, err)
	for _, id := range []int64{clean, load} {
		require.NoError(d.t, d.BeginJob(ctx, id, 1))
		require.NoError(d.t, d.SaveImport(ctx, store.ImportStep{Job: id, Run: 1, Done: 1, Position: struct{}{}, Counters: map[string]any{"looked": 1, "documents": 1, "all": 1, "saved_New": 1, "read_bytes": 1, "total_bytes": 4},
			Records: []store.ImportRecord{{N: 1, URL: "http://www.ada.example/p0.pdf", Outcome: store.WouldGo, Kind: store.CleanDocument, Detail: hostile, SHA256: sampleSHA, Difference: map[bool]string{true: "differs"}[id == load]}}}))
	}
	require.NoError(d.t, d.EndJob(ctx, clean, 1, store.JobEnded, ""))
}

// jobTold notes what is asked of jobs.
type jobTold struct{ *told }

func (h jobTold) StartJob(_ context.Context, id int64) error {
	_, err := h.note("start job %d", id)
	return err
}

func (h jobTold) CancelJob(_ context.Context, id int64) error {
	_, err := h.note("cancel job %d", id)
	return err
}

// jobDesk is a console with jobs, and a folder for imports with one archive.
func jobDesk(t *testing.T) (*desk, string) {
	folder := filepath.Join(t.TempDir(), "imports")
	require.NoError(t, os.MkdirAll(filepath.Join(folder, "2026"), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(folder, "2026", "crawl.warc"), []byte("WARC/1.0\r\n"), 0o600))
	return sampled(t, func(o *Options) { o.ImportFolder = folder }), folder
}

// options are those of a job on record.
func (d *desk) options(id int64) *jobfile.Options {
	d.t.Helper()
	j, err := d.Job(d.t.Context(), id)
	require.NoError(d.t, err)
	o, err := jobfile.Of(j)
	require.NoError(d.t, err)
	return o
}

func (d *desk) post(path string, form url.Values) (*http.Response, string) {
	return d.do("POST", path, form.Encode())
}

// TestEveryOptionHasAField: whatever a job can be asked for has a name, a kind of input
// and a word in the description, and its values as the command line has them.
func TestEveryOptionHasAField(t *testing.T) {
	t.Parallel()
	described := map[string]bool{}
	for _, p := range jobParams() {
		described[p.name] = p.what != ""
	}
	for _, kind := range jobfile.Kinds() {
		o := tables.Defaults(kind)
		for _, f := range form(kind, kind, o.Get).Fields {
			require.NotEmpty(t, f.Label, "%s of %s", f.Name, kind)
			require.Contains(t, []string{"text", "number", "date", "select", "area"}, f.Type, "%s of %s", f.Name, kind)
			require.True(t, described[f.Name], "%s of %s", f.Name, kind)
			for _, choice := range f.Options {
				if kind != store.JobImport {
					require.NoError(t, o.Set(kind, f.Name, choice.Name), "%s of %s", f.Name, kind)
				}
			}
			require.Equal(t, f.Type == "select", f.Options != nil, "%s of %s", f.Name, kind)
		}
	}
}

// TestJobsAreSetUpAndActedOn: forms and programs set up jobs, change them, run them
// again, cancel them, and have what a dry run listed removed.
func TestJobsAreSetUpAndActedOn(t *testing.T) {
	t.Parallel()
	d, folder := jobDesk(t)
	page := d.page("/jobs")
	require.Contains(t, page, `<label for="retrieve-sample">`)
	require.Contains(t, page, `<label for="import-path">`)
	require.Contains(t, page, "accepted ones where no state is named")
	d.leads("/jobs/3", "POST", "/jobs", "job=retrieve&kind=pdf&sample=1000&seed=7&from=2026-01-01")
	require.Equal(t, "kind=pdf from=2026-01-01 sample=1000 seed=7", d.options(3).Describe())
	d.gives(http.StatusSeeOther, "POST", "/jobs/3", "do=modify&sample=20&seed=7&kind=")
	require.Contains(t, d.page("/jobs/3"), "from=2026-01-01 sample=20 seed=7")

	_, body := d.do("POST", "/jobs", url.Values{"job": {"import"}, "path": {"2026/crawl.warc"}, "filter": {"off"}, "types": {"pdf, postscript"}, "blacklist": {"A.example\r\nb.example"}}.Encode(), "Accept", "application/json")
	require.JSONEq(t, `{"name": "4", "did": "started"}`, body)
	real, err := filepath.EvalSymlinks(folder)
	require.NoError(t, err)
	require.Equal(t, ingest.Options{Paths: []string{filepath.Join(real, "2026/crawl.warc")}, Within: real, Unfiltered: true, Types: []string{"pdf", "postscript"}, Blacklist: []string{"a.example", "b.example"}}, d.options(4).Import)

	require.Contains(t, d.page("/jobs/1"), "Remove what is listed (1)")
	for path, do := range map[string]string{"/jobs/1": "confirm", "/jobs/2": "cancel", "/jobs/3": "run"} {
		d.gives(http.StatusSeeOther, "POST", path, url.Values{"do": {do}}.Encode())
	}
	require.ElementsMatch(t, []string{"start job 3", "start job 4", "start job 1", "cancel job 2", "start job 3"}, d.ear.heard)
	require.Equal(t, tables.Options{InPlace: true}, d.options(1).Table)

	d.gives(http.StatusSeeOther, "POST", "/jobs/1", "do=run")
	require.Equal(t, tables.Options{}, d.options(1).Table, "run again, it lists first what would go")
	d.exec(`UPDATE jobs SET ended_at=now(), updated_at=now() WHERE id=1`)
	require.Contains(t, d.page("/jobs/1"), "Remove what is listed (1)")
	d.post("/jobs/1", url.Values{"do": {"modify"}, "only": {"failed"}})
	_, body = d.post("/jobs", url.Values{"job": {"retrieve"}, "from": {"soon"}})
	require.Contains(t, body, "from")
	require.NotContains(t, body, "wrong input")
	require.NotContains(t, d.page("/jobs/1"), "Remove what is listed (1)", "what would go now has not been listed")
	d.gives(http.StatusBadRequest, "POST", "/jobs/1", "do=confirm")

	res, csv := d.do("GET", "/jobs/1/lines.csv", "")
	require.Equal(t, "text/csv; charset=utf-8", res.Header.Get("Content-Type"))
	require.Contains(t, csv, "n,url,outcome,kind,detail")
	require.Contains(t, csv, "1,http://www.ada.example/p0.pdf,would-go,document")
}

// TestTheJobPageSaysHowAFileWasFound, as far as the log that is imported says.
func TestTheJobPageSaysHowAFileWasFound(t *testing.T) {
	t.Parallel()
	d, _ := jobDesk(t)
	d.exec(`UPDATE import_records SET parent='http://www.ada.example/list.html', depth=2, seed=true, crawled_at='2003-04-05 12:00Z' WHERE job=2`)
	require.Regexp(t, `a seed linked from <a href="http://www.ada.example/list.html"[^>]*>[^<]*</a> <span class="quiet">depth 2</span> <span class="quiet">crawled 5 Apr 2003`, d.page("/jobs/2"))
	d.exec(`UPDATE import_records SET parent='javascript:alert(1)', depth=NULL, seed=false, crawled_at=NULL WHERE job=2`)
	require.Contains(t, d.page("/jobs/2"), `<td> linked from javascript:alert(1)</td>`)
	d.exec(`UPDATE import_records SET outcome='saved_New' WHERE job=2`)
	d.exec(`UPDATE jobs SET options=options || '{"unrecorded": true}', counters='{"saved_New": 1}' WHERE id=2`)
	require.Contains(t, d.page("/jobs/2"), "would be saved, new")
	require.Contains(t, d.page("/jobs/2"), `title="saved, new">would be saved_`)
}

// TestNobodyConfirmsWhatNobodySees: a dry run whose list was pruned is to be done anew.
func TestNobodyConfirmsWhatNobodySees(t *testing.T) {
	t.Parallel()
	d, _ := jobDesk(t)
	require.Contains(t, d.page("/jobs/1"), "Remove what is listed (1)")
	d.exec(`DELETE FROM import_records WHERE job=1`)
	require.NotContains(t, d.page("/jobs/1"), "Remove what is listed")
	d.gives(http.StatusBadRequest, "POST", "/jobs/1", "do=confirm")
	require.Empty(t, d.ear.heard)
}

// TestALongJobFileIsNotShown: a list of many hosts is not sent at each look at a job.
func TestALongJobFileIsNotShown(t *testing.T) {
	t.Parallel()
	d, _ := jobDesk(t)
	d.exec(`UPDATE jobs SET options=jsonb_set(options, '{blacklist}', (SELECT jsonb_agg('h' || n || '.example') FROM generate_series(1, 10000) n)) WHERE id=2`)
	body := d.page("/jobs/2")
	require.Less(t, len(body), maxForm)
	require.Contains(t, body, "too long to be shown")
	require.NotContains(t, d.page("/jobs/1"), "too long")
}

// slowTaker is who takes a list so slowly that the time for an answer is over before
// its end.
type slowTaker struct {
	*httptest.ResponseRecorder
	until []time.Time
}

func (s *slowTaker) SetWriteDeadline(t time.Time) error { s.until = append(s.until, t); return nil }

// TestALongListTakesItsTime: the time for an answer counts anew for each thousand
// lines, so that a list is not cut off for being long.
func TestALongListTakesItsTime(t *testing.T) {
	t.Parallel()
	d, _ := jobDesk(t)
	d.exec(`INSERT INTO import_records (job, n, url, outcome) SELECT 1, n, 'http://a.example/' || n, 'kept' FROM generate_series(2, 2500) n`)
	taker := &slowTaker{ResponseRecorder: httptest.NewRecorder()}
	req := httptest.NewRequestWithContext(t.Context(), "GET", "http://127.0.0.1/jobs/1/lines.csv", nil)
	req.AddCookie(d.cookie(keySuffix(d.key), d.key, 0))
	d.Handler(false).ServeHTTP(taker, req)
	require.Equal(t, 2501, strings.Count(taker.Body.String(), "\n"))
	require.Greater(t, len(taker.until), 2)
	require.Greater(t, time.Until(taker.until[2]), answerTime)
	require.True(t, taker.until[2].After(taker.until[0]))

	var said bytes.Buffer
	d.Console.log = slog.New(slog.NewTextHandler(&said, nil))
	gone, leave := context.WithCancel(t.Context())
	leave()
	d.Handler(false).ServeHTTP(httptest.NewRecorder(), req.WithContext(gone))
	require.Empty(t, said.String(), "a tab that was closed is no error")
}

// TestTheJobPageSaysOfHowMany: an import's page says how far it is as the command line
// does; the page of another job has its number alone.
func TestTheJobPageSaysOfHowMany(t *testing.T) {
	t.Parallel()
	d, _ := jobDesk(t)
	id, err := d.AddJob(t.Context(), store.JobImport, ingest.Options{Paths: []string{"/archives"}})
	require.NoError(t, err)
	require.NoError(t, d.BeginJob(t.Context(), id, 1))
	step := store.ImportStep{Job: id, Run: 1, Done: 17, Position: struct{}{}, Counters: ingest.Counters{Read: 43, Total: 100, Extent: ingest.Extent{Resources: 3204, Archives: 5, Archive: 2}}}
	require.NoError(t, d.SaveImport(t.Context(), step))
	require.Contains(t, d.page(fmt.Sprintf("/jobs/%d", id)),
		"<dt>Records</dt><dd>17 of 3204 · archive 2 of 5 · 43 %</dd>")
	require.Contains(t, d.page("/jobs/1"), "<dt>Records</dt><dd>1</dd>")
}

// TestWrongJobsAreRefused: what is no option, no job, or not to be done to it.
func TestWrongJobsAreRefused(t *testing.T) {
	t.Parallel()
	d, _ := jobDesk(t)
	for form, want := range map[string]int{"job=retrieve&sample=some": 400, "job=retrieve&from=soon": 400, "job=retrieve&year=last": 400, "job=delete": 400, "job=clean-documents&only=good": 400, "": 400,
		"job=import&path=2026/crawl.warc&types=exe": 400} {
		d.gives(want, "POST", "/jobs", form)
	}
	for at, want := range map[string]int{"/jobs/2?do=modify&types=pdf": 400, "/jobs/2?do=confirm": 400, "/jobs/99?do=run": 404, "/jobs/x?do=run": 404, "/jobs/1?do=delete": 400} {
		path, form, _ := cutForm(at)
		d.gives(want, "POST", path, form)
	}
	d.gives(http.StatusForbidden, "POST", "/jobs/1", "do=confirm", "Origin", "https://stranger.example")
	d.gives(http.StatusSeeOther, "POST", "/jobs", "job=clean-documents&confirm=yes")
	require.Equal(t, tables.Options{}, d.options(3).Table, "nothing is removed before somebody has seen what")
	require.Equal(t, []string{"start job 3"}, d.ear.heard)
}

func cutForm(s string) (path, form string, ok bool) {
	u, err := url.Parse(s)
	if err != nil {
		return "", "", false
	}
	return u.Path, u.RawQuery, true
}

// TestImportsStayInTheirFolder: a browser has nothing read that lies elsewhere on the
// machine of a worker, and without a folder nothing at all.
func TestImportsStayInTheirFolder(t *testing.T) {
	t.Parallel()
	d, folder := jobDesk(t)
	outside := filepath.Join(filepath.Dir(folder), "secret.warc")
	require.NoError(t, os.WriteFile(outside, []byte("WARC/1.0\r\n"), 0o600))
	require.NoError(t, os.Symlink(outside, filepath.Join(folder, "link.warc")))
	for _, path := range []string{"/etc/passwd", "file:///etc/passwd", "../secret.warc", "2026/../../secret.warc", outside, "link.warc", "s3://bucket/x", "https://www.example.org/x.warc", "none.warc", ""} {
		d.gives(http.StatusBadRequest, "POST", "/jobs", url.Values{"job": {"import"}, "path": {path}}.Encode())
	}
	// Neither does a change of a job lead elsewhere, nor have its copies put anywhere.
	id, err := d.AddJob(t.Context(), store.JobImport, ingest.Options{Paths: []string{filepath.Join(folder, "2026/crawl.warc")}})
	require.NoError(t, err)
	d.gives(http.StatusSeeOther, "POST", "/jobs/3", "do=modify&path=/etc/passwd&to=2026-01-01&filter=on")
	o := d.options(id).Import
	require.Equal(t, []string{filepath.Join(folder, "2026/crawl.warc")}, o.Paths)
	require.Empty(t, o.To)
	d.ImportFolder = ""
	require.NotContains(t, d.page("/jobs"), "import-path")
	body := d.gives(http.StatusBadRequest, "POST", "/jobs", "job=import&path=2026/crawl.warc")
	require.Contains(t, body, "no folder for imports")
	require.Empty(t, d.ear.heard)
}
