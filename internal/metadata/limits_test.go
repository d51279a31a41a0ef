package metadata_test

import (
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"gleaner/internal/gleaner"
	"gleaner/internal/lab/catalogues"
	"gleaner/internal/metadata"
)

// TestLimitsOfAVenueYear takes 500 papers and their 1,500 authors through the
// metadata, copies and persons of all sources, with eight workers at one gate,
// and reads the pace from the services' own log. The clock is virtual.
func TestLimitsOfAVenueYear(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		catalogue := catalogues.Large(500)
		s := catalogues.New(catalogue)
		s.Latency = 30 * time.Millisecond
		for _, f := range []catalogues.Fault{
			{Host: "dblp.org", Path: "/pid/", Every: 97, Status: 503, RetryAfter: 7 * time.Second},
			{Host: "dblp.org", Path: "/search/", Times: 1, Status: 429, RetryAfter: 5 * time.Second},
			{Host: "api.crossref.org", Every: 30, Status: 503, RetryAfter: 3 * time.Second},
			{Host: "api.unpaywall.org", Every: 61, Status: 429, RetryAfter: 4 * time.Second},
			{Host: "export.arxiv.org", Every: 10, Status: 503, RetryAfter: 20 * time.Second},
			{Host: "api.semanticscholar.org", Times: 1, Status: 429},
		} {
			s.Fail(f)
		}
		begin := time.Now()
		cfg := metadata.Config{HTTPClient: s.Client(), Contact: "librarian@library.example.org", OpenAlexKey: "k", Gate: metadata.NewLocalGate()}
		venueYear(t, cfg, catalogue)
		t.Logf("500 papers, 1,500 authors: %s of virtual time", time.Since(begin).Round(time.Second))

		limits := map[string]time.Duration{ // least gap between an answer and the next request
			"dblp.org": time.Second, "api.crossref.org": 100 * time.Millisecond, "api.openalex.org": 200 * time.Millisecond,
			"api.semanticscholar.org": time.Second, "api.unpaywall.org": 900 * time.Millisecond, "export.arxiv.org": 3 * time.Second,
		}
		for _, host := range s.Hosts() {
			p := s.Pace(host)
			t.Logf("%-24s %4d requests, %d in flight at most, least gap %s (limit %s), %d before Retry-After", host, p.Requests, p.InFlight, p.MinGap, limits[host], p.Hasty)
			assert.True(t, p.InFlight == 1 && (p.MinGap < 0 || p.MinGap >= limits[host]) && p.Hasty == 0, "%s was asked faster than it allows: %+v", host, p)
			assert.Positive(t, limits[host], "%s was asked, and has no limit here", host)
		}
	})
}

// venueYear does what a harvest does before it crawls.
func venueYear(t *testing.T, cfg metadata.Config, c catalogues.Catalogue) {
	t.Helper()
	ctx := t.Context()
	d := metadata.NewDBLP(cfg)
	v, err := d.ResolveVenue(ctx, "exa")
	require.NoError(t, err)
	v.IDs = map[string]string{"issn": c.ISSN}
	years := gleaner.Years{From: 2003, To: 2003}
	papers, err := d.List(ctx, v, years, func(int, int) {})
	require.NoError(t, err)
	registered, err := metadata.NewCrossref(cfg).Papers(ctx, v, years)
	require.NoError(t, err)
	merged := metadata.Merge(metadata.Listing{Source: "dblp", Papers: papers}, metadata.Listing{Source: "crossref", Papers: registered})
	require.Equal(t, []int{500, 500, 500}, []int{len(papers), len(registered), len(merged)})
	cr := metadata.NewCrossref(cfg)
	for _, p := range papers[:100] {
		copies, err := cr.Copies(ctx, p)
		require.NoError(t, err)
		require.Len(t, copies, 1, p.Key)
	}
	sources := []metadata.CopySource{metadata.NewLinks(cfg), metadata.NewSemanticScholar(cfg), metadata.NewArXiv(cfg), metadata.NewUnpaywall(cfg), metadata.NewOpenAlex(cfg)}
	located, err := metadata.LocateCopies(ctx, sources, metadata.Papers(merged))
	require.NoError(t, err)
	for _, l := range located {
		require.Empty(t, l.Failed, l.Paper.Key)
		require.GreaterOrEqual(t, len(l.Copies), 3, l.Paper.Key)
	}
	persons(t, cfg, papers)
}

// persons looks everyone up with eight workers that share nothing but the gate.
func persons(t *testing.T, cfg metadata.Config, papers []gleaner.Paper) {
	t.Helper()
	pids := make(chan string)
	var wg sync.WaitGroup
	var mu sync.Mutex
	found := map[string]bool{}
	for range 8 {
		d := metadata.NewDBLP(cfg)
		wg.Go(func() {
			for pid := range pids {
				p, err := d.Person(t.Context(), pid)
				assert.True(t, err == nil && len(p.URLs) == 1 && p.ORCID() != "", "person %s: %+v, %v", pid, p, err)
				mu.Lock()
				found[pid] = true
				mu.Unlock()
			}
		})
	}
	for _, p := range papers {
		for _, a := range p.Authors {
			pids <- a.PID
		}
	}
	close(pids)
	wg.Wait()
	assert.Len(t, found, 1500)
}
