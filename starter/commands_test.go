package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"

	"gleaner/activities"
	"gleaner/internal/document/documenttest"
	"gleaner/internal/gleaner"
	"gleaner/internal/lab/sampleweb"
	"gleaner/internal/record/store"
	"gleaner/internal/service/config"
	"gleaner/internal/service/program"
	"gleaner/internal/service/telemetry"
	"gleaner/internal/web/weburl"
	"gleaner/worker/pool"
)

// elsewhere are the commands that other tests run, since they need servers of
// their own or run until they are interrupted.
var elsewhere = map[string]string{
	"starter":           "prints its help",
	"starter documents": "prints its help",
	"starter jobs":      "prints its help",
	"starter clean":     "prints its help",

	"starter collect":            "has a web of topics of its own (TestCollectCommands)",
	"starter collections":        "prints its help",
	"starter collections list":   "as collect",
	"starter collections show":   "as collect",
	"starter collections export": "as collect",
	"starter collections judge":  "reads what a person judged (TestCollectionsThatAreJudged)",
	"starter collections remove": "as collect",

	"starter console": "runs until it is interrupted",
	"starter demo":    "starts servers of its own",
	"starter dev":     "starts servers of its own",
}

// tour is a console on a harvested sample web, with all it printed.
type tour struct {
	*testConsole
	web     *sampleweb.Web
	venue   string
	years   string
	harvest string
	held    string // file of holdings
	ran     map[string]bool
	printed strings.Builder
	secrets map[string]string // setting → what must turn up nowhere
	log     *said
	server  client.Client
}

// TestEveryCommandOnRealData runs every command on one harvested web, and then
// looks for the secrets of the settings in whatever was printed, logged or stored.
func TestEveryCommandOnRealData(t *testing.T) {
	t.Parallel()
	v := newTour(newConsole(t))
	v.web = v.onWeb()
	v.prepare()
	v.work(activities.Queues(), v.log)
	v.harvested()
	v.looks()
	v.operates()
	v.changes()
	v.schedules()
	v.ends()
	for _, path := range commandPaths(newRoot(io.Discard, io.Discard)) {
		if elsewhere[path] == "" {
			assert.True(t, v.ran[path], "no test runs %s", path)
		}
	}
	v.leaksNothing()
}

func commandPaths(c *cobra.Command) (all []string) {
	own := c.Example // of others, which only list commands, all are those of the commands
	for _, sub := range c.Commands() {
		all = append(all, commandPaths(sub)...)
		first, _, _ := strings.Cut(sub.Example, "\n")
		own = strings.Replace(own, first, "", 1)
	}
	if c.Runnable() && c.Name() != "help" && (strings.TrimSpace(own) != "" || !c.HasSubCommands()) {
		all = append(all, c.CommandPath())
	}
	return all
}

func newTour(c *testConsole) *tour {
	return &tour{testConsole: c, ran: map[string]bool{}, secrets: map[string]string{}, log: &said{}, server: c.onTemporal()}
}

