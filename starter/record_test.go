package main

import (
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gleaner/internal/devstack/devtest"
	"gleaner/internal/devstack/devtest/temporaltest"
	"gleaner/internal/devstack/storetest"
	"gleaner/internal/fetch"
	"gleaner/internal/gleaner"
	"gleaner/internal/record/frontier"
	"gleaner/internal/record/store"
	"gleaner/internal/service/program"
	"gleaner/internal/web/page"
)

// testConsole is a command line on a database of its own.
type testConsole struct {
	*store.DB
	t    *testing.T
	args []string

	temporalAddress string
}

func newConsole(t *testing.T) *testConsole {
	t.Helper()
	dsn := devtest.Postgres(t)
	db := storetest.At(t, dsn, 2)
	return &testConsole{DB: db, t: t, args: []string{"--database-url-file", secretFile(t, dsn), "--data-dir", t.TempDir()}}
}

// secretFile holds a secret, which is never an argument.
func secretFile(t *testing.T, value string) string {
	path := filepath.Join(t.TempDir(), "secret")
	require.NoError(t, os.WriteFile(path, []byte(value), 0o600))
	return path
}

// run runs a command, and returns what it printed, its error and its exit code.
func (c *testConsole) run(args ...string) (out string, code int, err error) {
	c.t.Helper()
	var stdout, stderr strings.Builder
	root := newRoot(&stdout, &stderr)
	root.SetArgs(append(slices.Clone(args), c.args...))
	err = root.ExecuteContext(c.t.Context())
	return stdout.String(), exitCode(err), err
}

// ok runs a command that is to succeed.
func (c *testConsole) ok(args ...string) string {
	c.t.Helper()
	out, code, err := c.run(args...)
	require.NoError(c.t, err, "%v", args)
	require.Equal(c.t, program.ExitOK, code)
	return out
}

// wrong runs a command that is to fail with an exit code, and returns the error.
func (c *testConsole) wrong(code int, args ...string) string {
	c.t.Helper()
	_, got, err := c.run(args...)
	require.Error(c.t, err, "%v", args)
	require.Equal(c.t, code, got, "%v: %v", args, err)
	return err.Error()
}

// read runs a command with --json and decodes what it printed.
func (c *testConsole) read(into any, args ...string) {
	c.t.Helper()
	out := c.ok(append(args, "--json")...)
	require.NoError(c.t, json.Unmarshal([]byte(out), into), out)
}

func (c *testConsole) exec(sql string, args ...any) {
	c.t.Helper()
	storetest.Exec(c.t, c.Pool, sql, args...)
}

// answer is what a command says to a program.
func answer[T any](read func(into any, args ...string), args ...string) (said T) {
	read(&said, args...)
	return said
}

func (c *testConsole) file(name, body string) string {
	c.t.Helper()
	path := filepath.Join(c.t.TempDir(), name)
	require.NoError(c.t, os.WriteFile(path, []byte(body), 0o600))
	return path
}

// visited lays a URL down as asked for an hour ago.
func (c *testConsole) visited(host, path, parent string, state frontier.State, outcome gleaner.Outcome) frontier.Hash {
	c.t.Helper()
	id, err := store.EnsureSite(c.t.Context(), c.Pool, host)
	require.NoError(c.t, err)
	c.exec(`UPDATE sites SET crawl=1, state='done', crawl_started=now() - interval '2 hours', crawl_finished=now() - interval '30 minutes' WHERE id=$1`, id)
	e := frontier.Entry{Candidate: page.Candidate{Link: page.Link{URL: "http://" + host + path, Source: page.SourceAnchor}, Parent: parent}}
	_, err = frontier.Add(c.t.Context(), c.Pool, id, []frontier.Entry{e})
	require.NoError(c.t, err)
	v := frontier.Visit{Entry: &e, State: state, Outcome: outcome, Crawl: 1, At: time.Now().Add(-time.Hour)}
	if outcome == gleaner.OK || fetch.Retryable(outcome) {
		v.Due = time.Now().Add(time.Hour)
	}
	require.NoError(c.t, frontier.Done(c.t.Context(), c.Pool, id, []frontier.Visit{v}))
	return e.Hash()
}

