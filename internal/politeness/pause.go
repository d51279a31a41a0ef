package politeness

import (
	"context"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"gleaner/internal/gleaner"
)

// pausedLook is the wait for a host that a person has paused.
const pausedLook = time.Hour

// Pause stops all requests to a host, with and without "www.", until Resume. Crawls of it end
// within seconds; a request in flight is finished.
func Pause(ctx context.Context, pool *pgxpool.Pool, host, why string) error {
	why = strings.TrimSuffix(gleaner.SitePaused+": "+why, ": ")
	_, err := untilFree(ctx, pool, nil, `INSERT INTO sites (host, paused, paused_at)
		SELECT h, $2, now() FROM unnest($1::text[]) h ORDER BY h COLLATE "C"
		ON CONFLICT (host) DO UPDATE SET paused=EXCLUDED.paused, paused_at=coalesce(sites.paused_at, now())`,
		paired(host), why)
	return err
}

// Resume ends the pause of a host, and returns those of its names that were paused. Crawls that
// ended for the pause may continue.
func Resume(ctx context.Context, pool *pgxpool.Pool, host string) (names []string, err error) {
	_, err = untilFree(ctx, pool, &names, `WITH held AS (SELECT id, state='stopped' AND reason=$2 AS over
			FROM sites WHERE host = ANY($1) AND paused <> '' ORDER BY host COLLATE "C" FOR NO KEY UPDATE),
		resumed AS (UPDATE sites s SET paused='', paused_at=NULL, state=CASE WHEN over THEN 'new' ELSE state END,
			reason=CASE WHEN over THEN '' ELSE reason END FROM held WHERE s.id=held.id RETURNING s.host)
		SELECT coalesce(array_agg(host ORDER BY host), '{}') FROM resumed`, paired(host), gleaner.SitePaused)
	return names, err
}
