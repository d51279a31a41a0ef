package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"gleaner/activities"
	"gleaner/internal/each"
	"gleaner/internal/gleaner"
	"gleaner/internal/harvest"
	"gleaner/internal/harvest/report"
	"gleaner/internal/lab/sampleweb"
	"gleaner/internal/record/store"
	"gleaner/internal/service/program"
	"gleaner/internal/web/weburl"
)

// goals is a console on a sample web of two venues, with a worker.
type goals struct {
	*testConsole
	web   *sampleweb.Web
	truth sampleweb.Truth
}

func newGoals(t *testing.T) *goals {
	c := newConsole(t)
	g := &goals{testConsole: c, web: c.onWebOf(sampleweb.Options{Seed: 7, Venues: 2, Years: 2, Papers: 12, Authors: 12, PagesPerSite: 2, NoCrawlDelay: true})}
	c.onTemporal()
	g.truth = g.web.Truth()
	return g
}

// people are those with a homepage, of whom a paper can be had there and nowhere else.
func (g *goals) people() (out []sampleweb.AuthorTruth) {
	for _, a := range g.truth.Authors {
		host := weburl.Host(a.Homepage)
		if a.Homepage != "" && slices.ContainsFunc(g.of(a.Name), func(p sampleweb.PaperTruth) bool {
			return len(p.URLs) > 0 && !slices.ContainsFunc(p.URLs, func(u string) bool { return weburl.Host(u) != host })
		}) {
			out = append(out, a)
		}
	}
	return out
}

func (g *goals) of(author string) (out []sampleweb.PaperTruth) {
	return each.Where(g.truth.Papers, func(p sampleweb.PaperTruth) bool { return slices.Contains(p.Authors, author) })
}

func (g *goals) exports(name string) (out []store.Exported) {
	g.t.Helper()
	for line := range strings.Lines(g.ok("export", name)) {
		var e store.Exported
		require.NoError(g.t, json.Unmarshal([]byte(line), &e))
		out = append(out, e)
	}
	return out
}

// TestHarvestOfASiteAPersonAndAList from the command line to what they export, each
// named afterwards as a venue is.
func TestHarvestOfASiteAPersonAndAList(t *testing.T) {
	t.Parallel()
	g := newGoals(t)
	g.work(activities.Queues(), io.Discard)
	people := g.people()
	require.Greater(t, len(people), 2)
	g.site(people[0])
	g.personAndList(people[1])
}

// site crawls the directory of one homepage: no catalogue is asked, and other hosts for
// documents alone.
func (g *goals) site(who sampleweb.AuthorTruth) {
	out := g.ok("harvest", "--site", who.Homepage, "--wait")
	require.Regexp(g.t, `^site:http.* complete: [1-9]\d* academic documents of \d+ files`, out)
	for _, q := range g.web.Log() {
		if q.Host != weburl.Host(who.Homepage) && q.Path != "/robots.txt" {
			require.True(g.t, weburl.IsDocumentName("http://"+q.Host+q.Path), "%s%s", q.Host, q.Path)
		}
	}
	name := "site:" + who.Homepage
	had := each.Of(g.exports(name), func(e store.Exported) string { return e.SHA256 })
	for _, p := range g.of(who.Name) {
		for i, u := range p.URLs {
			if weburl.Host(u) == weburl.Host(who.Homepage) && p.Missing == "" {
				require.Contains(g.t, had, p.SHA256[i], u)
			}
		}
	}
	r := answer[report.Report](g.read, "report", name)
	require.Equal(g.t, len(had), r.Files.Papers)
	require.Contains(g.t, g.ok("report", name), "academic documents")
	require.NotContains(g.t, g.ok("status", name), "wanted")
	s := answer[scheduled](g.read, "schedule", "create", name, "--every", "30d")
	require.Equal(g.t, name, s.Schedule)
	require.Contains(g.t, g.ok("schedule", "delete", name), "deleted")
	require.Contains(g.t, g.ok("retry", name, "--reason", "not-found"), name+" goes on")
	g.ok("watch", name)
}