// accepted lays down a page with an accepted document.
func (c *testConsole) accepted(host, name string) { c.acceptedAs(host, name, host+name) }

func (c *testConsole) acceptedAs(host, name, sha string) {
	c.t.Helper()
	require.NoError(c.t, c.SaveFetched(c.t.Context(), store.Document{SHA256: sha, SHA1: sha, MD5: sha, Kind: "pdf"}, c.place(host, name), nil))
	c.exec(`UPDATE documents SET state='accepted' WHERE sha256=$1`, sha)
}

// place lays down a page that links to a document, and says where that was found.
func (c *testConsole) place(host, name string) store.Location {
	c.t.Helper()
	parent := "http://" + host + "/"
	c.visited(host, "/", "", frontier.Page, gleaner.OK)
	h := c.visited(host, "/"+name, parent, frontier.Document, gleaner.OK)
	s, err := c.Site(c.t.Context(), host)
	require.NoError(c.t, err)
	return store.Location{Hash: h[:], SiteID: s.ID, URL: parent + name, Parent: parent, Found: time.Now().Add(-45 * time.Minute)}
}

func TestWhitelistCommands(t *testing.T) {
	t.Parallel()
	c := newConsole(t)
	for _, d := range [][2]string{{"www.many.edu", "a.pdf"}, {"www.many.edu", "b.pdf"}, {"cs.many.edu", "c.pdf"}, {"cited.org", "d.pdf"}} {
		c.accepted(d[0], d[1])
	}
	require.Contains(t, c.ok("whitelist", "generate"), "0 citations, as each counts them; core of 2 domains; 2 domains with 3 pages listed\nno citations are known: ")
	citations := c.file("citations.csv", "domain,count\ncited.org, 240\nMany.edu,30\n")
	require.Equal(t, "2 domains with 4 documents and 270 citations, as each counts them; core of 2 domains; 2 domains with 3 pages listed\n", c.ok("whitelist", "generate", "--citations", citations))

	domains := answer[[]store.DomainRank](c.read, "stats", "domains")
	require.Equal(t, "cited.org", domains[0].Domain)
	require.InDelta(t, 2*(1./4)*(8./9)/(1./4+8./9), domains[0].F1, 1e-9)
	require.InDelta(t, 2*(3./4)*(1./9)/(3./4+1./9), domains[1].F1, 1e-9)
	exported := c.ok("whitelist", "show", "--plain")
	require.ElementsMatch(t, []string{"http://www.many.edu/", "http://cs.many.edu/", "http://cited.org/"}, strings.Fields(exported))
	listed := answer[[]store.ListedURL](c.read, "whitelist", "show")
	require.Len(t, listed, 3)
	require.Equal(t, listed[0].URL, strings.Fields(exported)[0], "in the same order")

	// Another library takes the list over, with a page of its own.
	other := newConsole(t)
	require.Equal(t, "4 lines taken\n", other.ok("whitelist", "import", other.file("list.txt", exported+"# mine\nHTTP://New.Example/papers/\n")))
	require.Equal(t, exported+"http://new.example/papers/\n", other.ok("whitelist", "show", "--plain"))
	require.Equal(t, "something is asked on 4 sites\n", other.ok("whitelist", "seed"))
	due, _, err := other.DueSites(t.Context(), store.Selection{}, false, "", 10)
	require.NoError(t, err)
	require.Equal(t, []string{"cited.org", "cs.many.edu", "www.many.edu", "new.example"}, due, "the hosts in the order of their domains on the list")

	for what, args := range map[string][]string{
		"is no count":         {"whitelist", "generate", "--citations", c.file("bad.csv", "cited.org,90\nmany.edu,lots\n")},
		"semanticscholar":     {"whitelist", "generate", "--source", "gossip"},
		"line 2":              {"whitelist", "import", c.file("bad.txt", "http://a.example/\nnot a url\n")},
		"no such file":        {"whitelist", "import", "/nowhere/list.txt"},
		"a file with one URL": {"whitelist", "import"},
	} {
		require.Contains(t, c.wrong(program.ExitUsage, args...), what)
	}
}

