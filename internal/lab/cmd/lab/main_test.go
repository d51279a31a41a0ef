package main

import (
	"fmt"
	"io"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"

	"gleaner/internal/devstack/devtest"
	"gleaner/internal/document"
	"gleaner/internal/lab/sampleweb"
	"gleaner/internal/record/store"
	"gleaner/internal/service/program"
)

func TestMain(m *testing.M) {
	document.MaybeRunChild()
	os.Exit(devtest.Main(m))
}

// laboratory is a command line on a database of its own and a sample web.
type laboratory struct {
	t    *testing.T
	web  *sampleweb.Web
	args []string
	ran  map[string]bool
}

func open(t *testing.T) *laboratory {
	t.Helper()
	dsn := devtest.Postgres(t)
	db, err := store.Open(t.Context(), dsn, 2)
	require.NoError(t, err)
	t.Cleanup(db.Close)
	web := sampleweb.New(sampleweb.Options{Seed: 7, Years: 2, Papers: 16, PagesPerSite: 3})
	proxy := httptest.NewServer(web.Handler())
	t.Cleanup(proxy.Close)
	l := &laboratory{t: t, web: web, ran: map[string]bool{}}
	l.args = []string{"--database-url-file", l.file("database", dsn), "--data-dir", t.TempDir(), "--proxy-file", l.file("proxy", proxy.URL),
		"--contact", "test@example.org", "--delay", "20ms", "--min-delay", "20ms", "--dblp-url", web.DBLPURL(), "--dblp-delay", "1ms",
		"--search", "searxng", "--searxng-url", web.SearchURL()}
	return l
}

func (l *laboratory) file(name, body string) string {
	l.t.Helper()
	path := filepath.Join(l.t.TempDir(), name)
	require.NoError(l.t, os.WriteFile(path, []byte(body), 0o600))
	return path
}

// must runs a command that is to succeed, and returns what it printed.
func (l *laboratory) must(args ...string) string {
	l.t.Helper()
	var out, errs strings.Builder
	c := newRootCommand(&out, &errs, document.Child{})
	c.Root.SetArgs(append(args, l.args...))
	cmd, _, err := c.Root.Find(args)
	require.NoError(l.t, err)
	l.ran[cmd.CommandPath()] = true
	err = c.Root.ExecuteContext(l.t.Context())
	require.Equal(l.t, program.ExitOK, program.ExitCode(err), "%v: %v %s", args, err, errs.String())
	return out.String()
}

// home is a homepage below which a paper lies.
func (l *laboratory) home() string {
	truth := l.web.Truth()
	for _, p := range truth.Papers {
		for _, a := range truth.Authors {
			if len(p.URLs) > 0 && a.Homepage != "" && strings.HasPrefix(p.URLs[0], a.Homepage) {
				return a.Homepage
			}
		}
	}
	l.t.Fatal("no paper lies below a homepage")
	return ""
}

// elsewhere are the commands that are not run here.
var elsewhere = map[string]string{
	"lab":                        "prints its help",
	"lab bench":                  "prints its help",
	"lab bench documents worker": "is started by lab bench documents",
	"lab bench web":              "is started by lab bench crawl",
	"lab bench crawl":            "runs for minutes; make it short and it measures nothing",
	"lab bench documents":        "as above",
	"lab bench frontier":         "as above",
	"lab train filter":           "needs labelled documents; package evaluate tests it",
	"lab train homepage":         "trains for minutes; package hardset tests it",
}

// TestMeasuringOnASampleWeb records a site, compares strategies on it, learns from
// it, and judges homepages that are looked for now.
func TestMeasuringOnASampleWeb(t *testing.T) {
	t.Parallel()
	l := open(t)
	home, recorded, lists := l.home(), filepath.Join(t.TempDir(), "site.warc.gz"), filepath.Join(t.TempDir(), "lists.yaml")
	require.Contains(t, l.must("evaluate", "crawl", "--site", home, "--to", recorded, "--strategies", "bfs"), "site.warc.gz")
	l.must("train", "links", "--warc", recorded, "--out", lists)
	require.FileExists(t, lists)
	judged := "author\tpid\thomepage\n"
	for _, a := range l.web.Truth().Authors {
		judged += fmt.Sprintf("%s\t%s\t%s\n", a.Name, a.PID, a.Homepage)
	}
	labels := l.file("labels.tsv", judged)
	l.must("evaluate", "homepages", "--labels", labels)
	require.Regexp(t, `"right": [1-9]`, l.must("evaluate", "homepages", "--labels", labels, "--live", "--json"))
	for _, path := range commandPaths(newRootCommand(io.Discard, io.Discard, document.Child{}).Root) {
		if elsewhere[path] == "" {
			require.True(t, l.ran[path], "no test runs %s", path)
		}
	}
}

func commandPaths(c *cobra.Command) (all []string) {
	if c.Runnable() {
		all = append(all, c.CommandPath())
	}
	for _, sub := range c.Commands() {
		all = append(all, commandPaths(sub)...)
	}
	return all
}