// prepare gives every secret setting a value that is like no other.
func (v *tour) prepare() {
	c, t := v.testConsole, v.t
	v.venue = v.web.Venues()[0]
	first, last := v.web.Years()
	v.years = gleaner.Years{From: first, To: last}.String()
	v.harvest = v.venue + "/" + v.years
	for _, s := range config.Settings() {
		switch {
		case !s.Secret:
		case s.Key == "database-url", s.Key == "proxy":
			i := slices.Index(c.args, "--"+s.FileKey())
			raw, err := os.ReadFile(c.args[i+1])
			require.NoError(t, err)
			u, err := url.Parse(string(raw))
			require.NoError(t, err)
			if s.Key == "proxy" {
				u.User = url.UserPassword("library", "mark-of-the-proxy")
				c.args[i+1] = secretFile(t, u.String())
			}
			v.secrets[s.Key], _ = u.User.Password()
		case s.Key == "notify-webhook":
			server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
			t.Cleanup(server.Close)
			v.secrets[s.Key] = "mark-of-notify-webhook"
			c.args = append(c.args, "--"+s.FileKey(), secretFile(t, server.URL+"/"+v.secrets[s.Key]))
		case s.Key == "notify-smtp": // where nobody listens
			v.secrets[s.Key] = "mark-of-notify-smtp"
			c.args = append(c.args, "--"+s.FileKey(), secretFile(t, "smtp://library:"+v.secrets[s.Key]+"@127.0.0.1:1"), "--notify-mail-from", "a@library.example", "--notify-mail-to", "b@library.example")
		default:
			v.secrets[s.Key] = "mark-of-" + s.Key
			c.args = append(c.args, "--"+s.FileKey(), secretFile(t, v.secrets[s.Key]))
		}
		if s.Secret {
			require.NotEmpty(t, v.secrets[s.Key], s.Key)
		}
	}
}

// work runs a worker of some queues with the console's settings until the test is
// over.
func (c *testConsole) work(queues []string, log io.Writer) {
	flags := map[string]string{}
	for i := 0; i+1 < len(c.args); i += 2 {
		flags[strings.TrimPrefix(c.args[i], "--")] = c.args[i+1]
	}
	cfg, err := config.Load(flags, os.DevNull, nil)
	require.NoError(c.t, err)
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() {
		done <- pool.Run(ctx, cfg, pool.Options{Queues: queues, Cores: 2, Reader: documenttest.Shared(), Log: telemetry.Logger(log, "debug")})
	}()
	c.t.Cleanup(func() { stop(); require.NoError(c.t, <-done) })
}

// do runs a command, whatever it comes to.
func (v *tour) do(args ...string) (string, int) {
	v.t.Helper()
	var out, errs strings.Builder
	root := newRoot(&out, &errs)
	all := append(slices.Clone(args), v.args...)
	root.SetArgs(all)
	root.SetIn(strings.NewReader("quit\n"))
	cmd, _, err := root.Find(all)
	require.NoError(v.t, err)
	v.ran[cmd.CommandPath()] = true
	err = root.ExecuteContext(v.t.Context())
	fmt.Fprintln(&v.printed, out.String(), errs.String(), err)
	return out.String(), exitCode(err)
}

// must runs a command that is to succeed.
func (v *tour) must(args ...string) string {
	v.t.Helper()
	return v.exits(program.ExitOK, args...)
}

// exits runs a command that is to end with a code.
func (v *tour) exits(code int, args ...string) string {
	v.t.Helper()
	out, got := v.do(args...)
	require.Equal(v.t, code, got, "%v: %s", args, lastLines(v.printed.String()))
	return out
}

func lastLines(s string) string { return s[max(0, len(s)-600):] }

func (v *tour) file(name string) string { return filepath.Join(v.t.TempDir(), name) }

