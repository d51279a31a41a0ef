package crawl

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"gleaner/internal/record/store"
	"gleaner/internal/web/weburl"
)

// What each policy asks of a person's pages on a department's server (Wu et al.,
// WebSci 2012, section 3), by whether the domain is on the whitelist.
func TestPolicies(t *testing.T) {
	t.Parallel()
	pages := map[string]any{
		"/~ada/":            links("pubs.html", "/dept/"),
		"/~ada/pubs.html":   links("one.pdf", "more/1.html"),
		"/~ada/more/1.html": links("2.html"),
		"/~ada/more/2.html": links(),
		"/~ada/one.pdf":     "one",
		"/dept/":            links("two.html"),
		"/dept/two.html":    links("three.html"),
		"/dept/three.html":  links(),
	}
	scope := []string{"/~ada/", "/~ada/more/1.html", "/~ada/more/2.html", "/~ada/one.pdf", "/~ada/pubs.html"}
	// Two steps and no third, but for what is in scope where scopes count.
	both := slices.Sorted(slices.Values(append([]string{"/dept/", "/dept/two.html"}, scope...)))
	near := slices.DeleteFunc(slices.Clone(both), func(p string) bool { return p == "/~ada/more/2.html" })
	for _, c := range []struct {
		policy, standing string
		want             []string
	}{
		{PolicyBlacklist, "listed", scope},
		{PolicyBlacklist, "unlisted", scope},
		{PolicyBlacklist, "blocked", nil},
		{PolicyWhitelist, "listed", near},
		{PolicyWhitelist, "unlisted", nil},
		{PolicyWhitelist, "blocked", nil},
		{PolicyHybrid, "listed", both},
		{PolicyHybrid, "unlisted", scope},
		{PolicyHybrid, "blocked", nil},
	} {
		t.Run(c.policy+" "+c.standing, func(t *testing.T) {
			t.Parallel()
			w, s := newWorld(t), serve(t, pages)
			w.cfg.Policy = c.policy
			if c.standing != "unlisted" {
				require.NoError(t, w.db.ImportWhitelist(t.Context(), []store.ListedURL{{URL: "http://" + s.host + "/~ada/", Domain: weburl.Domain(s.host), Position: 1}}))
			}
			if c.standing == "blocked" {
				require.NoError(t, w.db.Block(t.Context(), []store.Blocked{{Host: s.host, Reason: "asked us to stop"}}))
			}
			w.seed(t, s.host, "/~ada/", "/~ada/")
			r := w.finish(t, w.crawler(w.client), s.host)
			asked := slices.DeleteFunc(slices.Sorted(maps.Keys(s.asked())), func(p string) bool { return strings.Contains(p, "sitemap") })
			require.Equal(t, c.want, asked)
			if c.want == nil {
				require.Equal(t, Denied, r.Ending)
				require.Contains(t, r.Reason, map[bool]string{true: "asked us to stop", false: "whitelist"}[c.standing == "blocked"])
			} else {
				require.Equal(t, Exhausted, r.Ending)
			}
		})
	}
}

