package main

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"gleaner/internal/console"
	"gleaner/internal/devstack/storetest"
	"gleaner/internal/document"
	"gleaner/internal/gleaner"
	"gleaner/internal/lab/sampleweb"
	"gleaner/internal/record/store"
	"gleaner/internal/service/program"
)

// TestWhatAHarvestWouldTake: papers and authors are listed, nothing is kept, no site is
// asked, and what is guessed is said to be; with a history on record it is taken from
// that.
func TestWhatAHarvestWouldTake(t *testing.T) {
	t.Parallel()
	c := newConsole(t)
	web := c.onWebOf(sampleweb.Options{Seed: 7, Years: 2, Papers: 16, PagesPerSite: 3})
	var all []estimated
	dry := []string{"harvest", web.Venues()[0], "--years", "2001-2002", "--dry-run"}
	c.read(&all, dry...)
	e := all[0]
	require.Equal(t, 16, e.Papers)
	require.Len(t, e.Listed, 16)
	require.NotEmpty(t, e.Listed[0].Authors)
	require.Equal(t, e.Authors, e.ToFind, "nobody was looked for")
	require.Equal(t, e.Looking+e.Crawling, e.Requests)
	require.Positive(t, e.Seconds)
	out := c.ok(dry...)
	require.Contains(t, out, "16 papers as DBLP lists them now, 0 held, 16 wanted")
	require.Contains(t, out, "assumed, since the record has 0 authors")
	require.Contains(t, out, "how long that takes is not known")
	require.Contains(t, out, "No harvest was started and no site was asked.")
	for _, table := range []string{"papers", "listings", "volumes", "venues", "authors", "harvests", "homepages", "urls", "holdings"} {
		n := storetest.Get[int](t, c.Pool, `SELECT count(*) FROM `+table)
		require.Zero(t, n, table)
	}
	for _, q := range web.Log() {
		require.Contains(t, q.Host, "dblp", "no site, and no search")
	}

	c.read(&all, "harvest", web.Venues()[0], "--years", "2001,2003", "--dry-run")
	require.Equal(t, 8, all[0].Papers, "not those of the year between")
	require.Equal(t, gleaner.YearsOf(2001, 2003), all[0].Years)
	c.read(&all, "harvest", web.Venues()[0], "--dry-run")
	require.Equal(t, 16, all[0].Papers, "all years")

	c.read(&all, "harvest", "--author", e.Listed[0].Authors[0], "--dry-run")
	require.Equal(t, 1, all[0].Authors, "co-authors are not looked for")

	held := c.file("held.csv", "title,year\n\""+e.Listed[0].Title+"\","+"2001\n")
	c.read(&all, append(dry, "--holdings", held)...)
	require.Equal(t, []int{1, 15}, []int{all[0].Held, all[0].Wanted})

	for _, host := range []string{"a.example", "b.example", "c.example", "d.example", "e.example", "f.example", "g.example", "h.example", "i.example", "j.example"} {
		c.visited(host, "/", "", 1, "success")
	}
	c.exec(`INSERT INTO authors (id, name) SELECT n::text, n::text FROM generate_series(1, 20) n`)
	c.exec(`INSERT INTO homepage_decisions (author_id, decision, requests) SELECT n::text, '{}', 4 FROM generate_series(1, 20) n`)
	c.exec(`INSERT INTO crawls (site_id, crawl, started_at, finished_at, requests, fetched) SELECT id, 1, now(), now(), CASE WHEN host='a.example' THEN 300 ELSE 30 END, 30 FROM sites WHERE length(host) = 9`)
	c.exec(`UPDATE sites SET pace='2 s', pace_by='robots.txt'`)
	c.read(&all, dry...)
	require.Equal(t, 4*all[0].ToFind, all[0].Looking)
	out = c.ok(dry...)
	require.Contains(t, out, "a request every 2s, the mean of ")
	require.Regexp(t, `of crawls\); \d+m?\d*s( to \d+m?\d*s)?\n`, out)
	require.InDelta(t, float64(all[0].Looking)*2/48, all[0].Seconds, .1, "48 authors are looked for at a time")
	require.Contains(t, out, "4.0 requests an author, 0 % found")
	require.Contains(t, out, "57 requests of a new site, the mean of 10 first crawls on record, and 300 of the largest")
	require.NoError(t, c.SaveHarvest(t.Context(), store.Harvest{ID: web.Venues()[0] + "/2001-2002", Venue: web.Venues()[0], Years: gleaner.Years{From: 2001, To: 2002}, Options: []byte("{}"), Stage: gleaner.StageComplete}))
	c.exec(`INSERT INTO harvest_sites (harvest_id, site_id, origin) SELECT $1, id, 'homepage' FROM sites`, web.Venues()[0]+"/2001-2002")
	c.exec(`UPDATE sites SET crawl=1, pace='100 s'`)
	c.exec(`UPDATE urls SET due_at=now() + interval '1 day', fetched_at=now()`)
	for again, want := range map[string]int{"": 10, "all": 10, "due": 0, "none": 0} {
		c.read(&all, append(dry, "--again", again)...)
		require.Equal(t, want, all[0].Known.Waiting, again)
	}
	c.read(&all, "harvest", web.Venues()[0]+"/2001-2002", "--dry-run")
	require.Equal(t, 10, all[0].Known.Waiting, "named by its id")
	require.GreaterOrEqual(t, all[0].Seconds, 100.0, "no host is asked faster than its pace")
	require.Contains(t, c.wrong(program.ExitUsage, "harvest", "--site", "https://a.example/", "--dry-run"), "is not known before it is asked")
}

