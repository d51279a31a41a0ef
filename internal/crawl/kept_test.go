package crawl

import (
	"fmt"
	"io"
	"log/slog"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gleaner/internal/devstack/storetest"
	"gleaner/internal/gleaner"
	"gleaner/internal/lab/sampleweb"
	"gleaner/internal/library/collection"
	"gleaner/internal/rank"
	"gleaner/internal/record/frontier"
	"gleaner/internal/record/store"
	"gleaner/internal/web/page"
)

// secondDay is a small web of one author: a list of papers that links to files on the
// author's host, to files and landing pages on others by their titles, and to pages
// outside the scope.
type secondDay struct {
	*world
	home, files *site
	papers      []gleaner.Paper
}

var secondDayTitles = []string{"Sorting Measured Examples by Weight", "Indexes for Streams of Uncertain Tuples", "Joins That Forget Their Smaller Side",
	"Views Over Sources That Move", "Estimating the Cost of Recursive Queries", "Caches for Archives Nobody Reads", "Locks Held Across Two Continents", "Sampling Pages From Deep Hosts"}

func newSecondDay(t *testing.T, strategy string) *secondDay {
	d := &secondDay{world: newWorld(t), files: serveAt(t, "127.0.0.2", map[string]any{})}
	d.cfg.Strategy, d.cfg.Leads = strategy, "wanted"
	list := `<a href="talks.html">talks</a> <a href="/dept/news.html">news</a> `
	home := map[string]any{"/~ada/talks.html": links("t1.pdf"), "/~ada/t1.pdf": "t1", "/dept/news.html": links("n1.pdf"), "/dept/n1.pdf": "n1"}
	for i, title := range secondDayTitles {
		by := []gleaner.Author{{PID: "1/1", Name: "Ada Lovelace"}, {PID: "2/2", Name: "Charles Babbage"}}[i/2%2]
		d.papers = append(d.papers, gleaner.Paper{Key: fmt.Sprintf("conf/x/P%d", i), Venue: "conf/x", Title: title, Year: 2000 + i, Authors: []gleaner.Author{by}})
		name := fmt.Sprintf("%d.pdf", i)
		switch i % 4 {
		case 0: // on the author's host
			list, home["/~ada/"+name] = list+fmt.Sprintf(`<p><a href="%s">%s</a></p>`, name, title), title
		case 1: // on another host
			list, d.files.pages["/"+name] = list+fmt.Sprintf(`<p><a href="http://%s/%s">%s</a></p>`, d.files.host, name, title), title
		case 2: // behind a page of another host
			list += fmt.Sprintf(`<p><a href="http://%s/%d.html">%s</a></p>`, d.files.host, i, title)
			d.files.pages[fmt.Sprintf("/%d.html", i)], d.files.pages["/"+name] = links(name), title
		default: // the title stands beside the link
			list, d.files.pages["/"+name] = list+fmt.Sprintf(`<li>A. Lovelace: %s. <a href="http://%s/%s">PDF</a></li>`, title, d.files.host, name), title
		}
	}
	home["/~ada/"] = list
	d.home = serve(t, home)
	return d
}

// unlinked is a paper that no page links to.
func (d *secondDay) unlinked() gleaner.Paper {
	return gleaner.Paper{Key: "conf/x/Q", Venue: "conf/x", Title: "Bounds of Quorums That Nobody Counts", Year: 2009,
		Authors: d.papers[0].Authors}
}

// want has a harvest want papers.
func (w *world) want(t testing.TB, id, options string, papers []gleaner.Paper) {
	t.Helper()
	require.NoError(t, w.db.SavePapers(t.Context(), papers, map[string]string{"source": "test"}))
	require.NoError(t, w.db.SaveHarvest(t.Context(),
		store.Harvest{ID: id, Venue: "conf/x", Options: []byte(options), Stage: gleaner.StageCrawl}))
	require.NoError(t, w.db.SetHarvestPapers(t.Context(), id, papers, nil))
}