// operates runs what is for operators.
func (v *tour) operates() {
	t := v.t
	settings := v.file("gleaner.yaml")
	v.must("config", "init", settings)
	v.exits(program.ExitUsage, "config", "init", settings) // what is there is not written over
	pages := v.t.TempDir()
	v.must("man", pages)
	v.must("migrate")
	raw, err := os.ReadFile(filepath.Join(pages, "starter-harvest.1"))
	require.NoError(t, err)
	require.Contains(t, string(raw), "--years")
	require.Regexp(t, `\.TP\n--site URL\s+the academic documents of a site: of the URL's directory, or with --scope host of the whole host\n`, string(raw))
	raw, err = os.ReadFile(filepath.Join(pages, "starter.1"))
	require.NoError(t, err)
	require.Regexp(t, `(?s)\.EX\s+Try it: +starter demo\nOn one .*\nSettings: +starter config\s+\.EE\s+\.PP`, string(raw))

	v.must("blacklist", "add", "Rude.example", "--reason", "asked us to")
	require.Regexp(t, `rude\.example +\S+ +asked us to`, v.must("blacklist", "list"))
	v.exits(program.ExitUsage, "blacklist", "add", "not a host")
	v.must("blacklist", "remove", "rude.example")
	v.exits(program.ExitUnknown, "blacklist", "remove", "rude.example")
	require.NotContains(t, v.must("blacklist", "list"), "rude")

	out := v.exits(program.ExitFailed, "notify") // nobody listens for mail
	require.Contains(t, out, "sent by webhook")
	completed := func(words ...string) string {
		var out strings.Builder
		root := newRoot(&out, io.Discard)
		root.SetArgs(slices.Concat([]string{"__complete"}, v.args, words)) // the last word is what is completed
		require.NoError(t, root.ExecuteContext(t.Context()))
		return out.String()
	}
	out = completed("report", "")
	require.Contains(t, out, v.harvest+"\n")
	require.Contains(t, out, v.venue+"\n")
	require.Contains(t, completed("export", "x", "--format", ""), "csljson\n")
	require.Contains(t, completed("harvest", "--strategy", ""), "zhuang\n")
}

// harvested harvests the venue.
func (v *tour) harvested() {
	v.held = v.testConsole.file("held.csv", "title,year,author\nA Paper Held Already,2001,Doe\n")
	v.must("holdings", "import", v.held)
	v.must("holdings", "import", v.held, "--dry-run")
	out := v.must("harvest", v.venue, "--years", v.years, "--wait")
	require.Regexp(v.t, `complete: .* [1-9]\d* found`, out)
}

// looks runs what only looks.
func (v *tour) looks() {
	docs := answer[[]store.Listed](v.read, "documents", "list", "--state", "accepted")
	require.NotEmpty(v.t, docs)
	sha := docs[0].SHA256
	require.Contains(v.t, v.must("documents", "show", sha), docs[0].URL)
	require.NotEmpty(v.t, v.must("documents", "show", sha, "--as-text"))
	require.NotEmpty(v.t, v.must("documents", "show", sha, "--out", "-"))
	require.NotEmpty(v.t, v.must("explain", docs[0].URL))
	leading := answer[listedParents](v.read, "parents", "--limit", "1")
	require.Len(v.t, leading.Parents, 1)
	require.Contains(v.t, v.must("parents", leading.Parents[0].URL), leading.Parents[0].URL)
	for _, args := range [][]string{
		{"config"}, {"parents"}, {"config", "init", "--write-policy", "-"}, {"completion", "zsh"}, {"status"}, {"status", v.venue},
		{"watch", v.harvest}, {"report", v.venue}, {"report", v.venue, "--html", v.file("report.html")},
		{"documents", "list"}, {"documents", "retrieve", "--out", v.t.TempDir()},
		{"export", v.venue, "--format", "bibtex"}, {"export", v.venue, "--format", "tree", "--out", v.file("tree")},
		{"holdings", "list"}, {"holdings", "explain", v.venue},
		{"homepages", "list", v.venue},
		{"metadata", "show", v.venue, "--years", v.years}, {"venues", "search", strings.TrimPrefix(v.venue, "conf/")},
		{"sites", "list"}, {"sites", "show", weburl.Host(docs[0].URL)},
		{"sites", "slow", weburl.Host(docs[0].URL), "1s"}, {"sites", "slow", weburl.Host(docs[0].URL), "0s"},
		{"stats", "sites"}, {"stats", "domains"}, {"stats", "directories"},
		{"stats", "failures"}, {"stats", "table2"}, {"stats", "counters", v.venue}, {"stats", "searches"},
		{"whitelist", "show"}, {"whitelist", "show", "--plain"}, {"verify", "--deep"},
		{"review", "--list"}, {"review"}, {"reconcile", "--dry-run"}, {"prune", "--dry-run"},
	} {
		v.must(args...)
		if !strings.Contains(strings.Join(args, " "), "export") {
			v.do(append(args, "--json")...)
		}
	}
	v.do("doctor")
	v.exits(program.ExitUnknown, "documents", "show", strings.Repeat("0", 64))
}

