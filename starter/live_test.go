package main

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gleaner/internal/fetch"
	"gleaner/internal/gleaner"
	"gleaner/internal/record/frontier"
	"gleaner/internal/record/store"
	"gleaner/internal/service/terminal"
)

// crawlsSites is a harvest that crawls some sites, of which some fail.
func (c *testConsole) crawlsSites(sites ...string) string {
	c.t.Helper()
	const id = "conf/x/2001"
	require.NoError(c.t, c.SaveHarvest(c.t.Context(), store.Harvest{ID: id, Venue: "conf/x", Years: gleaner.Years{From: 2001, To: 2001}, Options: []byte("{}"), Stage: gleaner.StageCrawl}))
	for _, host := range sites {
		c.visited(host, "/", "", frontier.Page, gleaner.OK)
		c.visited(host, "/a.pdf", "http://"+host+"/", frontier.Document, gleaner.OK)
		for i := range 3 {
			c.visited(host, fmt.Sprint("/", i), "http://"+host+"/", frontier.Waiting, "")
		}
		c.exec(`UPDATE sites SET state='crawling', pace='2 s', pace_by='robots.txt' WHERE host=$1`, host)
		c.exec(`INSERT INTO harvest_sites (harvest_id, site_id, origin) SELECT $1, id, 'homepage' FROM sites WHERE host=$2`, id, host)
	}
	return id
}

func (c *testConsole) exec(sql string, args ...any) {
	c.t.Helper()
	_, err := c.Pool.Exec(c.t.Context(), sql, args...)
	require.NoError(c.t, err)
}

// TestAHarvestThatOneWatches: what is shown of it fits the terminal, and says of its
// sites how far they are, which fail and why, and how long it may take.
func TestAHarvestThatOneWatches(t *testing.T) {
	t.Parallel()
	c := newConsole(t)
	id := c.crawlsSites("ada.example", "bob.example", "shut.example", "a-host-with-a-very-long-name.department-of-computer-science.university.example")
	c.visited("bob.example", "/slow", "http://bob.example/", frontier.Failed, fetch.Timeout)
	c.exec(`UPDATE sites SET state='crawling', failures=3, parked_until=now() + interval '90 s' WHERE host='bob.example'`)
	c.exec(`UPDATE urls SET next_try=now() + interval '90 s' WHERE state=3`)
	c.exec(`UPDATE sites SET state='refused', reason='robots.txt cannot be read' WHERE host='shut.example'`)
	l := &looking{db: c.DB, id: id, pace: time.Second, begun: time.Now()}
	c.exec(`UPDATE harvests SET started_at=now() - interval '200 s'`)
	require.NoError(t, l.look(t.Context()))
	l.does([]string{"12 of 30 papers"})
	for _, width := range []int{40, 80, 200} {
		lines := l.Lines(width, 24)
		for _, s := range lines[:1] {
			require.LessOrEqual(t, terminal.Width(s), width)
		}
		all := strings.Join(lines, "\n")
		require.Contains(t, all, "conf/x/2001  crawl (5 of 6)")
		require.Regexp(t, `3m[2-9]\ds`, all)
		require.Contains(t, all, "0 of 4 done, 1 refused")
		require.Contains(t, all, "12 of 30 papers")
		require.Contains(t, all, "about 6s left", "three links at two seconds, site beside site")
		require.Regexp(t, `! bob\.example +timeout, 3 times in a row; asked again in 1m`, all)
		require.Regexp(t, `! shut\.example +refused: robots\.txt cannot be read`, all)
		require.Regexp(t, `  ada\.example +1 page  +0 papers +3 waiting  now`, all)
	}
	for _, s := range l.Lines(80, 24) {
		require.LessOrEqual(t, terminal.Width(s), 80, s)
	}
	require.Contains(t, strings.Join(l.Lines(80, 9), "\n"), "and 3 more")
	require.Contains(t, l.String(), "2 of the sites fail, such as ")
	require.Contains(t, l.String(), "conf/x/2001 [crawl] wanted 0")

	c.exec(`INSERT INTO listings (source, venue, volume, position, year, paper) SELECT 'dblp', 'conf/x', 'v', n, 2001, '{}' FROM generate_series(1, 7) n`)
	c.exec(`UPDATE harvests SET stage='papers'`)
	require.NoError(t, l.look(t.Context()))
	l.does([]string{"volume 3 of 8: db/conf/x/x2001"})
	all := strings.Join(l.Lines(80, 24), "\n")
	require.Contains(t, all, "7 listed so far", "no zeros while the catalogue answers")
	require.Contains(t, all, "volume 3 of 8")
}

// TestWhatAHarvestCameToStays: what others do on its sites later is not its own, but
// for papers that are there now.
func TestWhatAHarvestCameToStays(t *testing.T) {
	t.Parallel()
	c := newConsole(t)
	id := c.crawlsSites("ada.example")
	require.Contains(t, c.ok("status", id), "pages 1, waiting 3")
	require.NoError(t, c.SetStage(t.Context(), id, gleaner.StageComplete, ""))
	c.visited("ada.example", "/later", "http://ada.example/", frontier.Page, gleaner.OK)
	require.Contains(t, c.ok("status", id), "pages 1, waiting 3")
	c.exec(`INSERT INTO papers (key, venue, year, title) VALUES ('conf/x/1', 'conf/x', 2001, 'A Paper')`)
	c.exec(`INSERT INTO harvest_papers (harvest_id, paper_key) VALUES ($1, 'conf/x/1')`, id)
	c.accepted("ada.example", "b.pdf")
	c.exec(`INSERT INTO matches (paper_key, sha256, verdict, form, score) VALUES ('conf/x/1', 'ada.exampleb.pdf', 'exact', 'paper', 1)`)
	require.Contains(t, c.ok("status", id), "found 0 (1 now)")

	require.NoError(t, c.SaveHarvest(t.Context(), store.Harvest{ID: id, Venue: "conf/x", Years: gleaner.Years{From: 2001, To: 2001}, Options: []byte("{}"), Stage: gleaner.StagePapers}))
	require.Contains(t, c.ok("status", id), "wanted 1, found 1 |", "begun again, it counts anew")
}
