package crawl

import (
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"gleaner/internal/devstack/storetest"
	"gleaner/internal/document"
	"gleaner/internal/gleaner"
	"gleaner/internal/lab/sampleweb"
	"gleaner/internal/rank"
	"gleaner/internal/record/store"
	"gleaner/internal/web/weburl"
)

// real gives the web papers and talks that can be read, and further papers: their links
// lead to nothing, or may not be followed under some options.
func (d *secondDay) real(pile *sampleweb.Pile) {
	pdf := func(i int, as sampleweb.Form) any { return typed("application/pdf", string(pile.File(i, as))) }
	list := d.home.pages["/~ada/"].(string)
	for i := range d.papers {
		p, name := pile.Paper(i), fmt.Sprintf("%d.pdf", i)
		list = strings.ReplaceAll(list, d.papers[i].Title, p.Title)
		d.papers[i].Title, d.papers[i].Authors = p.Title, append(d.papers[i].Authors, p.Authors...)
		if i%4 == 0 {
			d.home.pages["/~ada/"+name] = pdf(i, sampleweb.AsPDF)
		} else {
			d.files.pages["/"+name] = pdf(i, sampleweb.AsPDF)
		}
	}
	d.home.pages["/~ada/t1.pdf"], d.home.pages["/dept/n1.pdf"] = pdf(20, sampleweb.AsSheet), pdf(21, sampleweb.AsSheet)
	d.home.pages["/papers/11.html"] = links()
	for i, link := range []string{`<a href="gone.pdf">%s</a>`, `<a href="/papers/11.html">%s</a>`,
		`<a rel="nofollow" href="3.pdf">%s</a>`,
		`<a href="private/1.pdf">%s</a>`, `<a href="http://` + d.files.host + `/none.pdf">%s</a>`} {
		p := pile.Paper(10 + i)
		p.Venue, p.Authors = "conf/x", append(p.Authors, d.papers[0].Authors[0])
		d.papers = append(d.papers, p)
		list += "<p>" + fmt.Sprintf(link, p.Title) + "</p>"
	}
	d.home.pages["/~ada/"] = list
}

// came is what a harvest comes to: its documents and matches by place, and why papers are
// missing.
type came struct {
	documents, matches map[string]string
	reasons            map[string][2]string
}

func (d *secondDay) came(t *testing.T, id string) came {
	t.Helper()
	names := strings.NewReplacer(d.home.host, "home.test", d.files.host, "files.test")
	by := func(sql string) map[string]string {
		all := storetest.Map[string, string](t, d.db.Pool, sql)
		out := map[string]string{}
		for k, v := range all {
			out[names.Replace(k)] = names.Replace(v)
		}
		return out
	}
	c := came{reasons: d.reasons(t, id)}
	c.documents = by(`SELECT l.url, concat_ws(' ', d.state, d.outcome, d.class, round(d.score::numeric, 3))
		FROM documents d JOIN locations l USING (sha256) WHERE l.current`)
	c.matches = by(`SELECT m.paper_key || ' ' || l.url, concat_ws(' ', m.verdict, m.form, m.score, m.reasons)
		FROM matches m JOIN locations l USING (sha256) WHERE l.current`)
	for title, why := range c.reasons {
		why[1] = names.Replace(why[1])
		c.reasons[title] = why
	}
	return c
}