// changes runs what changes the record.
func (v *tour) changes() {
	docs := answer[[]store.Listed](v.read, "documents", "list", "--state", "accepted")
	v.must("documents", "mark", "ingested", docs[0].SHA256)
	v.must("documents", "rejudge", "--state", "rejected", "--explain")
	author := regexp.MustCompile(`"name": "([^"]+)"`).FindStringSubmatch(v.must("homepages", "list", v.venue, "--json"))
	require.NotNil(v.t, author)
	v.must("homepages", "explain", author[1])
	v.must("homepages", "set", author[1], "http://"+v.web.Hosts()[0]+"/~somebody/")
	v.must("homepages", "forget", author[1])
	v.must("holdings", "forget", v.held)
	v.must("whitelist", "generate")
	v.must("whitelist", "import", v.testConsole.file("urls.txt", "http://"+v.web.Hosts()[0]+"/\n"))
	v.must("whitelist", "seed")
	v.secrets["a user's password"] = "mark-of-a-password"
	v.must("console", "user", "add", "ada", "--password-file", secretFile(v.t, v.secrets["a user's password"]))
	v.must("console", "user", "add", "ada", "--role", "administrator")
	v.must("console", "user", "list")
	v.must("console", "user", "remove", "ada")
	v.imports()
	v.tableJobs()
	v.must("reconcile")
	v.must("prune")
	v.must("recrawl", v.venue, "--wait")
	v.do("retry", v.venue, "--failed", "--wait")
}

// imports writes the accepted documents to an archive and imports them: all of them
// are there already.
func (v *tour) imports() {
	archive := v.file("found.warc.gz")
	v.must("documents", "retrieve", "--state", "accepted", "--kind", "pdf", "--format", "warc", "--out", archive)
	end := answer[endOfImport](v.read, "import", archive, "--wait")
	require.Equal(v.t, store.JobEnded, end.State)
	require.Positive(v.t, end.SavedDuplicate)
	require.Equal(v.t, end.All, end.SavedDuplicate, "what was written is what is read: %+v", end)
	require.Zero(v.t, end.Differences)
	out := v.must("import", archive, "--record", "off", "--filter", "off", "--types", "postscript", "--wait")
	require.Equal(v.t, end.All, strings.Count(out, "  not saved  filtered_MTF\n"), "a line for each file: %s", out)
	require.Contains(v.t, v.must("jobs", "list"), "found.warc.gz")
	v.must("jobs", "modify", "2", "--types", "", "--filter", "on")
	v.must("jobs", "run", "2", "--wait")
	require.Contains(v.t, v.must("jobs", "show", "2"), fmt.Sprintf("saved_Duplicate %d\n", end.All))
	for args, code := range map[string]int{"jobs show 99": program.ExitUnknown, "jobs run x": program.ExitUsage, "import": program.ExitUsage, "import /none": program.ExitUsage,
		"import " + archive + " --filter maybe": program.ExitUsage, "import " + archive + " --format tar": program.ExitUsage} {
		v.exits(code, strings.Fields(args)...)
	}
}

func (v *tour) schedules() {
	v.must("schedule", "create", "due", "--every", "30d")
	v.must("pause", "schedule/due")
	v.must("resume", "due")
	for _, do := range []string{"list", "show", "trigger", "delete"} {
		args := []string{"schedule", do, "due"}
		if do == "list" {
			args = args[:2]
		}
		v.must(args...)
	}
}

// ends pauses, resumes and cancels: what is complete is told apart.
func (v *tour) ends() {
	for _, do := range []string{"pause", "resume", "cancel"} {
		v.exits(program.ExitUnknown, do, v.harvest)
	}
}
