package main

import (
	"archive/zip"
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"

	"gleaner/activities"
	"gleaner/internal/document"
	"gleaner/internal/fetch"
	"gleaner/internal/gleaner"
	"gleaner/internal/gleaner/evidence"
	"gleaner/internal/library/repository"
	"gleaner/internal/record/frontier"
	"gleaner/internal/record/store"
	"gleaner/internal/service/app"
	"gleaner/internal/service/program"
	"gleaner/internal/text"
	"gleaner/workflows"
)

// TestSites: hosts are listed part by part, and one is shown with its state, who asks it,
// when it may be asked next, what was found and what failed there.
func TestSites(t *testing.T) {
	t.Parallel()
	c := newConsole(t)
	c.crawlsSites("a.example", "b.example", "c.example")
	c.exec(`UPDATE sites SET state='refused', reason='robots.txt cannot be read (503)' WHERE host='b.example'`)
	c.exec(`UPDATE sites SET holder='worker-7', expires_at=now() + interval '1 minute', asked_until=now() + interval '1 day' WHERE host='a.example'`)
	c.visited("a.example", "/broken", "http://a.example/", 3, "server-error")
	c.exec(`UPDATE sites SET state='crawling' WHERE host='a.example'`)
	c.accepted("a.example", "paper.pdf")
	c.exec(`UPDATE sites SET state='crawling' WHERE host='a.example'`)
	c.exec(`INSERT INTO papers (key, venue, year, title) VALUES ('conf/x/p', 'conf/x', 2001, 'A Paper')`)
	c.exec(`INSERT INTO matches (paper_key, sha256, verdict, score) VALUES ('conf/x/p', 'a.examplepaper.pdf', 'exact', 1)`)

	// It lies there twice, and a list names it, too.
	c.exec(`INSERT INTO locations (hash, asked, sha256, site_id, url) SELECT '\x77', '\x77', sha256, site_id, 'http://a.example/again.pdf' FROM locations`)
	c.exec(`INSERT INTO papers (key, venue, year, title) VALUES ('papers:mine/p', 'papers:mine', 2001, 'A paper.')`)
	c.exec(`INSERT INTO matches (paper_key, sha256, verdict, score) VALUES ('papers:mine/p', 'a.examplepaper.pdf', 'exact', 1)`)

	c.exec(`INSERT INTO sites (host) VALUES ('a.catalogue.example')`) // of which nothing is known but its pace
	part := answer[listedSites](c.read, "sites", "list", "--limit", "2")
	require.Len(t, part.Sites, 2)
	require.Equal(t, "a.example", part.Sites[0].Host)
	require.Equal(t, 1, part.Sites[0].Papers)
	require.Equal(t, 1, part.Sites[0].Documents)
	measured := answer[[]rated[store.SiteRates]](c.read, "stats", "sites")
	require.Equal(t, 1, measured[0].Row.Documents)
	require.Zero(t, part.Sites[1].Papers)
	require.NotNil(t, part.Sites[0].Next, "it asked to be left alone")
	require.Equal(t, "b.example", part.Next)
	require.Contains(t, c.ok("sites", "list", "--limit", "2"), "more:  --after b.example")
	rest := answer[listedSites](c.read, "sites", "list", "conf/x", "--after", part.Next)
	require.Len(t, rest.Sites, 1)
	require.Empty(t, rest.Next)
	c.read(&rest, "sites", "list", "--state", "refused")
	require.Equal(t, gleaner.SiteRefused, rest.Sites[0].State)

	s := answer[app.SiteView](c.read, "sites", "show", "A.example")
	require.Equal(t, "worker-7", s.Holder)
	require.Equal(t, []string{"conf/x/2001"}, s.Harvests)
	require.Len(t, s.Failures, 1)
	out := c.ok("sites", "show", "a.example")
	for _, say := range []string{"worker-7, until ", "1 paper found", "failed as", "server-error: 1 URL,", "next request", "Retry-After"} {
		require.Contains(t, out, say)
	}
	require.Equal(t, "when its crawl goes on", store.SiteRow{State: gleaner.SiteNew}.NextWords(time.DateTime))
	c.exec(`UPDATE sites SET paused='x', paused_at=now() WHERE host='a.example'`)
	require.NotContains(t, c.ok("status", "conf/x/2001"), "being crawled: a.example")
	require.Contains(t, c.ok("sites", "show", "a.example"), "server-error: 1 URL, next try none while it is paused")
	c.exec(`UPDATE sites SET paused='', paused_at=NULL WHERE host='a.example'`)
	require.Contains(t, c.ok("sites", "show", "b.example"), "refused: robots.txt cannot be read (503)")
	require.Regexp(t, `(?m)^b\.example +refused .* never by itself +robots.txt`, c.ok("sites", "list"))
	require.Contains(t, c.ok("explain", "http://b.example/1"), "robots.txt cannot be read (503); next request never by itself\n")
	c.exec(`UPDATE sites SET state='done', due_at=NULL WHERE host='c.example'`)
	c.exec(`UPDATE urls SET state=2 WHERE url LIKE '%c.example%'`)
	require.Regexp(t, `(?m)^c\.example +done .* nothing waits`, c.ok("sites", "list"))
	require.NotContains(t, c.ok("blacklist", "add", "c.example", "--reason", "asked us to", "--json"), "0001-01-01")
	require.Regexp(t, `(?m)^c\.example +done .* never while it is on the blacklist`, c.ok("sites", "list"))
	for _, again := range []string{"retry", "recrawl"} {
		require.Contains(t, c.wrong(program.ExitUsage, again, "c.example"), "the host is on the blacklist: asked us to")
	}
	c.exec(`UPDATE sites SET due_at='2126-05-04 12:00' WHERE host='b.example'`)
	require.Contains(t, c.ok("sites", "show", "b.example"), "by a recrawl, from 2126-05-04")
	c.visited("dead.example", "/", "", 4, "no-such-host")
	require.Regexp(t, `(?m)^dead.example +done .*no page: no-such-host$`, c.ok("sites", "list"))
	dead := store.Harvest{ID: "site:http://dead.example/", Venue: "site:http://dead.example/", Options: []byte("{}"), Stage: "complete"}
	require.NoError(t, c.SaveHarvest(t.Context(), dead))
	var said strings.Builder
	require.ErrorContains(t, sayAcademic(t.Context(), &said, c.DB, dead.ID), dead.ID+" gave nothing: its address answered no page: no-such-host")
	shut := store.Harvest{ID: "site:http://b.example/", Venue: "site:http://b.example/", Options: []byte("{}"), Stage: "complete"}
	require.NoError(t, c.SaveHarvest(t.Context(), shut))
	err := sayAcademic(t.Context(), &said, c.DB, shut.ID)
	require.ErrorContains(t, err, shut.ID+" gave nothing: robots.txt cannot be read (503)")
	require.Empty(t, said.String(), "nothing is complete")
	require.Contains(t, c.wrong(program.ExitUsage, "harvest", "--site", "notaurl"), "no address of a site")
	c.ok("blacklist", "add", "b.example", "--reason", "asked by mail")
	out = c.ok("sites", "show", "b.example")
	require.Contains(t, out, "asked by mail")
	require.NotContains(t, out, "next request")

	require.Contains(t, c.wrong(program.ExitUnknown, "sites", "show", "nope.example"), "no site nope.example; `starter sites list`")
	require.Contains(t, c.wrong(program.ExitUsage, "sites", "list", "--state", "odd"), "want one of new, crawling")
	require.Contains(t, c.wrong(program.ExitUsage, "sites", "list", "--limit", "0"), "--limit")
	require.Contains(t, c.wrong(program.ExitUnknown, "sites", "list", "conf/nope"), "no such harvest")
	c.exec(`INSERT INTO sites (host) VALUES ('lone.example')`)
	require.Contains(t, c.wrong(program.ExitUnknown, "retry", "lone.example"), "no harvest wants lone.example; `starter recrawl lone.example`")

	require.Contains(t, c.ok("sites", "slow", "a.example", "30 s"), "a.example is asked at most every 30s")
	for _, args := range [][]string{{"sites", "show", "a.example"}, {"explain", "http://a.example/broken"}} {
		require.Contains(t, c.ok(args...), "every 30s (set by hand)")
	}
	require.Contains(t, c.ok("sites", "slow", "a.example", "0s"), "has no delay set by hand")
	require.NotContains(t, c.ok("sites", "show", "a.example"), "set by hand")
	for _, delay := range []string{"soon", "5m"} {
		require.Contains(t, c.wrong(program.ExitUsage, "sites", "slow", "a.example", delay), "`starter pause`")
	}
	require.Contains(t, c.ok("status", "conf/x/2001"), "being crawled: a.example")
	c.exec(`UPDATE harvests SET stage='cancelled'`)
	require.NotContains(t, c.ok("status", "conf/x/2001"), "being crawled")
	c.onTemporal()
	c.exec(`UPDATE harvests SET completed_at=now(), stage='complete'`)
	require.Contains(t, c.ok("pause", "a.example", "--reason", "asked by mail"), "a.example paused: nobody asks it")
	for _, line := range strings.Split(c.ok("sites", "show", "a.example")+c.ok("sites", "list", "conf/x"), "\n") {
		if strings.Contains(line, "a.example ") || strings.HasPrefix(line, "state") {
			require.Contains(t, line, "paused by a person: asked by mail")
		}
	}
	require.Contains(t, c.ok("recrawl", "a.example"), "started, but a.example is paused by a person: asked by mail")
	require.Contains(t, c.ok("sites", "show", "a.example"), "never while it is paused")
	for _, args := range [][]string{{"explain", "http://a.example/broken"}, {"stats", "failures"}, {"stats", "failures", "conf/x", "--site", "a.example"}} {
		require.Regexp(t, "a.example is paused by a person: asked by mail, since .* and until `starter resume a.example`\n", c.ok(args...))
	}
	require.Contains(t, c.ok("report", "conf/x"), "paused by a person: asked by mail")
	require.Contains(t, c.ok("report", "conf/x"), "done: the host is on the blacklist: asked us to")
	require.Contains(t, c.ok("resume", "a.example"), "resumed: no harvest that runs wants it")
	c.exec(`UPDATE sites SET state='new' WHERE host='a.example'`)
	require.Regexp(t, `(?m)^a\.example +new .* no harvest asks it`, c.ok("sites", "list"))
	require.NotContains(t, c.ok("sites", "show", "a.example"), "paused")
	require.Contains(t, c.wrong(program.ExitUnknown, "resume", "a.example"), "a.example is not paused")
	c.ok("pause", "c.example")
	require.Contains(t, c.wrong(program.ExitUsage, "resume", "c.example"),
		"the host is on the blacklist: asked us to; `starter blacklist remove c.example`")
	require.Contains(t, c.ok("sites", "show", "c.example"), "paused since")
	require.Contains(t, c.wrong(program.ExitUsage, "cancel", "a.example"), "starter blacklist add")
	require.Contains(t, c.ok("retry", "a.example"), "a.example: asked again for 1 URL that failed and 0 documents that stalled, for conf/x/2001; next request 2")
}