// TestOtherOptionsTakeEffectOnWhatIsOnRecord: a harvest run again with other options comes
// to the documents, matches and reasons that it comes to on an empty record with these
// options. What the options before led to, and these do not, stays beside; so narrower
// options may know more of what is missing, but no other reason.
func TestOtherOptionsTakeEffectOnWhatIsOnRecord(t *testing.T) {
	t.Parallel()
	type setting func(d *secondDay, t *testing.T)
	wider := func(d *secondDay, t *testing.T) {
		storetest.Exec(t, d.db.Pool, `INSERT INTO scopes (site_id, prefix, origin)
			SELECT id, '/', 'ada' FROM sites WHERE host=$1`, d.home.host)
	}
	narrower := func(d *secondDay, t *testing.T) {
		storetest.Exec(t, d.db.Pool, `DELETE FROM scopes WHERE prefix='/'`)
	}
	policy := func(name string) setting {
		return func(d *secondDay, t *testing.T) {
			d.cfg.Policy = name
			home := store.ListedURL{URL: "http://" + d.home.host + "/~ada/", Position: 1}
			home.Domain = weburl.Domain(d.home.host)
			require.NoError(t, d.db.ImportWhitelist(t.Context(), []store.ListedURL{home}))
		}
	}
	unread := func(d *secondDay, _ *testing.T) { d.filters(nil) }
	// The shipped filter, which takes documents of a score. The sheets have 0.037.
	read := func(least string) setting {
		return func(d *secondDay, t *testing.T) {
			weights, err := os.ReadFile("../document/filter.json")
			require.NoError(t, err)
			f, err := document.LoadFilter(strings.NewReader(regexp.MustCompile(`("threshold":) *0.5\b`).ReplaceAllString(string(weights), "$1 "+least)), document.Balanced)
			require.NoError(t, err)
			d.filters(f)
		}
	}
	const ignore = `{"links": {"ignore": ["*/talks.html", "*/1.pdf", "*/private/*"]}}`
	pile := sampleweb.NewPile(3)
	of := func(t *testing.T) (*secondDay, []gleaner.Paper) {
		d := newSecondDay(t, rank.BreadthFirst)
		d.real(pile)
		read("0.5")(d, t)
		d.seed(t, d.home.host, "/~ada/", "/~ada/")
		return d, append(d.papers[:4:4], d.papers[8:]...)
	}
	usual, papers := of(t)
	usual.harvest(t, "conf/x", "{}", papers)
	usually := usual.came(t, "conf/x")
	for name, c := range map[string]struct {
		first, then   string  // options of the harvests
		worker, later setting // settings of the workers, and what they are then
		narrower      bool    // at least in part
	}{
		"all leads":  {first: "{}", then: `{"leads": "all"}`},
		"leads":      {first: `{"leads": "none"}`, then: "{}"},
		"no leads":   {first: `{"leads": "all"}`, then: `{"leads": "none"}`, narrower: true},
		"scope":      {first: "{}", then: "{}", later: wider},
		"less scope": {first: "{}", then: "{}", worker: wider, later: narrower, narrower: true},
		"lists":      {first: ignore, then: "{}"},
		"more lists": {first: "{}", then: ignore, narrower: true},
		"types":      {first: `{"links": {"ignore_types": ["pdf"]}}`, then: "{}"},
		"more types": {first: "{}", then: `{"links": {"ignore_types": ["pdf"]}}`, narrower: true},
		"policy":     {first: "{}", then: "{}", worker: policy(PolicyWhitelist), later: policy(PolicyBlacklist), narrower: true},
		"hybrid":     {first: "{}", then: "{}", worker: policy(PolicyWhitelist), later: policy(PolicyHybrid)},
		"whitelist":  {first: "{}", then: "{}", worker: policy(PolicyBlacklist), later: policy(PolicyWhitelist), narrower: true},
		"filter":     {first: "{}", then: "{}", worker: unread, later: read("0.5")},
		"no filter":  {first: "{}", then: "{}", worker: read("0.5"), later: unread, narrower: true},
		"liberal":    {first: "{}", then: "{}", worker: read("0.5"), later: read("0.02")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			set := func(s setting, d *secondDay) {
				if s != nil {
					s(d, t)
				}
			}
			want := usually
			if c.then != "{}" || c.later != nil {
				fresh, wanted := of(t)
				set(c.later, fresh)
				fresh.harvest(t, "conf/x", c.then, wanted)
				want = fresh.came(t, "conf/x")
			}
			again, wanted := of(t)
			set(c.worker, again)
			again.harvest(t, "conf/x", c.first, wanted)
			before := again.came(t, "conf/x")
			set(c.later, again)
			again.harvest(t, "conf/x", c.then, wanted)
			got := again.came(t, "conf/x")
			same := func(want, got, before map[string]string) {
				t.Helper()
				for k, is := range want {
					if c.narrower {
						is = strings.Fields(is)[0]
					}
					require.Contains(t, got[k], is, k)
				}
				for k := range got {
					if _, ok := want[k]; !ok {
						require.Contains(t, before, k, "nothing but what was there")
					}
				}
			}
			same(want.documents, got.documents, before.documents)
			same(want.matches, got.matches, before.matches)
			for title, why := range got.reasons {
				if c.narrower {
					why[1] = want.reasons[title][1]
				}
				require.Equal(t, want.reasons[title], why, title)
			}
			require.Equal(t, 1, again.home.asked()["/~ada/"], "what the page said was kept")
		})
	}
}

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
			w.exhaust(t, s.host, "/~ada/")
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
		storetest.Exec(t, w.db.Pool, `UPDATE urls SET state=0, content=NULL, was=0; UPDATE sites SET state='new'`)
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
	w.exhaust(t, s.host, "/")
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
