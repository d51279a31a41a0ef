package bench

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"gleaner/internal/crawl"
	"gleaner/internal/fetch"
	"gleaner/internal/frontier"
	"gleaner/internal/page"
	"gleaner/internal/rank"
	"gleaner/internal/store"
)

// Size is what was measured with so many URLs waiting on one site.
type Size struct {
	Rows      int           `json:"rows"`
	FillRate  float64       `json:"fill_rows_per_second"` // of the rows added since the size before
	Window    time.Duration `json:"choose_ns"`            // median of reading the best of all groups
	Least     time.Duration `json:"choose_least_ns"`      // what it takes where nothing else runs
	Done      time.Duration `json:"write_ns"`             // median of writing a batch of visits
	Next      time.Duration `json:"next_ns"`              // both, per URL
	Memory    uint64        `json:"slice_memory_bytes"`
	SliceRate float64       `json:"slice_pages_per_second"` // of a slice whose pages come from memory
	Disk      int64         `json:"disk_bytes"`
}

// What a slice does (package crawl): it reads some 500 of the best rows, again
// when three quarters of them are taken, and writes its visits in batches.
const (
	windowSize     = 512
	takenPerWindow = 384
	visitsPerBatch = 32
	frontierRounds = 25
	frontierMarks  = 120 // groups of like links
	frontierHost   = "frontier.test"
)

// Frontier fills a site's frontier to each of the sizes, ascending, and reports
// what was measured there.
func Frontier(ctx context.Context, server string, sizes []int, report func(Size)) error {
	return withDatabase(ctx, server, func(dsn string) error {
		c, err := openCrawler(ctx, dsn, Options{Hosts: 4, Pages: 1 << 20})
		if err != nil {
			return err
		}
		defer c.close()
		site, err := c.seedFrontier(ctx)
		if err != nil {
			return err
		}
		rows := 0
		for _, n := range slices.Sorted(slices.Values(sizes)) {
			s := Size{Rows: n}
			start := time.Now()
			if err := fill(ctx, c.db, site, rows, n); err != nil {
				return err
			}
			s.FillRate = float64(n-rows) / time.Since(start).Seconds()
			rows = n
			if err := s.measure(ctx, c, site); err != nil {
				return err
			}
			report(s)
		}
		return nil
	})
}

func (c *crawler) seedFrontier(ctx context.Context) (site int, err error) {
	err = pgx.BeginFunc(ctx, c.db.Pool, func(tx pgx.Tx) error {
		if site, err = store.EnsureSite(ctx, tx, frontierHost); err != nil {
			return err
		}
		return store.AddScope(ctx, tx, site, "/", "bench")
	})
	return site, err
}

// fillSQL makes rows like those of real links, in random order of their hashes.
const fillSQL = `INSERT INTO urls (site_id, hash, url, mark, priority, depth, position, parent, source, anchor, context, heading, tag_path)
	SELECT $1, substr(sha256(n::text::bytea), 1, 16), 'http://frontier.test/d' || n / 100 || '/page' || n || '.html', abs(hashint4(n)) % $4, random(), 3, n % 50,
		'http://frontier.test/d' || n / 5000 || '/page' || n / 50 || '.html', 'anchor', 'Words of link ' || n, repeat('words around it ', 8), 'A heading',
		'html>body>div.main>ul>li>a'
	FROM generate_series($2::int + 1, $3::int) n`

// bulk is from how many rows on indexes are dropped for a fill and built anew.
const bulk = 500_000

