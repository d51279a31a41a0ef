package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/temporal"

	"gleaner/internal/gleaner"
	"gleaner/internal/gleaner/evidence"
	"gleaner/internal/harvest/report"
	"gleaner/internal/record/frontier"
	"gleaner/internal/record/store"
	"gleaner/internal/service/program"
	"gleaner/internal/web/page"
)

func TestConditions(t *testing.T) {
	t.Parallel()
	query := func(args ...string) (store.DocumentQuery, error) {
		q, cmd := &conditions{}, &cobra.Command{}
		q.register(cmd)
		require.NoError(t, cmd.ParseFlags(args))
		return q.query()
	}
	q, err := query("--years", "1998-2004", "--from", "2026-01-31", "--to", "2026-01-31", "--state", "new,failed", "--state", "accepted", "--primary", "--sample", "7")
	require.NoError(t, err)
	require.Equal(t, 1998, q.Years.From)
	require.Equal(t, 24.0, q.To.Sub(q.From).Hours(), "the last day counts whole")
	require.Equal(t, []string{"new", "failed", "accepted"}, q.States)
	require.True(t, q.Primary)
	require.Equal(t, 7, q.Sample)
	for _, bad := range []string{"--from=31.1.2026", "--years=last", "--state=lost", "--class=book", "--kind=doc,pdf", "--outcome=well", "--ingestion=some", "--sample=-1", "--limit=-1"} {
		_, err := query(bad)
		require.ErrorIs(t, err, program.ErrUsage, bad)
	}
}

func TestAskWord(t *testing.T) {
	t.Parallel()
	lines := bufio.NewScanner(strings.NewReader("perhaps\nY\nno\n\nq\n"))
	for _, want := range []string{"yes", "no", "skip"} {
		word, end := askWord(lines, io.Discard)
		require.False(t, end)
		require.Equal(t, want, word)
	}
	_, end := askWord(lines, io.Discard)
	require.True(t, end)
	_, end = askWord(lines, io.Discard)
	require.True(t, end, "the end of the input is one")
}

// tableJobs cleans: first it is told what would go, then that goes and no more. And it
// has workers list documents and generate the whitelist.
func (v *tour) tableJobs() {
	rejected := answer[[]store.Listed](v.read, "documents", "list", "--state", "rejected")
	sha := ""
	for _, d := range rejected {
		if d.Paper == "" && d.Removed == nil {
			sha = d.SHA256
		}
	}
	require.NotEmpty(v.t, sha)
	v.must("documents", "mark", "failed", sha)
	list := v.file("would-go.csv")
	var would, did endOfTable
	v.read(&would, "clean", "documents", "--only", "failed", "--csv", list)
	require.Equal(v.t, []any{int64(1), false, store.JobEnded}, []any{would.Looked, would.InPlace, would.State})
	csv, err := os.ReadFile(list)
	require.NoError(v.t, err)
	require.Contains(v.t, string(csv), "n,url,outcome,kind,detail")
	require.Contains(v.t, string(csv), sha)
	v.must("documents", "show", sha, "--out", v.file("still-there"))
	v.must("jobs", "show", fmt.Sprint(would.Job), "--csv", list)
	v.read(&did, "jobs", "run", fmt.Sprint(would.Job), "--confirm", "--wait")
	require.True(v.t, did.InPlace)
	would.InPlace, would.Seconds, did.Seconds = true, 0, 0
	require.Equal(v.t, would, did, "what went is what was told")
	if did.Documents > 0 {
		v.exits(program.ExitUnknown, "documents", "show", sha) // it is off the record
	}
	var parents, sample, lists endOfTable
	list = v.file("parenturl.revised.csv")
	v.read(&parents, "clean", "parents", "--revised", list)
	require.Positive(v.t, parents.Looked)
	csv, err = os.ReadFile(list)
	require.NoError(v.t, err)
	require.Contains(v.t, string(csv), "url,md5,first_crawl,last_crawl,documents")
	require.Equal(v.t, parents.Looked-parents.Parents, int64(strings.Count(string(csv), "\n")-1))
	require.Contains(v.t, v.must("clean", "parents"), "\na dry run: nothing was changed")
	v.read(&sample, "documents", "retrieve", "--job", "--kind", "pdf", "--sample", "3", "--out", v.file("copies"))
	require.Equal(v.t, int64(3), sample.Documents)
	v.must("jobs", "modify", fmt.Sprint(sample.Job), "--set", "sample=2")
	v.read(&sample, "jobs", "run", fmt.Sprint(sample.Job), "--wait")
	require.Equal(v.t, int64(2), sample.Documents)
	v.read(&lists, "whitelist", "generate", "--job")
	require.Positive(v.t, lists.Whitelist.URLs)
	require.Contains(v.t, v.must("jobs", "list"), "kind=pdf sample=2 seed=1")
	for args, code := range map[string]int{"cancel 99": program.ExitUnknown, fmt.Sprintf("cancel %d", sample.Job): program.ExitUnknown, "clean documents --only some": program.ExitUsage,
		fmt.Sprintf("jobs modify %d --set size=1", sample.Job): program.ExitUsage, fmt.Sprintf("jobs run %d --confirm", sample.Job): program.ExitUsage} {
		v.exits(code, strings.Fields(args)...)
	}
}

