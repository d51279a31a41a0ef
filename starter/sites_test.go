package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"gleaner/internal/gleaner"
	"gleaner/internal/library/repository"
	"gleaner/internal/record/store"
	"gleaner/internal/service/program"
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
	var part listedSites
	c.read(&part, "sites", "list", "--limit", "2")
	require.Len(t, part.Sites, 2)
	require.Equal(t, "a.example", part.Sites[0].Host)
	require.Equal(t, 1, part.Sites[0].Papers)
	require.Equal(t, 1, part.Sites[0].Documents)
	var measured []rated[store.SiteRates]
	c.read(&measured, "stats", "sites")
	require.Equal(t, 1, measured[0].Row.Documents)
	require.Zero(t, part.Sites[1].Papers)
	require.NotNil(t, part.Sites[0].Next, "it asked to be left alone")
	require.Equal(t, "b.example", part.Next)
	require.Contains(t, c.ok("sites", "list", "--limit", "2"), "more:  --after b.example")
	var rest listedSites
	c.read(&rest, "sites", "list", "conf/x", "--after", part.Next)
	require.Len(t, rest.Sites, 1)
	require.Empty(t, rest.Next)
	c.read(&rest, "sites", "list", "--state", "refused")
	require.Equal(t, gleaner.SiteRefused, rest.Sites[0].State)

	var s shownSite
	c.read(&s, "sites", "show", "A.example")
	require.Equal(t, "worker-7", s.Holder)
	require.Equal(t, []string{"conf/x/2001"}, s.Harvests)
	require.Len(t, s.Failures, 1)
	out := c.ok("sites", "show", "a.example")
	for _, say := range []string{"worker-7, until ", "1 paper found", "failed as", "server-error: 1 URL,", "next request", "Retry-After"} {
		require.Contains(t, out, say)
	}
	require.Contains(t, c.ok("sites", "show", "b.example"), "refused: robots.txt cannot be read (503)")
	require.Regexp(t, `(?m)^b\.example +refused .* never by itself +robots.txt`, c.ok("sites", "list"))
	require.Contains(t, c.ok("explain", "http://b.example/1"), "robots.txt cannot be read (503); next request never by itself\n")
	c.exec(`UPDATE sites SET state='done', due_at=NULL WHERE host='c.example'`)
	c.exec(`UPDATE urls SET state=2 WHERE url LIKE '%c.example%'`)
	require.Regexp(t, `(?m)^c\.example +done .* nothing waits`, c.ok("sites", "list"))
	require.NotContains(t, c.ok("blacklist", "add", "c.example", "--reason", "asked us to", "--json"), "0001-01-01")
	require.Regexp(t, `(?m)^c\.example +done .* never while it is on the blacklist`, c.ok("sites", "list"))
	for _, again := range []string{"retry", "recrawl"} {
		require.Contains(t, c.wrong(1, again, "c.example"), "c.example: the host is on the blacklist: asked us to")
	}
	c.exec(`UPDATE sites SET due_at='2126-05-04 12:00' WHERE host='b.example'`)
	require.Contains(t, c.ok("sites", "show", "b.example"), "by a recrawl, from 2126-05-04")
	c.visited("dead.example", "/", "", 4, "no-such-host")
	require.Regexp(t, `(?m)^dead.example +done .*no page: no-such-host$`, c.ok("sites", "list"))
	dead := store.Harvest{ID: "site:http://dead.example/", Venue: "site:http://dead.example/", Options: []byte("{}"), Stage: "complete"}
	require.NoError(t, c.SaveHarvest(t.Context(), dead))
	var said strings.Builder
	require.ErrorContains(t, sayAcademic(t.Context(), &said, c.DB, dead.ID), dead.ID+" gave nothing: its address answered no page: no-such-host")
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

	c.onTemporal()
	c.exec(`UPDATE harvests SET completed_at=now(), stage='complete'`)
	require.Contains(t, c.ok("pause", "a.example", "--reason", "asked by mail"), "a.example paused: nobody asks it")
	for _, line := range strings.Split(c.ok("sites", "show", "a.example")+c.ok("sites", "list", "conf/x"), "\n") {
		if strings.Contains(line, "a.example ") || strings.HasPrefix(line, "state") {
			require.Contains(t, line, "paused by a person: asked by mail")
		}
	}
	require.Contains(t, c.ok("sites", "show", "a.example"), "never while it is paused")
	require.Contains(t, c.ok("report", "conf/x"), "paused by a person: asked by mail")
	require.Contains(t, c.ok("report", "conf/x"), "done: the host is on the blacklist: asked us to")
	require.Contains(t, c.ok("resume", "a.example"), "resumed: no harvest that runs wants it")
	c.exec(`UPDATE sites SET state='new' WHERE host='a.example'`)
	require.Regexp(t, `(?m)^a\.example +new .* no harvest asks it`, c.ok("sites", "list"))
	require.NotContains(t, c.ok("sites", "show", "a.example"), "paused")
	require.Contains(t, c.wrong(program.ExitUnknown, "resume", "a.example"), "a.example is not paused")
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
		"holdings explain conf/nosuch", "review --list --venue conf/nosuch", "stats directories nosuch.example",
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
	_, err := server.ExecuteWorkflow(t.Context(), startOptions(id, workflows.Told{}), "RecrawlDue")
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
	require.Contains(t, c.wrong(program.ExitUnknown, "documents", "show", gone, "--out", "-"), "its file was pruned")
	require.Contains(t, c.wrong(program.ExitUnknown, "documents", "show", there.SHA256, "--as-text"), "no text was read from it")
}
