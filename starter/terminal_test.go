package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gleaner/internal/fetch"
	"gleaner/internal/gleaner"
	"gleaner/internal/harvest/report"
	"gleaner/internal/politeness"
	"gleaner/internal/record/frontier"
	"gleaner/internal/record/store"
	"gleaner/internal/service/app"
	"gleaner/internal/service/config"
	"gleaner/internal/service/program"
	"gleaner/internal/service/terminal"
)

// TestSecretsAreNoArguments: everybody on a machine can read the arguments of
// everybody's programs.
func TestSecretsAreNoArguments(t *testing.T) {
	t.Parallel()
	for _, s := range config.Settings() {
		if !s.Secret {
			continue
		}
		for _, args := range [][]string{{"config", "--" + s.Key, "s3cr3t"}, {"--" + s.Key + "=s3cr3t", "config"}} {
			root := newRoot(io.Discard, io.Discard)
			root.SetArgs(args)
			err := root.ExecuteContext(t.Context())
			require.Equal(t, program.ExitUsage, exitCode(err), s.Key)
			require.ErrorContains(t, err, s.Env)
			require.ErrorContains(t, err, "--"+s.FileKey())
			require.NotContains(t, err.Error(), "s3cr3t")
		}
	}
}

// TestWordsOfStrangersStayWords: a page's words reach the terminal as words.
func TestWordsOfStrangersStayWords(t *testing.T) {
	t.Parallel()
	c := newConsole(t)
	c.accepted("ada.example", "paper.pdf")
	const hostile = "\x1b]0;owned\a \x1b[2J \u009b31m \u202egnp.exe"
	c.exec(`UPDATE locations SET member=$1, anchor=$1`, hostile)
	out := c.ok("documents", "show", "ada.example")
	require.Contains(t, out, `\u001b]0;owned\u0007 \u001b[2J \u009b31m \u202egnp.exe`)
	require.False(t, strings.ContainsAny(out, "\x1b\a\u009b\u202e"))

	out = c.ok("documents", "show", "ada.example", "--json")
	require.False(t, strings.ContainsAny(out, "\x1b\a\u009b\u202e"))
	var shown struct{ Locations []struct{ Member string } }
	require.NoError(t, json.Unmarshal([]byte(out), &shown))
	require.Equal(t, hostile, shown.Locations[0].Member, "scripts get it as it is")

	_, _, err := c.run("documents", "show", "no\x1b[2Jsuch")
	require.Error(t, err)
}

// TestOneWayToTheTerminal: only main, by a terminal.Writer, and what is no text
// reach the standard output.
func TestOneWayToTheTerminal(t *testing.T) {
	t.Parallel()
	for _, pattern := range []string{"*.go", "../worker/*.go", "../worker/pool/*.go"} {
		files, err := filepath.Glob(pattern)
		require.NoError(t, err)
		for _, name := range files {
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			raw, err := os.ReadFile(name)
			require.NoError(t, err)
			for line := range strings.Lines(string(raw)) {
				if strings.Contains(line, "fmt.Print") || strings.Contains(line, "Fprint") && strings.Contains(line, "os.Std") {
					require.True(t, strings.Contains(line, "terminal.New(") || strings.Contains(line, "usage"), "%s: %s", name, line)
				}
			}
		}
	}
}

// TestNarrowTablesBreakNoWord: where a line is wider than the terminal, values stand below
// each other under their heads, each whole on one line.
func TestNarrowTablesBreakNoWord(t *testing.T) {
	t.Parallel()
	heads := []string{"site", "pages", "pace", "reason"}
	rows := []string{"www.example.edu\t12\tevery 500ms (default)\tblocked-wall", "b.example\t0\tevery 1s\t"}
	for _, width := range []int{30, 40, 80} {
		var out bytes.Buffer
		writeNarrow(&out, heads, rows, width)
		for line := range strings.Lines(out.String()) {
			require.LessOrEqual(t, terminal.Width(strings.TrimSpace(line)), width)
		}
		for _, value := range []string{"site www.example.edu\n", "pages 12", "pace every 500ms (default)",
			"reason blocked-wall", "site b.example\n"} {
			require.Contains(t, out.String(), value)
		}
	}
	require.Equal(t, 7, widest("ab\nabcdefg  \n"))
}

// TestListsOfNothingSayWhatToDo in place of a bare head.
func TestListsOfNothingSayWhatToDo(t *testing.T) {
	t.Parallel()
	c := newConsole(t)
	for _, args := range []string{"sites list", "documents list", "stats domains", "stats sites", "stats failures",
		"whitelist show", "blacklist list", "jobs list", "collections list", "parents"} {
		out := c.ok(strings.Fields(args)...)
		require.NotEqual(t, strings.ToUpper(out), out, "%s prints more than heads", args)
	}
}

