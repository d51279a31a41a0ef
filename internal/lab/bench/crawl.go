package bench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"

	"github.com/gocolly/colly/v2"
	"github.com/jackc/pgx/v5"

	"gleaner/internal/crawl"
	"gleaner/internal/document"
	"gleaner/internal/fetch"
	"gleaner/internal/library/collection"
	"gleaner/internal/library/repository"
	"gleaner/internal/politeness"
	"gleaner/internal/record/frontier"
	"gleaner/internal/record/store"
)

// Options say what Crawl crawls.
type Options struct {
	Pages       int                      // of all hosts together
	Hosts       int                      // crawled at the same time, each with one request in flight
	Rounds      int                      // of both crawlers in turns
	DatabaseURL string                   // of a server on which databases may be made
	DatabaseCPU func() float64           // seconds that the server has used; nil if not known
	Profile     func(func() error) error // wraps the crawler's rounds, for a profile; may be nil
	WithWARC    bool                     // crawl the same pages in turns with the others, and keep what is exchanged in WARC files
	WithFiles   *Web                     // the same pages with links to files, which are crawled in turns with the others; nil for none

	keeps bool // WARC files, in this round
}

// Run is what one crawler did in one round.
type Run struct {
	Pages       int     `json:"pages"`
	Requests    int     `json:"requests"`
	Bytes       int64   `json:"bytes"`
	Seconds     float64 `json:"seconds"`
	PagesPerSec float64 `json:"pages_per_second"`
	CPU         float64 `json:"cpu_seconds"`          // of this process: crawler and, where it serves the pages itself, web
	DatabaseCPU float64 `json:"database_cpu_seconds"` // 0 if not known
	PeakBytes   uint64  `json:"peak_memory_bytes"`    // of the Go runtime
}

// Database counts what a crawl asked of Postgres, per page.
type Database struct {
	Transactions float64 `json:"transactions_per_page"`
	Rows         float64 `json:"rows_written_per_page"` // inserted, updated or deleted
	WALBytes     float64 `json:"wal_bytes_per_page"`
}

// Report is what Crawl measured; the runs are the medians by pages per second.
type Report struct {
	Gleaner  Run       `json:"gleaner"`
	Database Database  `json:"database"`
	Colly    Run       `json:"colly"`
	Ratio    float64   `json:"ratio"` // median of the rounds' ratios of pages per second
	Ratios   []float64 `json:"ratios"`
	CPURatio float64   `json:"cpu_ratio"` // colly's CPU seconds by ours, the database's included

	WithFiles *Variant `json:"with_files,omitempty"`
	WithWARC  *Variant `json:"with_warc,omitempty"`
}

// Variant is what a crawl of another kind came to, beside the one without: of pages
// with links to files, or with WARC files.
type Variant struct {
	Run
	Database Database  `json:"database"`
	Ratio    float64   `json:"ratio"` // median of the rounds' ratios of pages per second
	Ratios   []float64 `json:"ratios"`
	CPURatio float64   `json:"cpu_ratio"` // median of the rounds' ratios of pages per CPU second, the database's included
}

// Crawl crawls the same web with the crawler and with colly alone, in turns.
func Crawl(ctx context.Context, web *Web, o Options) (Report, error) {
	var ours, theirs []Run
	var r Report
	var files, warc turns
	for range max(1, o.Rounds) {
		run, db, err := crawlOnce(ctx, web, o)
		if err != nil {
			return r, err
		}
		other, err := collyOnce(ctx, web, o)
		if err != nil {
			return r, err
		}
		ours, theirs, r.Database = append(ours, run), append(theirs, other), db
		r.Ratios = append(r.Ratios, run.PagesPerSec/other.PagesPerSec)
		if o.WithFiles != nil {
			if err := files.take(ctx, o.WithFiles, run, o); err != nil {
				return r, err
			}
		}
		if o.WithWARC {
			with := o
			with.keeps = true
			if err := warc.take(ctx, web, run, with); err != nil {
				return r, err
			}
		}
	}
	r.Gleaner, r.Colly, r.WithFiles, r.WithWARC = median(ours), median(theirs), files.report(), warc.report()
	r.Ratio = middle(r.Ratios)
	r.CPURatio = r.Colly.CPU / (r.Gleaner.CPU + r.Gleaner.DatabaseCPU)
	return r, nil
}