// harvest wants papers, looks for them among the links on record, crawls what waits, and
// ends.
func (d *secondDay) harvest(t *testing.T, id, options string, papers []gleaner.Paper) {
	t.Helper()
	ctx := t.Context()
	d.want(t, id, options, papers)
	c := d.crawler(d.client)
	d.seed(t, d.home.host, "/~ada/", "/~ada/")
	storetest.Exec(t, d.db.Pool, `INSERT INTO harvest_sites (harvest_id, site_id, origin) SELECT $1, id, 'homepage' FROM sites WHERE host=$2 ON CONFLICT DO NOTHING`, id, d.home.host)
	storetest.Exec(t, d.db.Pool, `INSERT INTO homepages (author_id, url, host, rank, source)
		SELECT DISTINCT author_id, 'http://' || $1 || '/~ada/', $1, 1, 'dblp' FROM paper_authors ON CONFLICT DO NOTHING`, d.home.host)
	require.NoError(t, d.coll.JudgeOtherwise(ctx, id, collection.Position{}, func(collection.Position) {}))
	_, err := d.coll.Rematch(ctx, collection.Position{}, func(collection.Position) {})
	require.NoError(t, err)
	_, err = c.FindLinks(ctx, id, time.Time{}, KeptPosition{}, func(KeptPosition) {})
	require.NoError(t, err)
	hosts, err := d.db.ReadSites(ctx, id, "", 10)
	require.NoError(t, err)
	for _, host := range hosts {
		_, err = c.ReopenLinks(ctx, id, host)
		require.NoError(t, err)
	}
	d.crawl(t, c, id)
	require.NoError(t, d.db.SetStage(ctx, id, gleaner.StageComplete, ""))
}

// crawl crawls what waits for a harvest, wave by wave.
func (d *secondDay) crawl(t *testing.T, c *Crawler, id string) {
	t.Helper()
	ctx := t.Context()
	for wave := true; wave; {
		_, err := c.FindLinks(ctx, id, time.Now().Add(-time.Hour), KeptPosition{}, func(KeptPosition) {})
		require.NoError(t, err)
		hosts, _, err := d.db.SitesToCrawl(ctx, id, "", 10)
		require.NoError(t, err)
		for _, host := range hosts {
			d.rested(t, host)
			r := d.finish(t, c, host)
			require.Equal(t, Exhausted, r.Ending, host)
			storetest.Exec(t, d.db.Pool, `UPDATE sites SET state='done' WHERE host=$1`, host)
		}
		wave = len(hosts) > 0
	}
}

// recrawl asks for all that was fetched once more.
func (d *secondDay) recrawl(t *testing.T) {
	t.Helper()
	c := d.crawler(d.client)
	for _, s := range []*site{d.home, d.files} {
		kept := func() int {
			id, err := store.EnsureSite(t.Context(), d.db.Pool, s.host)
			require.NoError(t, err)
			n, _, err := frontier.KeptSize(t.Context(), d.db.Pool, id)
			require.NoError(t, err)
			return n
		}
		before := kept()
		_, err := d.db.RequeueDue(t.Context(), s.host, store.PutBack{All: true, For: "recrawl/all"}, d.cfg.Recrawl)
		require.NoError(t, err)
		require.True(t, before == 0 || kept() < before, "what is said again counts once")
		d.rested(t, s.host)
		require.Equal(t, Exhausted, d.finish(t, c, s.host).Ending)
		require.NoError(t, d.db.FinishCrawl(t.Context(), s.host, store.CrawlEnd{State: "done"}, d.cfg.Recrawl))
	}
}

// changed recrawls after the list of papers has changed.
func (d *secondDay) changed(t *testing.T) {
	t.Helper()
	d.home.pages["/~ada/"] = d.home.pages["/~ada/"].(string) + "<p>Last changed today</p>"
	d.recrawl(t)
}

