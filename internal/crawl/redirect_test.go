package crawl

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gleaner/internal/fetch"
	"gleaner/internal/gleaner"
	"gleaner/internal/rank"
	"gleaner/internal/record/frontier"
	"gleaner/internal/web/page"
)

// TestManyWaysToOnePage: of links that redirect to one page the first one brings
// it, and it is not asked for again, whatever was written in between.
func TestManyWaysToOnePage(t *testing.T) {
	t.Parallel()
	for _, batch := range []int{1, 32} {
		w := newWorld(t)
		w.cfg.Batch = batch
		s := serve(t, map[string]any{"/": links("a", "b", "c"), "/a": redirect("/papers.html"), "/b": redirect("/papers.html"), "/c": redirect("/papers.html"),
			"/papers.html": links("1.pdf"), "/1.pdf": "one"})
		w.seed(t, s.host, "/", "/")
		require.Equal(t, Exhausted, w.finish(t, w.crawler(w.client), s.host).Ending)
		require.Equal(t, 1, s.asked()["/papers.html"])
		require.Equal(t, map[string]string{"/": "page success", "/a": "page success", "/b": "moved redirect-known", "/c": "moved redirect-known",
			"/papers.html": "moved success", "/1.pdf": "document success"}, w.record(t, s.host))
	}
}

// TestTheTargetOfARedirectWasNeverAsked: whether it is on the host or on another, it takes
// nothing along of the tries and the answers of the URL that redirects.
func TestTheTargetOfARedirectWasNeverAsked(t *testing.T) {
	t.Parallel()
	strategy, err := rank.New(rank.BreadthFirst, rank.Options{})
	require.NoError(t, err)
	for host, outcome := range map[string]gleaner.Outcome{"a.example": fetch.RedirectKnown, "b.example": fetch.RedirectOffHost} {
		l := newLoop(Site{Host: "a.example"}, Defaults(), Parts{Strategy: strategy}, func(Progress) {})
		e := frontier.Entry{Candidate: page.Candidate{Link: page.Link{URL: "http://a.example/old"}}, Tries: 2, ETag: "x", LastModified: "y", Content: []byte("z"), Was: frontier.Page, Visited: time.Now()}
		l.failed(&e, &frontier.Visit{Entry: &e}, &fetch.Error{Outcome: outcome, URL: e.Link.URL, Location: "http://" + host + "/new"})
		got := append(l.batch.Links, l.batch.Leads[host]...)
		require.Len(t, got, 1)
		require.Equal(t, "http://"+host+"/new", got[0].Link.URL)
		require.Zero(t, got[0].Tries)
		require.Empty(t, got[0].ETag+got[0].LastModified+string(got[0].Content))
		require.Equal(t, frontier.Waiting, got[0].Was)
		require.Zero(t, got[0].Visited)
	}
}