// TestUnknownNamesAreRefused: a venue or a host that the record does not know ends a command
// with 3, and is no empty result.
func TestUnknownNamesAreRefused(t *testing.T) {
	t.Parallel()
	c := newConsole(t)
	c.accepted("ada.example", "paper.pdf")
	for _, line := range []string{
		"documents list --venue conf/nosuch", "documents retrieve --out x --venue conf/nosuch", "documents rejudge --host nosuch.example",
		"holdings explain conf/nosuch", "review conf/nosuch --list", "stats directories nosuch.example",
		"stats failures --site nosuch.example", "parents --host nosuch.example",
	} {
		require.Contains(t, c.wrong(program.ExitUnknown, strings.Fields(line)...), "nosuch", line)
	}
	require.Equal(t, "wrong usage: malformed address: nosuch", c.wrong(program.ExitUsage, "explain", "nosuch"))
	require.Contains(t, c.ok("stats", "sites", "--verdict", "trap"), "no site is a trap or barren")
	require.NotContains(t, c.wrong(program.ExitUsage, "stats", "sites", "--verdict", "odd"), "one of , ")
	require.Contains(t, c.wrong(program.ExitUsage, "whitelist", "import", c.file("empty.txt", "# nothing\n")), "no address")
	c.ok("blacklist", "add", "bad.example", "--reason", "asked by mail")
	c.ok("blacklist", "add", "bad.example")
	require.Equal(t, "bad.example asked by mail\n", c.ok("blacklist", "list", "--plain"))
	c.exec(`UPDATE locations SET anchor='', parent='http://ada.example/'`)
	require.NotContains(t, c.ok("documents", "show", "ada.example"), `as ""`)
	c.exec(`INSERT INTO papers (key, venue, year, title) VALUES ('conf/x/p', 'conf/x', 2001, 'A Paper')`)
	c.exec(`INSERT INTO matches (paper_key, sha256, verdict, score, settled) VALUES ('conf/x/p', 'ada.examplepaper.pdf', 'exact', 1, 'no')`)
	require.Regexp(t, `is no paper +conf/x/p: a person said so`, c.ok("explain", "http://ada.example/paper.pdf"))
	require.Contains(t, c.ok("documents", "mark", "ingested", "ada.example"), "1 document is ingested")
}

