package crawl

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"gleaner/internal/devstack/storetest"
	"gleaner/internal/each"
	"gleaner/internal/gleaner"
	"gleaner/internal/record/store"
	"gleaner/internal/web/weburl"
)

// TestAPageCannotFloodOthers: what it names of other hosts is bounded, for each
// host, for the number of hosts and in all; what is left out is recorded with the
// limit's name.
func TestAPageCannotFloodOthers(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.cfg.SlicePages = 1 // it counts over all slices of a crawl
	var one, many []string
	for i := range maxLeadsPerHost + 50 {
		one = append(one, fmt.Sprintf("http://victim.test/%d.pdf", i))
	}
	for i := range maxLeadHosts + 50 {
		many = append(many, fmt.Sprintf("http://h%d.test/1.pdf", i))
	}
	s := serve(t, map[string]any{"/": links("one.html", "onemore.html", "many.html"), "/one.html": links(one[:200]...), "/onemore.html": links(one[100:]...), "/many.html": links(many...)})
	w.exhaust(t, s.host, "/")
	require.Len(t, w.record(t, "victim.test"), maxLeadsPerHost*3/4, "the rest is for what is wanted")
	require.Equal(t, maxLeadHosts*3/4+1, storetest.Get[int](t, w.db.Pool, `SELECT count(*) FROM sites`))
	require.Equal(t, map[string]int{
		"skipped leads-per-host-limit": 50 + maxLeadsPerHost/4,
		"skipped lead-hosts-limit":     51 + maxLeadHosts/4,
	}, w.outcomes(t, s.host, ".test/"))
}

// TestRedirectsCannotFloodOthers either.
func TestRedirectsCannotFloodOthers(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := serve(t, numbered("/", "/%d.html", maxLeadsPerHost+20, func(i int) any {
		return redirect(fmt.Sprintf("http://victim.test/%d.html", i))
	}))
	w.exhaust(t, s.host, "/")
	require.Len(t, w.record(t, "victim.test"), maxLeadsPerHost*3/4)
	require.Equal(t, 20+maxLeadsPerHost/4, w.outcomes(t, s.host, "")["gone "+string(outcomeLeadsPerHost)])
}

// TestLeadsThatMissAreLeftOut: a domain whose pages, on whatever hosts of it, name
// what is not there on another is not believed after a while, over all slices; what
// others name there is asked for.
func TestLeadsThatMissAreLeftOut(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.cfg.SlicePages = 3
	victim := serve(t, map[string]any{"/1.pdf": "one", "/2.pdf": "two"})
	var wrong []string
	for i := range 4 * maxMisses {
		wrong = append(wrong, fmt.Sprintf("http://%s/no/%d.pdf", victim.host, i))
	}
	liar, alias := serve(t, map[string]any{"/": links(wrong[:20]...)}), serve(t, map[string]any{"/": links(wrong[20:]...)})
	honest := serveAt(t, "127.0.0.2", map[string]any{"/": links("http://"+victim.host+"/1.pdf", "http://"+victim.host+"/gone.pdf", "http://"+victim.host+"/2.pdf")})
	for _, s := range []*site{liar, alias, honest} {
		w.exhaust(t, s.host, "/")
	}
	r := w.finish(t, w.crawler(w.client), victim.host)
	require.Equal(t, Exhausted, r.Ending)
	require.Equal(t, map[string]int{"gone not-found": maxMisses, "skipped leads-missed": 3 * maxMisses},
		w.outcomes(t, victim.host, "/no/"))
	require.Equal(t, "document success", w.record(t, victim.host)["/1.pdf"])
	require.Equal(t, "document success", w.record(t, victim.host)["/2.pdf"])
	for url, reason := range w.rows(t, victim.host, "CASE WHEN state = 5 THEN reason ELSE '' END") {
		if reason != "" {
			require.Contains(t, reason, weburl.Domain(liar.host), url)
		}
	}
}

