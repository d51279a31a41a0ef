package main

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/temporal"

	"gleaner/activities"
	"gleaner/internal/devstack/devtest"
	"gleaner/internal/devstack/devtest/temporaltest"
	"gleaner/internal/gleaner"
	"gleaner/internal/ingest"
	"gleaner/internal/record/frontier"
	"gleaner/internal/record/store"
	"gleaner/internal/service/app"
	"gleaner/internal/service/program"
	"gleaner/internal/web/rules"
	"gleaner/workflows"
)

// TestManyDifferences: a job that has more differences than are listed says how many
// more there are.
func TestManyDifferences(t *testing.T) {
	t.Parallel()
	c := newConsole(t)
	c.exec(`INSERT INTO jobs (kind, options, state) VALUES ('import', '{"paths": ["a.warc"]}', 'ended')`)
	c.exec(`INSERT INTO import_records (job, n, url, outcome, difference) SELECT 1, n, 'http://a.example/' || n, 'saved_New', 'it waits to be examined' FROM generate_series(1, 1002) n`)
	out := c.ok("jobs", "show", "1")
	require.Contains(t, out, "and 2 more differences; `starter jobs show 1 --csv FILE` lists all\n")
	job := answer[shownJob](c.read, "jobs", "show", "1")
	require.Len(t, job.Differences, differencesShown)
	require.EqualValues(t, 2, job.More)
	file := filepath.Join(t.TempDir(), "lines.csv")
	c.ok("jobs", "show", "1", "--csv", file)
	lines := devtest.Must(os.ReadFile(file))(t)
	require.Equal(t, 1003, strings.Count(string(lines), "\n"), "a head, and all of them")
	require.Equal(t, string(lines), c.ok("jobs", "show", "1", "--csv", "-"))
}

// TestJobFiles: a job that is printed as a file is set up anew from it, with the same
// options; --confirm is for cleanings, and a file that is wrong says so.
func TestJobFiles(t *testing.T) {
	t.Parallel()
	c := newConsole(t)
	c.onTemporal()
	archive := c.file("a.warc", "")
	c.exec(`INSERT INTO jobs (kind, options, state) VALUES ('import', '{"paths": ["` + archive + `"], "unfiltered": true, "types": ["pdf"]}', 'ended'), ('clean-documents', '{"only": "failed", "in_place": true}', 'ended')`)
	file := func(id string) string { return c.file("job.yaml", c.ok("jobs", "show", id, "--file")) }
	require.Contains(t, c.ok("jobs", "show", "1", "--file"), "job: import\npaths:\n    - "+archive+"\n")
	c.ok("jobs", "run", file("1"))
	c.ok("jobs", "run", file("2"))
	c.ok("jobs", "run", file("2"), "--confirm")
	jobs := answer[[]store.Job](c.read, "jobs", "list")
	require.Len(t, jobs, 5)
	require.JSONEq(t, string(jobs[4].Options), string(jobs[2].Options))
	require.JSONEq(t, `{"only": "failed"}`, string(jobs[1].Options), "that it removes stands in no file")
	require.JSONEq(t, string(jobs[3].Options), string(jobs[0].Options))
	c.wrong(program.ExitUsage, "jobs", "run", file("1"), "--confirm")
	c.wrong(program.ExitUsage, "jobs", "run", c.file("wrong.yaml", "job: burn\n"))
	c.wrong(program.ExitUsage, "jobs", "run", c.file("gone.yaml", "job: import\npaths: [/none/such.warc]\n"))
	c.wrong(program.ExitUsage, "jobs", "run", "no-such.yaml")
}

// TestImportOfADamagedArchive: an import of which an archive is cut off ends as any other
// does, with 0, and says what could not be read.
func TestImportOfADamagedArchive(t *testing.T) {
	t.Parallel()
	c := newConsole(t)
	web := c.onWeb()
	c.onTemporal()
	c.work(activities.Queues(), &said{})
	var warc strings.Builder
	for _, p := range web.Truth().Papers[:2] {
		body := "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<html><title>" + p.Title
		warc.WriteString("WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: " + p.URLs[0] + ".html\r\nWARC-Date: 2026-01-02T03:04:05Z\r\nContent-Type: application/http; msgtype=response\r\nContent-Length: " +
			strconv.Itoa(len(body)) + "\r\n\r\n" + body + "\r\n\r\n")
	}
	file := filepath.Join(t.TempDir(), "cut.warc")
	require.NoError(t, os.WriteFile(file, []byte(warc.String()[:warc.Len()-20]+"\x00"), 0o600))
	end := answer[endOfImport](c.read, "import", file, "--wait")
	require.Equal(t, store.JobEnded, end.State)
	require.Equal(t, 2, end.FilteredMTF+end.FailedFileNotFound)
	require.EqualValues(t, 1, end.Skipped[ingest.Damaged])
	require.Positive(t, end.Differences)
	out := c.ok("jobs", "show", strconv.FormatInt(end.Job, 10))
	require.Contains(t, out, "skipped, damaged 1\n")
	said := c.ok("import", file, "--wait")
	require.Regexp(t, `(?m)^\[1\b.*`+`filtered_MTF$`, said, "a line each, and no JSON where none is asked for")
	require.Contains(t, said, "skipped, damaged 1\n")
	require.Regexp(t, `cut\.warc\t.+`, out)
}