// personAndList harvests, in one command, the papers of a person and those of a file.
func (g *goals) personAndList(who sampleweb.AuthorTruth) {
	var bib strings.Builder
	var listed []sampleweb.PaperTruth
	var with []string // their homepages link to what they wrote together
	for _, p := range g.of(who.Name) {
		with = append(with, p.Authors...)
	}
	for _, p := range g.truth.Papers { // whichever harvest is faster, none finds the other's for it
		if !slices.ContainsFunc(p.Authors, func(a string) bool { return slices.Contains(with, a) }) && len(listed) < 6 {
			listed = append(listed, p)
		}
	}
	require.Len(g.t, listed, 6)
	for i, p := range listed {
		fmt.Fprintf(&bib, "@inproceedings{p%d, title={%s}, author={%s}, year={%d}}\n", i, p.Title, strings.Join(p.Authors, " and "), p.Year)
	}
	out := g.ok("harvest", "--author", who.Name, "--papers", g.file("Reading List.bib", bib.String()), "--wait")
	require.Contains(g.t, out, "author:"+who.PID+" complete")
	require.Contains(g.t, out, "papers:reading-list complete")

	r := answer[report.Report](g.read, "report", "author:"+who.PID)
	require.Equal(g.t, len(g.of(who.Name)), r.Summary.Published)
	require.Equal(g.t, []int{1, 1}, []int{r.Authors, r.Homepages}, "co-authors are not looked for")
	g.found("author:"+who.PID, g.of(who.Name), func(p sampleweb.PaperTruth) bool {
		return slices.ContainsFunc(p.URLs, func(u string) bool { return weburl.Host(u) == weburl.Host(who.Homepage) })
	})
	g.read(&r, "report", "papers:reading-list")
	require.Equal(g.t, len(listed), r.Summary.Published)
	g.found("papers:reading-list", listed, func(sampleweb.PaperTruth) bool { return true })
	entries := g.ok("export", "papers:reading-list", "--format", "bibtex")
	require.Contains(g.t, entries, "@inproceedings{p0,", "by the keys and types of the list, which is no venue")
	require.NotContains(g.t, entries, "papers:")
	var s harvestStatus
	g.read(&[]*harvestStatus{&s}, "status", "papers:reading-list")
	require.Equal(g.t, gleaner.Years{}, s.Years)
}

// found holds what was exported against the truth: whatever is there to be had was
// found, and nothing that is something else.
func (g *goals) found(name string, papers []sampleweb.PaperTruth, there func(sampleweb.PaperTruth) bool) {
	g.t.Helper()
	byTitle := map[string]string{}
	for _, e := range g.exports(name) {
		byTitle[e.Title] = e.SHA256
	}
	for _, p := range papers {
		sha, ok := byTitle[p.Title]
		if p.Missing == "" && there(p) {
			require.True(g.t, ok, "%s: %q of %v was not found", name, p.Title, p.URLs)
		}
		if ok {
			require.Contains(g.t, p.SHA256, sha, p.Title)
		}
	}
}

// TestSeveralVenuesAreStartedByOneCommand, once all of them are known.
func TestSeveralVenuesAreStartedByOneCommand(t *testing.T) {
	t.Parallel()
	g := newGoals(t)
	first, last := g.web.Years()
	years := gleaner.Years{From: first, To: last}.String()
	venues := g.web.Venues()
	require.Contains(t, g.wrong(program.ExitUnknown, "harvest", venues[0], "conf/none", "--years", years), "conf/none")
	out := g.ok("harvest", venues[0], venues[1], "--site", "www.example.edu/~ada", "--years", years)
	for _, id := range []string{venues[0] + "/" + years, venues[1] + "/" + years, "site:https://www.example.edu/~ada"} {
		require.Contains(t, out, id+" started", "the first command started none")
	}
	out = g.ok("harvest", venues[0], "--years", years)
	require.Contains(t, out, "is running already since ")
	require.NotContains(t, out, "not taken")
	id := venues[0] + "/" + years
	require.NoError(t, g.SaveHarvest(t.Context(), store.Harvest{ID: id, Venue: venues[0], Years: gleaner.Years{From: first, To: last}, Options: []byte("{}")}))
	require.NoError(t, g.SetPaused(t.Context(), id, true))
	require.Contains(t, g.ok("harvest", venues[0], "--years", years),
		"it is paused: `starter resume "+id+"` lets it go on")
	out = g.ok("harvest", venues[0], "--years", years, "--max-pages", "50", "--budget", "2.5", "--scope", "prefix")
	require.Contains(t, out, "--max-pages 50 is not taken, it runs with the default")
	require.Contains(t, out, "--budget 2.5 is not taken, it runs with the default")
	require.Contains(t, out, "starter cancel "+venues[0]+"/"+years)
	require.NotContains(t, out, "--scope", "it runs so")
	slower, _, result := g.background(t.Context(), "harvest", venues[0], "--years", years, "--delay", "5s")
	require.Equal(t, program.ExitOK, result())
	require.Contains(t, slower.String(), "--delay 5s is not taken, it runs with 20ms\n  `starter sites slow HOST 5s` slows one")
	said := answer[startedHarvest](g.read, "harvest", venues[0], "--years", years, "--strategy", "bfs")
	require.Equal(t, []notTaken{{Option: "strategy", Asked: "bfs"}}, said.NotTaken)
	require.Contains(t, g.ok("harvest", venues[0], "--years", fmt.Sprintf("%d,%d", last+2, first)), fmt.Sprintf("%s/%d,%d started", venues[0], first, last+2))
	require.Contains(t, g.ok("harvest", venues[0]), venues[0]+" started", "all years")
}