// TestHoldingsCanBeSeenAndTakenBack: the same papers from two kinds of list count
// once, and stay held until both lists are forgotten.
func TestHoldingsCanBeSeenAndTakenBack(t *testing.T) {
	t.Parallel()
	c := newConsole(t)
	csv := c.file("library.csv", "title,year,author,Signatur,shelf\n\"Crawling the Web, Politely\",2001,Jörg Müller,X 1,\nAnother Paper,2002,Jane Doe,X 2,\n")
	bib := c.file("library.bib", "@article{a, title={Crawling the {Web}, politely.}, year=2001, author={M{\\\"u}ller, J{\\\"o}rg}, doi={10.1/x}}\n@article{b, title={A Third Paper}, year=2003, author={Roe, R.}}\n")
	done := answer[store.Imported](c.read, "holdings", "import", csv, "--dry-run")
	require.Equal(t, store.Imported{Papers: 2, New: 2}, done)
	require.Contains(t, c.ok("holdings", "list"), "nothing was imported")
	require.Contains(t, c.ok("holdings", "import", csv), "2 papers of "+csv+" held: 2 new, 0 known")
	out, errs, result := c.background(t.Context(), "holdings", "import", csv)
	require.Equal(t, program.ExitOK, result())
	require.Contains(t, out.String(), "held: 0 new, 2 known")
	require.Contains(t, errs.String(), "columns of "+csv+" that are not read: Signatur, shelf\n")
	require.Contains(t, c.ok("holdings", "import", bib), "2 papers of "+bib+" held: 1 new, 1 known")

	lists := answer[[]store.HeldSource](c.read, "holdings", "list")
	require.Len(t, lists, 2)
	require.Equal(t, bib, lists[0].Source)
	require.Equal(t, 2, lists[0].Papers)
	require.Equal(t, 1, lists[0].Alone)
	held, err := c.Holdings(t.Context())
	require.NoError(t, err)
	require.Len(t, held, 3)

	require.Contains(t, c.ok("holdings", "forget", csv, "--dry-run"), "1 paper would no longer")
	require.Contains(t, c.ok("holdings", "forget", csv), "1 paper no longer held")
	held, err = c.Holdings(t.Context())
	require.NoError(t, err)
	require.Len(t, held, 2)
	require.Contains(t, c.wrong(program.ExitUnknown, "holdings", "forget", csv), "starter holdings list")
	require.NoError(t, os.WriteFile(bib, []byte("@article{b, title={A Third Paper}, year=2003, author={Roe, R.}}\n"), 0o600))
	done = store.Imported{}
	c.read(&done, "holdings", "import", bib, "--dry-run")
	require.Equal(t, store.Imported{Papers: 1, Known: 1, Gone: 1}, done)
	require.Contains(t, c.ok("holdings", "import", bib), "0 new, 1 known; 1 of before not any more")
	require.Contains(t, c.ok("holdings", "forget", bib), "1 paper")
}

