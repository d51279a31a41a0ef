package bench

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"gleaner/internal/record/store"
)

// filler fills the frontiers of hosts, one after the other.
type filler struct {
	db      *store.DB
	perHost int   // rows of a host; 0 is all
	sites   []int // ids of the hosts
	rows    int   // of all hosts
}

func frontierHost(i int) string { return fmt.Sprintf("frontier%d.test", i) }

// fillSQL makes rows like those of real links, in random order of their hashes.
// Row n is of the n/$4-th host.
const fillSQL = `INSERT INTO urls (site_id, hash, url, mark, priority, depth, position, parent, source, anchor, context, heading, tag_path)
	SELECT ($1::int[])[1 + (n - 1) / $4], substr(sha256(n::text::bytea), 1, 16), 'http://frontier0.test/d' || n / 100 || '/page' || n || '.html',
		abs(hashint4(n)) % $5, random(), 3, n % 50, 'http://frontier0.test/d' || n / 5000 || '/page' || n / 50 || '.html', 'anchor', 'Words of link ' || n,
		repeat('words around it ', 8), 'A heading', 'html>body>div.main>ul>li>a'
	FROM generate_series($2::int + 1, $3::int) n`

// bulk is from how many rows on indexes are dropped for a fill and built anew.
const bulk = 500_000

// fill adds rows until there are to, and leaves the table as autovacuum would.
func (f *filler) fill(ctx context.Context, to int) error {
	perHost := cmp.Or(f.perHost, 1<<30)
	if err := f.addSites(ctx, (to+perHost-1)/perHost); err != nil {
		return err
	}
	conn, err := f.db.Pool.Acquire(ctx)
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
	if to-f.rows >= bulk {
		// All but the key.
		const indexesSQL = `SELECT indexdef FROM pg_indexes WHERE tablename = 'urls' AND indexname <> 'urls_pkey'`
		if indexes, err = store.Column[string](ctx, conn, indexesSQL); err != nil {
			return fmt.Errorf("bench: %w", err)
		}
		do(`SET maintenance_work_mem = '512MB'`)
		do(`ALTER TABLE urls DROP CONSTRAINT urls_pkey`)
		for _, d := range indexes {
			name, _, _ := strings.Cut(strings.TrimPrefix(d, "CREATE INDEX "), " ")
			do("DROP INDEX " + name)
		}
	}
	do(fillSQL, f.sites, f.rows, to, perHost, frontierMarks)
	if to-f.rows >= bulk {
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
	f.rows = to
	return nil
}

func (f *filler) addSites(ctx context.Context, n int) error {
	return pgx.BeginFunc(ctx, f.db.Pool, func(tx pgx.Tx) error {
		for len(f.sites) < n {
			site, err := store.EnsureSite(ctx, tx, frontierHost(len(f.sites)))
			if err != nil {
				return err
			}
			if err := store.AddScope(ctx, tx, site, "/", "bench"); err != nil {
				return err
			}
			f.sites = append(f.sites, site)
		}
		return nil
	})
}
