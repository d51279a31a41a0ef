package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/pprof"
	"sync"
	"time"

	"github.com/gocolly/colly/v2"
	"github.com/jackc/pgx/v5"

	"gleaner/internal/crawl"
	"gleaner/internal/document"
	"gleaner/internal/fetch"
	"gleaner/internal/harvest"
	"gleaner/internal/library/collection"
	"gleaner/internal/library/repository"
	"gleaner/internal/politeness"
	"gleaner/internal/record/frontier"
	"gleaner/internal/record/store"
	"gleaner/internal/web/page"
)

// Options say which crawlers Crawl measures, and on what.
type Options struct {
	Pages     int // of all hosts together
	Hosts     int // crawled at the same time
	Rounds    int
	Names     []string                                        // of the crawlers; nil for all
	Delays    []time.Duration                                 // all crawl with each
	Timeout   time.Duration                                   // of one crawl
	Dir       string                                          // where crawlers are installed
	NoInstall bool                                            // measure what is there
	StartWeb  func() (*Web, func() ([]*Visits, error), error) // whose end returns the visits of each host
	Profile   io.Writer                                       // takes a CPU profile of Gleaner; may be nil
	WARC      bool                                            // Gleaner keeps what is exchanged in WARC files
	Servers

	delay time.Duration // from an answer of a host to the next request; 0 is none
}

// Servers are what crawls stand on. Those by workflows need Temporal and the worker program.
type Servers struct {
	DatabaseURL                string // of a server on which databases may be made
	Temporal, Namespace        string
	Worker                     string         // the worker program
	DatabaseUsed, TemporalUsed func() float64 // seconds that the servers have used; nil if not known
}

// Run is what one crawler did with one delay. Its pages are those that the web counted,
// each once, and its memory is that which it had resident.
type Run struct {
	Name        string  `json:"name"`
	Delay       float64 `json:"delay_seconds"`
	Pages       int     `json:"pages"`
	Requests    int     `json:"requests"`
	Seconds     float64 `json:"seconds"`
	PagesPerSec float64 `json:"pages_per_second"`
	CPU         float64 `json:"cpu_seconds"`
	DatabaseCPU float64 `json:"database_cpu_seconds"` // 0 if not known
	PeakBytes   int64   `json:"peak_memory_bytes"`    // 0 if not known
	Impolite    int     `json:"impolite"`             // requests before their time, or beside another to the host
	// Ratio is the median of the rounds' ratios of the first crawler's pages a second to its own.
	Ratio    float64   `json:"ratio"`
	Database *Database `json:"database,omitempty"`
	Missing  string    `json:"missing,omitempty"` // why it has no figures
	Keeps    string    `json:"keeps_and_checks"`
}

// Database counts what a crawl asked of Postgres, per page.
type Database struct {
	Transactions float64 `json:"transactions_per_page"`
	Rows         float64 `json:"rows_written_per_page"` // inserted, updated or deleted
	WALBytes     float64 `json:"wal_bytes_per_page"`
}

// crawlOnce crawls the web with a new database.
func crawlOnce(ctx context.Context, web *Web, o Options) (run Run, err error) {
	err = withDatabase(ctx, o.DatabaseURL, func(dsn string) error {
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
		if o.Profile != nil {
			if err := pprof.StartCPUProfile(o.Profile); err != nil {
				return err
			}
			defer pprof.StopCPUProfile()
		}
		m := startMeter(os.Getpid(), o.DatabaseUsed)
		err = c.crawl(ctx, web.Hosts)
		run = m.stop()
		if err != nil {
			return err
		}
		c.db.Close() // backends hand in their counts when they end
		after := counters{backends: 1}
		for after.backends > 0 && err == nil {
			after, err = readCounters(ctx, o.DatabaseURL, dsn)
		}
		run.Database = after.since(before, c.pages)
		return err
	})
	return run, err
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

	mu    sync.Mutex
	pages int
}

func openCrawler(ctx context.Context, dsn string, o Options) (*crawler, error) {
	db, err := store.Open(ctx, dsn, o.Hosts+4)
	if err != nil {
		return nil, err
	}
	pacing := fetch.Pacing{Unpaced: o.delay == 0, MinDelay: o.delay, MaxDelay: o.delay}
	keeper := politeness.NewKeeper(db.Pool, pacing, "bench")
	c := &crawler{db: db, keeper: keeper}
	c.client, err = fetch.New(fetch.Config{
		AllowLoopback: true, Proxy: "none", Gate: keeper, Robots: politeness.NewRobots(db.Pool), Pacing: pacing, Blocked: db.Blocked,
	})
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
	cfg.TrapPages, cfg.MaxPages, cfg.WARC = 0, 10*o.Pages, o.WARC
	index := db.PageIndex(200_000)
	cfg.Index = func(ctx context.Context, pages []*page.Page) error {
		return index.PutPages(ctx, harvest.Indexed(pages...))
	}
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
	c := colly.NewCollector(colly.Async(true), colly.StdlibContext(ctx), colly.AllowedDomains("127.0.0.1"))
	limits := []*colly.LimitRule{{DomainGlob: "*", Parallelism: o.Hosts}}
	if o.delay > 0 {
		limits = nil
		for _, host := range web.Hosts {
			limits = append(limits, &colly.LimitRule{DomainGlob: host, Parallelism: 1, Delay: o.delay})
		}
	}
	if err := c.Limits(limits); err != nil {
		return Run{}, err
	}
	c.OnHTML("a[href]", func(e *colly.HTMLElement) { _ = e.Request.Visit(e.Attr("href")) })
	m := startMeter(os.Getpid(), nil)
	for _, host := range web.Hosts {
		if err := c.Visit(web.Start(host)); err != nil {
			return Run{}, fmt.Errorf("bench: colly: %w", err)
		}
	}
	c.Wait()
	return m.stop(), ctx.Err()
}