// TestRunsAreFoundByName: pause, resume, cancel and retry take any run by its name, and by
// its id where several are called the same.
func TestRunsAreFoundByName(t *testing.T) {
	t.Parallel()
	c := newConsole(t)
	c.crawlsSites("a.example")
	c.exec(`INSERT INTO collections (name, state, topics, options) VALUES ('math', 'ended', '[]', '{}'), ('conf/x', 'ended', '[]', '{}')`)
	for given, want := range map[string]string{
		"CONF/X/2001": "harvest/conf/x/2001", "harvest/conf/x": "harvest/conf/x/2001",
		"math": "collections/math", "collections/conf/x": "collections/conf/x", "A.example": "site/a.example",
		"7": "job/7", "import/7": "job/7", "job/whitelist/7": "job/7",
		"due": "schedule/due", "schedule/conf/x": "schedule/conf/x", "recrawl/due": "recrawl/due",
	} {
		r, err := findRun(t.Context(), c.DB, given)
		require.NoError(t, err, given)
		require.Equal(t, want, r.id(), given)
	}
	_, err := findRun(t.Context(), c.DB, "conf/x")
	require.ErrorContains(t, err, "harvest/conf/x/2001, collections/conf/x")
}

// crawlsSites is a harvest that crawls some sites, of which some fail.
func (c *testConsole) crawlsSites(sites ...string) string {
	c.t.Helper()
	const id = "conf/x/2001"
	require.NoError(c.t, c.SaveHarvest(c.t.Context(), store.Harvest{ID: id, Venue: "conf/x", Years: gleaner.Years{From: 2001, To: 2001}, Options: []byte("{}"), Stage: gleaner.StageCrawl}))
	for _, host := range sites {
		c.visited(host, "/", "", frontier.Page, gleaner.OK)
		c.visited(host, "/a.pdf", "http://"+host+"/", frontier.Document, gleaner.OK)
		for i := range 3 {
			c.visited(host, fmt.Sprint("/", i), "http://"+host+"/", frontier.Waiting, "")
		}
		c.exec(`UPDATE sites SET state='crawling', pace='2 s', pace_by='robots.txt' WHERE host=$1`, host)
		c.exec(`INSERT INTO harvest_sites (harvest_id, site_id, origin) SELECT $1, id, 'homepage' FROM sites WHERE host=$2`, id, host)
	}
	return id
}

// TestAHarvestThatOneWatches: what is shown of it fits the terminal, and says of its
// sites how far they are, which fail and why, and how long it may take.
func TestAHarvestThatOneWatches(t *testing.T) {
	t.Parallel()
	c := newConsole(t)
	id := c.crawlsSites("ada.example", "bob.example", "shut.example", "a-host-with-a-very-long-name.department-of-computer-science.university.example")
	c.visited("bob.example", "/slow", "http://bob.example/", frontier.Failed, fetch.Timeout)
	c.exec(`UPDATE sites SET state='crawling', failures=3, parked_until=now() + interval '90 s' WHERE host='bob.example'`)
	c.exec(`UPDATE urls SET next_try=now() + interval '90 s' WHERE state=3`)
	c.exec(`UPDATE sites SET state='refused', reason='robots.txt cannot be read' WHERE host='shut.example'`)
	l := &harvestView{db: c.DB, id: id, pace: time.Second, begun: time.Now()}
	c.exec(`UPDATE harvests SET started_at=now() - interval '200 s'`)
	require.NoError(t, l.refresh(t.Context()))
	l.setDoing([]string{"12 of 30 papers"})
	for _, width := range []int{40, 80, 200} {
		lines := l.Lines(width, 24)
		for _, s := range lines[:1] {
			require.LessOrEqual(t, terminal.Width(s), width)
		}
		all := strings.Join(lines, "\n")
		require.Contains(t, all, "conf/x/2001  crawl (5 of 6)")
		require.Regexp(t, `3m[2-9]\ds`, all)
		require.Contains(t, all, "0 of 4 done, 1 refused")
		require.Contains(t, all, "12 of 30 papers")
		require.Contains(t, all, "about 6s left", "three links at two seconds, site beside site")
		require.Regexp(t, `! bob\.example +timeout, 3 times in a row; asked again in 1m`, all)
		require.Regexp(t, `! shut\.example +refused: robots\.txt cannot be read`, all)
		require.Regexp(t, `  ada\.example +1 page  +0 papers +3 waiting  now`, all)
	}
	for _, s := range l.Lines(80, 24) {
		require.LessOrEqual(t, terminal.Width(s), 80, s)
	}
	require.Contains(t, strings.Join(l.Lines(80, 9), "\n"), "and 3 more")
	require.Contains(t, l.String(), "2 of the sites fail, such as ")
	require.Contains(t, l.String(), "conf/x/2001 [crawl] wanted 0")

	require.Contains(t, l.String(), "waiting 9, failed 1, not asked 3 |", "these at the site that refuses")

	c.accepted("ada.example", "scan.pdf")
	c.exec(`UPDATE documents SET state='new', outcome='image-only'`)
	l.past = nil // nothing was answered for long
	require.NoError(t, l.refresh(t.Context()))
	for _, shown := range []string{l.String(), strings.Join(l.Lines(80, 24), "\n"), c.ok("status", id)} {
		require.Contains(t, shown, "1 document being read, scans among them: 1")
		require.NotContains(t, shown, "left", "nobody knows how long that takes")
	}

	c.exec(`INSERT INTO listings (source, venue, volume, position, year, paper) SELECT 'dblp', 'conf/x', 'v', n, 2001, '{}' FROM generate_series(1, 7) n`)
	c.exec(`UPDATE harvests SET stage='papers'`)
	require.NoError(t, l.refresh(t.Context()))
	l.setDoing([]string{"volume 3 of 8: db/conf/x/x2001"})
	all := strings.Join(l.Lines(80, 24), "\n")
	require.Contains(t, all, "7 listed so far", "no zeros while the catalogue answers")
	require.Contains(t, all, "volume 3 of 8")
}