// TestMetadataOfAPerson are shown as a venue's are, of all years where none are named.
func TestMetadataOfAPerson(t *testing.T) {
	t.Parallel()
	g := newGoals(t)
	who := g.truth.Authors[0]
	out := g.ok("metadata", "show", "author:"+who.PID)
	require.Contains(t, out, "author:"+who.PID+" all years: ")
	for _, p := range g.of(who.Name) {
		require.Contains(t, out, p.Title)
	}
	require.Contains(t, g.wrong(program.ExitUsage, "metadata", "show", "site:https://www.example.edu/"), "no catalogue lists a site")
}

// TestGoalsThatCannotBe are told at once, with what to write instead.
func TestGoalsThatCannotBe(t *testing.T) {
	t.Parallel()
	g := newGoals(t)
	for say, args := range map[string][]string{
		"want a venue such as conf/webdb, --site":           {},
		"--years is of papers, and a site has none":         {"--site", "https://www.example.edu/", "--years", "2001"},
		"is no address of a site; want one such as":         {"--site", "ftp://www.example.edu/"},
		"--scope: want one of prefix, host, not \"domain\"": {"--site", "https://www.example.edu/", "--scope", "domain"},
		"--papers, --sources and --id are of one":           {"conf/a", "conf/b", "--years", "2001", "--id", "issn=1234-5678"},
		"the address of a site has 800 bytes at most":       {"--site", "https://www.example.edu/" + strings.Repeat("a", 800)},
		"no-such-file.bib":                                  {"--papers", "no-such-file.bib"},
		"line 2, column 1: \"ten.11\" is not a DOI; want one a line, such as 10.1145/872757.872770\nline 3": {"--papers", g.file("wanted.doi", "10.1145/1.2\nten.11\neleven\n")},
		"--papers: the list is named by its file":                                                           {"--papers", g.file(".bib", "@misc{a, title={A}}")},
		"line 1, column 1: entry 1 has neither":                                                             {"--papers", g.file("a.ris", "TY  - JOUR\nER  - \n")},
		"a venue, an author or a site without a name":                                                       {"--author", ""},
		"holds no paper of 1999":                                                                            {"--papers", g.file("empty.csv", "title,year\nA Thing of Last Year,2001\n"), "--years", "1999"},
	} {
		require.Contains(t, g.wrong(program.ExitUsage, append([]string{"harvest"}, args...)...), say)
	}
	for _, host := range []string{"www.example.edu", "www.example.edu:http"} {
		said := g.wrong(program.ExitUsage, "harvest", "--site", "http://ada:sesame@"+host+"/")
		require.NotContains(t, said, "sesame", "a password is not repeated")
	}
	for say, args := range map[string][]string{
		"no person \"Nobody Anywhere\" is known to DBLP": {"harvest", "--author", "Nobody Anywhere"},
		"no person \"99/99999\" is known to DBLP":        {"harvest", "--author", "99/99999"},
		"no list is called papers:unheard":               {"harvest", "papers:unheard"},
		"site:https://www.example.edu/: no such harvest": {"report", "site:www.example.edu"},
	} {
		require.Contains(t, g.wrong(program.ExitUnknown, args...), say)
	}
	part, _, _ := strings.Cut(g.truth.Authors[0].Name, " ")
	require.Contains(t, g.wrong(program.ExitUnknown, "harvest", "--author", part), "; did you mean: "+g.truth.Authors[0].PID)
}