// TestCancelOfARecrawlThatEnded: it says that none runs.
func TestCancelOfARecrawlThatEnded(t *testing.T) {
	t.Parallel()
	c := newConsole(t)
	server := c.onTemporal()
	c.exec(`INSERT INTO sites (host) VALUES ('ada.example')`)
	id := recrawlID(store.Selection{Venue: "conf/x"})
	c.wrong(program.ExitUnknown, "cancel", id)
	_, err := server.ExecuteWorkflow(t.Context(), startOptions(id, workflows.Description{}), "RecrawlDue")
	require.NoError(t, err)
	require.Equal(t, id+" is being cancelled\n", c.ok("cancel", id))
	require.NoError(t, server.TerminateWorkflow(t.Context(), id, "", "ended"))
	require.Contains(t, c.wrong(program.ExitUnknown, "cancel", id), id+" does not run")
}

// TestAPrunedFileIsPassedOver where documents are copied, by its name, and is said to be where
// it or its text is asked for.
func TestAPrunedFileIsPassedOver(t *testing.T) {
	t.Parallel()
	c := newConsole(t)
	blobs := "file://" + t.TempDir()
	c.args = append(c.args, "--repository-url", blobs)
	repo, err := repository.Open(t.Context(), blobs)
	require.NoError(t, err)
	t.Cleanup(func() { _ = repo.Close() })
	there, err := repo.Put(t.Context(), []byte("%PDF-1.4 there"))
	require.NoError(t, err)
	gone := strings.Repeat("0", 64)
	c.acceptedAs("ada.example", "gone.pdf", gone)
	c.acceptedAs("ada.example", "there.pdf", there.SHA256)
	c.exec(`UPDATE documents SET blob_removed_at=now() WHERE sha256=$1`, gone)
	out := t.TempDir()
	said := c.wrong(program.ExitFailed, "documents", "retrieve", "--out", out)
	require.Contains(t, said, "1 of 2 documents")
	require.Contains(t, said, gone+": its file was pruned")
	require.FileExists(t, filepath.Join(out, there.SHA256+".pdf"))
	for key, sha := range map[string]string{"conf/x/A01": gone, "conf/x/B01": there.SHA256} {
		require.NoError(t, c.SavePapers(t.Context(), []gleaner.Paper{{Key: key, Venue: "conf/x", Year: 2001, Title: key}}, nil))
		c.exec(`INSERT INTO matches (paper_key, sha256, verdict, score) VALUES ($1, $2, 'exact', 1)`, key, sha)
	}
	said = c.wrong(program.ExitFailed, "export", "conf/x", "--format", "bibtex", "--files", "--out", out)
	require.Contains(t, said, "1 of 2 documents were passed over:\n"+gone+": its file was pruned")
	list, err := os.ReadFile(filepath.Join(out, "papers.bib"))
	require.NoError(t, err)
	require.Equal(t, 1, strings.Count(string(list), ":PDF}"), string(list))
	require.NoError(t, c.SaveHarvest(t.Context(), store.Harvest{ID: "conf/x", Venue: "conf/x", Options: []byte("{}"), Stage: gleaner.StageComplete}))
	zipped, err := (&desk{db: c.DB, app: &app.App{DB: c.DB, Repo: repo}}).Export(t.Context(), "conf/x", "bibtex", gleaner.Years{}, true)
	require.NoError(t, err)
	var packed bytes.Buffer
	require.NoError(t, zipped.Write(&packed))
	z, err := zip.NewReader(bytes.NewReader(packed.Bytes()), int64(packed.Len()))
	require.NoError(t, err)
	for name, says := range map[string]string{"papers.bib": ":PDF}", "passed-over.txt": "1 of 2 documents were passed over:\n" + gone} {
		file, err := fs.ReadFile(z, name)
		require.NoError(t, err)
		require.Contains(t, string(file), says)
	}
	require.Contains(t, c.wrong(program.ExitUnknown, "documents", "show", gone, "--out", "-"), "its file was pruned")
	require.Contains(t, c.wrong(program.ExitUnknown, "documents", "show", there.SHA256, "--as-text"), "no text was read from it")
}