// fill adds rows until there are to, and leaves the table as autovacuum would.
func fill(ctx context.Context, db *store.DB, site, from, to int) error {
	conn, err := db.Pool.Acquire(ctx)
	if err != nil {
		return fmt.Errorf("bench: %w", err)
	}
	defer conn.Release()
	do := func(sql string, args ...any) {
		if err == nil {
			_, err = conn.Exec(ctx, sql, args...)
		}
	}
	var indexes []string
	if to-from >= bulk {
		rows, qerr := conn.Query(ctx, `SELECT indexname, indexdef FROM pg_indexes WHERE tablename = 'urls' AND indexname <> 'urls_pkey'`)
		if qerr != nil {
			return fmt.Errorf("bench: %w", qerr)
		}
		var name, definition string
		_, err = pgx.ForEachRow(rows, []any{&name, &definition}, func() error {
			indexes = append(indexes, definition)
			return nil
		})
		do(`SET maintenance_work_mem = '512MB'`)
		do(`ALTER TABLE urls DROP CONSTRAINT urls_pkey`)
		for _, d := range indexes {
			name, _, _ := strings.Cut(strings.TrimPrefix(d, "CREATE INDEX "), " ")
			do("DROP INDEX " + name)
		}
	}
	do(fillSQL, site, from, to, frontierMarks)
	if to-from >= bulk {
		do(`ALTER TABLE urls ADD CONSTRAINT urls_pkey PRIMARY KEY (site_id, hash)`)
		for _, d := range indexes {
			do(d)
		}
		do(`RESET maintenance_work_mem`)
	}
	do("VACUUM (ANALYZE) urls")
	do("CHECKPOINT")
	if err != nil {
		return fmt.Errorf("bench: fill: %w", err)
	}
	return nil
}

func (s *Size) measure(ctx context.Context, c *crawler, site int) error {
	var choose, write []time.Duration
	for range frontierRounds {
		start := time.Now()
		entries, err := frontier.Window(ctx, c.db.Pool, site, windowSize)
		if err == nil {
			_, err = frontier.Count(ctx, c.db.Pool, site, len(entries)+1)
		}
		if err != nil {
			return err
		}
		choose = append(choose, time.Since(start))
		for batch := range slices.Chunk(entries[:min(len(entries), takenPerWindow)], visitsPerBatch) {
			visits := make([]frontier.Visit, len(batch))
			for i := range batch {
				visits[i] = frontier.Visit{Entry: &batch[i], State: frontier.Page, Outcome: fetch.OK, Status: 200, At: start, Content: make([]byte, 32)}
			}
			start := time.Now()
			if err := frontier.Done(ctx, c.db.Pool, site, visits); err != nil {
				return err
			}
			write = append(write, time.Since(start))
		}
	}
	slices.Sort(choose)
	slices.Sort(write)
	s.Window, s.Least, s.Done = choose[len(choose)/2], choose[0], write[len(write)/2]
	s.Next = s.Window/takenPerWindow + s.Done/visitsPerBatch
	if err := s.slice(ctx, c); err != nil {
		return err
	}
	return c.db.Pool.QueryRow(ctx, `SELECT pg_total_relation_size('urls')`).Scan(&s.Disk)
}

// slice runs a slice over pages in memory, for what it takes of it.
func (s *Size) slice(ctx context.Context, c *crawler) error {
	cfg := crawl.DefaultConfig()
	cfg.TrapPages, cfg.Sitemaps, cfg.MaxPages = 0, false, 1<<30
	with := c.crawlerWith(memoryFetcher{rand.New(rand.NewPCG(1, uint64(s.Rows))), s.Rows}, cfg)
	m := startMeter(nil)
	r, err := with.Slice(ctx, frontierHost, func(crawl.Progress) {})
	run := m.stop()
	if err != nil {
		return err
	}
	if r.Ending != crawl.SliceFull && r.Ending != crawl.Exhausted {
		return fmt.Errorf("bench: the slice ended with %s: %s", r.Ending, r.Reason)
	}
	s.Memory, s.SliceRate = run.PeakBytes-min(m.base, run.PeakBytes), float64(r.Requests)/run.Seconds
	return nil
}

// memoryFetcher answers with a page of links to others, known and new.
type memoryFetcher struct {
	r *rand.Rand
	n int
}

func (f memoryFetcher) Fetch(_ context.Context, r fetch.Request) (*fetch.Response, error) {
	return &fetch.Response{URL: r.URL, Status: http.StatusOK, Header: http.Header{"Content-Type": {"text/html"}}, Body: pageBody(f.r.IntN(f.n), f.n), FetchedAt: time.Now()}, nil
}

func (memoryFetcher) Sitemaps(context.Context, string) ([]string, error) { return nil, nil }

// seedEntry is the first page of a host.
func seedEntry(url string) frontier.Entry {
	return frontier.Entry{Candidate: rank.Candidate{Link: page.Link{URL: url, Source: page.SourceSeed}}}
}

func quiet() *slog.Logger { return slog.New(slog.DiscardHandler) }
