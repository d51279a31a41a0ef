package crawl

import (
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gleaner/internal/gleaner"
	"gleaner/internal/rank"
	"gleaner/internal/record/store"
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
		d.papers = append(d.papers, gleaner.Paper{Key: fmt.Sprintf("conf/x/P%d", i), Venue: "conf/x", Title: title, Year: 2000 + i, Authors: []gleaner.Author{{PID: "1/1", Name: "Ada Lovelace"}}})
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

// harvest wants papers, looks for them among the links on record, crawls what waits, and
// ends.
func (d *secondDay) harvest(t *testing.T, id, options string, papers []gleaner.Paper) {
	t.Helper()
	ctx := t.Context()
	require.NoError(t, d.db.SavePapers(ctx, papers, map[string]string{"source": "test"}))
	require.NoError(t, d.db.SaveHarvest(ctx, store.Harvest{ID: id, Venue: "conf/x", Options: []byte(options), Stage: gleaner.StageCrawl}))
	require.NoError(t, d.db.SetHarvestPapers(ctx, id, papers, nil))
	c := d.crawler(d.client)
	d.seed(t, d.home.host, "/~ada/", "/~ada/")
	_, err := d.db.Pool.Exec(ctx, `INSERT INTO harvest_sites (harvest_id, site_id, origin) SELECT $1, id, 'homepage' FROM sites WHERE host=$2 ON CONFLICT DO NOTHING`, id, d.home.host)
	require.NoError(t, err)
	_, err = c.FindLinks(ctx, id, time.Time{}, KeptPosition{}, func(KeptPosition) {})
	require.NoError(t, err)
	_, err = c.ReopenLinks(ctx, id, d.home.host)
	require.NoError(t, err)
	for wave := true; wave; {
		_, err = c.FindLinks(ctx, id, time.Now().Add(-time.Hour), KeptPosition{}, func(KeptPosition) {})
		require.NoError(t, err)
		hosts, _, err := d.db.SitesToCrawl(ctx, id, "", 10)
		require.NoError(t, err)
		for _, host := range hosts {
			d.rested(t, host)
			r := d.finish(t, c, host)
			require.Equal(t, Exhausted, r.Ending, host)
			_, err := d.db.Pool.Exec(ctx, `UPDATE sites SET state='done' WHERE host=$1`, host)
			require.NoError(t, err)
		}
		wave = len(hosts) > 0
	}
	require.NoError(t, d.db.SetStage(ctx, id, gleaner.StageComplete, ""))
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

// TestTheSecondHarvestFindsWhatOneFinds: two harvests that part the papers in any way get
// what one harvest of all gets, in fewer requests than on two empty records.
func TestTheSecondHarvestFindsWhatOneFinds(t *testing.T) {
	t.Parallel()
	for _, strategy := range []string{rank.BreadthFirst, rank.Zhuang, rank.Gleaner} {
		whole := newSecondDay(t, strategy)
		whole.harvest(t, "conf/x", "{}", whole.papers)
		want := whole.fetched(t)
		require.Len(t, want, 13, "four pages, eight papers and a talk: %v", want)
		for name, first := range map[string]func(i int) bool{
			"years":  func(i int) bool { return i < 4 },
			"back":   func(i int) bool { return i >= 4 },
			"parity": func(i int) bool { return i%2 == 0 },
			"kinds":  func(i int) bool { return i%4 == 0 },
		} {
			t.Run(strategy+"/"+name, func(t *testing.T) {
				t.Parallel()
				d := newSecondDay(t, strategy)
				var a, b []gleaner.Paper
				for i, p := range d.papers {
					if first(i) {
						a = append(a, p)
					} else {
						b = append(b, p)
					}
				}
				d.harvest(t, "conf/x/1", "{}", a)
				once := d.requests()
				d.harvest(t, "conf/x/2", "{}", b)
				require.Equal(t, want, d.fetched(t))
				require.Less(t, d.requests()-once, whole.requests(), "less than on an empty record")
			})
		}
	}
}

// TestOtherOptionsTakeEffectOnWhatIsOnRecord: a harvest run again with a wider scope or
// with all leads gets what it gets with these on an empty record.
func TestOtherOptionsTakeEffectOnWhatIsOnRecord(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(t *testing.T, d *secondDay) (options string){
		"leads": func(*testing.T, *secondDay) string { return `{"leads": "all"}` },
		"scope": func(t *testing.T, d *secondDay) string {
			_, err := d.db.Pool.Exec(t.Context(), `INSERT INTO scopes (site_id, prefix, origin) SELECT id, '/', 'ada' FROM sites WHERE host=$1`, d.home.host)
			require.NoError(t, err)
			return "{}"
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fresh, again := newSecondDay(t, rank.BreadthFirst), newSecondDay(t, rank.BreadthFirst)
			fresh.seed(t, fresh.home.host, "/~ada/", "/~ada/")
			options := change(t, fresh)
			fresh.harvest(t, "conf/x", options, fresh.papers[:1])
			again.harvest(t, "conf/x", "{}", again.papers[:1])
			before := maps.Clone(again.fetched(t))
			again.harvest(t, "conf/x", change(t, again), again.papers[:1])
			require.Equal(t, fresh.fetched(t), again.fetched(t))
			require.Greater(t, len(again.fetched(t)), len(before))
			require.Equal(t, 1, again.home.asked()["/~ada/"], "what the page said was kept")
		})
	}
}

// TestLinksWithoutRoomHaveTheirPageAskedAgain, since a harvest cannot know otherwise.
func TestLinksWithoutRoomHaveTheirPageAskedAgain(t *testing.T) {
	t.Parallel()
	d := newSecondDay(t, rank.BreadthFirst)
	d.harvest(t, "conf/x/1", "{}", d.papers[:1])
	_, err := d.db.Pool.Exec(t.Context(), `UPDATE kept_links SET data=NULL`)
	require.NoError(t, err)
	d.harvest(t, "conf/x/2", "{}", d.papers[1:])
	require.Equal(t, 2, d.home.asked()["/~ada/"])
	require.Contains(t, d.fetched(t), "files/1.pdf")
	require.Contains(t, d.fetched(t), "files/3.pdf")
}