// turns are the rounds of a variant.
type turns struct {
	runs        []Run
	ratios, cpu []float64
	used        Database
}

// take crawls it beside a run without.
func (t *turns) take(ctx context.Context, web *Web, without Run, o Options) error {
	run, used, err := crawlOnce(ctx, web, o)
	if err != nil {
		return err
	}
	t.runs, t.used = append(t.runs, run), used
	t.ratios = append(t.ratios, run.PagesPerSec/without.PagesPerSec)
	t.cpu = append(t.cpu, (without.CPU+without.DatabaseCPU)/(run.CPU+run.DatabaseCPU))
	return nil
}

func (t *turns) report() *Variant {
	if len(t.runs) == 0 {
		return nil
	}
	return &Variant{Run: median(t.runs), Database: t.used, Ratio: middle(t.ratios), Ratios: t.ratios, CPURatio: middle(t.cpu)}
}

func middle(xs []float64) float64 { return slices.Sorted(slices.Values(xs))[len(xs)/2] }

func median(runs []Run) Run {
	slices.SortFunc(runs, func(a, b Run) int { return int(a.PagesPerSec - b.PagesPerSec) })
	return runs[len(runs)/2]
}

// crawlOnce crawls the web with a new database.
func crawlOnce(ctx context.Context, web *Web, o Options) (Run, Database, error) {
	var run Run
	var used Database
	err := withDatabase(ctx, o.DatabaseURL, func(dsn string) error {
		c, err := openCrawler(ctx, dsn, o)
		if err != nil {
			return err
		}
		defer c.close()
		if err := seed(ctx, c.db, web, ""); err != nil {
			return err
		}
		before, err := readCounters(ctx, o.DatabaseURL, dsn)
		if err != nil {
			return err
		}
		profile := o.Profile
		if profile == nil {
			profile = func(f func() error) error { return f() }
		}
		m := startMeter(o.DatabaseCPU)
		err = profile(func() error { return c.crawl(ctx, web.Hosts) })
		run = m.stop()
		if err != nil {
			return err
		}
		run.fill(c.pages, c.requests, c.bytes)
		c.db.Close() // backends hand in their counts when they end
		after, err := readCounters(ctx, o.DatabaseURL, dsn)
		used = after.since(before, run.Pages)
		return err
	})
	return run, used, err
}

func (r *Run) fill(pages, requests int, bytes int64) {
	r.Pages, r.Requests, r.Bytes = pages, requests, bytes
	r.PagesPerSec = float64(pages) / r.Seconds
}

// crawler is the crawler and what it stands on.
type crawler struct {
	db      *store.DB
	repo    *repository.Repository
	client  *fetch.Client
	keeper  *politeness.Keeper
	coll    *collection.Collection
	crawler *crawl.Crawler
	dir     string

	mu       sync.Mutex
	pages    int
	requests int
	bytes    int64
}

func openCrawler(ctx context.Context, dsn string, o Options) (*crawler, error) {
	db, err := store.Open(ctx, dsn, o.Hosts+4)
	if err != nil {
		return nil, err
	}
	unpaced := fetch.Pacing{Unpaced: true}
	keeper := politeness.NewKeeper(db.Pool, unpaced, "bench")
	c := &crawler{db: db, keeper: keeper}
	c.client, err = fetch.New(fetch.Config{AllowLoopback: true, Proxy: "none", Gate: keeper, Robots: politeness.NewRobots(db.Pool), Pacing: unpaced})
	if err == nil {
		c.dir, err = os.MkdirTemp("", "gleaner-bench-*")
	}
	if err == nil {
		c.repo, err = repository.Open(ctx, "file://"+c.dir)
	}
	cfg := crawl.Defaults()
	if err == nil {
		cfg.Rank, err = cfg.Rank.WithDefaults() // once for all slices, as a worker does
	}
	if err != nil {
		c.close()
		return nil, err
	}
	c.coll = collection.New(collection.Parts{DB: db, Repo: c.repo, Reader: document.NewReader(document.Options{}), Filter: document.NewFilter(document.Balanced), Log: quiet()})
	// The web has no documents: for a crawl it is a trap.
	cfg.TrapPages, cfg.MaxPages, cfg.WARC = 0, 10*o.Pages, o.keeps
	c.crawler = c.crawlerWith(c.client, cfg)
	return c, nil
}

