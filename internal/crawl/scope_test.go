package crawl

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gleaner/internal/gleaner"
	"gleaner/internal/match"
	"gleaner/internal/record/frontier"
	"gleaner/internal/web/page"
	"gleaner/internal/web/weburl"
)

// TestScope: what may be done with a link, by where it stands, where it leads and
// what it says.
func TestScope(t *testing.T) {
	t.Parallel()
	const title = "On the Growth of Samples that Nobody has Counted"
	s := scope{Site{Host: "a.test", Scopes: []string{"/~ada/"}, Wanted: match.NewIndex([]gleaner.Paper{{Key: "1", Title: title}})},
		Config{Leads: "wanted", MaxDepth: 3, Limits: weburl.DefaultLimits(time.Now())}}
	const none = frontier.Role(-1)
	for _, c := range []struct {
		from   frontier.Role
		url    string
		anchor string
		source page.Source
		want   frontier.Role
	}{
		{frontier.Member, "http://a.test/~ada/pubs.html", "", page.SourceAnchor, frontier.Member},
		{frontier.Member, "http://a.test/~bob/", "", page.SourceAnchor, none},
		{frontier.Member, "http://a.test/reports/1.pdf", "", page.SourceAnchor, frontier.Lead},
		{frontier.Member, "http://a.test/reports/1.pdf", "", page.SourceSitemap, none},
		{frontier.Member, "http://b.test/1.pdf", "PDF", page.SourceAnchor, none},
		{frontier.Member, "http://b.test/1.pdf", title, page.SourceAnchor, frontier.Lead},
		{frontier.Member, "http://b.test/abs/1", title, page.SourceAnchor, frontier.Landing},
		{frontier.Member, "http://b.test/abs/1", title, page.SourceScript, none},
		{frontier.Landing, "http://a.test/files/1.pdf", "", page.SourceAnchor, frontier.Lead},
		{frontier.Landing, "http://a.test/~ada/pubs.html", "", page.SourceAnchor, none},
		{frontier.Landing, "http://a.test/viewer", "", page.SourceFrame, frontier.Lead},
		{frontier.Lead, "http://a.test/get?id=7", "", page.SourceCitation, frontier.Lead},
		{frontier.Lead, "http://a.test/other.pdf", "", page.SourceAnchor, none},
	} {
		from := frontier.Entry{Role: c.from}
		from.Link.URL = "http://a.test/~ada/"
		e := frontier.Entry{Candidate: page.Candidate{Depth: 1, Link: page.Link{URL: c.url, Anchor: c.anchor, Source: c.source}}}
		e.Derive()
		got, ok := s.role(&from, &e, weburl.Host(c.url) == s.Host)
		if !ok {
			got = none
		}
		require.Equal(t, c.want, got, "%s (%s) on a page of role %d", c.url, c.source, c.from)
	}
	deep := frontier.Entry{}
	deep.Link.URL, deep.Depth = "http://a.test/~ada/x.html", 4
	require.Equal(t, frontier.TooDeep, s.outside(&deep))
	deep.Link.URL, deep.Depth = "http://a.test/~ada/a/a/a/a/a/a/", 1
	require.NotEmpty(t, s.outside(&deep))
}