// TestExplainOfAnImport: a document that only an import brought is explained by where that
// found it.
func TestExplainOfAnImport(t *testing.T) {
	t.Parallel()
	c := newConsole(t)
	const url, parent = "http://a.example/x.pdf", "http://a.example/list.html"
	h := frontier.HashOf(url)
	require.NoError(t, c.SaveFetched(t.Context(), store.Document{SHA256: strings.Repeat("aa", 32), Kind: "pdf"},
		store.Location{Hash: h[:], SiteID: 1, URL: url, Parent: parent, Found: time.Now()}, nil))
	e := answer[app.Explanation](c.read, "explain", url)
	require.Equal(t, parent, e.Parent)
	require.Len(t, e.Found, 1)
	require.Regexp(t, `(?m)^imported  `, c.ok("explain", url))
	require.NotRegexp(t, `(?m)^asked  `, c.ok("explain", url), "no crawl asked for it")
	c.wrong(program.ExitUnknown, "explain", "http://a.example/y.pdf")
	require.NoError(t, c.SavePapers(t.Context(), []gleaner.Paper{{Key: "conf/x/P", Venue: "conf/x", Title: "A Paper",
		Year: 2001}}, nil))
	c.wrong(program.ExitUnknown, "review", "conf/x/P", "http://a.example/y.pdf", "yes")
	require.NotContains(t, c.ok("explain", url), "is the paper")
	c.exec(`INSERT INTO matches (paper_key, sha256, verdict, score, settled) SELECT 'conf/x/P', sha256, 'different', 0, 'yes' FROM documents`)
	require.Regexp(t, `(?m)^  is the paper +conf/x/P: A Paper \(2001\)$`, c.ok("explain", url), "a person named it")
}

// TestAJobWaitsForItsRunBefore: joined, that one would end, and nothing be done.
func TestAJobWaitsForItsRunBefore(t *testing.T) {
	t.Parallel()
	c, _, _ := temporaltest.Client(t)
	job := store.Job{ID: 7, Run: 1, Kind: store.JobImport, Options: []byte("{}")}
	require.NoError(t, startJob(t.Context(), c, job))
	require.NoError(t, startJob(t.Context(), c, job), "it is joined")
	job.Run++
	ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
	defer cancel()
	require.ErrorContains(t, startJob(ctx, c, job), "run 1 of job 7 has not ended yet")
	require.NoError(t, c.TerminateWorkflow(t.Context(), workflows.ImportID(job.ID), "", "nobody works here"))
	require.NoError(t, startJob(t.Context(), c, job))
}

// TestFailedImports end with the reason that is on record, in one sentence.
func TestFailedImports(t *testing.T) {
	t.Parallel()
	input := temporal.NewNonRetryableApplicationError("import: x: import: x", activities.ErrTypeInput, nil)
	err := importFailed(store.Job{ID: 3, State: store.JobFailed, Note: "import: x holds nothing"}, input)
	require.ErrorIs(t, err, program.ErrUsage)
	require.Equal(t, 1, strings.Count(err.Error(), "holds nothing"))
	require.NotContains(t, err.Error(), "activity")
	err = importFailed(store.Job{ID: 3, State: store.JobCancelled}, input)
	require.NotErrorIs(t, err, program.ErrUsage)
	require.ErrorContains(t, err, "cancelled")
}

// TestHowFarAJobIs: what is printed while somebody waits says how far the job is.
func TestHowFarAJobIs(t *testing.T) {
	t.Parallel()
	job := store.Job{ID: 3, Kind: store.JobImport, Done: 40, Counters: json.RawMessage(`{"read_bytes": 50, "total_bytes": 200, "archives": 2, "archive": 1}`)}
	require.Equal(t, "job 3: 40 · archive 1 of 2 · 25 %", aheadOf(job))

	job.Options = json.RawMessage(`{"unrecorded": true}`)
	var said strings.Builder
	require.NoError(t, writeJob(&said, shownJob{Job: job}))
	require.Contains(t, said.String(), "would be saved_New 0\n", "a dry run saves nothing")
	saved := store.ImportRecord{N: 1, Outcome: ingest.SavedNew}
	require.Contains(t, lineOf(saved, ingest.Counters{}, true), "new  would be saved_New")
}

