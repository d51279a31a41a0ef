package store_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"gleaner/internal/gleaner"
	"gleaner/internal/record/frontier"
	"gleaner/internal/record/store"
)

// tracers is what the tracer of a pool is.
type tracers interface {
	pgx.QueryTracer
	pgx.BatchTracer
}

// counting counts the statements of a pool.
type counting struct {
	tracers
	n int
}

func (c *counting) TraceQueryStart(ctx context.Context, conn *pgx.Conn, q pgx.TraceQueryStartData) context.Context {
	c.n++
	return c.tracers.TraceQueryStart(ctx, conn, q)
}

func (c *counting) TraceBatchStart(ctx context.Context, conn *pgx.Conn, b pgx.TraceBatchStartData) context.Context {
	c.n += b.Batch.Len()
	return c.tracers.TraceBatchStart(ctx, conn, b)
}

// TestTogether: documents that are saved and judged together take as many statements as one,
// and of two that lie at one location the last is current.
func TestTogether(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	cfg := open(t).Pool.Config()
	asked := &counting{tracers: cfg.ConnConfig.Tracer.(tracers)}
	cfg.ConnConfig.Tracer = asked
	pool, err := pgxpool.NewWithConfig(ctx, cfg)
	require.NoError(t, err)
	db := store.New(pool)
	t.Cleanup(db.Close)
	job, err := db.AddJob(ctx, store.JobImport, map[string]string{})
	require.NoError(t, err)
	require.NoError(t, db.BeginJob(ctx, job, 1))
	took := func(from, to int) int {
		asked.n = 0
		var begun []*store.ImportRecord
		var all []store.Fetched
		var shas []string
		for i := from; i < to; i++ {
			sha, url := fmt.Sprintf("%064d", i), fmt.Sprintf("http://a.example/%d", i/2)
			hash := frontier.HashOf(url)
			begun = append(begun, &store.ImportRecord{N: int64(i), URL: url})
			shas = append(shas, sha)
			all = append(all, store.Fetched{
				Document: store.Document{SHA256: sha, Kind: "pdf"},
				Location: store.Location{Hash: hash[:], URL: url, Parent: "http://b.example/", Found: time.Unix(1, 0)},
			})
		}
		require.NoError(t, db.BeginRecords(ctx, job, 1, begun))
		require.NoError(t, db.SaveAllFetched(ctx, all))
		fresh, err := db.New(ctx, shas)
		require.NoError(t, err)
		require.Len(t, fresh, len(shas))
		for i := range fresh {
			fresh[i].State = gleaner.DocumentAccepted
		}
		require.NoError(t, db.SaveUnread(ctx, fresh))
		return asked.n
	}
	require.Equal(t, took(0, 1), took(2, 40))
	var current, earlier int
	require.NoError(t, pool.QueryRow(ctx, `SELECT count(*) FILTER (WHERE current AND right(sha256, 1)::int % 2 = 1),
		count(*) FILTER (WHERE NOT current AND right(sha256, 1)::int % 2 = 0) FROM locations JOIN documents USING (sha256)
		WHERE sha256 > repeat('0', 64) AND state='accepted'`).Scan(&current, &earlier))
	require.Equal(t, []int{19, 19}, []int{current, earlier})
}
