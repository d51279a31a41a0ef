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

// Resume ends the pause of a host, and returns those of its names that were paused and
// are not on the blacklist. Crawls that ended for the pause may continue.
func Resume(ctx context.Context, pool *pgxpool.Pool, host string) (names []string, err error) {
	_, err = untilFree(ctx, pool, &names, `WITH held AS (SELECT id, state='stopped' AND reason=$2 AS over
			FROM sites WHERE host = ANY($1) AND paused <> '' AND host NOT IN (SELECT host FROM blacklist) ORDER BY host COLLATE "C" FOR NO KEY UPDATE),
		resumed AS (UPDATE sites s SET paused='', paused_at=NULL, state=CASE WHEN over THEN 'new' ELSE state END,
			reason=CASE WHEN over THEN '' ELSE reason END FROM held WHERE s.id=held.id RETURNING s.host)
		SELECT coalesce(array_agg(host ORDER BY host), '{}') FROM resumed`, paired(host), gleaner.SitePaused)
	return names, err
}

// Slow sets the least time between two requests to a host, with and without "www."; 0 takes it
// back after the pause under way. It lengthens other pauses, and shortens none. A crawl under way keeps to it from its next
// request on, to a shorter one, or where it makes no pauses, within seconds.
func Slow(ctx context.Context, pool *pgxpool.Pool, host string, delay time.Duration) error {
	_, err := untilFree(ctx, pool, nil, `INSERT INTO sites (host, min_delay)
		SELECT h, $2::interval FROM unnest($1::text[]) h ORDER BY h COLLATE "C"
		ON CONFLICT (host) DO UPDATE SET min_delay=EXCLUDED.min_delay, awaited_at=clock_timestamp(),
			paced_until=greatest(sites.paced_until, least(sites.paced_until, now()) + EXCLUDED.min_delay),
			next_allowed_at=greatest(sites.next_allowed_at, least(sites.paced_until, now()) + EXCLUDED.min_delay),
			pace_by=CASE WHEN sites.pace_by=$3 THEN $3 || ' before' ELSE sites.pace_by END`, paired(host), delay, gleaner.SetByHand)
	return err
}
