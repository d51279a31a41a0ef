package crawl

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"gleaner/internal/gleaner"
	"gleaner/internal/harvest/report"
	"gleaner/internal/rank"
	"gleaner/internal/record/store"
	"gleaner/internal/web/page"
)

// reasons are why papers of a harvest are missing, by title, with the first evidence.
func (d *secondDay) reasons(t *testing.T, id string) map[string][2]string {
	t.Helper()
	r, err := report.Build(t.Context(), d.db, id)
	require.NoError(t, err)
	out := map[string][2]string{}
	for _, m := range r.Missing {
		out[m.Title] = [2]string{string(m.Reason), m.Evidence[0]}
	}
	return out
}

// TestReasonsAreTheSameOnARecordWithAPast: why papers are missing is said of what pages
// link to, whatever was wanted when they were read.
func TestReasonsAreTheSameOnARecordWithAPast(t *testing.T) {
	t.Parallel()
	const options = `{"leads": "none", "links": {"ignore": ["*/private/*"]}}`
	cases := []struct {
		link   string // with the paper's title
		reason report.Reason
	}{
		{`<a href="gone.pdf">%s</a>`, report.FetchFailed},
		{`<a href="private/1.pdf">%s</a>`, report.FetchFailed},
		{`<a href="http://files.test/2.pdf">%s</a>`, report.FetchFailed},
		{`<a rel="nofollow" href="3.pdf">%s</a>`, report.FetchFailed},
		{`%s. <a href="http://doi.test/4">doi</a>`, report.NotLinked},
		{`<a href="/papers/5.html">%s</a>`, report.NotLinked}, // outside the scope: read, and it has no document
		{`<a href="6.pdf">%s</a>`, report.Rejected},
		{`<a href="7.pptx">%s</a>`, report.NotLinked}, // slides
	}
	of := func() *secondDay {
		d := newSecondDay(t, rank.BreadthFirst)
		list, pages := "", map[string]any{"/papers/5.html": links(), "/~ada/6.pdf": "quite another text"}
		for i, c := range cases {
			list += "<p>" + fmt.Sprintf(c.link, secondDayTitles[i]) + "</p>"
		}
		pages["/~ada/"] = list
		d.home.pages = pages
		return d
	}
	fresh, again := of(), of()
	fresh.harvest(t, "conf/x", options, fresh.papers)
	want := fresh.reasons(t, "conf/x")
	for i, c := range cases {
		require.Equal(t, string(c.reason), want[secondDayTitles[i]][0], "%s: %v", c.link, want)
	}
	require.Contains(t, fresh.fetched(t), "home/papers/5.html")
	require.Contains(t, want[secondDayTitles[4]][1], "1 failed", "what was not read says nothing")
	other := gleaner.Paper{Key: "conf/x/Q", Venue: "conf/x", Title: "Bounds of Quorums That Nobody Counts", Year: 1999, Authors: again.papers[0].Authors}
	again.harvest(t, "conf/x/1", options, []gleaner.Paper{other})
	again.harvest(t, "conf/x/2", options, again.papers)
	got := again.reasons(t, "conf/x/2")
	for title, why := range want {
		why[1] = strings.ReplaceAll(why[1], fresh.home.host, again.home.host)
		want[title] = why
	}
	require.Equal(t, want, got)
}

// TestReasonsNameWhatWasNotLookedAt: of a page whose links are more than a page may have,
// or are not to be followed, no reason claims that all were looked at, also when the page
// is as it was.
func TestReasonsNameWhatWasNotLookedAt(t *testing.T) {
	t.Parallel()
	d := newSecondDay(t, rank.BreadthFirst)
	d.home.pages = map[string]any{"/~ada/": links("all.html", "quiet.html"),
		"/~ada/all.html":   strings.Repeat(`<a href="1.png"></a>`, page.MaxLinks) + `<p><a href="late.pdf">` + secondDayTitles[0] + `</a>`,
		"/~ada/quiet.html": `<meta name="robots" content="nofollow"><a href="quiet.pdf">` + secondDayTitles[1] + `</a>`}
	for range 2 {
		d.harvest(t, "conf/x", "{}", d.papers[:2])
		authors, err := d.db.AuthorClues(t.Context(), "conf/x")
		require.NoError(t, err)
		for id, a := range authors {
			require.Equal(t, []any{2, page.CutLinks + ", nofollow"}, []any{a.Sites[0].Cut, a.Sites[0].CutBy}, id)
		}
		for _, why := range d.reasons(t, "conf/x") {
			require.Contains(t, why[1], page.CutLinks+", nofollow")
		}
		d.recrawl(t)
	}
}

// TestAParkedRecrawlIsNoRefusal: a site that was read once and is parked when it is asked
// again is one of which pages wait, and none that refused.
func TestAParkedRecrawlIsNoRefusal(t *testing.T) {
	t.Parallel()
	d := newSecondDay(t, rank.BreadthFirst)
	other := gleaner.Paper{Key: "conf/x/Q", Venue: "conf/x", Title: "Bounds of Quorums That Nobody Counts", Year: 1999}
	other.Authors = d.papers[0].Authors
	d.harvest(t, "conf/x", "{}", []gleaner.Paper{other})
	_, err := d.db.RequeueDue(t.Context(), d.home.host, store.PutBack{All: true, For: "recrawl/all"}, d.cfg.Recrawl)
	require.NoError(t, err)
	err = d.db.FinishCrawl(t.Context(), d.home.host, "stopped", "the host is parked", "", false, d.cfg.Recrawl)
	require.NoError(t, err)
	require.Equal(t, string(report.NotYet), d.reasons(t, "conf/x")[other.Title][0])
}