// TestNamesOfHarvests: every command takes a harvest's id, its venue, the last part of
// either and any case, and an id means the papers of its years alone.
func TestNamesOfHarvests(t *testing.T) {
	t.Parallel()
	c := newConsole(t)
	ctx := t.Context()
	var papers []gleaner.Paper
	for key, year := range map[string]int{"conf/exa/Roe03": 2003, "conf/exa/Roe04": 2004} {
		papers = append(papers, gleaner.Paper{Key: key, Venue: "conf/exa", Year: year, Title: "Sorting Examples of " + key})
	}
	require.NoError(t, c.SavePapers(ctx, papers, nil))
	c.accepted("ada.example", "roe.pdf")
	for _, p := range papers {
		verdict := map[int]string{2003: "exact", 2004: "ambiguous"}[p.Year]
		c.exec(`INSERT INTO matches (paper_key, sha256, verdict, score) VALUES ($1, 'ada.exampleroe.pdf', $2, 1)`, p.Key, verdict)
	}
	for _, years := range []string{"2003", "2004", "2003-2004"} {
		in := devtest.Must(gleaner.ParseYears(years))(t)
		h := store.Harvest{ID: "conf/exa/" + years, Venue: "conf/exa", Years: in, Options: []byte("{}"), Stage: "papers"}
		require.NoError(t, c.SaveHarvest(ctx, h))
		require.NoError(t, c.SetHarvestPapers(ctx, h.ID, papers, nil))
	}

	for _, name := range []string{"conf/exa", "conf/exa/2003", "conf/exa/2003-2004", "conf/exa/2003–2004", "EXA", "exa/2003", "Conf/Exa/2003"} {
		require.Equal(t, 1, strings.Count(c.ok("export", name), "\n"), name)
	}
	out := filepath.Join(t.TempDir(), "none.bib")
	for _, args := range [][]string{{"conf/exa/2004"}, {"EXA/2004"}, {"conf/exa", "--years", "2004"}} {
		require.Contains(t, c.wrong(program.ExitUnknown, append([]string{"export", "--out", out}, args...)...), "2004")
		_, err := os.Stat(out)
		require.ErrorIs(t, err, os.ErrNotExist, "an export of nothing writes nothing")
	}

	listed := answer[[]store.Listed](c.read, "documents", "list", "--venue", "conf/exa/2003")
	require.Len(t, listed, 1)

	for _, name := range []string{"Exa/2003", "conf/exa/2003"} {
		var is struct{ Harvest store.Harvest }
		c.read(&is, "report", name)
		require.Equal(t, "conf/exa/2003", is.Harvest.ID)
	}
	report := c.ok("report", "conf/exa")
	for _, id := range []string{"conf/exa/2003", "conf/exa/2004", "conf/exa/2003-2004"} {
		require.Contains(t, report, id, "the report of a venue names its other harvests")
	}
	page := filepath.Join(t.TempDir(), "r.html")
	require.Contains(t, c.ok("report", "exa", "--html", page), page)
}

// explain names the entry that leaves a URL out, and whose it is; also of one that
// was never met.
func TestExplainNamesTheList(t *testing.T) {
	t.Parallel()
	c := newConsole(t)
	policy := c.file("policy.yaml", "links:\n  ignore: ['*/courses.html']\n  levels: 7\n")
	require.NoError(t, c.SaveHarvest(t.Context(), store.Harvest{ID: "conf/a/2001", Venue: "conf/a", Options: []byte(`{"links": {"ignore": ["ads.example"]}}`), Stage: "crawl"}))
	c.exec(`WITH s AS (INSERT INTO sites (host) VALUES ('x.ads.example') RETURNING id)
		INSERT INTO harvest_sites (harvest_id, site_id, origin) SELECT 'conf/a/2001', id, 'lead' FROM s`)
	require.Contains(t, c.wrong(program.ExitUnknown, "explain", "http://x.ads.example/a.pdf", "--policy", policy), "ignore-list ads.example (conf/a/2001)")
	require.Contains(t, c.wrong(program.ExitUnknown, "explain", "http://x.ads.example/1/2/3/4/5/6/7/8/a.pdf", "--policy", policy), "ignore-list")
	require.Contains(t, c.wrong(program.ExitUnknown, "explain", "http://a.example/courses.html", "--policy", policy), "ignore-list */courses.html (the policy)")
}

// What a harvest leaves out is read from a file, and flags are in the place of its lists.
func TestLinkLists(t *testing.T) {
	t.Parallel()
	c := newConsole(t)
	file := c.file("links.yaml", "ignore: [a.example]\nallow: [b.example]\nlevels: 7\n")
	f := linkFlags{file: file, ignore: []string{"*/courses.html"}}
	l := devtest.Must(f.lists())(t)
	require.Equal(t, &rules.Lists{Ignore: []string{"*/courses.html"}, Allow: []string{"b.example"}, Levels: 7}, l)
	none := devtest.Must((&linkFlags{}).lists())(t)
	require.Nil(t, none)
	for _, args := range [][]string{{"--links", c.file("bad.yaml", "ignroe: [a]\n")}, {"--links", "/nowhere"}, {"--ignore", "*"}, {"--allow", "http://a.example/"}} {
		c.wrong(program.ExitUsage, append([]string{"harvest", "conf/a", "--years", "2001"}, args...)...)
	}
}
