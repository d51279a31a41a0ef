package report

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gleaner/internal/devstack/devtest"
	"gleaner/internal/gleaner"
	"gleaner/internal/gleaner/evidence"
	"gleaner/internal/match"
	"gleaner/internal/record/store"
)

// sample is a report with something of everything, and with words that would
// break a careless page.
func sample() *Report {
	r := &Report{
		Harvest: store.Harvest{ID: "conf/webdb/1998-1999", Venue: "conf/webdb", Years: gleaner.Years{From: 1998, To: 1999}, Stage: "complete"},
		Title:   "Workshop on the Web & <Databases>",
		Found: []store.Change{
			{What: "found", Title: "Views & <Queries>", Year: 1998, Authors: []string{"Ada Lovelace"}, URL: "http://ada.example/~ada/" + strings.Repeat("long", 60) + ".pdf"},
			{What: "lost", Title: "Gone", Year: 1999, Authors: []string{"Bob"}, URL: "javascript:alert(1)"},
		},
		Made:    time.Date(2004, 6, 17, 12, 0, 0, 0, time.UTC),
		Ended:   &Ending{At: time.Date(2004, 6, 1, 12, 0, 0, 0, time.UTC), Found: 15, Missing: 5, Authors: 60, Homepages: 55},
		Summary: Summary{Published: 30, Held: 10, Found: 17, HeldMet: 4}, Authors: 60, Homepages: 55,
		Years: []Year{{Year: 1998, Summary: Summary{Published: 14, Held: 4, Found: 9, HeldMet: 1}}, {Year: 1999, Summary: Summary{Published: 16, Held: 6, Found: 8, HeldMet: 3}}},
		Missing: []MissingPaper{
			{Paper: "conf/webdb/a", Title: "Queries & <Views>", Year: 1998, Authors: []string{"Ada Lovelace"}, Reason: NotLinked, Evidence: []string{"http://ada.example/: crawled"}},
			{Paper: "conf/webdb/b", Title: "Joins", Year: 1999, Authors: []string{"Bob"}, Reason: NoHomepage, Evidence: []string{"Bob: " + strings.Repeat("x", 400)}},
			{Paper: "conf/webdb/c", Title: "Unions", Year: 1999, Authors: []string{"Cy"}, Reason: NotLinked, Evidence: []string{"none"}},
		},
		Reasons: map[Reason]int{NotLinked: 2, NoHomepage: 1},
		Sites:   []SiteLine{{Host: strings.Repeat("long.", 40) + "example", State: "refused", Reason: strings.Repeat("http://x.example/", 30)}},
		Barred:  []string{"rude.example (paused by a person: mail)"},
		LeftOut: map[string]int{"ignore-list": 7, "max-depth": 2},

		Untitled: []string{"10.1/x"}, Unasked: []string{"crossref: no answer"},

		Counters: store.Counters{Unexamined: 7},
	}
	r.Summary.Finish()
	for i := range r.Years {
		r.Years[i].Finish()
	}
	return r
}

func TestSummary(t *testing.T) {
	t.Parallel()
	s := sample().Summary
	require.Equal(t, Summary{Published: 30, Held: 10, Wanted: 20, Found: 17, Missing: 3, HeldMet: 4, Recall: 0.85, Target: 0.7, Covered: 0.9}, s)
	var none Summary
	none.Finish()
	require.Zero(t, none.Recall)
}

func TestTextTellsEveryMissingPaper(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	require.NoError(t, sample().WriteText(&b))
	for _, want := range []string{"recall 85.0 %", "\n1 entry is not listed, since no title is known for its DOI: 10.1/x; crossref: no answer\n", "\n7 documents are not read yet\n", "with 15 found and 5 missing; held papers and homepages are of then, all else of now, 2004-06-1", "links left out: ignore-list 7, max-depth 2", "1 site is not asked: rude.example (paused by a person: mail)", "missing: nothing linked (2 papers)", "missing: no homepage found (1 paper)", "Queries & <Views>", "1998", "90.0 %", "of all published found 70.0 %, 4 held ones among them; held or found 90.0 %"} {
		require.Contains(t, b.String(), want)
	}
	require.Less(t, strings.Index(b.String(), "nothing linked"), strings.Index(b.String(), "no homepage"), "the nearer reason first")
	r := sample()
	r.Missing = []MissingPaper{{Title: "Keys", Reason: Ambiguous}}
	require.NoError(t, r.WriteText(&b))
	require.Contains(t, b.String(), "missing: ambiguous (1 paper); settle them: starter review conf/webdb\n")
}

