package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"

	"gleaner/internal/classify"
	"gleaner/internal/devstack/devtest"
	"gleaner/internal/document"
	"gleaner/internal/gleaner"
	"gleaner/internal/lab/bench"
	"gleaner/internal/lab/evaluate"
	"gleaner/internal/lab/sampleweb"
	"gleaner/internal/record/frontier"
	"gleaner/internal/record/store"
	"gleaner/internal/service/program"
	"gleaner/internal/web/page"
)

func TestMain(m *testing.M) {
	document.MaybeRunChild()
	if len(os.Args) > 2 && os.Args[2] == "web" { // of a benchmark
		main()
	}
	os.Exit(devtest.Main(m))
}

// laboratory is a command line on a database of its own and a sample web.
type laboratory struct {
	t    *testing.T
	web  *sampleweb.Web
	db   *store.DB
	args []string
	ran  map[string]bool
}

func open(t *testing.T) *laboratory {
	dsn := devtest.Postgres(t)
	db, err := store.Open(t.Context(), dsn, 2)
	require.NoError(t, err)
	t.Cleanup(db.Close)
	web := sampleweb.New(sampleweb.Options{Seed: 7, Years: 2, Papers: 16, PagesPerSite: 3})
	proxy := httptest.NewServer(web)
	t.Cleanup(proxy.Close)
	l := &laboratory{t: t, web: web, db: db, ran: map[string]bool{}}
	l.args = []string{"--database-url-file", l.file("database", dsn), "--data-dir", t.TempDir(), "--proxy-file", l.file("proxy", proxy.URL),
		"--contact", "test@example.org", "--delay", "20ms", "--min-delay", "20ms", "--dblp-url", sampleweb.DBLPURL, "--dblp-delay", "1ms",
		"--search", "searxng", "--searxng-url", sampleweb.SearchURL}
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

// recorded is a mirror of a site with one paper, and the file by which that is wanted.
func (l *laboratory) recorded() (dir, wanted string) {
	l.t.Helper()
	dir, pile := filepath.Join(l.t.TempDir(), "h.example"), sampleweb.NewPile(7)
	title := pile.Paper(1).Title
	require.NoError(l.t, os.Mkdir(dir, 0o700))
	require.NoError(l.t, os.WriteFile(filepath.Join(dir, "index.html"), []byte(`<a href="1.pdf">`+title+`</a> <a href="2.pdf">Slides</a>`), 0o600))
	require.NoError(l.t, os.WriteFile(filepath.Join(dir, "1.pdf"), pile.File(1, sampleweb.AsPDF), 0o600))
	require.NoError(l.t, os.WriteFile(filepath.Join(dir, "2.pdf"), pile.File(2, sampleweb.AsSlides), 0o600))
	return dir, l.file("wanted.tsv", title+"\thttp://h.example/1.pdf\n")
}

// elsewhere are the commands that are not run here.
var elsewhere = map[string]string{
	"lab":                "prints its help",
	"lab bench":          "prints its help",
	"lab bench web":      "is started by lab bench crawl",
	"lab bench crawl":    "TestPeersOnTime runs it",
	"lab bench frontier": "runs for minutes; make it short and it measures nothing",
	"lab bench import":   "package bench tests it",
	"lab bench scale":    "as above",
	"lab bench peers":    "TestPeers runs it",
	"lab papers":         "runs for minutes; package evaluate tests its tables",
	"lab train filter":   "needs labelled documents; package evaluate tests it",
	"lab train homepage": "trains for minutes; package hardset tests it",
}

// trainTopic learns from pages of two hosts each about something and about nothing of it.
func (l *laboratory) trainTopic() {
	l.t.Helper()
	require.Equal(l.t, "http://h/x\ttopic\n", labelsOf("page\tlabel\nfarm/h/x\tcs\natlas/h/y\tcs\n", "farm"))
	mirror, labels := l.t.TempDir(), "url\tlabel\n"
	for i, words := range []string{"compilers and databases, networks of protocols", "manifolds and algebra, homology of theorems",
		"a database of protocols for compilers", "the algebra of manifolds"} {
		host, label := fmt.Sprintf("h%d.example", i), []string{"topic", "other"}[i%2]
		require.NoError(l.t, os.MkdirAll(filepath.Join(mirror, host), 0o700))
		require.NoError(l.t, os.WriteFile(filepath.Join(mirror, host, "index.html"), []byte("<p>"+words+"</p>"), 0o600))
		labels += "http://" + host + "/\t" + label + "\n"
	}
	model := filepath.Join(l.t.TempDir(), "topic.json")
	args := []string{"train", "topic", "--dir", mirror, "--labels", l.file("pages.tsv", labels), "--out", model, "--folds", "2", "--phrases"}
	said := l.must(args...)
	require.Regexp(l.t, `(?m)^sites, pages beside +\d\.\d{3} `, said)
	var got struct{ Figures evaluate.ClassifierFigures }
	require.NoError(l.t, json.Unmarshal([]byte(l.must(append(args, "--json")...)), &got))
	require.Equal(l.t, 2, got.Figures.Folds)
	text, err := os.ReadFile(model)
	require.NoError(l.t, err)
	var c classify.Classifier
	require.NoError(l.t, json.Unmarshal(text, &c))
	require.NoError(l.t, c.Check())
	require.True(l.t, c.Options.Phrases)
	require.Len(l.t, c.Pages, 4)
	require.Equal(l.t, classify.Labelled{URL: "http://h0.example/", Topic: true, Words: "compil databas network protocol"}, c.Pages[0])
}

// TestMeasuringOnASampleWeb compares strategies on a recorded site, learns from it, and judges
// homepages that are looked for now.
func TestMeasuringOnASampleWeb(t *testing.T) {
	t.Parallel()
	l := open(t)
	site, wanted := l.recorded()
	lists := filepath.Join(t.TempDir(), "lists.yaml")
	require.Regexp(t, `(?m)^h.example +1 papers`, l.must("evaluate", "crawl", "--record", site))
	require.Regexp(t, `(?m)^\S+ +1 papers`, l.must("evaluate", "crawl", "--record", site, "--wanted", wanted))
	l.must("train", "links", "--record", site, "--out", lists)
	require.FileExists(t, lists)
	l.trainTopic()
	judged := "author\tpid\thomepage\n"
	for _, a := range l.web.Truth().Authors {
		judged += fmt.Sprintf("%s\t%s\t%s\n", a.Name, a.PID, a.Homepage)
	}
	labels := l.file("labels.tsv", judged)
	l.must("evaluate", "homepages", "--labels", labels)
	require.Regexp(t, `(?m)^ +worst +gleaner`, l.must("evaluate", "collect", "--hosts", "40", "--host-pages", "5", "--topics", "2", "--share", "5", "--gaps", "1", "--pages", "100"))
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

// crawled lays down a crawl of a host on whose pages "publications" leads to papers.
func (l *laboratory) crawled(host string) {
	l.t.Helper()
	ctx, at := l.t.Context(), func(path string) string { return "http://" + host + path }
	site, err := store.EnsureSite(ctx, l.db.Pool, host)
	require.NoError(l.t, err)
	for i, link := range []struct {
		path, parent, anchor string
		state                frontier.State
	}{
		{"/", "", "", frontier.Page}, {"/pubs.html", "/", "publications", frontier.Page}, {"/fun.html", "/", "hobbies", frontier.Page},
		{"/1.pdf", "/pubs.html", "pdf", frontier.Document}, {"/2.pdf", "/pubs.html", "pdf", frontier.Document}, {"/cv.pdf", "/fun.html", "vita", frontier.Document},
	} {
		e := frontier.Entry{Candidate: page.Candidate{Link: page.Link{URL: at(link.path), Anchor: link.anchor, Source: page.SourceAnchor}}}
		if link.parent != "" {
			e.Parent, e.Depth = at(link.parent), strings.Count(link.anchor, "pdf")+1
		}
		_, err := frontier.Add(ctx, l.db.Pool, site, []frontier.Entry{e})
		require.NoError(l.t, err)
		require.NoError(l.t, frontier.Done(ctx, l.db.Pool, site, []frontier.Visit{{Entry: &e, State: link.state, Outcome: gleaner.OK, Status: 200, Crawl: 1, At: time.Now()}}))
		if link.state != frontier.Document || link.anchor != "pdf" {
			continue
		}
		sha, hash := fmt.Sprint("sha", i), e.Hash()
		require.NoError(l.t, l.db.SaveFetched(ctx, store.Document{SHA256: sha, SHA1: sha, MD5: sha, Kind: "pdf"},
			store.Location{Hash: hash[:], SiteID: site, URL: e.Link.URL, Parent: e.Parent, Found: time.Now()}, nil))
		_, err = l.db.Pool.Exec(ctx, `UPDATE documents SET state='accepted'`)
		require.NoError(l.t, err)
	}
}

// TestPeers: those that are on the machine ask for every page, and the others say why they
// do not. Colly asks for some twice, the more the busier the machine.
func TestPeers(t *testing.T) {
	t.Parallel()
	l := open(t)
	args := []string{"bench", "peers", "--pages", "40", "--hosts", "2", "--delays", "0,1ms", "--no-install"}
	args = append(args, "--dir", t.TempDir(), "--peers", "gleaner,colly,bare,wget,katana")
	table := l.must(args...)
	for _, name := range []string{"gleaner", "colly", "bare", "wget"} {
		want := ` +[1-9]\d* +\d+\.\d\d +\d+\.\d\d +0\.00 +\d+ +\d\d .*URLs once`
		if _, err := exec.LookPath(name); name == "wget" && err != nil {
			want = ".* not on this machine"
		}
		require.Regexp(t, `(?m)^`+name+` +0s`+want, table)
		require.Regexp(t, `(?m)^`+name+` +1ms`+want, table)
	}
	require.Regexp(t, `(?m)^katana .* 0  not on this machine$`, table)
	var runs []bench.Run
	require.NoError(t, json.Unmarshal([]byte(l.must(append(args, "--json", "--files", "5", "--rounds", "2")...)), &runs))
	require.Len(t, runs, 10)
	require.Equal(t, [2]int{40, 42}, [2]int{runs[0].Pages, runs[0].Requests}, "and robots.txt of each host")
	require.Greater(t, runs[0].Database.Rows, 6., "a page is inserted and updated, and has five links")
	require.Equal(t, 40, runs[2].Requests)
	require.Zero(t, runs[5].Impolite, "%+v", runs[5])
	require.NotEmpty(t, runs[4].Missing)
}

// TestPeersOnTime: a crawler that does not come to its end is ended, and its row says so.
func TestPeersOnTime(t *testing.T) {
	t.Parallel()
	l := open(t)
	dir := t.TempDir()
	require.NoError(t, os.MkdirAll(dir+"/bin", 0o700))
	require.NoError(t, os.WriteFile(dir+"/bin/katana", []byte("#!/bin/sh\nsleep 100 & wait\n"), 0o700)) //nolint:gosec // is run
	args := []string{"bench", "crawl", "--pages", "4", "--hosts", "2", "--no-install", "--dir", dir}
	table := l.must(append(args, "--peers", "katana", "--timeout", "200ms")...)
	require.Regexp(t, `katana .* context deadline exceeded`, table)
}

// TestWordsOfCrawlsOnRecord: what was crawled for real is learnt from; a host that was
// not is said to be unknown.
func TestWordsOfCrawlsOnRecord(t *testing.T) {
	t.Parallel()
	l := open(t)
	out := filepath.Join(t.TempDir(), "lists.yaml")
	var errs strings.Builder
	c := newRootCommand(io.Discard, &errs, document.Child{})
	c.Root.SetArgs(append([]string{"train", "links", "--from", "nowhere.example", "--out", out}, l.args...))
	require.Equal(t, program.ExitUnknown, program.ExitCode(c.Root.ExecuteContext(t.Context())))
	require.NoFileExists(t, out)
	l.crawled("ada.example")
	require.Contains(t, l.must("train", "links", "--from", "ada.example", "--out", out), "publication ")
	lists, err := os.ReadFile(out)
	require.NoError(t, err)
	require.Contains(t, string(lists), "- publication\n")
}