// TestWhatAHarvestCameToStays: what others do on its sites later is not its own, but
// for papers that are there now.
func TestWhatAHarvestCameToStays(t *testing.T) {
	t.Parallel()
	c := newConsole(t)
	id := c.crawlsSites("ada.example")
	require.Contains(t, c.ok("status", id), "pages 1, waiting 3")
	require.NoError(t, c.SetStage(t.Context(), id, gleaner.StageComplete, ""))
	c.visited("ada.example", "/later", "http://ada.example/", frontier.Page, gleaner.OK)
	require.Contains(t, c.ok("status", id), "pages 1, waiting 0, failed 0, not asked 3 |")
	c.exec(`INSERT INTO papers (key, venue, year, title) VALUES ('conf/x/1', 'conf/x', 2001, 'A Paper')`)
	c.exec(`INSERT INTO harvest_papers (harvest_id, paper_key) VALUES ($1, 'conf/x/1')`, id)
	c.accepted("ada.example", "b.pdf")
	c.exec(`INSERT INTO matches (paper_key, sha256, verdict, form, score) VALUES ('conf/x/1', 'ada.exampleb.pdf', 'exact', 'paper', 1)`)
	require.Contains(t, c.ok("status", id), "found 0 (1 now)")

	require.NoError(t, c.SaveHarvest(t.Context(), store.Harvest{ID: id, Venue: "conf/x", Years: gleaner.Years{From: 2001, To: 2001}, Options: []byte("{}"), Stage: gleaner.StagePapers}))
	require.Contains(t, c.ok("status", id), "wanted 1, found 1 |", "begun again, it counts anew")
}

// TestThePaceOfASiteIsShown: how often a site is asked, and who set that, wherever
// a person looks at a site.
func TestThePaceOfASiteIsShown(t *testing.T) {
	t.Parallel()
	c := newConsole(t)
	c.crawlsSites()
	keeper := politeness.NewKeeper(c.Pool, fetch.Pacing{MinDelay: time.Second}, "a worker")
	for host, visit := range map[string]fetch.Visit{"slow.example": {Status: 200, Elapsed: 3 * time.Second}, "shy.example": {Status: 429, Failed: true, RetryAfter: time.Hour}} {
		c.visited(host, "/", "", frontier.Page, gleaner.OK)
		done, err := keeper.Turn(t.Context(), host, 0)
		require.NoError(t, err)
		done(visit)
	}
	c.exec(`INSERT INTO harvest_sites (harvest_id, site_id, origin) SELECT 'conf/x/2001', id, 'homepage' FROM sites`)
	c.exec(`UPDATE sites SET state='crawling'`)

	shy, slow := `every 1s \(default\), not before \d{4}-.* \(Retry-After\)`, `every 15s \(slow answers\)`
	for _, args := range [][]string{{"status", "conf/x"}, {"report", "conf/x"}, {"stats", "sites"}} {
		out := c.ok(args...)
		require.Regexp(t, `shy\.example.* `+shy, out, "%v", args)
		require.Regexp(t, `slow\.example.* `+slow, out, "%v", args)
	}
	require.Regexp(t, slow, c.ok("explain", "http://slow.example/"))
	_, errs, result := c.background(t.Context(), "status")
	require.Equal(t, program.ExitOK, result())
	require.Equal(t, 1, strings.Count(errs.String(), "is not known: "), "Temporal is asked once: %s", errs)
	url := answer[app.Explanation](c.read, "explain", "http://slow.example/")
	require.Equal(t, store.Pace{Seconds: 15, By: "slow answers"}, url.Pace)
	rep := answer[report.Report](c.read, "report", "conf/x")
	for _, s := range rep.Sites {
		if s.Host == "shy.example" {
			require.WithinDuration(t, time.Now().Add(time.Hour), *s.Pace.Until, time.Minute)
		}
	}
}
