package politeness

import (
	"context"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"gleaner/internal/gleaner"
)

// pausedLook is after how long a host is tried again that a person has not asked.
const pausedLook = time.Hour

// Pause has a host, with and without "www.", not asked by anybody until Resume. Crawls of
// it end within seconds; a request under way is finished.
func Pause(ctx context.Context, pool *pgxpool.Pool, host, why string) error {
	why = strings.TrimSuffix(gleaner.SitePaused+": "+why, ": ")
	_, err := untilFree(ctx, pool, nil, `INSERT INTO sites (host, paused, paused_at)
		SELECT h, $2, now() FROM unnest($1::text[]) h ORDER BY h COLLATE "C"
		ON CONFLICT (host) DO UPDATE SET paused=EXCLUDED.paused, paused_at=coalesce(sites.paused_at, now())`,
		paired(host), why)
	return err
}

// Resume lets a host be asked again, and returns the names of it that were paused. Crawls
// that ended over the pause may go on.
func Resume(ctx context.Context, pool *pgxpool.Pool, host string) (names []string, err error) {
	_, err = untilFree(ctx, pool, &names, `WITH held AS (SELECT id, state='stopped' AND reason=$2 AS over
			FROM sites WHERE host = ANY($1) AND paused <> '' ORDER BY host COLLATE "C" FOR NO KEY UPDATE),
		resumed AS (UPDATE sites s SET paused='', paused_at=NULL, state=CASE WHEN over THEN 'new' ELSE state END,
			reason=CASE WHEN over THEN '' ELSE reason END FROM held WHERE s.id=held.id RETURNING s.host)
		SELECT coalesce(array_agg(host ORDER BY host), '{}') FROM resumed`, paired(host), gleaner.SitePaused)
	return names, err
}