// imported brings the documents into the record as another crawler left them.
func (d *secondDay) imported(t *testing.T) {
	t.Helper()
	for _, s := range []*site{d.home, d.files} {
		id := d.seed(t, s.host, "/~ada/", "/~ada/")
		for path, body := range s.pages {
			if !strings.HasSuffix(path, ".pdf") {
				continue
			}
			k, err := d.coll.Keep(t.Context(), collection.File{SiteID: id, URL: "http://" + s.host + path, Parent: "http://" + d.home.host + "/~ada/",
				Header: http.Header{"Content-Type": {"application/pdf"}}, Body: []byte("%PDF-1.4\n" + body.(string)), At: time.Now()})
			require.NoError(t, err)
			for _, h := range k.Documents {
				_, err = d.coll.Judge(t.Context(), h, collection.Once)
				require.NoError(t, err)
			}
			k.Release()
		}
	}
}

// fetched is what was got from both hosts: each path with what became of it.
func (d *secondDay) fetched(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{}
	for name, s := range map[string]*site{"home": d.home, "files": d.files} {
		for path, is := range d.record(t, s.host) {
			if strings.HasPrefix(is, "document") || strings.HasPrefix(is, "page") {
				all[name+path] = strings.Fields(is)[0]
			}
		}
	}
	return all
}

func (d *secondDay) requests() int {
	n := 0
	for _, s := range []*site{d.home, d.files} {
		for _, hits := range s.asked() {
			n += hits
		}
	}
	return n
}

// why says of the papers that harvests miss for which reason they do.
func (d *secondDay) why(t *testing.T, harvests ...string) map[string]string {
	t.Helper()
	why := map[string]string{}
	for _, id := range harvests {
		for title, reason := range d.reasons(t, id) {
			why[title] = reason[0]
		}
	}
	return why
}

// TestTheSecondHarvestFindsWhatOneFinds: two harvests that part the papers in any way get
// what one harvest of all gets, and miss the rest for the same reasons, in fewer requests
// than on two empty records, whatever happened to the record before them or between.
func TestTheSecondHarvestFindsWhatOneFinds(t *testing.T) {
	t.Parallel()
	type parting struct {
		first           func(i int) bool
		before, between func(d *secondDay, t *testing.T)
	}
	even := func(i int) bool { return i%2 == 0 }
	pasts := map[string]map[string]parting{
		rank.BreadthFirst: {"recrawl": {first: even, between: (*secondDay).recrawl}},
		rank.Zhuang:       {"changed": {first: even, between: (*secondDay).changed}},
		rank.Gleaner:      {"import": {first: even, before: (*secondDay).imported}},
	}
	for strategy, partings := range pasts {
		maps.Copy(partings, map[string]parting{
			"years":  {first: func(i int) bool { return i < 4 }},
			"back":   {first: func(i int) bool { return i >= 4 }},
			"parity": {first: even},
			"kinds":  {first: func(i int) bool { return i%4 == 0 }},
			"author": {first: func(i int) bool { return i/2%2 == 0 }},
		})
		whole := newSecondDay(t, strategy)
		lost := whole.unlinked()
		whole.harvest(t, "conf/x", "{}", append(whole.papers, lost))
		want, reasons := whole.fetched(t), whole.why(t, "conf/x")
		require.Contains(t, reasons, lost.Title)
		require.Len(t, want, 13, "four pages, eight papers and a talk: %v", want)
		for name, p := range partings {
			t.Run(strategy+"/"+name, func(t *testing.T) {
				t.Parallel()
				d := newSecondDay(t, strategy)
				var halves [2][]gleaner.Paper
				for i, paper := range append(d.papers, lost) {
					half := 1
					if p.first(i) {
						half = 0
					}
					halves[half] = append(halves[half], paper)
				}
				if p.before != nil {
					p.before(d, t)
				}
				d.harvest(t, "conf/x/1", "{}", halves[0])
				if p.between != nil {
					p.between(d, t)
				}
				once := d.requests()
				d.harvest(t, "conf/x/2", "{}", halves[1])
				require.Equal(t, want, d.fetched(t))
				require.Equal(t, reasons, d.why(t, "conf/x/1", "conf/x/2"))
				require.Less(t, d.requests()-once, whole.requests(), "less than on an empty record")
			})
		}
	}
}

