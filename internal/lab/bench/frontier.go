package bench

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"os"
	"slices"
	"time"

	"gleaner/internal/crawl"
	"gleaner/internal/fetch"
	"gleaner/internal/gleaner"
	"gleaner/internal/lab/sampleweb"
	"gleaner/internal/record/frontier"
	"gleaner/internal/web/page"
)

// FrontierOptions say what Frontier measures.
type FrontierOptions struct {
	DatabaseURL string // of a server on which a database may be made
	Sizes       []int  // waiting URLs
	PerHost     int    // how many of them wait on one host; 0 is all
}

// Cost is the time that something takes, per URL: its median, and its least,
// which is what it takes where nothing else runs.
type Cost struct {
	Median time.Duration `json:"median_ns"`
	Least  time.Duration `json:"least_ns"`
}

// Size is what was measured with so many URLs waiting.
type Size struct {
	Rows      int     `json:"rows"`
	Hosts     int     `json:"hosts"`
	FillRate  float64 `json:"fill_rows_per_second"` // of the rows added since the size before
	Claim     Cost    `json:"claim"`                // reading the best of all groups of a host, of which three quarters are taken
	Pages     float64 `json:"pages_per_claim"`      // of the database, of 8 KiB, touched for each URL claimed
	Visit     Cost    `json:"visit"`                // writing down what became of a URL
	Enqueue   Cost    `json:"enqueue"`              // entering a new one
	Memory    int64   `json:"slice_memory_bytes"`
	SliceRate float64 `json:"slice_pages_per_second"` // of a slice whose pages come from memory
	Disk      int64   `json:"disk_bytes"`
}

// What a slice does (package crawl): it reads some 500 of the best rows, again
// when three quarters of them are taken, and writes its visits in batches.
const (
	windowSize     = 512
	visitsPerBatch = 32
	frontierRounds = 25
	pageRounds     = 5   // more, in which the server's pages are counted
	frontierMarks  = 120 // groups of like links
)

// Frontier fills a frontier to each of the sizes, ascending, and reports what was
// measured there.
func Frontier(ctx context.Context, o FrontierOptions, report func(Size)) error {
	return withDatabase(ctx, o.DatabaseURL, func(dsn string) error {
		c, err := openCrawler(ctx, dsn, Options{Hosts: 4, Pages: 1 << 20})
		if err != nil {
			return err
		}
		defer c.close()
		f := filler{db: c.db, perHost: o.PerHost}
		for _, n := range slices.Sorted(slices.Values(o.Sizes)) {
			s := Size{Rows: n}
			start, had := time.Now(), f.rows
			if err := f.fill(ctx, n); err != nil {
				return err
			}
			s.Hosts, s.FillRate = len(f.sites), float64(n-had)/time.Since(start).Seconds()
			if err := s.measure(ctx, c, f.sites); err != nil {
				return err
			}
			report(s)
		}
		return nil
	})
}

// measure takes URLs of one host after the other, and enters as many new ones, so
// that as many wait at the end as at the beginning.
func (s *Size) measure(ctx context.Context, c *crawler, sites []int) error {
	r := rand.New(rand.NewPCG(1, uint64(s.Rows)))
	var claims, visits, links []time.Duration
	touched, urls := 0, 0
	for round := range frontierRounds + pageRounds {
		site := sites[r.IntN(len(sites))]
		if round >= frontierRounds {
			b, err := frontier.WindowBlocks(ctx, c.db.Pool, site, windowSize)
			if err != nil {
				return err
			}
			touched += b.Hit + b.Read
		}
		start := time.Now()
		entries, err := frontier.Window(ctx, c.db.Pool, site, windowSize)
		if err == nil {
			_, err = frontier.Count(ctx, c.db.Pool, site, len(entries)+1)
		}
		if err != nil {
			return err
		}
		taken := entries[:len(entries)*3/4]
		if round < frontierRounds {
			claims = append(claims, time.Since(start)/time.Duration(max(1, len(taken))))
		}
		urls += len(taken)
		for batch := range slices.Chunk(taken, visitsPerBatch) {
			start := time.Now()
			if err := frontier.Done(ctx, c.db.Pool, site, visited(batch, start)); err != nil {
				return err
			}
			visits = append(visits, time.Since(start)/time.Duration(len(batch)))
			fresh := newLinks(r, len(batch))
			start = time.Now()
			if _, err := frontier.Add(ctx, c.db.Pool, site, fresh); err != nil {
				return err
			}
			links = append(links, time.Since(start)/time.Duration(len(batch)))
		}
	}
	s.Claim, s.Visit, s.Enqueue = cost(claims), cost(visits), cost(links)
	s.Pages = float64(touched) / pageRounds / (float64(urls) / (frontierRounds + pageRounds))
	if err := s.slice(ctx, c); err != nil {
		return err
	}
	return c.db.Pool.QueryRow(ctx, `SELECT pg_total_relation_size('urls')`).Scan(&s.Disk)
}