func TestJSONReadsBack(t *testing.T) {
	t.Parallel()
	body, err := json.Marshal(sample())
	require.NoError(t, err)
	var back Report
	require.NoError(t, json.Unmarshal(body, &back))
	require.Equal(t, sample(), &back)
}

// TestJSONIsWrittenPieceByPiece: the bytes are those of the encoder, whatever is in the
// lists, and no list is ever held as one text.
func TestJSONIsWrittenPieceByPiece(t *testing.T) {
	t.Parallel()
	careless, empty := sample(), sample()
	careless.Title, careless.Missing[0].Title = "\n  \"missing\": null", "\n  \"sites\": null"
	empty.Found, empty.Missing, empty.Sites = []store.Change{}, nil, []SiteLine{}
	for _, r := range []*Report{sample(), careless, empty, {}} {
		var want strings.Builder
		enc := json.NewEncoder(&want)
		enc.SetIndent("", "  ")
		require.NoError(t, enc.Encode(r))
		var got strings.Builder
		require.NoError(t, r.WriteJSON(&got))
		require.Equal(t, want.String(), got.String())
	}
	large := sample()
	for range 10_000 {
		large.Missing = append(large.Missing, large.Missing[1])
	}
	var w longest
	require.NoError(t, large.WriteJSON(&w))
	require.Greater(t, w.all, 5_000_000)
	require.Less(t, w.longest, 100_000)
}

// longest knows how much it was given at once.
type longest struct{ longest, all int }

func (l *longest) Write(p []byte) (int, error) {
	l.longest, l.all = max(l.longest, len(p)), l.all+len(p)
	return len(p), nil
}

// TestPageInABrowser looks at the page as Chromium lays it out: the charts are
// drawn, markup in titles is text, and nothing is wider than the window.
func TestPageInABrowser(t *testing.T) {
	t.Parallel()
	browser := devtest.Browser(t)
	var b strings.Builder
	require.NoError(t, sample().WriteHTML(&b))
	b.WriteString(`<script>
		const r = document.querySelectorAll("rect") // each of something: none is empty
		document.title = ["rects", r.length, "bold", document.querySelectorAll("views, databases, queries").length, "over", document.documentElement.scrollWidth - innerWidth,
			"links", document.querySelectorAll("a[href^='http://ada.example/']").length, document.querySelectorAll("a[href^='javascript']").length, document.querySelector("h1").textContent].join(" ")
	</script>`)
	dir := t.TempDir()
	file := filepath.Join(dir, "report.html")
	require.NoError(t, os.WriteFile(file, []byte(b.String()), 0o644))
	out := browser("--window-size=800,900", "--dump-dom", "file://"+file)
	title := regexp.MustCompile(`<title>rects (\d+) bold (\d+) over (-?\d+) links (\d+) (\d+) ([^<]*)</title>`).FindStringSubmatch(out)
	require.NotNil(t, title, "the script did not run: %.300s", out)
	require.Contains(t, out, "Links left out: ignore-list 7, max-depth 2")
	require.Contains(t, out, "<b>70.0 %</b>of all published found, 4 held ones among them</div>")
	require.Contains(t, out, "1 site is not asked: rude.example (paused by a person: mail)")
	require.Contains(t, out, "with 15 found and 5 missing; held papers and homepages are of then, all else of now, 17 June 2004")
	// Three parts and three recalls of two years, two reasons with papers.
	require.Equal(t, "14", title[1])
	require.Equal(t, "0", title[2], "a title was read as markup")
	require.Equal(t, []string{"1", "0", "Workshop on the Web &amp; &lt;Databases&gt;"}, title[4:])
	require.True(t, strings.HasPrefix(title[3], "-") || title[3] == "0", "%s pixels too wide", title[3])
}

// TestBarrenWithItsPlaces: a homepage led nowhere where its places of papers did, too.
func TestBarrenWithItsPlaces(t *testing.T) {
	t.Parallel()
	of := func(why string, list store.SiteClue, parent string) int {
		c := clues{places: newPlaces([]store.Place{{URL: "http://lab.example/p/a.pdf", Parent: parent, Accepted: true}}, false), authors: map[string]store.AuthorClue{"1/1": {
			Homepages: []store.Homepage{{URL: "http://ada.example/"}, {URL: "http://lab.example/", Scope: "/index"}}, Sites: []store.SiteClue{{State: "done", Reason: why, Pages: 9}, list}}}}
		return len(c.barren())
	}
	read := store.SiteClue{State: "done", Pages: 1}
	require.Equal(t, 1, of("", read, "http://lab.example/people/"))
	require.Zero(t, of(gleaner.Blacklisted, read, "http://lab.example/people/"), "what it led to may have been cleaned")
	require.Zero(t, of("", read, "http://lab.example/"))
	require.Zero(t, of("", store.SiteClue{State: "crawling", Waiting: 1}, "http://lab.example/people/"))
}