// leavesOpen lets something of every sort fail for a harvest: a URL, a document
// over which a reader stalled, two authors, a listing and a search for copies.
func (c *testConsole) leavesOpen(h activities.Harvest) {
	c.t.Helper()
	ctx := c.t.Context()
	ada, bob := gleaner.Author{PID: "1/1", Name: "Ada Lovelace"}, gleaner.Author{PID: "1/2", Name: "Bob Bell"}
	paper := gleaner.Paper{Key: "conf/x/LovelaceB01", Venue: h.Venue, Year: 2001, Title: "Analytical Engines for Everyone", Authors: []gleaner.Author{ada, bob}}
	require.NoError(c.t, c.SavePapers(ctx, []gleaner.Paper{paper}, nil))
	require.NoError(c.t, c.SetHarvestPapers(ctx, h.ID, []gleaner.Paper{paper}, nil))
	open := map[gleaner.Author]evidence.Unanswered{
		ada: {What: "http://www.ada.example/", Kind: evidence.KindPage, Reason: "timeout"},
		bob: {What: `"Bob Bell"`, Kind: evidence.KindSearch, Reason: "search by searxng (status 503)"},
	}
	for a, u := range open {
		d := evidence.Decision{Author: a, NotFound: "did not answer", Unanswered: []evidence.Unanswered{u}, NextTry: time.Now().Add(time.Hour)}
		require.NoError(c.t, c.SaveDecision(ctx, d, nil))
	}
	require.NoError(c.t, c.SetUnanswered(ctx, h.ID, store.UnansweredPapers, "crossref", nil, []store.Unanswered{{Subject: "2001", Reason: "status 503"}}))
	require.NoError(c.t, c.SetUnanswered(ctx, h.ID, store.UnansweredCopies, "unpaywall", nil, []store.Unanswered{{Subject: paper.Key, Reason: "status 503"}}))
	c.visited("cyd.example", "/slow.html", "", frontier.Failed, fetch.Timeout)
	c.accepted("cyd.example", "big.pdf")
	c.exec(`UPDATE documents SET state='failed', outcome='stalled', tries=5`)
	c.exec(`INSERT INTO harvest_sites (harvest_id, site_id, origin) SELECT $1, id, 'homepage' FROM sites WHERE host='cyd.example'`, h.ID)
}

