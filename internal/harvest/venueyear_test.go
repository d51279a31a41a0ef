package harvest_test

import (
	"flag"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"gleaner/internal/devstack/devtest"
	"gleaner/internal/gleaner"
	"gleaner/internal/lab/catalogues"
	"gleaner/internal/service/app"
)

const bigKey = "conf/exa"

// bigVenue is a venue-year of papers with three authors each. Nine in ten have a
// homepage in DBLP, of which one in ten does not answer.
func bigVenue(papers int) *outside {
	c := catalogues.Catalogue{Venue: bigKey, Name: "EXA", Title: "Symposium on Examples", ISSN: "1234-5678",
		Volumes: []catalogues.Volume{{TOC: "db/conf/exa/exa2003", Year: 2003}}, Homepages: map[string][]string{}}
	type person struct{ url, name, title string }
	var people []person
	for i := range papers {
		p := gleaner.Paper{Key: fmt.Sprintf("conf/exa/Paper%d", i), Venue: c.Venue, Year: 2003, Pages: fmt.Sprintf("%d-%d", 10*i+1, 10*i+10),
			Title: fmt.Sprintf("On the %s of Measured Example Number %d & its Kin", []string{"Structure", "Growth", "Decay", "Cost"}[i%4], i),
			DOI:   fmt.Sprintf("10.5555/exa.%d", i)}
		p.Links = []string{"https://doi.org/" + p.DOI}
		for j := range 3 {
			pid := fmt.Sprintf("%d/%d", i, j)
			name := fmt.Sprintf("Ann%c Person%c%c%c", 'a'+j, 'a'+i%26, 'a'+i/26, 'a'+j)
			p.Authors = append(p.Authors, gleaner.Author{PID: pid, Name: name})
			n := 3*i + j
			if n%10 == 9 {
				continue
			}
			url := fmt.Sprintf("http://cs%d.example.edu/~person%d/", n%200, n)
			c.Homepages[pid] = []string{"https://orcid.org/0000-0000-0000-0000", url}
			if n%10 != 8 {
				people = append(people, person{url, name, p.Title})
			}
		}
		c.Volumes[0].Papers = append(c.Volumes[0].Papers, p)
	}
	o := newOutside(c)
	for _, p := range people {
		o.home(p.url, p.name, p.title)
	}
	return o
}

var yearPapers = flag.Int("papers", 60, "papers of TestVenueYear, each with three authors; a large venue-year has 500")

// TestVenueYear takes the papers of a venue-year and their authors through the stages
// before the crawl with two workers that share the record alone, and reads the
// paces from the log of the services. Paces are a fiftieth of the real ones.
func TestVenueYear(t *testing.T) {
	t.Parallel()
	papers := *yearPapers
	o := bigVenue(papers)
	o.Latency = 2 * time.Millisecond
	for _, f := range []catalogues.Fault{
		{Host: "dblp.org", Path: "/pid/", Every: 297, Status: 503, RetryAfter: time.Second},
		{Host: "dblp.org", Path: "/search/", Times: 1, Status: 429, RetryAfter: time.Second},
		{Host: "api.crossref.org", Times: 1, Status: 503, RetryAfter: time.Second},
	} {
		o.Fail(f)
	}
	const dblpDelay, siteDelay = 20 * time.Millisecond, 20 * time.Millisecond
	dsn := devtest.Postgres(t)
	settings := map[string]string{"sources": "dblp,crossref", "dblp-delay": dblpDelay.String(), "delay": siteDelay.String(), "min-delay": "0s", "copies": "links"}
	workers := []*app.App{o.open(t, dsn, settings), o.open(t, dsn, settings)}
	ctx := t.Context()
	years := gleaner.Years{From: 2003, To: 2003}
	require.NoError(t, workers[0].DB.DescribeVenue(ctx, bigKey, map[string]string{"issn": o.catalogue.ISSN}, ""))
	id := begin(t, workers[0], bigKey, years)
	start := time.Now()
	l, err := workers[0].Stages.ListPapers(ctx, id, bigKey, years, nothing)
	require.NoError(t, err)
	require.Equal(t, papers, l.Wanted)
	require.Empty(t, l.Missing)
	var merged int
	require.NoError(t, workers[0].DB.Pool.QueryRow(ctx, `SELECT count(*) FROM papers WHERE origin->'sources' = '["dblp", "crossref"]' AND origin->'from'->'authors' @> '["dblp"]'`).Scan(&merged))
	assert.Equal(t, papers, merged, "papers of both sources")
	require.NoError(t, workers[0].Stages.Locate(ctx, mustPapers(t, workers[0], id), noCount))
	listed := time.Since(start)

	// A second harvest of the same years runs at the other worker meanwhile; the
	// authors are the same, and so are the hosts.
	other := begin(t, workers[1], bigKey, gleaner.Years{From: 2003, To: 2004})
	_, err = workers[1].Stages.ListPapers(ctx, other, bigKey, gleaner.Years{From: 2003, To: 2004}, nothing)
	require.NoError(t, err)
	var wg sync.WaitGroup
	wg.Go(func() { findAll(t, workers[0], id, bigKey, 48) })
	wg.Go(func() { findAll(t, workers[1], other, bigKey, 48) })
	wg.Wait()
	took := time.Since(start)

	var found, wrong, decided int
	require.NoError(t, workers[0].DB.Pool.QueryRow(ctx, `SELECT count(*), count(*) FILTER (WHERE split_part(url, '~person', 2) <>
		(split_part(author_id, '/', 1)::int * 3 + split_part(author_id, '/', 2)::int) || '/') FROM homepages WHERE rank=0`).Scan(&found, &wrong))
	require.NoError(t, workers[0].DB.Pool.QueryRow(ctx, `SELECT count(*) FROM homepage_decisions`).Scan(&decided))
	t.Logf("%d papers, %d authors decided, %d homepages found, %d wrong; listed and located in %s, all in %s", papers, decided, found, wrong, listed.Round(time.Millisecond), took.Round(time.Millisecond))
	assert.Equal(t, 3*papers, decided)
	assert.Equal(t, len(o.pages), found)
	assert.Zero(t, wrong)

	limits := map[string]time.Duration{"dblp.org": dblpDelay, "api.crossref.org": 100 * time.Millisecond}
	for _, host := range o.Hosts() {
		p := o.Pace(host)
		t.Logf("%-18s %4d requests, %d in flight at most, least gap %s (limit %s), %d before Retry-After", host, p.Requests, p.InFlight, p.MinGap, limits[host], p.Hasty)
		assert.Equal(t, 1, p.InFlight, host)
		assert.GreaterOrEqual(t, p.MinGap, limits[host], host)
		assert.Zero(t, p.Hasty, host)
	}
	least := time.Hour
	hosts := o.paceOf()
	for _, gap := range hosts {
		least = min(least, gap)
	}
	t.Logf("%d hosts of people's pages, %d requests, least gap at one host %s (limit %s)", len(hosts), len(o.asked), least, siteDelay)
	assert.GreaterOrEqual(t, least, siteDelay)
}

func mustPapers(t *testing.T, a *app.App, id string) []gleaner.Paper {
	ps, err := a.DB.Missing(t.Context(), id)
	require.NoError(t, err)
	return ps
}