// TestReportSaysWhereAHomepageLed: nowhere, while all that stands on its host is
// another's; and to papers once one is linked from it, wherever that lies.
func TestReportSaysWhereAHomepageLed(t *testing.T) {
	t.Parallel()
	c := newConsole(t)
	ctx := t.Context()
	const id, homepage = "conf/x/2001", "http://www.u.example/~ada/"
	ada := gleaner.Author{PID: "1/1", Name: "Ada Lovelace"}
	paper := gleaner.Paper{Key: "conf/x/L01", Venue: "conf/x", Year: 2001, Title: "Analytical Engines for Everyone", Authors: []gleaner.Author{ada}}
	require.NoError(t, c.SavePapers(ctx, []gleaner.Paper{paper}, nil))
	require.NoError(t, c.SaveHarvest(ctx, store.Harvest{ID: id, Venue: "conf/x", Years: gleaner.Years{From: 2001, To: 2001}, Options: []byte("{}"), Stage: "complete"}))
	require.NoError(t, c.SetHarvestPapers(ctx, id, []gleaner.Paper{paper}, nil))
	require.NoError(t, c.SaveDecision(ctx, evidence.Decision{Author: ada}, []store.Homepage{{AuthorID: ada.ID(), URL: homepage, Host: "www.u.example"}}))
	c.visited("www.u.example", "/~ada/", "", frontier.Page, gleaner.OK)
	c.accepted("www.u.example", "bob.pdf") // whose page is the host's root
	c.exec(`INSERT INTO harvest_sites (harvest_id, site_id, origin) SELECT $1, id, 'homepage' FROM sites`, id)

	missing := func() report.MissingPaper {
		r := answer[report.Report](c.read, "report", "conf/x")
		require.Len(t, r.Missing, 1)
		require.Equal(t, map[report.Reason]int{r.Missing[0].Reason: 1}, r.Reasons)
		return r.Missing[0]
	}
	m := missing()
	require.Equal(t, report.LedNowhere, m.Reason)
	require.Equal(t, []string{"Ada Lovelace (http://www.u.example/~ada/): done, 2 pages of its host fetched, and no document on it or linked from it"}, m.Evidence)
	require.Contains(t, c.ok("report", "conf/x"), "missing: homepage led nowhere (1 paper)")

	c.exec(`UPDATE locations SET parent=$1, url='http://lab.example/engines.pdf'`, homepage+"papers.html")
	require.Equal(t, report.NotLinked, missing().Reason)
	c.exec(`UPDATE documents SET state='rejected'`)
	m = missing()
	require.Equal(t, report.LedNowhere, m.Reason)
	require.Contains(t, m.Evidence[0], "none of 1 document on it or linked from it is academic")
}