// TestAListIsOneFiles: years do not make the list shorter for the next ones, and a
// harvest that runs is not given other papers by a file of the same name.
func TestAListIsOneFiles(t *testing.T) {
	t.Parallel()
	c := newConsole(t)
	c.onTemporal()
	const two = "title,year\nA Thing of One Year,2001\nA Thing of Another,2002\n"
	list := c.file("mine.csv", two)
	c.ok("harvest", "--papers", list, "--years", "2001")
	c.ok("harvest", "--papers", list, "--years", "2002")
	had, err := c.Listing(t.Context(), harvest.SourceFile, "papers:mine", gleaner.Years{})
	require.NoError(t, err)
	require.Len(t, had, 2)

	require.NoError(t, c.SaveHarvest(t.Context(), store.Harvest{ID: "papers:mine", Venue: "papers:mine", Options: []byte("{}"), Stage: "crawl"}))
	c.ok("harvest", "--papers", list)
	other := c.file("mine.csv", "title,year\nA Thing of Somebody Else,2001\n")
	require.Contains(t, c.wrong(program.ExitUsage, "harvest", "--papers", other), "papers:mine is being harvested with other papers")
	had, err = c.Listing(t.Context(), harvest.SourceFile, "papers:mine", gleaner.Years{})
	require.NoError(t, err)
	require.Len(t, had, 2)
	require.NoError(t, c.SetStage(t.Context(), "papers:mine", gleaner.StageComplete, ""))
	require.Contains(t, c.wrong(program.ExitUsage, "harvest", "--papers", other), "papers:mine is the list of "+list)
	list = c.file("mine.csv", two)
	c.ok("harvest", "--papers", list)
	raw, err := os.ReadFile(other)
	require.NoError(t, errors.Join(err, os.WriteFile(list, raw, 0o600)))
	c.ok("harvest", "--papers", list)
	had, err = c.Listing(t.Context(), harvest.SourceFile, "papers:mine", gleaner.Years{})
	require.NoError(t, err)
	require.Len(t, had, 1)
	require.NoError(t, c.SavePapers(t.Context(), []gleaner.Paper{{Key: "papers:mine/gone", Venue: "papers:mine", Year: 2001, Title: "A Thing Withdrawn"}}, nil))
	require.NoError(t, c.SavePapers(t.Context(), had, nil))
	require.Contains(t, c.ok("harvest", "papers:mine", "--dry-run"), "papers:mine: 1 paper ")

	require.NoError(t, c.SavePapers(t.Context(), []gleaner.Paper{{Key: "conf/x/a", Venue: "conf/x", Year: 2001, Title: "A Thing of DBLP"}}, nil))
	for _, dry := range []string{"--dry-run=false", "--dry-run"} {
		require.Contains(t, c.wrong(program.ExitUsage, "harvest", "conf/x", "--papers", other, dry), "would replace the 1 papers of conf/x")
	}
	undated := c.file("undated.csv", "title,year\nA Thing of One Year,2001\nA Thing of No Year,\n")
	require.Contains(t, c.ok("harvest", "--papers", undated, "--years", "2001"), "papers:undated/2001 started")
	had, err = c.Listing(t.Context(), harvest.SourceFile, "papers:undated", gleaner.Years{})
	require.NoError(t, err)
	require.Equal(t, []int{0, 2001}, each.Of(had, func(p gleaner.Paper) int { return p.Year }), "nobody knows its year")
	require.NotContains(t, c.ok("harvest", "--papers", undated, "--years", "2001", "--dry-run"), "A Thing of No Year")
	out := c.ok("harvest", "--papers", c.file("some.doi", "10.5555/exa.1\n10.5555/exa.2\n"), "--dry-run")
	require.Contains(t, out, "wanted  -  10.5555/exa.1\n")
	require.Contains(t, out, "of 2 papers only the DOI is known here; the harvest asks Crossref")
	c.ok("harvest", "conf/x", "--papers", other, "--sources", "file")

	const untitled = "title,year\nA Thing of One Year,2001\n,2002\n"
	const left = " left out:\nline 3, column 1: entry 2 has neither a title nor a DOI\n"
	mixed := c.file("mixed.csv", untitled)
	_, errs, result := c.background(t.Context(), "harvest", "--papers", mixed, "--dry-run")
	require.Equal(t, program.ExitOK, result())
	require.Contains(t, errs.String(), "hint: 1 entry of "+mixed+left)
	_, said, err := c.desk().EnterList(t.Context(), "more.csv", untitled, false)
	require.NoError(t, err)
	require.Equal(t, "1 entry of more.csv"+left, said)
}