// TestDocumentsOfTheParentDomain: where a domain is on the whitelist, what its pages
// link to on any of its hosts is taken, whatever the words; and by the whitelist
// alone nothing else is.
func TestDocumentsOfTheParentDomain(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		policy         string
		listed         bool
		sibling, other map[string]string
	}{
		{PolicyWhitelist, true, map[string]string{"/papers/one.pdf": "waiting ", "/more/": "waiting "}, map[string]string{}},
		{PolicyHybrid, true, map[string]string{"/papers/one.pdf": "waiting ", "/more/": "waiting "}, map[string]string{"/two.pdf": "waiting "}},
		{PolicyHybrid, false, map[string]string{"/papers/one.pdf": "waiting "}, map[string]string{"/two.pdf": "waiting "}},
	} {
		t.Run(fmt.Sprint(c.policy, c.listed), func(t *testing.T) {
			t.Parallel()
			w, sibling, other := newWorld(t), serve(t, nil), serveAt(t, "127.0.0.2", nil)
			s := serve(t, map[string]any{"/~ada/": links("pubs.html"), "/~ada/pubs.html": links("http://"+sibling.host+"/papers/one.pdf", "http://"+sibling.host+"/more/", "http://"+other.host+"/two.pdf")})
			w.cfg.Policy = c.policy // and all documents of other hosts
			if c.listed {
				require.NoError(t, w.db.ImportWhitelist(t.Context(), []store.ListedURL{{URL: "http://" + s.host + "/~ada/", Domain: weburl.Domain(s.host), Position: 1}}))
			}
			w.seed(t, s.host, "/~ada/", "/~ada/")
			require.Equal(t, Exhausted, w.finish(t, w.crawler(w.client), s.host).Ending)
			require.Equal(t, c.sibling, w.record(t, sibling.host))
			require.Equal(t, c.other, w.record(t, other.host))
			due, _, err := w.db.DueSites(t.Context(), store.Selection{Host: sibling.host}, false, "", 10)
			require.NoError(t, err)
			require.Equal(t, []string{sibling.host}, due, "no harvest goes on, so it is the next recrawl's")
		})
	}
	t.Run("no word like a wanted title", func(t *testing.T) {
		t.Parallel()
		w, sibling := newWorld(t), serve(t, nil)
		s := serve(t, map[string]any{"/~ada/": links("http://" + sibling.host + "/papers/one.pdf")})
		w.cfg.Policy, w.cfg.Leads = PolicyHybrid, "wanted"
		w.seed(t, s.host, "/~ada/", "/~ada/")
		w.finish(t, w.crawler(w.client), s.host)
		require.Empty(t, w.record(t, sibling.host))
		require.NoError(t, w.db.ImportWhitelist(t.Context(), []store.ListedURL{{URL: "http://" + s.host + "/~ada/", Domain: weburl.Domain(s.host), Position: 1}}))
		_, err := w.db.Pool.Exec(t.Context(), `UPDATE urls SET state=0, content=NULL, was=0; UPDATE sites SET state='new'`)
		require.NoError(t, err)
		w.finish(t, w.crawler(w.client), s.host)
		require.Equal(t, map[string]string{"/papers/one.pdf": "waiting "}, w.record(t, sibling.host))
	})
}

// TestNobodyLeadsToTheBlacklist: a host on it gets no request, neither where another
// host says that its robots.txt lies there, nor where pages redirect to it, nor when
// it is put there while it is crawled.
func TestNobodyLeadsToTheBlacklist(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	blocked := serve(t, map[string]any{"/robots.txt": "User-agent: *\nAllow: /\n", "/rules.txt": "User-agent: *\nAllow: /\n", "/a.pdf": "a"})
	require.NoError(t, w.db.Block(t.Context(), []store.Blocked{{Host: blocked.host, Reason: "asked us to"}}))
	for _, to := range []string{"/robots.txt", "/rules.txt"} {
		liar := serve(t, map[string]any{"/": links(), "/robots.txt": redirect("http://" + blocked.host + to)})
		w.seed(t, liar.host, "/", "/")
		r := sliced(t, w.crawler(w.client), liar.host)
		require.Equal(t, Refused, r.Ending)
		require.Contains(t, r.Reason, "blacklisted")
	}
	s := serve(t, map[string]any{"/": links("moved.pdf", "next.html"), "/moved.pdf": redirect("http://" + blocked.host + "/a.pdf"), "/next.html": links()})
	w.seed(t, s.host, "/", "/")
	require.Equal(t, Exhausted, w.finish(t, w.crawler(w.client), s.host).Ending)
	require.Equal(t, Denied, w.finish(t, w.crawler(w.client), blocked.host).Ending)
	require.Zero(t, blocked.total)

	later := serve(t, map[string]any{"/": links("next.html"), "/next.html": links()})
	w.seed(t, later.host, "/", "/")
	later.at = func(n int) {
		if n == 2 { // its robots.txt was the first
			_ = w.db.Block(t.Context(), []store.Blocked{{Host: later.host, Reason: "asked us to"}})
		}
	}
	r := w.finish(t, w.crawler(w.client), later.host)
	require.Equal(t, Denied, r.Ending)
	require.Contains(t, r.Reason, "asked us to")
	require.Equal(t, "waiting ", w.record(t, later.host)["/next.html"])
	require.Equal(t, map[string]int{"/": 1}, later.asked())
}