func TestExplain(t *testing.T) {
	t.Parallel()
	ada, bob := gleaner.Author{PID: "1/1", Name: "Ada Lovelace"}, gleaner.Author{PID: "2/2", Name: "Bob Bell"}
	paper := gleaner.Paper{Key: "conf/x/a", Title: "Analytical Engines for Everyone and Their Machines", Authors: []gleaner.Author{ada, bob}}
	at := func(state gleaner.SiteState, waiting int) map[string]store.AuthorClue {
		return map[string]store.AuthorClue{"1/1": {Homepages: []store.Homepage{{URL: "http://ada.example/"}}, Sites: []store.SiteClue{{State: state, Pages: 9, Waiting: waiting}}}}
	}
	beside := func(papers store.SiteClue) map[string]store.AuthorClue {
		return map[string]store.AuthorClue{"1/1": {Homepages: []store.Homepage{{URL: "http://ada.example/"}, {URL: "http://lab.example/", Scope: "/index"}},
			Sites: []store.SiteClue{{State: "done", Pages: 9}, papers}}}
	}
	cut := at("done", 0)
	cut["1/1"].Sites[0].Cut, cut["1/1"].Sites[0].CutBy = 1, "byte-limit"
	listed := at("stopped", 1)
	listed["1/1"].Sites[0].Reason = gleaner.NotListed
	held := newPlaces([]store.Place{{URL: "http://ada.example/a.pdf", Accepted: true}}, false)
	link := func(l store.LinkClue) map[string][]store.LinkClue {
		return map[string][]store.LinkClue{"conf/x/a": {l}}
	}
	parked := at("stopped", 3)
	away := at("stopped", 3)
	away["1/1"].Sites[0].Pages = 0
	paused := at("stopped", 3)
	paused["1/1"].Sites[0].Pages, paused["1/1"].Sites[0].Reason = 0, gleaner.SitePaused
	barred := map[string]store.AuthorClue{"2/2": {NotFound: evidence.Barred}}
	lifted := map[string]store.AuthorClue{"2/2": {NotFound: evidence.Barred, Lifted: []string{"http://bob.example/"}}}
	beyond := at("done", 0)
	beyond["2/2"] = store.AuthorClue{Barred: []string{"http://bob.example/"}}
	waits := link(store.LinkClue{Parent: "p", Waiting: true})
	no := map[string][]store.MatchClue{"conf/x/a": {{Verdict: "ambiguous", Settled: "no"}}}
	for name, c := range map[string]struct {
		clues clues
		want  Reason
	}{
		"no homepage":                {clues{}, NoHomepage},
		"homepage did not answer":    {clues{authors: map[string]store.AuthorClue{"2/2": {NotFound: "homepage did not answer (busy)"}}}, NoAnswer},
		"crawled":                    {clues{authors: at("done", 0), places: held}, NotLinked},
		"crawled for nothing":        {clues{authors: at("done", 0)}, LedNowhere},
		"a trap":                     {clues{authors: at("trap", 3)}, CutShort},
		"a link to a barred host":    {clues{authors: at("done", 0), links: link(store.LinkClue{Parent: "p", Waiting: true, Outcome: store.LinkBarred})}, LeftOut},
		"cut at a limit":             {clues{authors: cut, places: held}, CutShort},
		"cut, and nothing met":       {clues{authors: cut}, CutShort},
		"a cleaned file":             {clues{authors: at("done", 0), places: held, links: link(store.LinkClue{Parent: "p", Document: store.LinkCleaned})}, Rejected},
		"withdrawn":                  {clues{authors: map[string]store.AuthorClue{"1/1": {NotFound: "withdrawn: 9 pages"}}}, LedNowhere},
		"nothing academic":           {clues{authors: at("done", 0), places: newPlaces([]store.Place{{URL: "http://ada.example/cv.pdf"}}, false)}, LedNowhere},
		"papers elsewhere":           {clues{authors: at("done", 0), places: newPlaces([]store.Place{{URL: "http://lab.example/a.pdf", Parent: "http://ada.example/pubs.html", Accepted: true}}, false)}, NotLinked},
		"a group's list waits":       {clues{authors: beside(store.SiteClue{State: "crawling", Waiting: 1})}, NotYet},
		"a group's list was read":    {clues{authors: beside(store.SiteClue{State: "done", Pages: 1}), places: newPlaces([]store.Place{{URL: "http://lab.example/p/a.pdf", Parent: "http://lab.example/", Accepted: true}}, false)}, NotLinked},
		"a group's list led nowhere": {clues{authors: beside(store.SiteClue{State: "done", Pages: 1}), places: newPlaces([]store.Place{{URL: "http://lab.example/p/a.pdf", Parent: "http://lab.example/people/", Accepted: true}}, false)}, LedNowhere},
		"links wait again":           {clues{authors: at("done", 3), places: held}, NotYet},
		"being crawled":              {clues{authors: at("crawling", 4)}, NotYet},
		"refused":                    {clues{authors: at("refused", 3)}, SiteRefused},
		"left out by a list":         {clues{authors: listed}, LeftOut},
		"robots forbid it":           {clues{authors: at("done", 0), links: link(store.LinkClue{Parent: "p", Failed: true, Outcome: "robots-denied"})}, SiteRefused},
		"link failed":                {clues{authors: at("done", 0), links: link(store.LinkClue{Parent: "p", Failed: true, Outcome: "timeout", Tries: 3})}, FetchFailed},
		"link left out":              {clues{authors: at("done", 0), links: link(store.LinkClue{Parent: "p", Failed: true, Outcome: "path-too-deep"})}, FetchFailed},
		"link waits":                 {clues{authors: at("done", 0), links: link(store.LinkClue{Parent: "p", Waiting: true})}, NotYet},
		"not examined":               {clues{authors: at("done", 0), links: link(store.LinkClue{Parent: "p", Document: "new as "})}, NotYet},
		"another file":               {clues{links: link(store.LinkClue{Parent: "p", Document: "rejected as slides"})}, Rejected},
		"a publisher's wall":         {clues{authors: at("done", 0), places: held, links: link(store.LinkClue{Failed: true, Outcome: "blocked-wall"})}, NotLinked},
		"someone has to say":         {clues{matches: map[string][]store.MatchClue{"conf/x/a": {{Verdict: "ambiguous"}}}}, Ambiguous},
		"it is another work":         {clues{matches: no, authors: at("done", 0), places: held}, NotLinked},
		"another work, a link waits": {clues{matches: no, links: waits}, NotYet},
		"parked, and read before":    {clues{authors: parked}, NotYet},
		"paused by a person":         {clues{authors: paused}, NotYet},
		"parked, and never read":     {clues{authors: away}, SiteRefused},
		"on the blacklist":           {clues{authors: barred}, LeftOut},
		"one is on the blacklist":    {clues{authors: beyond}, LeftOut},
		"off the blacklist":          {clues{authors: lifted}, NotYet},
		"only slides were met":       {clues{matches: map[string][]store.MatchClue{"conf/x/a": {{Verdict: "exact", Form: "slides"}}}}, Rejected},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			why, evidence := c.clues.explain(paper)
			require.Equal(t, c.want, why)
			require.NotEmpty(t, evidence)
			for _, l := range c.clues.links["conf/x/a"] {
				if l.Parent == "" {
					require.Contains(t, strings.Join(evidence, "\n"), l.Outcome, "of a catalogue's copy")
				}
			}
		})
	}
}

