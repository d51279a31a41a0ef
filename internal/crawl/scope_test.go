package crawl

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"gleaner/internal/devstack/storetest"
	"gleaner/internal/document"
	"gleaner/internal/each"
	"gleaner/internal/fetch"
	"gleaner/internal/gleaner"
	"gleaner/internal/lab/sampleweb"
	"gleaner/internal/match"
	"gleaner/internal/politeness"
	"gleaner/internal/rank"
	"gleaner/internal/record/frontier"
	"gleaner/internal/record/store"
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

// TestManyWaysToOnePage: of links that redirect to one page the first one brings
// it, and it is not asked for again, whatever was written in between.
func TestManyWaysToOnePage(t *testing.T) {
	t.Parallel()
	for _, batch := range []int{1, 32} {
		w := newWorld(t)
		w.cfg.Batch = batch
		s := serve(t, map[string]any{"/": links("a", "b", "c"), "/a": redirect("/papers.html"), "/b": redirect("/papers.html"), "/c": redirect("/papers.html"),
			"/papers.html": links("1.pdf"), "/1.pdf": "one"})
		w.exhaust(t, s.host, "/")
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

// TestHostsThatPointAtEachOtherDoNotHoldEachOtherUp: two hosts say that their
// robots.txt lies on the other one. Each is held by a crawl that wants the other.
func TestHostsThatPointAtEachOtherDoNotHoldEachOtherUp(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	pacing := unpaced
	pacing.MaxBlock = 400 * time.Millisecond
	w.keeper = politeness.NewKeeper(w.db.Pool, pacing, "test")
	w.client = w.connect(t, fetch.Config{})
	var sites [2]*site
	var met sync.WaitGroup // both crawls hold their host when the first is answered
	met.Add(2)
	for i := range sites {
		first := sync.OnceFunc(func() { met.Done(); met.Wait() })
		sites[i] = serve(t, map[string]any{"/": links(), "/robots.txt": func(rw http.ResponseWriter, r *http.Request) {
			first()
			redirect("http://"+sites[1-i].host+"/robots.txt")(rw, r)
		}})
	}
	var ended []<-chan Result
	for _, s := range sites {
		w.seed(t, s.host, "/", "/")
		ended = append(ended, sliceOf(t, w.crawler(w.client), s.host, func(Progress) {}))
	}
	late := time.After(time.Minute)
	for _, result := range ended {
		select {
		case <-result:
		case <-late:
			t.Fatal("the hosts hold each other up")
		}
	}
	for _, s := range sites {
		require.Equal(t, Refused, w.finish(t, w.crawler(w.client), s.host).Ending)
	}
}

// deadlocks counts what the server undid.
type deadlocks struct{ n atomic.Int32 }

func (*deadlocks) TraceQueryStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceQueryStartData) context.Context {
	return ctx
}

func (d *deadlocks) TraceQueryEnd(_ context.Context, _ *pgx.Conn, q pgx.TraceQueryEndData) {
	if pg, ok := errors.AsType[*pgconn.PgError](q.Err); ok && pg.Code == "40P01" {
		d.n.Add(1)
	}
}

// TestSitesThatLeadToEachOther are written at the same moment, each what the other
// found, too: one waits for the other, and no transaction is undone.
func TestSitesThatLeadToEachOther(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	cfg, seen := w.db.Pool.Config(), &deadlocks{}
	cfg.ConnConfig.Tracer = seen
	pool, err := pgxpool.NewWithConfig(t.Context(), cfg)
	require.NoError(t, err)
	t.Cleanup(pool.Close)
	a, b := serve(t, map[string]any{"/1.pdf": "one"}), serve(t, map[string]any{"/1.pdf": "another"})
	// Both crawls have begun when the first page is answered: one that begins later
	// would wait for the other's transaction, and be in none of its own.
	var begun sync.WaitGroup
	begun.Add(2)
	for _, s := range []*site{a, b} {
		s.at = func(n int) {
			if n == 1 {
				begun.Done()
				begun.Wait()
			}
		}
		w.seed(t, s.host, "/", "/")
		s.pages["/"] = links("http://"+a.host+"/1.pdf", "http://"+b.host+"/1.pdf")
	}
	// Whoever has added URLs waits, in the middle of its transaction, until the
	// lock is let go.
	for _, sql := range []string{
		`CREATE FUNCTION gate() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_advisory_xact_lock_shared(4711); RETURN NULL; END'`,
		`CREATE TRIGGER gate AFTER INSERT ON urls FOR EACH STATEMENT EXECUTE FUNCTION gate()`,
	} {
		storetest.Exec(t, w.db.Pool, sql)
	}
	// In no transaction: one that stands still for long is undone, on a busy machine.
	gate, err := w.db.Pool.Acquire(t.Context())
	require.NoError(t, err)
	t.Cleanup(gate.Release)
	_, err = gate.Exec(t.Context(), `SELECT pg_advisory_lock(4711)`)
	require.NoError(t, err)
	c := w.crawler(w.client)
	c.db = store.New(pool)
	var ended []<-chan Result
	for _, s := range []*site{a, b} {
		ended = append(ended, sliceOf(t, c, s.host, func(Progress) {}))
	}
	require.Eventually(t, func() bool {
		n := storetest.Get[int](t, w.db.Pool, `SELECT count(*) FROM pg_stat_activity WHERE datname=current_database() AND wait_event_type='Lock'
			AND (wait_event='advisory' OR query LIKE 'SELECT FROM sites WHERE id = ANY%')`)
		return n == 2
	}, 30*time.Second, time.Millisecond)
	_, err = gate.Exec(t.Context(), `SELECT pg_advisory_unlock(4711)`)
	require.NoError(t, err)
	for i, s := range []*site{a, b} {
		<-ended[i]
		require.Equal(t, Exhausted, w.finish(t, w.crawler(w.client), s.host).Ending)
		require.Equal(t, map[string]string{"/": "page success", "/1.pdf": "document success"}, w.record(t, s.host))
		require.Equal(t, 1, s.asked()["/1.pdf"])
	}
	require.Zero(t, seen.n.Load())
}

// TestSourcesOfWantedPapers: a paper that is there as LaTeX alone is taken where its
// link says so; other sources are not asked for.
func TestSourcesOfWantedPapers(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.filters(document.NewFilter(document.Balanced))
	p := sampleweb.NewPile(7).Paper(1)
	names := each.Of(p.Authors, func(a gleaner.Author) string { return a.Name })
	source := fmt.Sprintf("\\documentclass{article}\n\\title{%s}\n\\author{%s}\n\\begin{document}\n\\maketitle\n\\section{Introduction}\n%s\\end{document}\n",
		p.Title, strings.Join(names, ` \and `), strings.Repeat("In this paper we show that it runs, and that it runs well.\n", 40))
	tex := typed("application/x-tex", source)
	s := serve(t, map[string]any{
		"/~ada/":         fmt.Sprintf(`<a href="a.tex">%s</a> <a href="b.tex">My macros for TeX</a> <a href="feed.xml">News</a>`, p.Title),
		"/~ada/a.tex":    tex,
		"/~ada/b.tex":    tex,
		"/~ada/feed.xml": "<?xml version='1.0'?><rss/>",
	})
	w.want(t, "h", "{}", []gleaner.Paper{p})
	w.exhaust(t, s.host, "/~ada/")
	record := w.record(t, s.host)
	require.Equal(t, "document success", record["/~ada/a.tex"])
	require.NotContains(t, record, "/~ada/b.tex")
	require.NotContains(t, record, "/~ada/feed.xml")
	missing, err := w.db.Missing(t.Context(), "h")
	require.NoError(t, err)
	require.Empty(t, missing)
}