func TestBlacklistCommands(t *testing.T) {
	t.Parallel()
	c := newConsole(t)
	c.ok("blacklist", "add", "--file", c.file("hosts.txt", "Bad.example asked us to stop\nworse.example\n"))
	require.Equal(t, "bad.example asked us to stop\nworse.example\n", c.ok("blacklist", "list", "--plain"))
	require.Contains(t, c.ok("blacklist", "list"), "asked us to stop")
	c.ok("blacklist", "remove", "--file", c.file("hosts.txt", "worse.example\n"))
	left := answer[[]store.Blocked](c.read, "blacklist", "list")
	require.Len(t, left, 1)
}

func TestTable2Beside(t *testing.T) {
	t.Parallel()
	c := newConsole(t)
	c.accepted("ada.example", "a.pdf")
	c.exec(`INSERT INTO crawls (site_id, crawl, policy, started_at, finished_at, requests, fetched)
		SELECT id, 1, 'whitelist', crawl_started, crawl_finished, 4, 2 FROM sites`)
	own := answer[[]store.Yield](c.read, "stats", "table2")
	require.Equal(t, []store.Yield{{Policy: "whitelist", Crawls: 1, Days: 1, Requests: 4, Fetched: 2, New: 1, Good: 1, Parents: 1, GoodParents: 1}}, own)
	black := c.file("black.json", `[{"policy": "blacklist", "crawls": 3, "days": 2.5, "requests": 100, "fetched": 15, "new": 5, "good": 1, "parents": 2, "good_parents": 1}]`)
	lines := strings.Split(c.ok("stats", "table2", "--beside", black), "\n")
	require.Equal(t, strings.Fields("POLICY CRAWLS DAYS Q F N G P P_G F/Q N/F G/F G/N G/Q G/P P_G/P"), strings.Fields(lines[0]))
	require.Equal(t, strings.Fields("blacklist 3 2.5 100 15 5 1 2 1 15.00 % 33.33 % 6.67 % 20.00 % 1.00 % 0.500 50.00 %"), strings.Fields(lines[1]))
	require.Equal(t, strings.Fields("whitelist 1 1.0 4 2 1 1 1 1 50.00 % 50.00 % 50.00 % 100.00 % 25.00 % 1.000 100.00 %"), strings.Fields(lines[2]))
	daily := strings.Split(c.ok("stats", "table2", "--beside", black, "--per-day", "--paper"), "\n")
	require.Equal(t, strings.Fields("blacklist 3 2.5 40.0 6.0 2.0 0.4 0.8 0.4 15.00 %"), strings.Fields(daily[1])[:11])
	require.Equal(t, strings.Fields("whitelist (paper) 38.09 % 49.61 % 0.52 % 1.082"), strings.Fields(daily[4]))
	c.read(&own, "stats", "table2", "--to", time.Now().Add(-48*time.Hour).Format(time.DateOnly))
	require.Empty(t, own, "another period")
	c.wrong(program.ExitUsage, "stats", "table2", "--from", "yesterday")
	c.wrong(program.ExitUsage, "stats", "table2", "--beside", "/nowhere")
}

func TestFailuresCommand(t *testing.T) {
	t.Parallel()
	c := newConsole(t)
	for path, o := range map[string]gleaner.Outcome{"/1": fetch.Timeout, "/2": fetch.Timeout} {
		c.visited("slow.example", path, "", frontier.Failed, o)
	}
	c.visited("shut.example", "/", "", frontier.Gone, fetch.RobotsDenied)
	var all, one []store.Failure
	c.read(&all, "stats", "failures")
	require.Len(t, all, 2)
	require.Equal(t, "timeout", all[0].Reason)
	require.Equal(t, 2, all[0].URLs)
	require.False(t, all[0].ForGood)
	require.NotNil(t, all[0].Next, "tried again by itself")
	require.Equal(t, "robots-denied", all[1].Reason)
	require.True(t, all[1].ForGood, "shown, and not tried again")
	require.Nil(t, all[1].Next)
	c.exec(`UPDATE urls SET next_try=now() - interval '1 hour', due_at=now() - interval '1 hour' WHERE state=3`)
	require.Contains(t, c.ok("stats", "failures"), "due since ")
	require.Contains(t, c.ok("stats", "failures"), "starter schedule create due")
	c.exec(`UPDATE sites SET state='done', due_at=now() + interval '1 day'`)
	require.NotContains(t, c.ok("stats", "failures"), "due since ", "its site is not due")
	c.exec(`UPDATE sites SET due_at=now() - interval '1 hour'`)
	require.Contains(t, c.ok("stats", "failures"), "due since ")
	c.exec(`INSERT INTO blacklist (host) VALUES ('slow.example')`)
	require.NotContains(t, c.ok("stats", "failures"), "due since ", "it is on the blacklist")
	require.Contains(t, c.ok("stats", "failures"), "never, unless a retry names the reason")
	c.read(&one, "stats", "failures", "--site", "shut.example")
	require.Len(t, one, 1)
	c.wrong(program.ExitUnknown, "stats", "failures", "conf/none")
}