// TestTheRecordAnswersForYearsThatItHas alone: where a harvest listed some of the years that
// are asked for, the catalogue is asked for all.
func TestTheRecordAnswersForYearsThatItHas(t *testing.T) {
	t.Parallel()
	c := newConsole(t)
	web := c.onWebOf(sampleweb.Options{Seed: 7, Years: 2, Papers: 16, PagesPerSite: 3})
	venue := web.Venues()[0]
	dry := func(years string) string { return c.ok("harvest", venue, "--years", years, "--dry-run") }
	h := store.Harvest{ID: venue + "/2001", Venue: venue, Years: gleaner.Years{From: 2001, To: 2001}, Options: []byte("{}"), Stage: gleaner.StageComplete}
	require.NoError(t, c.SaveHarvest(t.Context(), h))
	paper := gleaner.Paper{Key: venue + "/P", Venue: venue, Year: 2001, Title: "Engines for Everyone", Authors: []gleaner.Author{{PID: "1/1", Name: "Ada Loe"}}}
	require.NoError(t, c.SavePapers(t.Context(), []gleaner.Paper{paper}, nil))
	require.NoError(t, c.SetHarvestPapers(t.Context(), h.ID, []gleaner.Paper{paper}, nil))
	c.accepted("ada.example", "p.pdf")
	c.exec(`INSERT INTO matches (paper_key, sha256, verdict, score, form)
		SELECT $1, sha256, 'exact', 1, 'paper' FROM documents`, paper.Key)
	out := dry("2001")
	require.Contains(t, out, "1 paper as the record has them, 0 held, 1 wanted, 1 of these found already")
	require.Contains(t, out, "found   2001  Engines for Everyone")
	require.Contains(t, out, "authors of wanted papers: 0;", "nobody is looked for whose papers were found")
	require.Contains(t, dry("2001-2002"), "16 papers as DBLP lists them now")
	h.ID, h.Years, h.Stage = venue+"/2002-2003", gleaner.Years{From: 2002, To: 2003}, gleaner.StageCrawl
	require.NoError(t, c.SaveHarvest(t.Context(), h))
	require.Contains(t, dry("2001-2002"), "1 paper as the record has them")
	known := gleaner.Paper{Key: venue + "/Q", Venue: venue, Year: 2001, Title: "Engines in the Large"}
	known.Authors = []gleaner.Author{{PID: "7/7", Name: "Jane Roe"}}
	require.NoError(t, c.SavePapers(t.Context(), []gleaner.Paper{known}, nil))
	c.exec(`INSERT INTO homepages (author_id, url, host, rank, source)
		VALUES ('7/7', 'http://roe.example/', 'roe.example', 1, 'dblp')`)
	found := gleaner.Paper{Key: "papers:own/2", Venue: venue, Year: 2001, Title: paper.Title, Authors: []gleaner.Author{{Name: "Ada Loe"}}}
	known.Key, known.Authors = "papers:own/1", []gleaner.Author{{Name: "Jane Roe"}}
	require.NoError(t, c.SaveListing(t.Context(), "file", "papers:own", "list", []gleaner.Paper{known, found}))
	own := answer[[]estimated](c.read, "harvest", "papers:own", "--dry-run")
	require.Equal(t, 1, own[0].Known.Found, "a list names people, and the record knows them")
	require.True(t, own[0].Listed[1].Found, "a document on record is the paper, of whatever list")
	require.NoError(t, c.SetUnanswered(t.Context(), h.ID, store.UnansweredPapers, "dblp", nil, []store.Unanswered{{Subject: "2002", Reason: "status 503"}}))
	require.Contains(t, dry("2001-2002"), "16 papers as DBLP lists them now")
}

// desk does what the console asks of the commands.
func (c *testConsole) desk(args ...string) *desk {
	c.t.Helper()
	root := newRootCommand(io.Discard, io.Discard, document.Child{})
	require.NoError(c.t, root.Root.PersistentFlags().Parse(append(c.args, args...)))
	return &desk{c: root, db: c.DB}
}

// TestAPreviewSaysWhatFails while the catalogue is requested again.
func TestAPreviewSaysWhatFails(t *testing.T) {
	t.Parallel()
	c := newConsole(t)
	down := httptest.NewServer(http.NotFoundHandler())
	down.Close()
	d := c.desk("--proxy-file", secretFile(t, down.URL), "--dblp-url", "http://dblp.example")
	ctx, cancel := context.WithCancelCause(t.Context())
	said := func(s string) { cancel(errors.New(s)) }
	_, err := d.Estimate(ctx, console.HarvestRequest{Goal: "conf/x", Years: "2001"}, said)
	require.ErrorIs(t, err, context.Canceled)
	require.EqualError(t, context.Cause(ctx), "DBLP is unavailable, and is asked again")
}