func cost(times []time.Duration) Cost {
	if len(times) == 0 {
		return Cost{}
	}
	slices.Sort(times)
	return Cost{Median: times[len(times)/2], Least: times[0]}
}

func visited(batch []frontier.Entry, at time.Time) []frontier.Visit {
	visits := make([]frontier.Visit, len(batch))
	for i := range batch {
		visits[i] = frontier.Visit{Entry: &batch[i], State: frontier.Page, Outcome: gleaner.OK, Status: 200, At: at, Content: make([]byte, 32),
			Interval: 14 * 24 * time.Hour, Due: at.Add(14 * 24 * time.Hour)}
	}
	return visits
}

// newLinks are like those that fill enters, under names of their own.
func newLinks(r *rand.Rand, n int) []frontier.Entry {
	out := make([]frontier.Entry, n)
	for i := range out {
		url := fmt.Sprintf("http://%s/new/%x/page.html", frontierHost(0), r.Uint64())
		out[i] = frontier.Entry{Candidate: page.Candidate{Mark: r.IntN(frontierMarks), Priority: r.Float64(), Depth: 3, Parent: "http://" + frontierHost(0) + "/",
			Link: page.Link{URL: url, Source: "anchor", Anchor: "Words of a new link", Context: "words around it words around it", Heading: "A heading", TagPath: "html>body>div.main>ul>li>a"}}}
	}
	return out
}

// slice runs a slice over pages in memory, for what it takes of it.
func (s *Size) slice(ctx context.Context, c *crawler) error {
	cfg := crawl.Defaults()
	cfg.TrapPages, cfg.Sitemaps, cfg.MaxPages = 0, false, 1<<30
	with := c.crawlerWith(memoryFetcher{rand.New(rand.NewPCG(1, uint64(s.Rows))), s.Rows}, cfg)
	m := startMeter(os.Getpid(), nil)
	r, err := with.Slice(ctx, frontierHost(0), func(crawl.Progress) {})
	run := m.stop()
	if err != nil {
		return err
	}
	if r.Ending != crawl.SliceFull && r.Ending != crawl.Exhausted {
		return fmt.Errorf("bench: the slice ended with %s: %s", r.Ending, r.Reason)
	}
	s.Memory, s.SliceRate = run.PeakBytes-m.base, float64(r.Requests)/run.Seconds
	return nil
}

// memoryFetcher answers with a page of links to others, known and new.
type memoryFetcher struct {
	r *rand.Rand
	n int
}

func (f memoryFetcher) Fetch(_ context.Context, r fetch.Request) (*fetch.Response, error) {
	return &fetch.Response{URL: r.URL, Status: http.StatusOK, Header: http.Header{"Content-Type": {"text/html"}}, Body: sampleweb.ThicketPage(f.r.IntN(f.n), f.n, 0), FetchedAt: time.Now()}, nil
}

func (memoryFetcher) Sitemaps(context.Context, string, fetch.Terms) ([]string, error) {
	return nil, nil
}

// seedEntry is the first page of a host.
func seedEntry(url string) frontier.Entry {
	return frontier.Entry{Candidate: page.Candidate{Link: page.Link{URL: url, Source: page.SourceSeed}}}
}

func quiet() *slog.Logger { return slog.New(slog.DiscardHandler) }