// TestLinksWithoutRoomHaveTheirPageAskedAgain, since a harvest cannot know otherwise. Those
// that cannot be read have none either.
func TestLinksWithoutRoomHaveTheirPageAskedAgain(t *testing.T) {
	t.Parallel()
	for _, data := range [][]byte{nil, []byte("no frame")} {
		d := newSecondDay(t, rank.BreadthFirst)
		d.harvest(t, "conf/x/1", "{}", d.papers[:1])
		storetest.Exec(t, d.db.Pool, `UPDATE kept_links SET data=$1`, data)
		d.harvest(t, "conf/x/2", "{}", d.papers[1:])
		require.Equal(t, 2, d.home.asked()["/~ada/"])
		require.Contains(t, d.fetched(t), "files/1.pdf")
		require.Contains(t, d.fetched(t), "files/3.pdf")
	}
}

// TestOnePageStopsNoSearchForLinks: its links are a hundred times as large as what they are
// packed to, and larger where "<" is escaped.
func TestOnePageStopsNoSearchForLinks(t *testing.T) {
	t.Parallel()
	d := newSecondDay(t, rank.BreadthFirst)
	many := "<h2>" + strings.Repeat("&lt;", 120) + "</h2>"
	for i := range 6000 {
		many += fmt.Sprintf(`<p>%s<a href="/x/%d.html">x</a></p>`, strings.Repeat("&lt;", 400), i)
	}
	d.home.pages["/~ada/talks.html"] = many
	d.harvest(t, "conf/x/1", "{}", d.papers[:1])
	d.harvest(t, "conf/x/2", "{}", d.papers[1:])
	require.Equal(t, 2, d.home.asked()["/~ada/talks.html"], "its links have no room")
	require.Contains(t, d.fetched(t), "files/1.pdf")
}

// TestKeptLinksAreHeldInParts of at most so many bytes.
func TestKeptLinksAreHeldInParts(t *testing.T) {
	t.Parallel()
	name := make([]byte, maxKeptPlain/2-50)
	_, _ = rand.NewChaCha8([32]byte{}).Read(name)
	links := []page.Link{{URL: fmt.Sprintf("http://ada.test/%x", name)}}
	packed, ok := packLinks(links)
	require.True(t, ok)
	pages := make([]frontier.Kept, 20)
	for i := range pages {
		pages[i].Data = packed
	}
	c := &Crawler{log: slog.New(slog.DiscardHandler)}
	found, noRoom, n := c.readKept(t.Context(), pages, func(*page.Link) bool { return true })
	require.Empty(t, noRoom)
	require.Len(t, found, n)
	require.Equal(t, keptFound/maxKeptPlain+1, n)
	require.Equal(t, links, found[n-1])
	_, ok = packLinks(append(links, links...))
	require.False(t, ok)
}

// TestALinkThatPanicsIsLeftOut, and no other of its page.
func TestALinkThatPanicsIsLeftOut(t *testing.T) {
	t.Parallel()
	a, b := page.Link{URL: "http://ada.test/a.pdf"}, page.Link{URL: "http://ada.test/b.pdf"}
	packed, ok := packLinks([]page.Link{a, {URL: "http://ada.test/panic.pdf"}, b})
	require.True(t, ok)
	c := &Crawler{log: slog.New(slog.DiscardHandler)}
	pages := []frontier.Kept{{Data: packed}, {Data: packed}}
	found, noRoom, n := c.readKept(t.Context(), pages, func(l *page.Link) bool {
		if strings.Contains(l.URL, "panic") {
			panic("a title of which nobody thought")
		}
		return true
	})
	require.Empty(t, noRoom)
	require.Equal(t, 2, n)
	for i := range n {
		require.Equal(t, []page.Link{a, b}, found[i])
	}
}