func (c *crawler) crawlerWith(f crawl.Fetcher, cfg crawl.Config) *crawl.Crawler {
	return crawl.New(c.db, c.keeper, f, c.coll, cfg, quiet())
}

func (c *crawler) close() {
	if c.repo != nil {
		_ = c.repo.Close()
	}
	if c.client != nil {
		c.client.Close()
	}
	if c.dir != "" {
		_ = os.RemoveAll(c.dir)
	}
	c.db.Close()
}

// seed enters the first URL of each host, which a harvest wants; "" for none.
func seed(ctx context.Context, db *store.DB, web *Web, harvest string) error {
	return pgx.BeginFunc(ctx, db.Pool, func(tx pgx.Tx) error {
		for _, host := range web.Hosts {
			id, err := store.EnsureSite(ctx, tx, host)
			if err == nil && harvest != "" {
				err = store.JoinSite(ctx, tx, harvest, id, "bench")
			}
			if err != nil {
				return err
			}
			if err := store.AddScope(ctx, tx, id, "/", "bench"); err != nil {
				return err
			}
			if _, err := frontier.Add(ctx, tx, id, []frontier.Entry{seedEntry(web.Start(host))}); err != nil {
				return err
			}
		}
		return nil
	})
}

// crawl crawls all hosts to their end, slice by slice, as workers do.
func (c *crawler) crawl(ctx context.Context, hosts []string) error {
	errs := make([]error, len(hosts))
	var wg sync.WaitGroup
	for i, host := range hosts {
		wg.Go(func() { errs[i] = c.crawlHost(ctx, host) })
	}
	wg.Wait()
	return errors.Join(errs...)
}

func (c *crawler) crawlHost(ctx context.Context, host string) error {
	for {
		r, err := c.crawler.Slice(ctx, host, func(crawl.Progress) {})
		if err != nil {
			return err
		}
		c.mu.Lock()
		c.pages += r.Pages
		c.requests += r.Requests
		c.bytes += r.Bytes
		c.mu.Unlock()
		switch r.Ending {
		case crawl.SliceFull:
		case crawl.Exhausted:
			return nil
		default:
			return fmt.Errorf("bench: the crawl of %s ended with %s: %s", host, r.Ending, r.Reason)
		}
	}
}

// collyOnce crawls the web with the library alone, as its documentation does:
// a DOM for each page, its links visited, what was visited kept in memory.
func collyOnce(ctx context.Context, web *Web, o Options) (Run, error) {
	c := colly.NewCollector(colly.Async(true), colly.StdlibContext(ctx))
	if err := c.Limit(&colly.LimitRule{DomainGlob: "*", Parallelism: o.Hosts}); err != nil {
		return Run{}, err
	}
	var mu sync.Mutex
	var bytes int64
	requests, pages := 0, map[string]bool{}
	c.OnResponse(func(r *colly.Response) {
		mu.Lock()
		defer mu.Unlock()
		requests++
		pages[r.Request.URL.String()] = true // it asks for a few twice
		bytes += int64(len(r.Body))
	})
	c.OnHTML("a[href]", func(e *colly.HTMLElement) { _ = e.Request.Visit(e.Attr("href")) })
	m := startMeter(nil)
	for _, host := range web.Hosts {
		if err := c.Visit(web.Start(host)); err != nil {
			return Run{}, fmt.Errorf("bench: colly: %w", err)
		}
	}
	c.Wait()
	run := m.stop()
	run.fill(len(pages), requests, bytes)
	return run, ctx.Err()
}