func TestRetryCommandUsage(t *testing.T) {
	t.Parallel()
	c := newConsole(t)
	require.NoError(t, c.SaveHarvest(t.Context(), store.Harvest{ID: "conf/x/2001", Venue: "conf/x", Years: gleaner.Years{From: 2001, To: 2001}, Options: []byte("{}"), Stage: "complete"}))
	for _, args := range [][]string{
		{"retry", "conf/x"},
		{"retry", "conf/x", "--failed", "--site", "a.example"},
		{"retry", "conf/x", "--older-than", "old"},
		{"retry"},
	} {
		c.wrong(program.ExitUsage, args...)
	}
	c.wrong(program.ExitUnknown, "retry", "conf/none", "--failed")
	c.wrong(program.ExitUnavailable, "retry", "conf/x", "--failed", "--temporal-address", "127.0.0.1:1")
	address, namespace := temporaltest.Temporal(t)
	c.args = append(c.args, "--temporal-address", address, "--temporal-namespace", namespace)
	require.Contains(t, c.wrong(program.ExitUsage, "retry", "conf/x", "--reason", "timeuot"), "starter stats failures")
	require.Contains(t, c.wrong(program.ExitUnknown, "retry", "conf/x", "--site", "nowhere.example"), "nowhere.example")
}

func TestEveryCommandShowsHow(t *testing.T) {
	t.Parallel()
	root := newRoot(io.Discard, io.Discard)
	for _, c := range allCommands(root)[1:] {
		require.Contains(t, c.Example, c.CommandPath())
	}
}

func TestPruneCommand(t *testing.T) {
	t.Parallel()
	c := newConsole(t)
	c.exec(`INSERT INTO searches (provider, query, wanted, results, asked_at) VALUES ('p', 'q', 10, '[]', now() - interval '2 years')`)
	var would, done []store.Pruned
	c.read(&would, "prune", "--dry-run")
	c.read(&done, "prune")
	require.Equal(t, would, done)
	rows := func(what string) (n int) {
		for _, p := range done {
			if p.What == what {
				n = p.Rows
			}
		}
		return n
	}
	require.Equal(t, 1, rows("searches"))
	c.read(&done, "prune")
	require.Zero(t, rows("searches"))
	c.wrong(program.ExitUsage, "prune", "--rejected", "long")
	c.exec(`INSERT INTO harvests (id, venue, year_from, year_to, options, stage) VALUES ('conf/x/2001', 'conf/x', 2001, 2001, '{}', 'crawl')`)
	require.Contains(t, c.wrong(program.ExitUsage, "prune", "conf/x/2001"), "cancel it first")
	c.exec(`UPDATE harvests SET completed_at=now()`)
	require.Contains(t, c.wrong(program.ExitUsage, "prune", "conf/x"), "by its id, such as conf/x/2001")
	require.Contains(t, c.ok("prune", "conf/x/2001", "--dry-run"), "conf/x/2001 would be removed: a list of 0 papers")
	require.Contains(t, c.ok("prune", "conf/x/2001"), "conf/x/2001 is removed")
	c.wrong(program.ExitUnknown, "prune", "conf/x/2001")
}