// TestADeniedDocumentIsSaidToBe: a link to a document of which a person said that it is not
// the paper says so, and not that it was accepted as one.
func TestADeniedDocumentIsSaidToBe(t *testing.T) {
	t.Parallel()
	paper := gleaner.Paper{Key: "conf/x/a", Title: "Analytical Engines for Everyone and Their Machines"}
	c := clues{
		matches: map[string][]store.MatchClue{"conf/x/a": {{Verdict: "exact", Settled: "no", URL: "http://ada.example/a.pdf"}}},
		links:   map[string][]store.LinkClue{"conf/x/a": {{URL: "http://ada.example/a.pdf", Parent: "p", Document: "accepted as paper"}}},
	}
	why, evidence := c.explain(paper)
	require.Equal(t, Rejected, why)
	require.Equal(t, []string{"http://ada.example/a.pdf: is not it, a person said"}, evidence)
}

// TestTitleThatNothingCanBeToldByIsTheReason, not the link that has its words, nor that
// its authors' sites do not link to it; what a person can settle comes before.
func TestTitleThatNothingCanBeToldByIsTheReason(t *testing.T) {
	t.Parallel()
	preface := gleaner.Paper{Key: "conf/x/a", Title: "Preface", Authors: []gleaner.Author{{PID: "1/1", Name: "Ada Lovelace"}}}
	c := clues{links: map[string][]store.LinkClue{"conf/x/a": {{Parent: "p", Document: "rejected as slides"}}},
		authors: map[string]store.AuthorClue{"1/1": {Homepages: []store.Homepage{{URL: "http://ada.example/"}}, Sites: []store.SiteClue{{State: "done", Pages: 9}}}}}
	why, evidence := c.explain(preface)
	require.Equal(t, Unidentifiable, why)
	require.Equal(t, []string{"many works are called so: only an identifier, or the very words over all of its authors, can tell a document"}, evidence)
	c.matches = map[string][]store.MatchClue{"conf/x/a": {{Verdict: "ambiguous"}}}
	why, _ = c.explain(preface)
	require.Equal(t, Ambiguous, why)
}