// TestParents: the pages that lead to documents are listed by host, a part at a time, with
// the days of their crawls, and one with all documents that it leads to.
func TestParents(t *testing.T) {
	t.Parallel()
	c := newConsole(t)
	c.accepted("ada.example", "paper.pdf")
	c.accepted("ada.example", "other.pdf")
	c.accepted("bob.example", "paper.pdf")
	c.exec(`UPDATE parents SET first_crawl='2005-06-30', last_crawl='2026-01-02' WHERE host='ada.example'`)
	c.exec(`UPDATE locations SET found_at='2020-02-03T12:00Z', seen_at='2021-02-03T12:00Z'`)
	out := c.ok("parents")
	require.Regexp(t, `2005-06-30 +2026-01-02 +2 +http://ada\.example/`, out)
	require.Regexp(t, `\(2020-02-03\) +\(2021-02-03\) +1 +http://bob\.example/`, out)
	part := answer[listedParents](c.read, "parents", "--limit", "1")
	require.Len(t, part.Parents, 1)
	require.Equal(t, "ada.example", part.Parents[0].Host)
	require.Contains(t, c.ok("parents", "--limit", "1"), "more:  --after '"+part.Next+"'\n")
	var rest, bobs listedParents
	c.read(&rest, "parents", "--after", part.Next)
	c.read(&bobs, "parents", "--host", "bob.example")
	require.Equal(t, rest, bobs)
	require.Len(t, rest.Parents, 1)
	require.Empty(t, rest.Next)

	one := answer[shownParent](c.read, "parents", part.Parents[0].URL)
	require.Len(t, one.LeadsTo, 2)
	require.Equal(t, 2, one.Documents)
	require.Equal(t, "accepted", one.LeadsTo[0].State)
	require.Contains(t, c.ok("parents", part.Parents[0].URL), one.LeadsTo[1].SHA256)
	c.wrong(program.ExitUnknown, "parents", "http://nobody.example/")
	c.wrong(program.ExitUsage, "parents", "mailto:ada")
	c.wrong(program.ExitUsage, "parents", "--after", "somewhere")
	c.wrong(program.ExitUsage, "parents", "--limit", "0")
}

// Of a document is told how many pages refer to it, of its URL which do.
func TestBackLinks(t *testing.T) {
	t.Parallel()
	c := newConsole(t)
	c.accepted("ada.example", "paper.pdf")
	var url string
	var site int
	require.NoError(t, c.Pool.QueryRow(t.Context(), `SELECT url, site_id FROM locations`).Scan(&url, &site))
	entries := []frontier.Entry{{Candidate: page.Candidate{Link: page.Link{URL: url}}}}
	var read []frontier.Reading
	for _, from := range []string{"http://ada.example/project.html", "http://ada.example/cv.html"} {
		entries = append(entries, frontier.Entry{Candidate: page.Candidate{Link: page.Link{URL: from}}})
		read = append(read, frontier.Reading{Page: frontier.HashOf(from), Files: []frontier.Hash{frontier.HashOf(url)}})
	}
	_, err := frontier.Add(t.Context(), c.Pool, site, entries)
	require.NoError(t, err)
	require.NoError(t, frontier.Link(t.Context(), c.Pool, site, read))
	require.Contains(t, c.ok("documents", "show", "ada.example"), "pages that refer to it: 3\n", "with the one by which it was found")
	c.exec(`UPDATE documents SET state='new', class='', reader='', outcome=''`)
	told := c.ok("explain", url)
	require.Regexp(t, `(?m)^ +decided +nothing, it is not read yet$`, told)
	for _, from := range []string{"http://ada.example/project.html", "http://ada.example/cv.html"} {
		require.Regexp(t, `also from +`+from+` \(20`, told)
	}
}

// TestHasEnded: a harvest that ends while a retry is on its way to it is one that does not
// run, so that the retry begins it again.
func TestHasEnded(t *testing.T) {
	t.Parallel()
	for err, want := range map[error]bool{
		serviceerror.NewNotFound("workflow execution already completed"):                                                                                                true,
		fmt.Errorf("retry: %w", temporal.NewNonRetryableApplicationError("the Workflow completed before the Update completed", "AcceptedUpdateCompletedWorkflow", nil)): true,
		temporal.NewApplicationError("no such reason", "usage"):                                                                                                         false,
		errors.New("out"): false,
	} {
		assert.Equal(t, want, hasEnded(err), err)
	}
	assert.False(t, hasEnded(nil))
}

// TestATerminatedHarvestSaysWhatToDo, and a migration what was done.
func TestATerminatedHarvestSaysWhatToDo(t *testing.T) {
	t.Parallel()
	c := newConsole(t)
	c.crawlsSites("a.example")
	assert.ErrorContains(t, endedBadly(t.Context(), c.DB, "conf/x/2001", &temporal.TerminatedError{}), "`starter harvest conf/x --years 2001` goes on")
	assert.Regexp(t, `the database is at \d+, and was at \d+`, c.ok("migrate"))
}