// TestLeadsHaveOneLimit: what a crawl and all later harvests give to one host is bounded
// together. A part of it is left for what is wanted later; what this bound leaves out is
// named as the reason.
func TestLeadsHaveOneLimit(t *testing.T) {
	t.Parallel()
	d := newSecondDay(t, rank.BreadthFirst)
	d.cfg.Leads = "all"
	many, pile := "", sampleweb.NewPile(3)
	for i := range maxLeadsPerHost {
		many += fmt.Sprintf(`<a href="http://victim.test/%d.pdf">a talk</a> `, i)
	}
	var late []gleaner.Paper
	for i := range maxLeadsPerHost/4 + 10 {
		late = append(late, pile.Paper(i))
		many += fmt.Sprintf(`<p><a href="http://victim.test/late%d.pdf">%s</a></p>`, i, late[i].Title)
	}
	d.home.pages["/~ada/"] = many
	d.seed(t, d.home.host, "/~ada/", "/~ada/")
	c := d.crawler(d.client)
	require.Equal(t, Exhausted, d.finish(t, c, d.home.host).Ending)
	find := func(id string, papers []gleaner.Paper) int {
		d.want(t, id, "{}", papers)
		found, err := c.FindLinks(t.Context(), id, time.Time{}, KeptPosition{}, func(KeptPosition) {})
		require.NoError(t, err)
		return found.Links
	}
	require.Equal(t, 1, find("conf/x/1", late[:1]))
	require.Equal(t, maxLeadsPerHost/4-1, find("conf/x/2", late[1:]))
	require.Equal(t, 0, find("conf/x/2", late[1:]))
	require.Len(t, d.record(t, "victim.test"), maxLeadsPerHost)
	require.Equal(t, map[string]int{"skipped " + string(outcomeLeadsPerHost): 10}, d.outcomes(t, d.home.host, "/late"))
}

// TestAFileThatIsBackIsNoLongerLost: a server that answered for a day that a file is gone
// says of it next that it is as it was.
func TestAFileThatIsBackIsNoLongerLost(t *testing.T) {
	t.Parallel()
	d := newSecondDay(t, rank.BreadthFirst)
	var gone atomic.Bool
	file := tagged("application/pdf", "%PDF-1.4\n"+secondDayTitles[0])
	d.home.pages["/~ada/0.pdf"] = func(w http.ResponseWriter, r *http.Request) {
		if gone.Load() {
			http.NotFound(w, r)
			return
		}
		file(w, r)
	}
	d.harvest(t, "conf/x", "{}", d.papers[:1])
	began, err := d.db.Now(t.Context())
	require.NoError(t, err)
	for _, c := range []struct {
		gone bool
		is   string
	}{{true, "0 1 not-found"}, {false, "1 0 not-modified"}, {true, "0 1 not-found"}} {
		gone.Store(c.gone)
		d.recrawl(t)
		require.Equal(t, c.is, storetest.Get[string](t, d.db.Pool,
			`SELECT concat_ws(' ', count(*) FILTER (WHERE current), count(gone_at), min(u.outcome))
			FROM locations l JOIN urls u USING (site_id, hash) WHERE l.url LIKE '%/0.pdf'`))
	}
	b, err := d.db.Brought(t.Context(), store.Selection{Host: d.home.host}, began)
	require.NoError(t, err)
	require.Positive(t, b.Failed)
	require.Equal(t, b.Asked, b.Unchanged+b.Changed+b.Failed)
}

// TestWhatPacksTooWellIsNotKept: each later question would unpack it.
func TestWhatPacksTooWellIsNotKept(t *testing.T) {
	t.Parallel()
	link := page.Link{URL: "http://a.example/", Context: strings.Repeat("the same words ", 80)}
	_, ok := packLinks(slices.Repeat([]page.Link{link}, 1000))
	require.False(t, ok)
	packed, ok := packLinks(slices.Repeat([]page.Link{link}, 50))
	require.True(t, ok, "it is small")
	require.Less(t, cap(packed), 2*len(packed), "it may be held while its page waits")
}

// TestLongTagsAreNotKept: they would be read with each window of URLs, and sent back.
func TestLongTagsAreNotKept(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := serve(t, map[string]any{"/": func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("ETag", `"`+strings.Repeat("a", 2000)+`"`)
		_, _ = io.WriteString(w, links("/short.html"))
	}, "/short.html": tagged("text/html", links())})
	w.seed(t, s.host, "/", "/")
	sliced(t, w.crawler(w.client), s.host)
	require.Equal(t, []string{"", `"1"`}, storetest.Column[string](t, w.db.Pool, `SELECT etag FROM urls ORDER BY etag`))
}