// TestRecordsThatMissAreLeftOut: what the records of papers name is not believed after a while in
// the directory that is not there, and on a host where nothing is, whose later success counts.
func TestRecordsThatMissAreLeftOut(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := serve(t, map[string]any{"/2003/0.pdf": "one", "/2003/1.pdf": "two"})
	for _, c := range []struct {
		format, of string
		n          int
		want       map[string]int
	}{
		{"/1998/%d.pdf", "/1998/", 15, map[string]int{"gone not-found": maxMisses, "skipped leads-missed": 5}},
		{"/2003/%d.pdf", "/2003/", 2, map[string]int{"document success": 2}},
		{"/%d/a.pdf", "/a.pdf", 55, map[string]int{"gone not-found": maxRecordMisses, "skipped leads-missed": 5}},
	} {
		for i := range c.n {
			w.seed(t, s.host, fmt.Sprintf(c.format, i), "/none/")
		}
		storetest.Exec(t, w.db.Pool, `UPDATE urls SET role=2, context='ee' WHERE state=0`)
		w.finish(t, w.crawler(w.client), s.host)
		require.Equal(t, c.want, w.outcomes(t, s.host, c.of), c.format)
	}
}

// TestADomainOfManyHostsIsLeft: a domain may answer for names without end. Where the
// hosts of it that a page names give no document, whatever else they answer, the
// next ones are not asked, not even for their robots.txt; one that gives some has
// the others asked.
func TestADomainOfManyHostsIsLeft(t *testing.T) {
	t.Parallel()
	for _, gives := range []bool{false, true} {
		t.Run(fmt.Sprint("gives ", gives), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			var hosts []*site
			var all []string
			for i := range maxVainHosts + 5 {
				s := serve(t, map[string]any{"/paper.pdf": links("/"), "/robots.txt": "User-agent: *\n"})
				switch {
				case gives && i == 10:
					s.pages["/paper.pdf"] = "a document"
				case i%3 == 1:
					delete(s.pages, "/paper.pdf")
				case i%3 == 2:
					s.pages["/robots.txt"] = func(rw http.ResponseWriter, _ *http.Request) { rw.WriteHeader(http.StatusInternalServerError) }
				}
				hosts, all = append(hosts, s), append(all, "http://"+s.host+"/paper.pdf")
			}
			page := serve(t, map[string]any{"/": links(all...)})
			w.exhaust(t, page.host, "/")
			asked := 0
			for i, s := range hosts {
				r := w.finish(t, w.crawler(w.client), s.host)
				state := map[Ending]gleaner.SiteState{Exhausted: gleaner.SiteDone, Refused: gleaner.SiteRefused}[r.Ending]
				require.NoError(t, w.db.FinishCrawl(t.Context(), s.host, store.CrawlEnd{State: state, Reason: r.Reason}, w.cfg.Recrawl))
				s.mu.Lock()
				if s.total > 0 {
					asked++
				}
				s.mu.Unlock()
				if !gives && i >= maxVainHosts {
					require.Equal(t, "skipped leads-missed", w.record(t, s.host)["/paper.pdf"])
				}
			}
			require.Equal(t, map[bool]int{false: maxVainHosts, true: len(hosts)}[gives], asked)
		})
	}
}

// TestAStrangerShutsNoDomainOut: hosts that it names and that give nothing are no reason
// to leave out what others name there, and hosts that do not answer are none at all.
func TestAStrangerShutsNoDomainOut(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	crawl := func(s *site, state gleaner.SiteState) {
		r := w.finish(t, w.crawler(w.client), s.host)
		require.NoError(t, w.db.FinishCrawl(t.Context(), s.host, store.CrawlEnd{State: state, Reason: r.Reason}, w.cfg.Recrawl))
	}
	name := func(giver string, hosts ...*site) {
		all := each.Of(hosts, func(s *site) string { return "http://" + s.host + "/paper.pdf" })
		page := serveAt(t, giver, map[string]any{"/": links(all...)})
		w.seed(t, page.host, "/", "/")
		crawl(page, gleaner.SiteDone)
	}
	var none, dead []*site
	for i := range maxVainHosts {
		none = append(none, serve(t, map[string]any{}))
		dead = append(dead, &site{host: fmt.Sprintf("127.0.0.1:%d", i+1)})
	}
	name("127.0.0.2", none...)
	name("127.0.0.3", dead...)
	for i := range none {
		crawl(none[i], gleaner.SiteDone)
		crawl(dead[i], gleaner.SiteRefused)
	}
	for giver, is := range map[string]string{
		"127.0.0.2": "skipped leads-missed", "127.0.0.3": "document success", "127.0.0.4": "document success",
	} {
		s := serve(t, map[string]any{"/paper.pdf": "a document"})
		name(giver, s)
		w.finish(t, w.crawler(w.client), s.host)
		require.Equal(t, is, w.record(t, s.host)["/paper.pdf"], giver)
		storetest.Exec(t, w.db.Pool, `DELETE FROM locations`)
	}
}