var retried = activities.Harvest{ID: "conf/x/2001", Venue: "conf/x", Years: gleaner.Years{From: 2001, To: 2001}}

// TestRetrySaysWhatItTakesUp of a harvest that is complete and goes on, by all that
// failed, by a site, and by a reason.
func TestRetrySaysWhatItTakesUp(t *testing.T) {
	t.Parallel()
	for args, n := range map[string][4]float64{"--failed": {1, 1, 2, 2}, "--site cyd.example": {1, 1, 0, 0},
		"--reason unanswered-copies": {0, 0, 0, 1}, "--reason stalled": {0, 1, 0, 0}} {
		t.Run(args, func(t *testing.T) {
			t.Parallel()
			c := newConsole(t)
			server := c.onTemporal()
			require.NoError(t, c.SaveHarvest(t.Context(), store.Harvest{ID: retried.ID, Venue: retried.Venue, Years: retried.Years, Options: []byte(`{"again": "all"}`), Stage: "papers"}))
			ended, from, again := gleaner.StageComplete, gleaner.StageCrawl, activities.AgainNone
			if args == "--failed" { // its authors were not looked for
				ended, from, again = gleaner.StageCancelled, gleaner.StagePapers, activities.AgainDue
			}
			require.NoError(t, c.SetStage(t.Context(), retried.ID, ended, ""))
			c.leavesOpen(retried)
			command := append([]string{"retry", retried.ID}, strings.Fields(args)...)
			if args == "--reason stalled" {
				var did map[string]any
				c.read(&did, command...)
				delete(did, "waiting")
				require.Equal(t, map[string]any{"harvest": retried.ID, "urls": n[0], "documents": n[1], "authors": n[2], "sources": n[3], "sites": 0., "held": 0.}, did)
			} else {
				require.Equal(t, fmt.Sprintf("conf/x/2001 goes on: %s that failed, %s that stalled, 0 sites that refused or stopped, %s and %s to catalogues without an answer\n",
					text.Count(int(n[0]), "URL"), text.Count(int(n[1]), "document"), text.Count(int(n[2]), "author"), text.Count(int(n[3]), "question")), c.ok(command...))
			}
			require.Contains(t, c.wrong(program.ExitFailed, command...), "no worker has begun it", "a second retry would be lost")
			var p workflows.HarvestParams
			_, err := startedWith(t.Context(), server, workflows.HarvestID(retried.ID), &p)
			require.NoError(t, err)
			require.Equal(t, again, p.Harvest.Options.Again)
			require.Equal(t, from, p.Stage)
		})
	}
}