func TestMentioned(t *testing.T) {
	t.Parallel()
	ix := match.NewIndex([]gleaner.Paper{{Key: "a", Title: "Analytical Engines for Everyone and Their Machines"}, {Key: "b", Title: "Difference Engines in the Large and the Small"}})
	require.Equal(t, []string{"a"}, mentioned(ix, store.LinkClue{Anchor: "Analytical engines for everyone and their machines (pdf)"}))
	require.Equal(t, []string{"b"}, mentioned(ix, store.LinkClue{Anchor: "pdf", Context: "A. Lovelace: Difference Engines in the Large and the Small. 1843. pdf"}))
	twice := strings.Repeat("Difference Engines in the Large and the Small. ", 2)
	require.Equal(t, []string{"b"}, mentioned(ix, store.LinkClue{Anchor: twice}), "once")
	require.Empty(t, mentioned(ix, store.LinkClue{Anchor: "home", Context: "my engines"}))
}

// TestReportOfASiteSpeaksOfDocuments: there are no papers that could be missing.
func TestReportOfASiteSpeaksOfDocuments(t *testing.T) {
	t.Parallel()
	r := &Report{Harvest: store.Harvest{ID: "site:https://a.org/", Venue: "site:https://a.org/", Stage: "failed", Note: "in stage crawl: x"}, Files: Files{Pages: 12, Documents: 7, Accepted: 5, Papers: 4},
		Answer: "404, not-found"}
	for name, write := range map[string]func(io.Writer) error{"text": r.WriteText, "html": r.WriteHTML} {
		var b strings.Builder
		require.NoError(t, write(&b))
		require.Regexp(t, `(?s)papers 4, in 5 academic documents of 7 files; pages 12|<b>4</b>papers.*<b>5</b>academic documents.*<b>7</b>files.*<b>12</b>pages`, b.String(), name)
		require.Contains(t, b.String(), r.Answer, name)
		require.Contains(t, b.String(), "It failed in stage crawl: x. What follows was known before.", name)
		for _, no := range []string{"published", "ecall", "missing (", "all years"} {
			require.NotContains(t, b.String(), no, name)
		}
	}
}

// TestReportOfAList: nobody published it, and some of its papers may have no year.
func TestReportOfAList(t *testing.T) {
	t.Parallel()
	r := &Report{Harvest: store.Harvest{ID: "papers:mine", Venue: "papers:mine", Stage: "complete"}, Summary: Summary{Published: 1, Held: 0, Wanted: 1, Missing: 1},
		Years: []Year{{Year: 0, Summary: Summary{Published: 1, Wanted: 1, Missing: 1}}}, Reasons: map[Reason]int{NoHomepage: 1},
		Missing: []MissingPaper{{Title: "Engines", Reason: NoHomepage}}}
	for name, write := range map[string]func(io.Writer) error{"text": r.WriteText, "html": r.WriteHTML} {
		var b strings.Builder
		require.NoError(t, write(&b))
		require.Regexp(t, `listed 1, held 0|<b>1</b>listed`, b.String(), name)
		require.NotContains(t, b.String(), "published", name)
		require.Regexp(t, `(?m)^ +–  +1 |<tr><td>–<td>1`, b.String(), name)
	}
}

// TestCluesOfOnePaperAreFew: a site may have a million links with one title.
func TestCluesOfOnePaperAreFew(t *testing.T) {
	t.Parallel()
	c := &clues{links: map[string][]store.LinkClue{}, kinds: map[clueKind]int{}}
	for n := range 1000 {
		c.add("conf/x/a", store.LinkClue{URL: fmt.Sprint(n), Parent: "p", Waiting: true})
	}
	c.add("conf/x/a", store.LinkClue{URL: "failed", Parent: "p", Failed: true, Tries: 3, Outcome: "timeout"})
	c.add("conf/x/b", store.LinkClue{URL: "other", Parent: "p", Waiting: true})
	require.Len(t, c.links["conf/x/a"], maxEvidence+1)
	require.Len(t, c.links["conf/x/b"], 1)
}