// TestRetryOfAHarvestThatRunsSaysWhatItTookUp: its workflow does it at once.
func TestRetryOfAHarvestThatRunsSaysWhatItTookUp(t *testing.T) {
	t.Parallel()
	c := newConsole(t)
	server := c.onTemporal()
	c.work([]string{activities.QueueHarvest}, io.Discard) // nobody lists papers: the harvest waits
	_, err := server.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{ID: workflows.HarvestID(retried.ID), TaskQueue: activities.QueueHarvest},
		workflows.HarvestVenue, workflows.HarvestParams{Harvest: retried})
	require.NoError(t, err)
	require.Eventually(t, func() bool {
		h, err := c.FindHarvest(t.Context(), retried.ID)
		return err == nil && h.Stage == gleaner.StagePapers
	}, time.Minute, 20*time.Millisecond)
	c.leavesOpen(retried)
	failures := answer[[]store.Failure](c.read, "stats", "failures", retried.ID)
	require.Len(t, failures, 5, "%+v", failures)
	cyd := gleaner.Author{PID: "1/3", Name: "Cyd Cole"} // of whom nobody wants a paper
	require.NoError(t, c.SavePapers(t.Context(), []gleaner.Paper{
		{Key: "conf/x/Cole01", Venue: "conf/x", Year: 2001, Title: "Tides", Authors: []gleaner.Author{cyd}}}, nil))
	require.NoError(t, c.SaveDecision(t.Context(), evidence.Decision{
		Author:     cyd,
		NotFound:   "did not answer",
		NextTry:    time.Now().Add(time.Hour),
		Unanswered: []evidence.Unanswered{{What: "http://cyd.example/", Kind: evidence.KindPage, Reason: "timeout"}},
	}, nil))
	for of, says := range map[string]string{
		"stats failures":        "2 authors in all",
		"stats failures conf/x": "2 authors in all",
		"report conf/x":         "2 to be looked for again",
	} {
		require.Contains(t, c.ok(strings.Fields(of)...), says, of)
	}
	require.Equal(t, "conf/x/2001 asks again for 1 URL that failed, 1 document that stalled, 0 sites that refused or stopped, 2 authors and 2 questions to catalogues without an answer\n",
		c.ok("retry", retried.ID, "--failed"))
	var due, waiting int
	require.NoError(t, c.Pool.QueryRow(t.Context(), `SELECT (SELECT count(*) FROM homepage_decisions WHERE next_try <= now()) + (SELECT count(*) FROM unanswered WHERE next_try <= now()),
		(SELECT count(*) FROM urls WHERE state=0) + (SELECT count(*) FROM documents WHERE state='new' AND tries=0)`).Scan(&due, &waiting))
	require.Equal(t, []int{4, 2}, []int{due, waiting})
	require.Contains(t, c.ok("retry", retried.ID, "--failed"), "0 URLs that failed, 1 document that stalled", "the document still waits for a worker that reads")
	c.ok("holdings", "import", c.file("held.csv", "title,year,authors\nAnalytical Engines for Everyone,2001,Ada Lovelace; Bob Bell\n"))
	c.ok("retry", retried.ID, "--failed")
	counts, err := c.HarvestCounts(t.Context(), retried.ID)
	require.NoError(t, err)
	require.Equal(t, []int{1, 0}, []int{counts.Held, counts.Wanted}, "what the library holds by now is wanted no more")
	require.Contains(t, c.wrong(program.ExitUnknown, "resume", retried.ID), "conf/x/2001 is not paused")
	c.ok("pause", "cyd.example")
	const later = " at the latest when the harvest crawls (stage papers now)\n"
	require.Contains(t, c.ok("resume", "cyd.example"), "it is asked for conf/x/2001,"+later)
	require.Contains(t, c.ok("retry", "cyd.example"), "; nothing is requested\n")
	c.exec(`UPDATE urls SET state=3`)
	require.Contains(t, c.ok("retry", "cyd.example"), "3 URLs that failed and 1 document that stalled, for conf/x/2001; next request"+later)
}

// TestARetryOfNothingNamesReasons: what failed for good is tried again only where its reason
// is named, or where its site may be asked again.
func TestARetryOfNothingNamesReasons(t *testing.T) {
	t.Parallel()
	c := newConsole(t)
	h := store.Harvest{ID: retried.ID, Venue: retried.Venue, Years: retried.Years, Options: []byte("{}"), Stage: "crawl"}
	require.NoError(t, c.SaveHarvest(t.Context(), h))
	c.visited("cyd.example", "/gone.html", "", frontier.Failed, "not-found")
	c.exec(`INSERT INTO harvest_sites (harvest_id, site_id, origin) SELECT $1, id, 'homepage' FROM sites`, h.ID)
	c.exec(`UPDATE sites SET state='done'`)
	try := func(reason string) error {
		_, err := checkRetryLeft(t.Context(), c.DB, h, activities.Retry{Reason: reason})
		return err
	}
	require.NoError(t, try(""), "what waits of one that was cancelled")
	h.Stage = gleaner.StageComplete
	require.ErrorContains(t, try(""),
		"nothing would be tried again, as this is only where it is named as the reason: not-found (1 URL)")
	require.NoError(t, try("not-found"))
	c.exec(`UPDATE sites SET state='refused'`)
	would, err := checkRetryLeft(t.Context(), c.DB, h, activities.Retry{})
	require.NoError(t, err)
	require.Contains(t, retryWords(would, false), "goes on: 0 URLs that failed, 0 documents that stalled, 1 site that refused or stopped")
	c.exec(`UPDATE sites SET state='done'`)
	c.exec(`UPDATE urls SET state=1, outcome='ok'`)
	c.onTemporal()
	require.NoError(t, c.SetStage(t.Context(), h.ID, "complete", ""))
	require.Contains(t, c.wrong(program.ExitUnknown, "retry", h.ID, "--failed"), "nothing of conf/x/2001 failed that could be tried again")
	tides := gleaner.Paper{Key: "conf/x/Cole01", Venue: "conf/x", Year: 2001, Title: "The Tides of a Northern Sea", Authors: []gleaner.Author{{Name: "Cyd Cole"}}}
	require.NoError(t, c.SavePapers(t.Context(), []gleaner.Paper{tides}, nil))
	require.NoError(t, c.SetHarvestPapers(t.Context(), h.ID, []gleaner.Paper{tides}, nil))
	c.ok("holdings", "import", c.file("later.csv", "title,year,authors\n"+tides.Title+",2001,Cyd Cole\n"))
	would, err = checkRetryLeft(t.Context(), c.DB, h, activities.Retry{})
	require.NoError(t, err, "holdings that were entered later count")
	require.Contains(t, retryWords(would, false), "1 paper is held by the library by now")
	require.Contains(t, c.wrong(program.ExitUnknown, "retry", "cyd.example"), "nothing of conf/x/2001 failed", "but for a host")
	require.NoError(t, c.SetStage(t.Context(), h.ID, gleaner.StageCancelled, ""))
	require.Contains(t, c.wrong(program.ExitUsage, "retry", "cyd.example"), h.ID+" is cancelled: run it again, or have the host recrawled alone; "+
		"`starter harvest conf/x --years 2001` does the one, `starter recrawl cyd.example` the other")
}

// TestADelayBelowTheFloorIsNamed: who asks for less than the least delay is told
// that he will not have it, and by which setting.
func TestADelayBelowTheFloorIsNamed(t *testing.T) {
	for asked, named := range map[time.Duration]bool{0: false, time.Millisecond: true, 299 * time.Millisecond: true, 300 * time.Millisecond: false, time.Minute: false} {
		var said strings.Builder
		c := newRootCommand(io.Discard, &said, document.Child{})
		require.NoError(t, c.Root.PersistentFlags().Parse([]string{"--config", os.DevNull, "--min-delay", "300ms"}))
		c.hintDelay(asked)
		require.Equal(t, named, strings.Contains(said.String(), "every 300ms"), "%s: %s", asked, said.String())
		require.Equal(t, named, strings.Contains(said.String(), "GLEANER_MIN_DELAY"), asked)
	}
}
